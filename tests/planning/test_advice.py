"""What helps a row that stays over its limit: only what bears on it, and what is said to help does."""

from __future__ import annotations

import re

import commands
import pytest
from commands import conversation, run_here

from trajcompress.metrics.remedies import largest_turn, remedies
from trajcompress.metrics.row import RowMetrics


def row(**columns):
    base = {"outcome": "unchanged", "still_over_limit": True, "original_turns": 20, "compressed_tokens": 10_000}
    turn = {"largest_turn": 3, "largest_turn_role": "tool", "largest_turn_tokens": 8_000, "observations": 5}
    return RowMetrics("a.jsonl", 0, **{**base, **turn, "head_tokens": 8_500, "tail_tokens": 500, **columns})


LENIENT = {"compression.fit": "lenient", "compression.prune": "off"}


def words(metrics, settings=LENIENT):
    return [remedy.words for remedy in remedies(metrics, settings)]


def test_the_largest_turn_in_words():
    assert str(largest_turn(row())) == "turn 3, tool, 8,000 tokens (80%)"
    assert largest_turn(row(largest_turn=None)) is None


def test_a_large_result_at_the_start():
    assert words(row(reason="head")) == [
        "--fit strict",
        "--prune all",
        "first_tool: false in protected_turns of the YAML",
        "a shorter turn 3 in the input",
    ]


def test_where_a_summary_may_be_longer_than_what_it_replaces_a_shorter_one_is_advised():
    shorter, larger = "--summary-target-tokens 250", row(reason="head", compressed_tokens=9_800)  # 800 in the middle
    assert shorter in words(row(reason="head", compressed_tokens=9_700))
    assert shorter in words(row(reason="tail", compressed_tokens=9_700))
    assert shorter not in words(larger)
    assert "--summary-target-tokens 300" in words(larger, LENIENT | {"compression.summary_target_tokens": 900})
    assert shorter not in words(row(reason="head", compressed_tokens=9_200)), "nor is that much there"
    assert shorter not in words(row(reason="head", compressed_tokens=9_700, summarizer="extractive"))
    auto = LENIENT | {"compression.summary_target_tokens": "auto"}
    assert not any("summary" in each for each in words(row(reason="head", compressed_tokens=9_700), auto))


def test_what_is_in_force_is_not_advised():
    assert words(row(reason="head"), {"protected_turns.first_tool": False}) == ["a shorter turn 3 in the input"]


def test_where_a_turn_that_stays_is_over_the_target_alone_protecting_less_is_not_advised():
    system = {"largest_turn": 0, "largest_turn_role": "system", "reason": "single_turn", "tail_tokens": 3_000}
    target = {**LENIENT, "compression.target_max_tokens": 7_000}
    alone, shorter = words(row(**system), target)
    assert alone == "one turn alone is over the target, whatever else is protected: --target-max-tokens 10000"
    assert shorter == "a shorter turn 0 in the input"
    assert "--last-n-turns 1" in words(row(**system), {**target, "compression.target_max_tokens": 9_000})
    last = {"largest_turn": 19, "reason": "single_turn", "head_tokens": 100, "tail_tokens": 9_000}
    assert words(row(**last, largest_turn_role="assistant"), target)[0] == alone
    assert "--fit strict" in words(row(**last), target)
    assert words(row(**last), {"compression.target_max_tokens": 7_000})[0] == alone
    assert "--last-n-turns 1" in words(row(**{**last, "largest_turn": 18}, largest_turn_role="assistant"), target)


def test_where_the_first_turns_are_over_the_target_the_last_alone_are_not_advised():
    head = row(largest_turn=0, largest_turn_role="system", reason="head", tail_tokens=3_000)
    first = "first_tool, first_gpt, first_human: false in protected_turns of the YAML"
    found = words(head, {"compression.target_max_tokens": 8_200})
    assert found[:2] == [first, f"{first} with --last-n-turns 1"]
    assert "--last-n-turns 1" not in found


def test_a_large_turn_among_the_last_protects_those_behind_it_alone():
    last = row(reason="tail", largest_turn=17, head_tokens=500, tail_tokens=9_000, largest_turn_role="user")
    assert "--last-n-turns 2" in words(last)
    assert not any("first_" in each for each in words(last)), "it is not protected by the start"
    by_tokens = words(last, {**LENIENT, "protected_turns.tail_tokens": 8_000})
    assert "--tail-tokens 4000" in by_tokens


def test_nothing_of_a_row_bears_on_its_tool_definitions():
    assert words(row(reason="tools_schema")) == ["fewer tools, or a shorter system prompt, in the input"]
    (unfit,) = words(row(reason="form_unfit"), {"compression.target": "mistral"})
    assert "trajcompress check INPUT --for mistral" in unfit


