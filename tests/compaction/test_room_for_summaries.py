"""``--train-summaries`` leaves room for its rows; no turn is over the budget, or cut, for the sake of that room."""

from __future__ import annotations

import pytest
from compressing import Compacted, Writer, compact, words
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from trajectories import Example, call, examples, read, result

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.segments.segment import Segment
from trajcompress.compaction.text import elide_results
from trajcompress.summarize.base import SummaryRequest
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory

POLICY = Policy(mode="segments", target_max_tokens=600, summary_size=60, fit="strict", facts="off")
TASK = {"role": "user", "content": "Mend the build, and tell me what was wrong."}
SUMMARY = 20  # words of what the writer writes
EVERYTHING = 10**9


def text(word: str, count: int) -> str:
    """So many words, of a token each."""
    return " ".join([word] * count)


def say(name: str, count: int) -> dict:
    return {"role": "assistant", "content": text(name, count)}


def segmented(
    counter: TokenCounter,
    trajectory: Trajectory,
    *,
    train: bool,
    policy: Policy = POLICY,
    summary: str = words(SUMMARY),
) -> Compacted:
    def write(request: SummaryRequest) -> str:
        return summary

    return compact(counter, trajectory, Writer(write), replace(policy, train_summaries=train))


def of_kind(done: Compacted, kind: str) -> list[Segment]:
    return [segment for segment in done.segments if segment.kind == kind]


def assert_fits(done: Compacted, target: int = POLICY.target_max_tokens) -> None:
    assert done.segments
    assert [segment.over for segment in done.segments if segment.tokens > target or segment.over] == []
    assert done.metrics.still_over_limit is False


def truncated(done: Compacted) -> set[int]:
    return {place for segment in of_kind(done, "stretch") for place in segment.truncated}


def side_by_side(name: str, count: int, words_each: int) -> list[dict]:
    """Return calls in parallel, and their results."""
    calls = [call(f"{name}-{number}") for number in range(count)]
    acting = {**calls[0], "tool_calls": [each["tool_calls"][0] for each in calls]}
    return [acting, *(result(f"{name}-{number}", text("result", words_each)) for number in range(count))]


@pytest.mark.parametrize("target", ["template", "verl", "openai"])
def test_long_results_lose_their_middle_where_they_leave_no_room_for_a_summary(counter: TokenCounter, target):
    messages = [TASK, *(each for name in "abcdef" for each in side_by_side(name, 3, 400)), say("done", 10)]
    policy = replace(POLICY, target=target, target_max_tokens=1000, summary_size=250)
    done = segmented(counter, read(messages), train=True, policy=policy)
    assert_fits(done, 1000)
    assert len(of_kind(done, "summary")) == len(of_kind(done, "stretch")) - 1


def test_what_fits_whole_stays_whole_and_is_cut_only_where_its_summary_is_taught(counter: TokenCounter):
    messages = [TASK]
    for number in range(4):
        messages += [call(f"{number}"), result(f"{number}", text("result", 460)), say("said", 20)]
    trajectory = read(messages)
    without, done = (segmented(counter, trajectory, train=train) for train in (False, True))
    assert_fits(done)
    assert truncated(done) == truncated(without) == set()
    rows = of_kind(done, "summary")
    assert len(rows) == len(of_kind(done, "stretch")) - 1
    assert any(row.truncated for row in rows)


def test_a_task_is_not_cut_for_the_sake_of_a_summary(counter: TokenCounter):
    task = {"role": "user", "content": text("task", 350)}
    done = segmented(counter, read([task, *(say("said", 150) for _ in range(6))]), train=True)
    assert_fits(done)
    assert truncated(done) == set()
    stretches = of_kind(done, "stretch")
    assert all(task["content"] in segment.composed.turns[0].text for segment in stretches)
    assert len(of_kind(done, "summary")) == len(stretches) - 1


def test_what_fits_only_before_a_summary_stands_before_it(counter: TokenCounter):
    """The room left for the summary would put the long turn behind one, where it is over."""
    policy = replace(POLICY, summary_size=150)
    trajectory = read([TASK, say("said", 20), say("long", 500), say("said", 100)])
    for train in (False, True):
        assert_fits(segmented(counter, trajectory, train=train, policy=policy, summary=words(140)))


def test_what_a_summary_tells_of_a_result_stays_in_the_row_that_teaches_it(counter: TokenCounter):
    path = "/srv/data/unit-7741.json"
    told = f"{text('first', 240)}\nwrote {path}\n{text('second', 240)}"
    messages = [TASK, call("a"), result("a", told), say("said", 10)]
    for name in "bcd":
        messages += [call(name), result(name, text("result", 440)), say("said", 10)]
    done = segmented(counter, read(messages), train=True, summary=f"{words(5)} {path} was written")
    stretch, row = done.segments[:2]
    assert (stretch.kind, stretch.truncated) == ("stretch", frozenset())
    assert (row.kind, row.truncated) == ("summary", {2})
    assert path in "".join(turn.text for turn in row.composed.turns[:-1])


def test_head_and_results_are_cut_together_where_neither_is_enough_alone(counter: TokenCounter):
    messages = [{"role": "user", "content": text("task", 400)}, call("a"), result("a", text("result", 300))]
    messages += [say("said", 240), call("b"), result("b", "short"), say("said", 60)]
    for train in (False, True):
        done = segmented(counter, read(messages), train=train)
        assert_fits(done)
        assert {0, 2} <= truncated(done)


def test_the_reason_is_one_turn_or_a_group_as_it_is(counter: TokenCounter):
    alone = [TASK, call("a"), result("a", text("result", 300)), say("said", 700), say("said", 30)]
    of_results = [TASK, say("said", 30), *side_by_side("a", 24, 300), say("said", 30)]
    answer = {**side_by_side("a", 12, 0)[0], "content": text("said", 300)}
    of_turns = [TASK, say("said", 30), answer, *side_by_side("a", 12, 300)[1:], say("said", 350)]
    for train in (False, True):
        reasons = [segmented(counter, read(row), train=train).metrics.reason for row in (alone, of_results, of_turns)]
        assert reasons == ["single_turn", "tool_group", "tool_group"]


def shortest(counter: TokenCounter, trajectory: Trajectory, segment: Segment) -> int:
    """Tokens of a segment with all its results, also those that are quoted, as short as they get."""
    turns = segment.composed.turns
    cut = elide_results(turns, range(len(turns)), EVERYTHING, counter.count_text)
    return counter.count(replace(trajectory, turns=cut)).tokens


@given(examples(max_steps=10, max_words=100), st.integers(100, 500))
@settings(max_examples=100, deadline=None)
def test_no_row_is_over_for_the_sake_of_the_rows_of_its_summaries(
    counter: TokenCounter, example: Example, target: int
):
    trajectory = example.trajectory
    policy = replace(POLICY, target_max_tokens=target, summary_size=40)
    without, done = (segmented(counter, trajectory, train=train, policy=policy) for train in (False, True))
    summary = counter.count_text(words(SUMMARY))
    over_without = any(segment.over for segment in without.segments)
    for segment in done.segments:
        assert (segment.tokens > target) == (segment.over is not None)
        if segment.over:
            assert segment.kind == "stretch"
            assert shortest(counter, trajectory, segment) > target
            assert over_without or segment.tokens - summary <= target
