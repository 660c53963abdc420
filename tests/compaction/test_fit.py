"""``--fit strict``, and which part keeps a row over its limit."""

from __future__ import annotations

import json
import re

import pytest
from compressing import POLICY, Writer, assert_adds_up, run, words
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pruning import call
from trajectories import DIALECTS, agent_run, examples, openai, read, result

from trajcompress.compaction.assemble import assemble
from trajcompress.compaction.measure import measure
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import Protection
from trajcompress.compaction.verify import overhead
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.tool_groups import allowed_cuts
from trajcompress.transcript.trajectory import Region, Trajectory

STRICT = replace(POLICY, fit="strict")
LONG = " ".join(f"word{number}" for number in range(900))
ASK = {"role": "user", "content": "Mend it."}
SAY = {"role": "assistant", "content": "I go on with this for a while. " * 12}
MARK = re.compile(r"\n\[… [\d,]+ characters elided …\]\n")


def test_a_row_without_a_middle_fits_once_its_results_are_cut(counter: TokenCounter):
    trajectory = read([ASK, call(), result(text=LONG), call(call_id="b"), result("b", LONG)])
    assert run(counter, trajectory, policy=replace(STRICT, fit="lenient"))[1].outcome == "unchanged"
    turns, row = run(counter, trajectory, policy=STRICT)
    assert (row.outcome, row.reason, row.still_over_limit, row.turns_elided) == ("compressed", "elided", False, 2)
    assert MARK.search(turns[2].text)
    assert 900 < row.compressed_tokens <= 1000
    assert (row.summarizer, row.passes, row.turns_removed) == (None, 0, 0)
    assert_adds_up(counter, trajectory, STRICT, turns, row)


def test_the_oldest_is_cut_first_and_no_more_than_needed(counter: TokenCounter):
    trajectory = read([ASK, call(), result(text=LONG), call(call_id="b"), result("b", LONG)])
    rules = replace(STRICT, target_max_tokens=counter.count(trajectory).tokens - 200)
    turns, row = run(counter, trajectory, policy=rules)
    assert row.turns_elided == 1
    assert turns[4] is trajectory.turns[4]
    assert rules.target_max_tokens - 60 < row.compressed_tokens <= rules.target_max_tokens