def test_a_row_whose_summary_failed_may_fit_with_one():
    (too_long,) = words(row(outcome="failed", reason="context_length_exceeded"))
    assert too_long.startswith("--summarizer-context N")
    (refused,) = words(row(outcome="failed", reason="refused_answer"))
    assert "--retry-failed" in refused
    (of_a_minute,) = words(row(outcome="failed", reason="request_exceeds_tpm"))
    assert of_a_minute.startswith("raise --tpm")
    assert "--retry-failed" in of_a_minute
    assert "protected_turns" not in too_long + refused + of_a_minute


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    return commands.make_desk(tmp_path, make_tokenizer)


def giant(role, at=-2):
    made = conversation(0)
    turn = next(turn for turn in made["messages"][at:] if turn["role"] == role) if at else made["messages"][1]
    turn["content"] *= 60
    return made


OPTIONS = ("--prune", "off", "--fit", "lenient")


def test_plan_and_show_name_the_turn_and_what_they_say_helps_does(desk):
    protected = conversation(0)
    protected["messages"][-3]["content"] *= 60  # a tool's result, protected by its place
    desk.write("in.jsonl", [protected, conversation(1)])
    planned = run_here("plan", "in.jsonl", *desk.options[:-2], *OPTIONS, "--json", cwd=desk.folder).json
    (over,) = planned["targets"][0]["largest_over"]
    assert (over["source_row"], over["largest_turn"], over["largest_turn_role"]) == (0, 25, "tool")
    fitting = {each["words"]: each for each in over["tried"] if each["fits"]}
    assert "--fit strict" in fitting
    assert desk.compress("in.jsonl", "-o", "out", *OPTIONS).code == 0
    shown = run_here("show", "out", "0", cwd=desk.folder).stdout
    assert "largest turn" in shown
    assert "turn 25, tool, " in shown
    assert "what helps" in shown
    assert "--fit strict: it then fits, in " in " ".join(shown.split())
    for number, each in enumerate(over["tried"]):
        if "YAML" in each["words"]:
            continue
        assert desk.compress("in.jsonl", "-o", f"tried-{number}", *OPTIONS, *each["words"].split()).code == 0
        metrics = commands.read_metrics(desk.path(f"tried-{number}"))[0]
        assert metrics["still_over_limit"] is not each["fits"], each
        # A summary is planned to fill its room; where results are cut, a shorter one may leave room for a whole line.
        most = planned["targets"][0]["target_max_tokens"] if metrics["turns_elided"] else each["tokens"]
        assert metrics["compressed_tokens"] <= most, each


def test_where_each_setting_is_too_little_it_says_what_came_nearest(desk):
    long = conversation(0)
    for turn in long["messages"][:1] + long["messages"][-1:]:
        turn["content"] *= 900
    long["messages"][0]["content"] = long["messages"][0]["content"][:7_000]
    long["messages"][-1]["content"] = long["messages"][-1]["content"][:7_000]
    desk.write("in.jsonl", [long])
    ran = run_here("plan", "in.jsonl", *desk.options[:-2], *OPTIONS, cwd=desk.folder)
    assert any(line.strip().startswith("not enough: ") for line in ran.stdout.splitlines()), ran.stdout


def test_where_nothing_helps_it_says_which_target_would(desk):
    manual = conversation(0)
    manual["messages"][0]["content"] *= 900  # of the system turn, which nothing cuts
    desk.write("in.jsonl", [manual])
    ran = run_here("plan", "in.jsonl", *desk.options[:-2], *OPTIONS, cwd=desk.folder)
    lines = [line.strip() for line in ran.stdout.splitlines()]
    assert any(line.startswith("largest: turn 0, system, ") for line in lines), ran.stdout
    assert not any(line.startswith("not enough: ") for line in lines), "as each setting would be"
    (alone,) = [line for line in lines if line.startswith("one turn alone is over the target")]
    target = re.search(r"--target-max-tokens (\d+)$", alone)[1]
    more = run_here(
        "plan", "in.jsonl", *desk.options[:-2], *OPTIONS, "--target-max-tokens", target, "--json", cwd=desk.folder
    ).json
    assert more["targets"][0]["still_over_limit"] == 0
    assert "a shorter turn 0 in the input" in lines
    assert "--no-save-over-limit leaves the row out" in lines


def test_audit_names_the_turn_and_advises_by_the_rows(desk):
    protected = conversation(0)
    protected["messages"][-3]["content"] *= 60
    desk.write("in.jsonl", [protected])
    assert desk.compress("in.jsonl", "-o", "out", *OPTIONS).code == 0
    ran = run_here("audit", "out", cwd=desk.folder)
    (named,) = [line for line in ran.stdout.splitlines() if "in.jsonl:line 1" in line]
    assert "turn 25, tool, " in named
    (helps,) = [line for line in ran.stdout.splitlines() if "--fit strict" in line]
    assert "first_tool" not in helps
    assert desk.compress("in.jsonl", "-o", "strict").code == 0
    assert "Still over" not in run_here("audit", "strict", cwd=desk.folder).stdout
