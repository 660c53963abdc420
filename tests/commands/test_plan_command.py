"""``plan`` as a user meets it: it says beforehand what ``compress`` then does, and leaves nothing behind."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from commands import conversation, make_desk, run_command, run_here, run_on_terminal
from loopback import LoopbackServer
from loopback_replies import obedient, saying, some_words
from shared import HAS_SHARED, tokenizer_folder

ROOT = Path(__file__).resolve().parents[2]
DECIDED_BEFORE = ("skipped_under_target", "compressed", "unchanged", "failed", "rejected")


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    desk = make_desk(tmp_path, make_tokenizer)
    rows = [conversation(0), conversation(1, 2), conversation(2, sharegpt=True), conversation(3, 30)]
    giant = [{"role": "user", "content": "Say it."}, {"role": "assistant", "content": "word " * 4000}]
    desk.write("a.jsonl", [*rows, {"messages": 7}, {"messages": giant}])
    return desk


def plan(desk, *arguments, **others):
    options = ("--tokenizer", desk.tokenizer, "--summary-target-tokens", "300")
    return run_here("plan", "a.jsonl", *options, *arguments, cwd=desk.folder, **others)


def figures(desk, *arguments):
    ran = plan(desk, "--target-max-tokens", "2000", "--json", *arguments)
    assert ran.code == 0, ran.stderr
    return ran.json


def test_it_foretells_what_compress_does_and_writes_nothing(desk):
    before = sorted(desk.folder.rglob("*"))
    planned = figures(desk)["targets"][0]
    assert sorted(desk.folder.rglob("*")) == before
    done = desk.compress("a.jsonl", "-o", "out", "--json").json
    for key in (*DECIDED_BEFORE, "rows", "still_over_limit", "reasons", "original_tokens"):
        assert planned[key] == done[key], key
    assert planned["expected_tokens"] == pytest.approx(done["compressed_tokens"], rel=0.02)
    assert planned["requests"]["calls"] == done["compressed"]
    assert planned["causes"].items() <= done["reasons"].items()
    assert sum(planned["causes"].values()) == done["still_over_limit"] > 0


def test_rows_that_cannot_be_read_are_explained(desk):
    told = plan(desk, "--sweep", "2000,3000").stdout.splitlines()
    at = told.index("Rows that cannot be read (trajcompress check names each):")
    why = "what should be its messages is no list; name another --messages-field"
    assert told[at + 1] == f"  1 × messages_not_a_list: {why}"


SAME = ["--min-tokens 800", "--no-save-over-limit", "--last-n-turns 1000", "--placement fold", "--for mistral"]


@pytest.mark.parametrize("more", [option.split() for option in SAME])
def test_the_same_options_mean_the_same(desk, more):
    planned = figures(desk, *more)["targets"][0]
    done = desk.compress("a.jsonl", "-o", "out", "--json", "--output-format", "jsonl", *more).json
    written = [line for part in desk.path("out").glob("data/*") for line in part.read_text().splitlines()]
    assert planned["in_dataset"] == len(written)
    for key in (*DECIDED_BEFORE, "reasons"):
        assert planned[key] == done[key], key


def test_a_sweep_is_one_plan_for_each_target(desk):
    swept = plan(desk, "--sweep", "4000,1000,2000,1000", "--json").json
    assert [target["target_max_tokens"] for target in swept["targets"]] == [1000, 2000, 4000]
    for target in swept["targets"]:
        alone = plan(desk, "--target-max-tokens", str(target["target_max_tokens"]), "--json").json
        assert target == alone["targets"][0]
    edges = {each["up_to"] for each in swept["lengths"]["bins"]}
    assert edges >= {1000, 2000, 4000}


def test_what_limits_the_time_is_said_once_below_the_table(desk):
    told = plan(desk, "--sweep", "4000,1000,2000", "--model", "m").stdout
    assert told.count("limited by") == 1
    assert "\nTime is limited by calls at once.\n" in told
    assert max(map(len, told.partition("\n\nTime")[0].splitlines())) <= 100


@pytest.mark.parametrize("sweep", ["", "1000,", "many", "1000;2000"])
def test_a_sweep_that_is_none(desk, sweep):
    ran = plan(desk, "--sweep", sweep)
    assert ran.code == 2
    assert "--sweep" in ran.stderr
    assert "8000,16000" in ran.stderr


def test_wrong_usage_is_one_line(desk):
    ran = plan(desk, "--sweep", "1000,2000", "--target-max-tokens", "1000")
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    ran = run_here("plan", cwd=desk.folder)
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    ran = plan(desk, "--sweep", "100,2000")
    assert ran.code == 2, "a summary of 300 tokens does not fit into 100"
    ran = plan(desk, "--price-in", "1")
    assert (ran.code, "--price-out" in ran.stderr) == (2, True)


def test_prices_by_option_by_table_and_unknown(desk):
    cost = figures(desk, "--price-in", "2", "--price-out", "8")["targets"][0]["requests"]
    low = (2 * cost["prompt_tokens"] + 8 * cost["completion_tokens"]["low"]) / 1e6
    assert cost["cost_usd"]["low"] == pytest.approx(low)
    assert cost["cost_usd"]["high"] > low
    batched = figures(desk, "--price-in", "2", "--price-out", "8", "--batch")["targets"][0]["requests"]
    assert batched["cost_usd"]["high"] == pytest.approx(cost["cost_usd"]["high"] / 2)
    listed = figures(desk, "--model", "gpt-5-mini")
    assert listed["price"] == {"in": 0.25, "out": 2.0}
    unknown = figures(desk, "--model", "mine")
    assert unknown["price"] is unknown["targets"][0]["requests"]["cost_usd"] is None
    assert "--price-in" in plan(desk, "--model", "mine", "--target-max-tokens", "2000").stdout


MODEL = ("--model", "loopback", "--price-in", "2", "--price-out", "8", "--prune", "off", "--fit", "lenient")


def first_tries_fail(failures, reply):
    """Give such a reply so often for each row, which is known by the number of its build, then answer."""
    tries = Counter()

    def script(seen):
        (row,) = set(re.findall(r"of build (\d+) next", seen.text))
        tries[row] += 1
        return reply if tries[row] <= failures else obedient(seen)

    return script


@pytest.mark.parametrize(
    ("failures", "reply"),
    [
        (0, None),
        (1, saying("I'm sorry, but I can't help with that request.")),
        (1, saying("word " * 3000, "length")),
        (2, saying(some_words(1500), "length")),
    ],
    ids=["obedient", "refused", "cut-off", "cut-off-twice"],
)
def test_no_model_that_needs_its_second_and_third_tries_takes_more_than_the_most(desk, failures, reply):
    desk.write("a.jsonl", [conversation(number, 12 + 6 * (number % 3)) for number in range(6)])
    with LoopbackServer(first_tries_fail(failures, reply)) as server:
        options = (*MODEL, "--base-url", server.base_url)
        target = figures(desk, *options, "--max-retries", "8")["targets"][0]["requests"]
        assert server.seen == [], "a plan calls nobody"
        ran = desk.compress("a.jsonl", "-o", "out", "--json", *options, env={"OPENAI_API_KEY": "sk-test"})
        done = ran.json
        assert done["summarization_api_calls"] == len(server.seen)
    assert done["failed"] == 0, ran.stderr
    assert done["summarization_api_calls"] >= target["calls"] * (1 + failures)
    assert done["summarization_api_calls"] <= target["most"]["calls"]
    assert done["prompt_tokens"] <= target["most"]["prompt_tokens"]
    assert done["completion_tokens"] <= target["completion_tokens"]["high"]
    assert done["cost_usd"] <= target["cost_usd"]["high"]


def test_it_says_at_80_columns_what_it_says_at_120(desk):
    arguments = ("plan", "a.jsonl", "--tokenizer", desk.tokenizer, "--target-max-tokens", "2000", "--quiet", *MODEL)
    narrow, wide = (run_on_terminal(*arguments, cwd=desk.folder, columns=columns) for columns in (80, 120))
    lines = re.sub(r"\x1b\[[\d;]*m", "", narrow.stdout).splitlines()
    assert max(map(len, lines)) <= 80
    said = [re.sub(r"\x1b\[[\d;]*m|█|▏|▎|▍|▌|▋|▊|▉|\s", "", ran.stdout) for ran in (narrow, wide)]
    assert sorted(said[0]) == sorted(said[1])


def test_settings_of_all_layers_count(desk):
    desk.path("my.yaml").write_text("compression: {target_max_tokens: 2000}\nsummarization: {rpm: 2, model: m}\n")
    ran = plan(desk, "-c", "my.yaml", "--json", env={"TRAJCOMPRESS_TPM": "900"})
    target = ran.json["targets"][0]
    assert target["target_max_tokens"] == 2000
    assert target["requests"]["bound_by"] == "tpm"
    assert ran.json["tpm"] == 900
    shown = plan(desk, "-c", "my.yaml", env={"TRAJCOMPRESS_TPM": "900"}).stdout
    assert "more than --tpm 900 ever admits" in shown


def test_what_a_person_sees(desk):
    shown = run_command(
        "plan", "a.jsonl", "--tokenizer", desk.tokenizer, "--sweep", "1000,2000", "--quiet", cwd=desk.folder
    )
    assert shown.code == 0, shown.stderr
    assert shown.stderr == ""
    assert "\x1b" not in shown.stdout
    assert "◀ target 1,000" in shown.stdout
    assert "◀ target 2,000" in shown.stdout
    assert "█" in shown.stdout
    to_compress = next(line for line in shown.stdout.splitlines() if line.startswith("to compress"))
    assert to_compress.split()[2:] == ["3", "3"]


def test_on_a_terminal_there_are_colours_unless_they_are_unwanted(desk):
    arguments = ("plan", "a.jsonl", "--tokenizer", desk.tokenizer, "--target-max-tokens", "2000")
    assert "\x1b[3" in run_on_terminal(*arguments, cwd=desk.folder).stdout
    assert "\x1b[3" not in run_on_terminal(*arguments, cwd=desk.folder, env={"NO_COLOR": "1"}).stdout


def test_standard_input_and_a_limit(desk):
    row = json.dumps(conversation(0)).encode() + b"\n"
    ran = run_command(
        "plan", "-", "--tokenizer", desk.tokenizer, "--limit", "2", "--json", cwd=desk.folder, stdin=row * 3
    )
    assert ran.json["targets"][0]["rows"] == 2


@pytest.mark.parametrize("name", ["chatml", *(["qwen3"] if HAS_SHARED else [])])
def test_real_rows_of_this_repository(tmp_path, name):
    tokenizer = ("--tokenizer", str(tokenizer_folder(name)), "--target-max-tokens", "8000")
    data = str(ROOT / "data" / "code-agent-sharegpt.jsonl")
    planned = run_here("plan", data, *tokenizer, "--json", cwd=tmp_path).json["targets"][0]
    done = run_here("compress", data, *tokenizer, "-o", "out", "--json", cwd=tmp_path).json
    assert {key: planned[key] for key in DECIDED_BEFORE} == {key: done[key] for key in DECIDED_BEFORE}
    assert 0.99 * done["compressed_tokens"] <= planned["expected_tokens"] <= 1.05 * done["compressed_tokens"]


def test_rows_that_the_target_has_no_form_for_are_told(desk):
    user, said = {"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}
    desk.write("a.jsonl", [{"messages": [user, said]}, {"messages": [user]}])
    unfit = plan(desk, "--for", "mistral")
    lines = {" ".join(line.split()) for line in unfit.stdout.splitlines()}
    assert {"no form for them (form_unfit) 1", "rows in the dataset 1"} <= lines
    assert "Rows that mistral has no form for go to rejected.jsonl" in unfit.stdout
    assert "form_unfit" not in plan(desk, "--for", "trl").stdout