@pytest.mark.parametrize("placement", ["human", "fold"])
def test_after_the_passes_kept_results_are_cut_and_never_the_summary(counter: TokenCounter, placement: str):
    steps = [
        message for number in range(6) for message in (call(call_id=f"{number}"), result(f"{number}", "ok " * 60))
    ]
    trajectory = read([ASK, call(), result(text=LONG), SAY, *steps, call(call_id="z"), result("z", LONG)])
    rules = replace(STRICT, placement=placement)
    writer = Writer(lambda _: words(60))
    turns, row = run(counter, trajectory, writer, rules)
    assert (row.outcome, row.reason, row.still_over_limit, row.placement) == (
        "compressed",
        "elided",
        False,
        placement,
    )
    assert row.region_turns > 0
    assert sum(words(60) in turn.text for turn in turns) == 1
    assert row.turns_elided == sum(bool(MARK.search(turn.text)) for turn in turns) > 0
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_with_prune_all_what_must_be_cut_anyway_is_cut_before_anything_is_summarised(counter: TokenCounter):
    steps = [
        message
        for number in range(6)
        for message in (call(call_id=f"{number}"), result(f"{number}", "ok " * 60), SAY)
    ]
    trajectory = read([ASK, call(), result(text=LONG), SAY, *steps])
    rules = replace(STRICT, clear_observations=True, target_max_tokens=1500)
    writer = Writer(lambda _: words(60))
    _, summarised = run(counter, trajectory, writer, replace(rules, clear_observations=False))
    turns, row = run(counter, trajectory, writer, rules)
    assert summarised.assistant_tokens_kept < row.assistant_tokens_kept == row.assistant_tokens_original
    assert (row.reason, row.passes, len(writer.asked), row.still_over_limit) == ("elided", 0, 1, False)
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_with_prune_all_no_more_is_summarised_than_what_cutting_leaves_too_long(counter: TokenCounter):
    steps = [message for number in range(9) for message in (call(call_id=f"{number}"), result(f"{number}"), SAY)]
    trajectory = read([ASK, call(), result(text=LONG), SAY, *steps])
    rules = replace(STRICT, clear_observations=True, target_max_tokens=1300)
    writer = Writer(lambda asked: words(asked.target_tokens // 2))
    _, all_of_it = run(counter, trajectory, writer, replace(rules, clear_observations=False))
    turns, row = run(counter, trajectory, writer, rules)
    assert (row.reason, row.turns_elided, row.still_over_limit) == ("elided", 1, False)
    assert 0 < row.region_turns < all_of_it.region_turns
    assert len(result(text=LONG)["content"]) > len(turns[2].text) > 400  # cut no more than needed
    assert_adds_up(counter, trajectory, rules, turns, row)


@pytest.mark.parametrize("max_passes", [1, 2, 3])
@pytest.mark.parametrize("times", [1, 2, 5])
def test_with_prune_all_a_model_that_writes_too_much_makes_no_row_stay_over(
    counter: TokenCounter, times: int, max_passes: int
):
    steps = [message for number in range(9) for message in (call(call_id=f"{number}"), result(f"{number}"), SAY)]
    trajectory = read([ASK, call(), result(text=LONG), SAY, *steps])
    rules = replace(STRICT, clear_observations=True, target_max_tokens=1300, summary_size=100, max_passes=max_passes)
    writer = Writer(lambda asked: words(times * asked.target_tokens))
    turns, row = run(counter, trajectory, writer, rules)
    assert (row.turns_elided, row.still_over_limit) == (1, False)
    assert len(writer.asked) <= max_passes
    assert_adds_up(counter, trajectory, rules, turns, row)


@pytest.mark.parametrize("fit", ["lenient", "strict"])
def test_a_row_that_stays_over_loses_no_facts_besides(counter: TokenCounter, fit: str):
    steps = [
        message
        for number in range(8)
        for message in (call(call_id=f"{number}"), result(f"{number}", f"src/part_{number}.py\n" + "ok " * 60))
    ]
    told = {"role": "assistant", "content": " ".join(f"src/part_{number}.py" for number in range(8)) + " word" * 1200}
    trajectory = read([ASK, call(), result(), *steps, *[told] * 4])
    rules = replace(POLICY, fit=fit)
    turns, row = run(counter, trajectory, Writer(lambda asked: words(2 * asked.target_tokens)), rules)
    assert (row.still_over_limit, row.reason) == (True, "single_turn")
    assert row.facts_kept == row.facts_needed > 0
    assert sum("Also needed later:\n- src/part_0.py\n" in turn.text for turn in turns) == 1
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_json_stays_json_and_the_item_that_is_used_later_stays_in_its_list(counter: TokenCounter):
    text = json.dumps({"count": 300, "rows": [{"id": f"ORD-{number}", "name": "room"} for number in range(300)]})
    end = {"role": "assistant", "content": "I take ORD-150 and ORD-0."}
    trajectory = read([ASK, call(), result(text=text), end])
    turns, row = run(counter, trajectory, policy=STRICT)
    data = json.loads(turns[2].text)
    assert data["count"] == 300
    assert {"id": "ORD-150", "name": "room"} in data["rows"]
    gone = [int(item.split()[1]) for item in data["rows"] if isinstance(item, str)]
    assert len(gone) == 2
    assert sum(gone) + len(data["rows"]) - len(gone) == 300
    assert (row.facts_needed, row.facts_kept) == (2, 2)


def test_the_line_that_is_needed_later_stays_where_it_stands(counter: TokenCounter):
    text = f"{LONG}\n[17] button 'Add ORD-150 to cart'\n{LONG}"
    end = {"role": "assistant", "content": "I take ORD-150."}
    trajectory = read([ASK, call(), result(text=text), end])
    turns, row = run(counter, trajectory, policy=STRICT)
    mark = r"\n\[… [\d,]+ characters elided …\]\n"
    assert re.search(rf"{mark}\[17\] button 'Add ORD-150 to cart'{mark}", turns[2].text)
    assert (row.reason, row.still_over_limit) == ("elided", False)
    assert (row.facts_needed, row.facts_kept) == (1, 1)
    assert_adds_up(counter, trajectory, STRICT, turns, row)


def test_of_a_tree_of_folders_that_one_stays_in_which_the_file_is_that_is_opened_next(counter: TokenCounter):
    names = "\n".join(f"module_{number}.py" for number in range(12))
    listed = "\n\n".join(f"/src/app{number}/views:\ndebug.py\n{names}" for number in range(40))
    opens = {**call("view", "b", path="/src/app23/views/debug.py"), "content": "The view is in its debug module."}
    ended = (opens, result("b", "a view"), {"role": "assistant", "content": "Done."})
    row = read(
        [{"role": "user", "content": "Mend the view."}, call("ls", "a", path="/src"), result("a", listed), *ended]
    )
    rules = replace(POLICY, target_max_tokens=counter.count(row).tokens // 3, fit="strict")
    turns, _ = run(counter, row, Writer(lambda _: words(5)), rules)
    assert turns is not None
    assert "/src/app23/views:\ndebug.py\n" in turns[2].text
    assert len(turns[2].text) < len(listed) / 2


def test_what_stands_behind_an_escaped_line_end_stays_and_is_not_named_as_cut(counter: TokenCounter):
    rows = "".join(f"\\\\nG{number}0{number} 06:{number:02} -> 12:{number:02}, 2 seats" for number in range(10, 100))
    text = f"content=[Text('{rows}')]"
    end = {"role": "assistant", "content": "Take G10010 at 06:10, or G99099 at 06:99."}
    turns, row = run(counter, read([ASK, call(), result(text=text), end]), policy=STRICT)
    assert row.reason == "elided"
    assert "\\nG99099 06:99" in turns[2].text
    assert not re.search(r"elided, with [^\n]*G99099", turns[2].text)


def test_a_secret_that_is_cut_is_not_named(counter: TokenCounter):
    password = "Zq7vKp2mNx9wLr4t"
    text = f"{LONG} DB_PASSWORD={password} ORD-150 {LONG}"
    end = {"role": "assistant", "content": f"I use {password} for ORD-150."}
    turns, row = run(counter, read([ASK, call(), result(text=text), end]), policy=STRICT)
    assert re.search(r"elided, with [^\n]*ORD-150 [^\n]* …\]\n", turns[2].text)
    assert password not in turns[2].text
    assert (row.facts_needed, row.facts_kept) == (2, 1)


def test_a_row_that_fits_only_without_names_has_none(counter: TokenCounter):
    numbers = [f"src/part_{number}/module_{number}.py" for number in range(60)]
    end = {"role": "assistant", "content": " and ".join(numbers)}
    trajectory = read([ASK, call(), result(text=f"{LONG} {' '.join(numbers)} {LONG}"), end])
    least = counter.count(replace(trajectory, turns=(*trajectory.turns[:2], trajectory.turns[3]))).tokens + 300
    rules = replace(STRICT, target_max_tokens=least)
    turns, row = run(counter, trajectory, policy=rules)
    assert MARK.search(turns[2].text)
    assert (row.reason, row.still_over_limit) == ("elided", False)
    assert row.facts_kept < row.facts_needed
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_what_does_not_help_is_not_done(counter: TokenCounter):
    long_answer = {"role": "assistant", "content": "please " * 1500}
    trajectory = read([ASK, call(), result(text=LONG), long_answer])
    turns, row = run(counter, trajectory, policy=STRICT)
    assert turns is None
    assert (row.outcome, row.reason, row.turns_elided) == ("unchanged", "single_turn", 0)
    assert_adds_up(counter, trajectory, STRICT, turns, row)


def test_no_word_of_the_user_or_the_assistant_is_cut(counter: TokenCounter):
    last = {"role": "user", "content": f"<tool_response>{LONG}</tool_response>\nAnd then?"}
    trajectory = read([ASK, SAY, last])
    assert run(counter, trajectory, policy=STRICT)[1].reason == "single_turn"


# Which part keeps it over

_talk = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.integers(1, 120)), min_size=1, max_size=9)
_trajectories = st.one_of(
    examples(max_steps=6, max_words=60).map(lambda example: example.trajectory),
    _talk.map(lambda turns: openai(*((role, "word " * size) for role, size in turns))),
)
_rules = st.builds(
    Policy,
    target_max_tokens=st.integers(20, 500),
    summary_size=st.just(40),
    protection=st.builds(
        Protection,
        first_gpt=st.booleans(),
        first_tool=st.booleans(),
        last_n_turns=st.integers(0, 3),
        tail_tokens=st.none() | st.integers(1, 200),
    ),
    clear_observations=st.booleans(),
    max_passes=st.just(9),
)
SUMMARY = SUMMARY_PREFIX + " word" * 35  # as long as allowed: 40 tokens


@settings(max_examples=150, deadline=None)
@given(_trajectories, _rules)
def test_of_a_row_that_stays_over_no_region_would_have_fit_and_its_cause_is_one(
    counter: TokenCounter, trajectory: Trajectory, rules: Policy
):
    turns, row = run(counter, trajectory, Writer(lambda _: SUMMARY), rules)
    assert_adds_up(counter, trajectory, rules, turns, row)
    if not row.still_over_limit:
        return
    measured = measure(trajectory, counter.count(trajectory), counter, rules)
    middle, sizes, target = measured.layout.middle, measured.sizes, rules.target_max_tokens
    assert (row.head_tokens, row.tail_tokens) == (sum(sizes[: middle.start]), sum(sizes[middle.end :]))
    assert all(over_with(counter, trajectory, region, rules) for region in regions_of(trajectory, middle))
    protected = (*sizes[: middle.start], *sizes[middle.end :])
    outside = row.original_tokens - sum(sizes)
    confirmed = {
        "single_turn": max(protected, default=0) + outside > target,
        "tools_schema": outside >= max(row.head_tokens, row.tail_tokens),
        "head": row.head_tokens >= max(row.tail_tokens, outside),
        "tail": row.tail_tokens >= max(row.head_tokens, outside),
        "no_middle": not len(middle),
        "region_not_larger_than_summary": sum(protected) + outside <= target < sum(protected) + outside + 40,
        "summary": sum(protected) + outside + 40 <= target or not sum(protected) + outside,
        "summary_saves_nothing": sum(protected) + outside <= target,
    }
    assert confirmed[row.reason]
    if row.reason in {"single_turn", "tools_schema", "head", "tail", "no_middle"}:
        least = 40 + overhead(measured, rules) if len(middle) else 0
        assert sum(protected) + outside + least > target


def regions_of(trajectory: Trajectory, middle: Region) -> list[Region]:
    cuts = allowed_cuts(trajectory.turns)
    ends = [index for index in range(middle.start, middle.end + 1) if cuts[index]]
    return [Region(start, end) for start in ends for end in ends if start < end]


def over_with(counter: TokenCounter, trajectory: Trajectory, region: Region, rules: Policy) -> bool:
    made = assemble(trajectory, region, SUMMARY, rules)
    return counter.count(replace(trajectory, turns=made.turns)).tokens > rules.target_max_tokens


_agents = st.builds(agent_run, st.integers(1, 6), st.sampled_from(DIALECTS), st.integers(100, 400))


@settings(max_examples=100, deadline=None)
@given(_agents, _rules, st.integers(500, 3000))
@example(
    agent_run(2, "sharegpt_tags", 131),
    Policy(20, 40, protection=Protection(first_gpt=False, first_tool=False, last_n_turns=0, tail_tokens=1)),
    1099,
)
@example(  # fits once its observations are cleared, so it has no summary
    agent_run(6, "sharegpt", 195),
    Policy(20, 40, protection=Protection(first_gpt=False), clear_observations=True, max_passes=9),
    2221,
)
def test_with_strict_a_row_is_over_only_where_nothing_helps(
    counter: TokenCounter, trajectory: Trajectory, rules: Policy, target: int
):
    rules = replace(rules, target_max_tokens=target)
    strict = replace(rules, fit="strict")
    lenient = run(counter, trajectory, Writer(lambda _: SUMMARY), rules)[1]
    turns, row = run(counter, trajectory, Writer(lambda _: SUMMARY), strict)
    assert_adds_up(counter, trajectory, strict, turns, row)
    assert row.still_over_limit <= lenient.still_over_limit
    assert row.reason != "elided" or row.turns_elided > 0
    event(f"{row.outcome} {row.reason}")
    is_trimmed = lenient.summary_tokens is not None and lenient.summary_tokens < rules.summary_size
    if is_trimmed and not rules.clear_observations:  # strict leaves a summary whole where a result can be cut
        assert row.turns_elided or row == lenient
    elif not lenient.still_over_limit and not rules.clear_observations:
        assert row == lenient


def test_of_json_that_would_lose_what_is_used_the_line_is_left_and_of_a_text_what_the_cut_keeps(
    counter: TokenCounter,
):
    fields = {f"field{number}": f"{number * 7919 % 100000}.{number:03}" for number in range(300)}
    end = {
        "role": "assistant",
        "content": "Of them " + ", ".join(fields[f"field{number}"] for number in range(20, 280, 5)) + " matter.",
    }
    rules = replace(STRICT, target_max_tokens=2_400)
    wrapped = f"meta=None content=[TextContent(type='text', text={json.dumps(fields)!r}, annotations=None)]"
    turns, row = run(counter, read([ASK, call(), result(text=wrapped), end]), policy=rules)
    assert (row.reason, row.turns_elided, row.still_over_limit) == ("elided", 1, False)
    assert turns[2].text.startswith("[read_file → ")
    assert all(f"field{number}={fields[f'field{number}']}" in turns[2].text for number in range(20, 280, 5))
    assert "field21=" not in turns[2].text
    listed = "\n".join(f"{name} {value}" for name, value in fields.items())
    turns, row = run(counter, read([ASK, call(), result(text=2 * listed), end]), policy=rules)
    assert turns[2].text.startswith("field0 0.000\n")
    assert " characters elided" in turns[2].text
