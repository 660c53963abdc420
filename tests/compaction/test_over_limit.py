"""Which part keeps a row over its limit with ``--fit strict``, confirmed by trying everything on small rows."""

from __future__ import annotations

import pytest
from compressing import Writer, run, words
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from test_fit import _agents, _rules, _trajectories, regions_of
from trajectories import openai

from trajcompress.compaction.assemble import assemble
from trajcompress.compaction.measure import measure
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import Protection
from trajcompress.compaction.text import elide_results
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory

ANYTHING = 10**9  # tokens to be cut: more than there are
ROOM = 40


@pytest.fixture(scope="module")
def summary(counter: TokenCounter) -> str:
    """A summary that is as long as allowed."""
    text = next(words(count) for count in range(ROOM) if counter.count_text(words(count)) == ROOM)
    assert counter.count_text(text) == ROOM
    return text


@settings(max_examples=100, deadline=None)
@given(_trajectories | _agents, _rules, st.integers(20, 3000))
def test_no_region_and_no_cut_would_have_helped_a_row_that_strict_leaves_over(
    counter: TokenCounter, summary: str, trajectory: Trajectory, rules: Policy, target: int
):
    rules = replace(rules, target_max_tokens=target, fit="strict")
    _, row = run(counter, trajectory, Writer(lambda _: summary), rules)
    if not row.still_over_limit:
        return
    middle = measure(trajectory, counter.count(trajectory), counter, rules).layout.middle
    everything = range(len(trajectory.turns))
    cut = replace(trajectory, turns=elide_results(trajectory.turns, everything, ANYTHING, counter.count_text))
    made = [assemble(cut, region, summary, rules).turns for region in regions_of(trajectory, middle)]
    assert all(counter.count(replace(cut, turns=turns)).tokens > target for turns in (cut.turns, *made))


def test_where_nothing_is_protected_no_part_is_to_blame(counter: TokenCounter, summary: str):
    rules = Policy(target_max_tokens=35, summary_size=ROOM, protection=Protection(first_gpt=False, last_n_turns=0))
    _, row = run(counter, openai(("assistant", "word " * 35)), Writer(lambda _: summary), rules)
    assert (row.reason, row.head_tokens, row.tail_tokens) == ("region_not_larger_than_summary", 0, 0)
