"""Which chat template is rendered and counted: the tokenizer's own, one in a file, or a training template of TRL."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from shared import LIKE_QWEN3, rows_of, tokenizer_folder

from trajcompress.errors import SettingsError, TokenizerError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens.chat_template import ChatTemplate
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.tokens.trained_template import OWN, Rendering

PLAIN = "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}"
LONGER = PLAIN + " and this is how it ends"
MARKED = (
    "{% for message in messages %}<{{ message.role }}>{% if message.role == 'assistant' %}{%- generation -%}"
    "{{ message.content }}{%- endgeneration -%}{% else %}{{ message.content }}{% endif %}{% endfor %}"
)
TALK = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]
TRL = find_spec("trl")
KNOWN = Path(TRL.origin).parent / "chat_templates" if TRL and TRL.origin else Path()
TRAINING = [path for path in sorted(KNOWN.glob("*_training.jinja")) if "llava" not in path.name]  # it takes no text
wants_trl = pytest.mark.wants("trl")


def trajectory_of(row):
    return read_trajectory(row, "x", FormatOptions())


@pytest.fixture
def write(tmp_path):
    def write(text: str | bytes) -> str:
        path = tmp_path / "mine.jinja"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_a_file_stands_in_the_place_of_the_tokenizers_own(make_tokenizer, write):
    folder = make_tokenizer(PLAIN)
    loaded = load_tokenizer(folder, rendering=Rendering(chat_template=write(LONGER)))
    assert ChatTemplate(loaded.hf).render(trajectory_of({"messages": TALK})).endswith("how it ends")
    assert loaded.template_origin == "mine.jinja"
    own, same = load_tokenizer(folder), load_tokenizer(folder, rendering=Rendering(chat_template=write(PLAIN)))
    assert TokenCounter(loaded).count(trajectory_of({"messages": TALK})).tokens > (
        TokenCounter(own).count(trajectory_of({"messages": TALK})).tokens
    )
    assert own.fingerprint == same.fingerprint != loaded.fingerprint
    assert own.template_digest == same.template_digest != loaded.template_digest


def test_a_tokenizer_without_one_has_it_from_the_file(make_tokenizer, write):
    loaded = load_tokenizer(make_tokenizer(), rendering=Rendering(chat_template=write(PLAIN)))
    assert TokenCounter(loaded).count(trajectory_of({"messages": TALK})).method == "template"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "mine.jinja: empty; name a file"),
        (" \n", "mine.jinja: empty; name a file"),
        (b"\xff\xfe", "mine.jinja: not text in UTF-8"),
        ("a\n{% if x %}\nb\n{% endfro %}", "mine.jinja: line 4: .*endfro.*; mend it"),
        ("hello", "mine.jinja: it writes nothing of what is said in a conversation; mend it"),
        ("{{ raise_exception('never') }}", "mine.jinja: it refuses a conversation: never; mend it"),
    ],
)
def test_a_file_that_holds_no_template_is_refused_with_what_is_wrong(make_tokenizer, write, text, why):
    with pytest.raises(SettingsError, match=rf"tokenizer\.chat_template: .*{why}"):
        load_tokenizer(make_tokenizer(), rendering=Rendering(chat_template=write(text)))


@pytest.mark.parametrize("target", ["template", "trl", "llama-factory"])
def test_a_tokenizer_whose_own_template_is_cut_off_is_refused(make_tokenizer, write, target):
    folder = make_tokenizer("{% for message in messages %}\n{{ message.cont")
    with pytest.raises(TokenizerError) as caught:
        load_tokenizer(folder, rendering=Rendering(target))
    found = "unexpected end of template, expected 'end of print statement'; mend it there"
    assert f"its chat template (tokenizer_config.json) cannot be parsed: line 2: {found}" in str(caught.value)
    assert load_tokenizer(folder, rendering=Rendering(target, write(PLAIN))).template_origin != OWN
    Path(folder, "chat_template.jinja").write_text("{% endif %}")
    with pytest.raises(TokenizerError, match=r"\(chat_template\.jinja\) cannot be parsed: line 1: "):
        load_tokenizer(folder, rendering=Rendering(target))


def test_of_several_templates_the_one_that_cannot_be_parsed_is_named(make_tokenizer):
    folder = Path(make_tokenizer(PLAIN))
    (folder / "chat_template.jinja").write_text(PLAIN)
    (folder / "additional_chat_templates").mkdir()
    (folder / "additional_chat_templates" / "tool_use.jinja").write_text("{% if %}")
    with pytest.raises(TokenizerError, match=r"\(additional_chat_templates/tool_use\.jinja\) cannot be parsed"):
        load_tokenizer(str(folder))


def test_a_file_that_is_not_there_is_refused(make_tokenizer, tmp_path):
    for name, why in (("none.jinja", "no such file"), (".", "a folder; name the file in it")):
        with pytest.raises(SettingsError, match=why):
            load_tokenizer(make_tokenizer(), rendering=Rendering(chat_template=str(tmp_path / name)))


@pytest.mark.parametrize("target", ["template", "trl"])
def test_a_template_with_marks_is_rendered_as_it_is(make_tokenizer, target):
    loaded = load_tokenizer(make_tokenizer(MARKED), rendering=Rendering(target, assistant_only=True))
    text = ChatTemplate(loaded.hf).render(trajectory_of({"messages": TALK}))
    assert text == "<user>go<assistant>done"
    assert loaded.hf.chat_template == MARKED


def test_a_template_without_marks_tells_no_trainer_what_to_learn(make_tokenizer):
    with pytest.raises(SettingsError, match=r"compression\.assistant_only: .*holds no {% generation %} marks"):
        load_tokenizer(make_tokenizer(PLAIN), rendering=Rendering(assistant_only=True))


@pytest.mark.parametrize("target", ["axolotl", "llama-factory"])
def test_marks_mean_nothing_to_trainers_that_find_assistant_turns_by_themselves(make_tokenizer, target):
    loaded = load_tokenizer(make_tokenizer(PLAIN), rendering=Rendering(target, assistant_only=True))
    assert any("--assistant-only changes nothing" in note for note in loaded.notes)
    assert loaded.fingerprint == load_tokenizer(make_tokenizer(PLAIN), rendering=Rendering(target)).fingerprint


@wants_trl
def test_trl_refuses_a_template_that_it_does_not_know(make_tokenizer):
    with pytest.raises(SettingsError, match=r"TRL [\d.]+ has no training template .*--chat-template"):
        load_tokenizer(make_tokenizer(PLAIN), rendering=Rendering("trl", assistant_only=True))


def test_without_trl_it_says_what_to_install(make_tokenizer, monkeypatch):
    monkeypatch.setattr("trajcompress.tokens.trained_template.find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=r"pip install 'trajcompress-cli\[trl\]'"):
        load_tokenizer(make_tokenizer(PLAIN), rendering=Rendering("trl", assistant_only=True))
    load_tokenizer(make_tokenizer(PLAIN), rendering=Rendering("trl"))


@wants_trl
@pytest.mark.parametrize("training", TRAINING, ids=lambda path: path.stem)
def test_the_training_template_of_trl_is_rendered_as_transformers_renders_it(make_tokenizer, training):
    original = training.with_name(training.name.replace("_training.jinja", ".jinja"))
    folder = make_tokenizer(original.read_text(encoding="utf-8"))
    loaded = load_tokenizer(folder, rendering=Rendering("trl", assistant_only=True))
    assert loaded.template_origin.endswith(training.name)
    template = training.read_text(encoding="utf-8")
    wanted = loaded.hf.apply_chat_template(TALK, tokenize=False, chat_template=template)
    assert ChatTemplate(loaded.hf).render(trajectory_of({"messages": TALK})) == wanted


@wants_trl
@pytest.mark.parametrize("name", LIKE_QWEN3)
def test_what_the_training_template_adds_is_counted(name):
    base = KNOWN / "qwen3.jinja"
    folder = str(tokenizer_folder(name))
    plain = TokenCounter(load_tokenizer(folder, rendering=Rendering("trl", str(base))))
    training = TokenCounter(load_tokenizer(folder, rendering=Rendering("trl", str(base), assistant_only=True)))
    path = (
        rows_of("made") / "calls-openai.jsonl"
        if name == "like-qwen3"
        else rows_of("shared") / "tau-bench-airline.jsonl"
    )
    rows = [trajectory_of(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()[:10]]
    for row in rows:
        text = ChatTemplate(training.tokenizer.hf).render(row)
        assert training.count(row).tokens == len(training.tokenizer.hf(text, add_special_tokens=False).input_ids)
    assert all(training.count(row).tokens > plain.count(row).tokens for row in rows)
