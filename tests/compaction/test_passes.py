"""Summaries that are written more than once: which turns each takes, and what each is told."""

from __future__ import annotations

import pytest
from compressing import POLICY, Writer, assert_adds_up, run, words
from msgspec import structs
from trajectories import agent_run, call, read, result

from trajcompress.facts import facts_lines
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Turn


def test_a_summary_longer_than_asked_for_takes_more_of_the_middle(counter: TokenCounter):
    trajectory = agent_run(60)
    brief = run(counter, trajectory, Writer(lambda asked: words(50) + facts_lines(asked.facts)))[1]
    turns, row = run(counter, trajectory, Writer(lambda _: words(400)))
    assert (brief.passes, row.passes, row.summarization_api_calls) == (1, 3, 3)
    assert row.region_end_idx > brief.region_end_idx
    assert row.compressed_tokens <= 1000
    assert_adds_up(counter, trajectory, POLICY, turns, row)


@pytest.mark.parametrize("steps", range(30, 80, 5))
def test_summaries_that_update_each_other_tell_every_turn_that_goes_once_and_in_order(
    counter: TokenCounter, steps: int
):
    results = [f"{number} " + "found " * (120 if number > steps // 2 else 1) for number in range(steps)]
    groups = (message for text in results for message in (call(), result("a", text)))
    trajectory = read([{"role": "user", "content": "go"}, *groups])
    writer = Writer(lambda _: words(400))
    rules = structs.replace(POLICY, target_max_tokens=1500, summary_size=200)
    turns, row = run(counter, trajectory, writer, rules)
    assert turns is not None
    told: list[Turn] = []
    for asked in writer.asked:
        if asked.answer is None:  # else the same is asked for once more
            told = [*(told if asked.previous else []), *asked.region]
    assert told == list(trajectory.turns[row.region_start_idx : row.region_end_idx])
    assert row.region_start_idx > 3, "the first turns are small: they stay"


def test_the_built_in_summary_takes_no_more_turns_than_what_it_needs(counter: TokenCounter):
    trajectory = agent_run(80)
    rules = structs.replace(POLICY, target_max_tokens=2500, summary_size=900)
    turns, row = run(counter, trajectory, None, rules)
    once = run(counter, trajectory, None, structs.replace(rules, max_passes=1))[1]
    assert (once.passes, row.passes) == (1, 2)
    assert once.compressed_tokens < row.compressed_tokens <= 2500
    assert once.region_turns > row.region_turns
    assert once.assistant_tokens_kept < row.assistant_tokens_kept
    assert_adds_up(counter, trajectory, rules, turns, row)
