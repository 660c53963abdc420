"""Facts that a summary leaves out are added to it: where the summary has room, else where the row has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compressing import RULES, Writer, assert_adds_up, run, words
from conftest import load_cached
from trajectories import call, read, result

from trajcompress.tokens.counter import TokenCounter
from trajcompress.trajectory import Trajectory

NEEDED = [f"src/module_{number}/parser.py" for number in range(8)]


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return TokenCounter(load_cached(None))


@pytest.fixture(scope="module")
def trajectory() -> Trajectory:
    steps = [
        message
        for number, path in enumerate(NEEDED)
        for message in (call(f"{number}"), result(f"{number}", f"{path}\n" + "nothing of note " * 80))
    ]
    ask = {"role": "user", "content": "Mend them."}
    end = {"role": "assistant", "content": f"I mended {', '.join(NEEDED)}."}
    return read([ask, call("x"), result("x"), *steps, *[end] * 4])


@pytest.mark.parametrize("size", [20, 99, 150])
def test_what_a_summary_leaves_out_is_added_where_the_row_has_room(counter, trajectory, size):
    rules = replace(RULES, target_max_tokens=1100)
    turns, row = run(counter, trajectory, Writer(lambda _: words(size)), rules)
    assert row.facts_needed == row.facts_kept > 0
    assert "Also needed later: " in turns[row.region_start_idx].text
    assert not row.still_over_limit
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_what_is_added_takes_no_row_over_its_limit(counter, trajectory):
    kept = set()
    for target in range(900, 1000, 7):
        rules = replace(RULES, target_max_tokens=target)
        turns, row = run(counter, trajectory, Writer(lambda _: words(120)), rules)
        assert not row.still_over_limit
        assert_adds_up(counter, trajectory, rules, turns, row)
        kept.add(row.facts_kept)
    assert len(kept) > 1


def test_ungrounded_they_are_counted_and_neither_asked_for_nor_added(counter, trajectory):
    writer = Writer(lambda _: words(20))
    turns, row = run(counter, trajectory, writer, replace(RULES, grounded=False))
    assert (row.facts_needed, row.facts_kept) == (6, 0)
    assert [asked.facts for asked in writer.asked] == [()]
    assert turns[row.region_start_idx].text == words(20)
