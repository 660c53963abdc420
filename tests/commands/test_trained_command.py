"""What the trainer renders and trains, as the command line says it: --chat-template, --assistant-only, --train-on."""

from __future__ import annotations

import json

import pytest
import yaml
from commands import conversation, make_desk, read_metrics, run_here
from shared import LIKE_QWEN3, tokenizer_folder

ALTERNATING = (
    "{% for message in messages %}{% if loop.index0 and message.role == loop.previtem.role %}"
    "{{ raise_exception('twice') }}{% endif %}{{ message.content }}{% endfor %}"
)
LONG = "{% for message in messages %}<{{ message.role }}>{{ message.content }} and so on and on{% endfor %}"


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    desk = make_desk(tmp_path, make_tokenizer)
    desk.write("in.jsonl", map(conversation, range(2)))
    return desk


def tokens(desk, folder):
    return [row["original_tokens"] for row in read_metrics(desk.path(folder))]


def test_a_template_in_a_file_is_counted_and_named_and_another_is_another_run(desk):
    desk.path("mine.jinja").write_text(LONG, encoding="utf-8")
    assert desk.compress("in.jsonl", "-o", "plain").code == 0
    ran = desk.compress("in.jsonl", "-o", "out", "--chat-template", "mine.jinja")
    assert ran.code == 0, ran.stderr
    assert all(more > less for more, less in zip(tokens(desk, "out"), tokens(desk, "plain"), strict=True))
    told = json.loads(desk.path("out/run.json").read_text(encoding="utf-8"))["tokenizer"]
    assert told["template_origin"] == "mine.jinja"
    card = desk.path("out/README.md").read_text(encoding="utf-8")
    assert f"`mine.jinja`, digest `{told['template_digest']}`" in card
    for target, key in (("trl", "chat_template_path"), ("axolotl", "chat_template_jinja")):
        assert desk.compress("in.jsonl", "-o", target, "--for", target, "--chat-template", "mine.jinja").code == 0
        assert f"{key} (mine.jinja" in desk.path(f"{target}/{target}.yaml").read_text(encoding="utf-8")
    desk.path("mine.jinja").rename(desk.path("moved.jinja"))
    assert desk.compress("in.jsonl", "-o", "out", "--chat-template", "moved.jinja").code == 0
    desk.path("moved.jinja").write_text(LONG + "!", encoding="utf-8")
    ran = desk.compress("in.jsonl", "-o", "out", "--chat-template", "moved.jinja")
    assert ran.code == 2
    assert "the chat template (moved.jinja) is another" in ran.stderr


def test_a_template_that_does_not_compile_is_an_error_before_anything_is_written(desk):
    desk.path("mine.jinja").write_text("{% for x in messages %}\n{% endfr %}", encoding="utf-8")
    for command in (("compress", "-o", "out"), ("plan",), ("check",)):
        ran = run_here(
            *command, "in.jsonl", "--tokenizer", desk.tokenizer, "--chat-template", "mine.jinja", cwd=desk.folder
        )
        assert ran.code == 2
        assert "mine.jinja: line 2: " in ran.stderr
    assert not desk.path("out").exists()


def test_check_renders_with_the_template_of_a_file(desk):
    desk.path("mine.jinja").write_text(ALTERNATING, encoding="utf-8")
    user = {"role": "user", "content": "go"}
    desk.write("twice.jsonl", [{"messages": [user, user, {"role": "assistant", "content": "a"}]}])
    options = ("twice.jsonl", "--chat-template", "mine.jinja", "--for", "trl")
    ran = run_here("check", *options, "--tokenizer", desk.tokenizer, cwd=desk.folder)
    assert (ran.code, "twice" in ran.stdout) == (1, True)
    ran = run_here("check", *options, cwd=desk.folder)
    assert ran.code == 2
    assert "--tokenizer" in ran.stderr
    ran = run_here("check", "twice.jsonl", "--chat-template", "mine.jinja", "--for", "openai", cwd=desk.folder)
    assert ran.code == 2
    assert "leave --chat-template out" in ran.stderr


@pytest.mark.parametrize(
    ("options", "placement", "in_loss"),
    [
        ([], "human", False),
        (["--train-on", "all"], "human", True),
        (["--train-on", "all", "--for", "axolotl", "--marks", "auto"], "human", False),
        (["--train-on", "all", "--marks", "auto", "--placement", "fold"], "fold", True),
        (["--for", "trl"], "human", True),  # it trains every token, unless told otherwise
        (["--for", "trl", "--marks", "train"], "human", True),  # and reads no key of a message
        (["--for", "llama-factory", "--train-on", "all", "--marks", "train"], "fold", True),
        (["--for", "llama-factory"], "fold", False),
        (["--for", "verl", "--train-on", "all"], "human", False),  # it trains the assistant, whatever it is told
    ],
)
def test_metrics_say_whether_a_summary_is_in_the_loss(desk, options, placement, in_loss):
    ran = desk.compress("in.jsonl", "-o", "out", "--prune", "off", "--fit", "lenient", *options)
    assert ran.code == 0, ran.stderr
    rows = [(row["placement"], row["summary_in_loss"]) for row in read_metrics(desk.path("out"))]
    assert rows == [(placement, in_loss)] * 2


def test_without_a_template_that_is_known_to_llama_factory_counts_are_a_bound_and_say_so(desk):
    ran = desk.compress("in.jsonl", "-o", "out", "--for", "llama-factory")
    assert ran.code == 0, ran.stderr
    assert "upper bound" in ran.stderr
    assert all("upper bound" in row["count_note"] for row in read_metrics(desk.path("out")))
    assert "template" not in yaml.safe_load(desk.path("out/llama_factory.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LIKE_QWEN3)
def test_the_template_that_counts_is_the_one_that_llama_factory_is_told_to_train_with(desk, name):
    options = ("--for", "llama-factory", "--tokenizer", tokenizer_folder(name))
    ran = desk.compress("in.jsonl", "-o", "out", *options)
    assert ran.code == 0, ran.stderr
    assert "template: qwen3" in ran.stderr
    assert [row["count_note"] for row in read_metrics(desk.path("out"))] == [None, None]
    assert yaml.safe_load(desk.path("out/llama_factory.yaml").read_text(encoding="utf-8"))["template"] == "qwen3"
