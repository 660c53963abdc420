"""Compressing our own output again: the earlier summary is recognised and updated, and never stacked upon."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest
from compressing import POLICY, Writer, assert_adds_up, run, words
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from shared import HAS_SHARED, OWN, SHARED, load_cached
from trajectories import agent_run, examples, openai, sharegpt

from trajcompress.compaction.previous_summary import find_previous
from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import RowError
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.transcript.summary_marks import SUMMARY_END, SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Trajectory

SUMMARY = f"{SUMMARY_PREFIX}\nGoal:\n- fix it"
BLOCK = f"{SUMMARY}\n{SUMMARY_END}"
NOTICE = "Earlier turns were summarised."


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return TokenCounter(load_tokenizer())


def again(trajectory: Trajectory, turns) -> Trajectory:
    """Read what was made of a row as the next run would."""
    if turns is None:
        return trajectory
    row = json.loads(json.dumps(replace_turns(trajectory, turns)))
    return read_trajectory(row, "row:0", FormatOptions())


def markers(trajectory: Trajectory) -> int:
    return json.dumps([turn.raw for turn in trajectory.turns]).count(SUMMARY_PREFIX)


def test_a_user_turn_that_starts_with_the_prefix_is_a_summary():
    found = find_previous(openai(("user", "go"), ("user", SUMMARY), ("assistant", "ok")).turns)
    assert (found.text, found.index, found.seam, found.own_turn) == (SUMMARY, 1, 1, True)
    assert [turn.text for turn in found.turns] == ["go", "ok"]


@pytest.mark.parametrize("content", ["Now the rest.", [{"type": "text", "text": "Now the rest."}]])
def test_a_summary_before_the_users_words_is_taken_off_and_the_words_are_as_they_were(content):
    parts = [{"type": "text", "text": f"{BLOCK}\n\n"}]
    folded = f"{BLOCK}\n\n{content}" if isinstance(content, str) else parts + content
    found = find_previous(openai(("user", "go"), ("assistant", "ok"), ("user", folded)).turns)
    assert (found.text, found.index, found.seam, found.own_turn) == (SUMMARY, 2, 2, False)
    assert found.turns[2].raw == {"role": "user", "content": content}


@pytest.mark.parametrize("role", ["user", "tool"])
def test_a_summary_behind_a_turn_is_taken_off(role):
    found = find_previous(openai(("assistant", "x"), (role, f"a.txt\n\n{BLOCK}"), ("assistant", "ok")).turns)
    assert (found.text, found.index, found.seam) == (SUMMARY, 1, 2)
    assert found.turns[1].text == "a.txt"


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("user", f"What does {SUMMARY_PREFIX} mean?"),
        ("user", f"It printed this:\n\n{BLOCK}\n\nWhy?"),
        ("user", f"It printed this:\n\n{SUMMARY}"),
        ("tool", f"{BLOCK}\n\nand more"),
        ("tool", SUMMARY),
        ("assistant", SUMMARY),
        ("assistant", f"x\n\n{BLOCK}"),
        ("system", BLOCK),
    ],
)
def test_what_quotes_a_summary_is_none(role, text):
    assert find_previous(openai(("user", "go"), (role, text), ("assistant", "ok")).turns) is None


@pytest.mark.parametrize(
    ("place", "last"),
    [(1, 4), (-1, 4), (-1, 1), (-3, 4)],
    ids=["the request", "the last turn", "alone", "in the tail"],
)
def test_what_protected_turns_say_is_no_summary_whatever_they_quote(counter: TokenCounter, place: int, last: int):
    chat = [("user", words(60).removeprefix(SUMMARY_PREFIX)), ("assistant", "word " * 60)] * 12
    said = [("system", "Be brief."), ("user", "go"), ("assistant", "ok"), *chat, ("user", "and this")]
    quoting = f"{SUMMARY_PREFIX} is a marker that I saw, what is it?"
    said[place] = ("user", quoting)
    rules = structs.replace(POLICY, protection=structs.replace(POLICY.protection, last_n_turns=last))
    turns, row = run(counter, openai(*said), policy=rules)
    assert row.was_compressed
    assert sum(turn.text.startswith(quoting) for turn in turns) == 1
    assert [turn.text for turn in turns[-last:]][-3:] == [text for _, text in said[-last:]][-3:]


def test_the_recorded_turn_goes_before_others_and_a_wrong_record_does_not_matter():
    turns = sharegpt(("human", SUMMARY), ("gpt", "ok"), ("human", f"{SUMMARY} two"), ("gpt", "ok")).turns
    assert find_previous(turns).index == 0
    assert find_previous(turns, 2).index == 2
    assert find_previous(turns, 1).index == find_previous(turns, 99).index == 0


def test_the_summary_goes_in_as_state_and_what_it_told_is_needed_still(counter: TokenCounter):
    trajectory = agent_run(40)
    first = again(trajectory, run(counter, trajectory, Writer(lambda _: f"{SUMMARY} in src/parser/lexer.py"))[0])
    last = {"role": "assistant", "content": "I mended src/parser/lexer.py as said."}
    longer = structs.replace(first, turns=(*first.turns, *openai(("assistant", last["content"])).turns))
    writer = Writer(lambda _: words(20))
    turns, row = run(counter, longer, writer, structs.replace(POLICY, target_max_tokens=600))
    asked, again_asked = writer.asked
    assert again_asked == replace(asked, answer=words(20))  # it left out what it was told to keep
    assert asked.previous == f"{SUMMARY} in src/parser/lexer.py"
    assert all(not turn.text.startswith(SUMMARY_PREFIX) for turn in (*asked.head, *asked.region))
    assert "src/parser/lexer.py" in asked.facts
    old = next(i for i, turn in enumerate(longer.turns) if turn.text.startswith(SUMMARY_PREFIX))
    assert row.region_start_idx <= old < row.region_end_idx
    assert longer.turns[row.region_end_idx :] == turns[-(len(longer.turns) - row.region_end_idx) :]
    assert_adds_up(counter, longer, structs.replace(POLICY, target_max_tokens=600), turns, row)


def test_a_smaller_summary_is_asked_for_where_nothing_else_is_left(counter: TokenCounter):
    trajectory = openai(("user", "go"), ("user", words(800)), *[("assistant", "word " * 60)] * 4)
    writer = Writer(lambda _: words(50))
    turns, row = run(counter, trajectory, writer)
    assert (row.outcome, row.compressed_tokens <= 1000, row.region_turns) == ("compressed", True, 1)
    assert (writer.asked[0].region, writer.asked[0].previous) == ((), words(800))
    assert_adds_up(counter, trajectory, POLICY, turns, row)


def test_a_summary_with_which_a_longer_tail_begins_is_updated_and_no_other_put_before_it(counter: TokenCounter):
    summary, end = ("user", f"{SUMMARY} of what was done"), [("assistant", "word " * 20), ("user", "Go on.")] * 2
    row = openai(("user", "go"), *[("assistant", "word " * 300)] * 3, summary, *end)
    rules = structs.replace(POLICY, target_max_tokens=700)
    rules = structs.replace(rules, protection=structs.replace(rules.protection, last_n_turns=5))
    turns, metrics = run(counter, row, Writer(lambda _: words(30)), rules)
    assert metrics.was_compressed
    assert sum(turn.text.count(SUMMARY_PREFIX) for turn in turns) == 1
    assert not any(summary[1] in turn.text for turn in turns)


@given(example=examples(max_words=30), first=st.integers(60, 900), less=st.integers(0, 800), last=st.integers(0, 5))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_row_has_one_summary_however_often_it_is_compressed(counter: TokenCounter, example, first, less, last):
    rules = structs.replace(POLICY, target_max_tokens=first, summary_size=40, notice=NOTICE)
    turns, row = run(counter, example.trajectory, policy=rules)
    once = again(example.trajectory, turns)
    same, second = run(counter, once, policy=rules)
    assert second.compressed_tokens <= row.compressed_tokens
    assert same is None or row.still_over_limit
    smaller = structs.replace(rules, target_max_tokens=max(first - less, 1))
    smaller = structs.replace(smaller, protection=structs.replace(rules.protection, last_n_turns=last))
    made, third = run(counter, once, policy=smaller)
    assert_adds_up(counter, once, smaller, made, third)
    for after in (again(once, same), again(once, made)):
        assert markers(after) <= 1
        assert markers(after) >= markers(once)
        assert sum(turn.text.count(NOTICE) for turn in after.turns) <= 1


@cache
def real_rows() -> list[dict]:
    found = []
    for source in find_sources([str(OWN), *([str(SHARED / "data")] if HAS_SHARED else [])]):
        rows = [row.value for row in read_rows(source) if isinstance(row, Row)]
        found += [row for row in rows if len(json.dumps(row, default=str)) > 40_000][:4]
    return found


def test_real_rows_are_compressed_again_to_the_same_and_to_half_with_one_summary_each():
    counter = TokenCounter(load_cached("qwen3" if HAS_SHARED else "chatml"))
    rules = structs.replace(POLICY, target_max_tokens=8000, summary_size=750, notice=NOTICE)
    updated = 0
    for row in real_rows():
        try:
            trajectory = read_trajectory(row, "row:0", FormatOptions())
        except RowError:
            continue
        assert markers(trajectory) == 0
        turns, first = run(counter, trajectory, policy=rules)
        once = again(trajectory, turns)
        assert run(counter, once, policy=rules)[0] is None or first.reason == "passes_used_up"
        made, third = run(counter, once, policy=structs.replace(rules, target_max_tokens=4000))
        assert markers(again(once, made)) == (first.was_compressed or third.was_compressed)
        updated += first.was_compressed and third.was_compressed
    assert updated > 5
