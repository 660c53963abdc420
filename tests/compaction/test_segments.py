"""``--mode segments``: every assistant turn is trained once, in order, behind what it answers, within the budget."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from compressing import Compacted, Writer, compact, raising, words
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from protocols import PROTOCOLS, in_protocol
from trajectories import Example, agent_run, call, examples, read, result, results_without_call, users_in_a_row
from valid_rows import valid_messages

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import SummaryShare
from trajcompress.compaction.segments.segment import Segment
from trajcompress.errors import SummaryError
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Trajectory, Turn
from trajcompress.transcript.validity import violations

POLICY = Policy(mode="segments", target_max_tokens=400, summary_size=60, fit="strict")
TASK = {"role": "user", "content": "Mend the build, and tell me what was wrong."}
ROOMY = replace(POLICY, target_max_tokens=1000)
LONG = " ".join(f"word{number}" for number in range(900))


def segmented(
    counter: TokenCounter, trajectory: Trajectory, summarizer: Summarizer | None = None, policy: Policy = POLICY
) -> Compacted:
    return compact(counter, trajectory, summarizer or ExtractiveSummarizer(), policy)


def stretches(done: Compacted) -> list[Segment]:
    return [segment for segment in done.segments if segment.kind == "stretch"]


def said(turns: tuple[Turn, ...]) -> list[Turn]:
    return [turn for turn in turns if turn.role == "assistant"]


def assert_all_there(trajectory: Trajectory, done: Compacted) -> None:
    """Each assistant turn stands once, in order and as it was; each other turn stands, or its text does."""
    trained = [turn for segment in stretches(done) for turn in said(segment.composed.turns)]
    assert [turn.raw for turn in trained] == [turn.raw for turn in said(trajectory.turns)]
    truncated = {place for segment in done.segments for place in segment.truncated}
    written = "\n".join(turn.text for segment in done.segments for turn in segment.composed.turns)
    lost = [
        place
        for place, turn in enumerate(trajectory.turns)
        if place not in truncated and turn.role != "assistant" and turn.text not in written
    ]
    assert lost == []


@given(examples(max_steps=14, max_words=40), st.integers(60, 500))
@settings(max_examples=150, deadline=None)
def test_any_row_is_trained_once_and_in_order(counter: TokenCounter, example: Example, target: int):
    trajectory = example.trajectory
    done = segmented(counter, trajectory, policy=replace(POLICY, target_max_tokens=target, summary_size=30))
    if not done.segments:
        assert done.turns is None
        assert done.metrics.reason in {None, "head", "tools_schema", "no_assistant_turn", "template_refuses_summary"}
        assert done.metrics.reason is None or done.metrics.still_over_limit
        return
    assert_all_there(trajectory, done)
    rows = stretches(done)
    orphans = results_without_call(trajectory.turns)
    for number, segment in enumerate(rows):
        turns = segment.composed.turns
        assert (segment.tokens > target) == (segment.over is not None)
        assert segment.tokens == counter.count(replace(trajectory, turns=turns)).tokens
        assert (segment.summary is None) == (number == 0)
        assert sum(SUMMARY_PREFIX in turn.text for turn in turns) == (number > 0)
        assert users_in_a_row(turns) <= users_in_a_row(trajectory.turns)
        assert results_without_call(turns) <= orphans
    had = Counter(each.kind for each in violations(trajectory.turns, "template"))
    for segment in rows:
        assert Counter(each.kind for each in violations(segment.composed.turns, "template")) <= had
    assert done.metrics.assistant_tokens_kept is not None
    assert done.metrics.compressed_tokens == sum(segment.tokens for segment in done.segments)
    assert done.metrics.max_row_tokens == max(segment.tokens for segment in done.segments)
    assert done.metrics.still_over_limit == any(segment.over for segment in rows)


@pytest.mark.parametrize("dialect", ["openai", "sharegpt"])
def test_segments_are_full_and_end_with_the_assistant(counter: TokenCounter, dialect):
    trajectory = agent_run(50, dialect)
    done = segmented(counter, trajectory, policy=ROOMY)
    assert_all_there(trajectory, done)
    *full, last = done.segments
    assert all(segment.composed.turns[-1].role == "assistant" for segment in full)
    assert last.composed.turns[-1] == trajectory.turns[-1]
    assert all(segment.tokens > 800 for segment in full)
    assert done.metrics.outcome == "compressed"
    assert done.metrics.assistant_tokens_kept == done.metrics.assistant_tokens_original


def test_what_an_assistant_turn_answers_stands_before_it(counter: TokenCounter):
    results = [f"the value of step {number} is {number * 7919}, " + "and so on " * 20 for number in range(20)]
    messages = [TASK]
    for number, text in enumerate(results):
        messages += [call(f"c{number}"), result(f"c{number}", text)]
    messages.append({"role": "assistant", "content": "It was the linker."})
    trajectory = read(messages)
    done = segmented(counter, trajectory)
    assert_all_there(trajectory, done)
    for segment in done.segments[1:]:
        turns = segment.composed.turns
        first = next(place for place, turn in enumerate(turns) if turn.role == "assistant")
        answered = trajectory.turns[segment.first - 1]
        assert answered.text in turns[first - 1].text
        assert "The last call, and what came of it:\nls" in turns[first - 1].text
        assert TASK["content"] in "".join(turn.text for turn in turns[:first])


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_a_text_protocol_is_cut_as_tool_roles_are(counter: TokenCounter, protocol):
    row = {"id": "t", "messages": [TASK]}
    for number in range(16):
        row["messages"] += [call(f"c{number}"), result(f"c{number}", f"file{number}.txt\n" + "more output\n" * 12)]
    row["messages"].append({"role": "assistant", "content": "Done: it was the linker."})
    trajectory = read(list(in_protocol(row, protocol).row["messages"]))
    done = segmented(counter, trajectory, policy=replace(POLICY, target_max_tokens=600))
    assert len(done.segments) > 1
    assert_all_there(trajectory, done)
    assert all(segment.composed.turns[-1].role == "assistant" for segment in done.segments)
    assert all(segment.over is None for segment in done.segments)


def test_each_running_summary_is_made_of_the_one_before_and_the_stretch_since(counter: TokenCounter):
    writer = Writer(lambda _: f"{SUMMARY_PREFIX} summary {len(writer.asked)}")
    trajectory = agent_run(50)
    done = segmented(counter, trajectory, writer, replace(ROOMY, facts="off"))
    asked = writer.asked
    assert len(asked) == len(done.segments) - 1 == done.metrics.passes
    summaries = [f"{SUMMARY_PREFIX} summary {number}" for number in range(1, len(asked) + 1)]
    assert [request.previous for request in asked] == [None, *summaries[:-1]]
    read_once = [turn.text for request in asked for turn in request.region]
    start = done.segments[0].first
    assert read_once == [turn.text for turn in trajectory.turns[start : start + len(read_once)]]
    for number, segment in enumerate(done.segments[1:], 1):
        assert f"summary {number}" in "".join(turn.text for turn in segment.composed.turns)


def test_a_running_summary_sized_by_what_it_tells_grows_with_the_turns_told(counter: TokenCounter):
    writer = Writer(lambda _: f"{SUMMARY_PREFIX} done")
    policy = replace(ROOMY, summary_size=SummaryShare(0.1, 20, 2000), facts="off")
    done = segmented(counter, agent_run(120), writer, policy)
    asked = [request.target_tokens for request in writer.asked]
    assert len(done.segments) > 3
    assert asked == sorted(asked)
    assert 1.8 * asked[0] < asked[1] < asked[-1] == 250  # at most a quarter of the budget


def test_an_observation_longer_than_the_budget_loses_its_middle_and_no_other_does(counter: TokenCounter):
    messages = [
        TASK,
        call("a"),
        result("a", LONG),
        call("b"),
        result("b", "short"),
        {"role": "assistant", "content": "ok"},
    ]
    trajectory = read(messages)
    done = segmented(counter, trajectory)
    assert all(segment.tokens <= 400 for segment in done.segments)
    assert {place for segment in done.segments for place in segment.truncated} == {2}
    assert done.metrics.turns_elided == 1


def test_an_assistant_turn_that_is_too_long_is_named_and_all_others_are_written(counter: TokenCounter):
    messages = [TASK, call("a"), result("a", "x " * 50), {"role": "assistant", "content": LONG}]
    messages += [{"role": "user", "content": "And then?"}, {"role": "assistant", "content": "Nothing more. " * 30}]
    trajectory = read(messages)
    done = segmented(counter, trajectory)
    assert [segment.over for segment in done.segments].count("single_turn") == 1
    assert done.metrics.still_over_limit
    assert done.metrics.reason == "single_turn"
    assert_all_there(trajectory, done)
    assert 0 < done.metrics.assistant_tokens_kept < done.metrics.assistant_tokens_original


def test_a_request_amid_a_dialogue_that_is_too_long_loses_its_middle_where_that_is_allowed(counter: TokenCounter):
    messages = [TASK, *({"role": "assistant", "content": f"I say {number}. " * 20} for number in range(3))]
    messages += [
        {"role": "user", "content": f"Take this.\n{LONG}\nWhat is it?"},
        {"role": "assistant", "content": "Words."},
    ]
    done = segmented(counter, read(messages))
    assert all(segment.tokens <= 400 for segment in done.segments)
    assert done.metrics.requests_truncated == 1
    lenient = segmented(counter, read(messages), policy=replace(POLICY, fit="lenient"))
    assert [segment.over for segment in lenient.segments if segment.over] == ["single_turn"]


@pytest.mark.parametrize("protocol", [None, "react"])
def test_who_compares_turn_by_turn_gets_what_the_last_turn_was_answered(counter: TokenCounter, protocol):
    messages = [TASK]
    for number in range(8):
        messages += [call(f"{number}"), result(f"{number}", f"line {number} " * (900 if number == 4 else 90))]
    messages.append({"role": "assistant", "content": "It is mended."})
    row = {"id": "t", "messages": messages}
    trajectory = read(list((in_protocol(row, protocol).row if protocol else row)["messages"]))
    done = segmented(counter, trajectory, policy=replace(ROOMY, target="verl"))
    assert len(done.segments) > 2
    assert all(segment.composed.turns[-1].role != "assistant" for segment in done.segments[:-1])
    assert all(segment.tokens <= 1000 for segment in done.segments)
    assert_all_there(trajectory, done)


def test_a_task_longer_than_the_budget_loses_its_middle_or_is_the_reason(counter: TokenCounter):
    messages = [{"role": "user", "content": f"Read this.\n{LONG}\nWhat is it?"}]
    messages += [{"role": "assistant", "content": f"I say {number}. " * 20} for number in range(4)]
    trajectory = read(messages)
    done = segmented(counter, trajectory, policy=ROOMY)
    assert all(segment.tokens <= 1000 for segment in done.segments)
    assert done.metrics.requests_truncated == 1
    assert "What is it?" in done.segments[-1].composed.turns[0].text
    lenient = segmented(counter, trajectory, policy=replace(ROOMY, fit="lenient"))
    assert lenient.segments == ()
    assert lenient.metrics.reason == "head"
    assert lenient.metrics.still_over_limit


def test_a_task_makes_room_for_an_assistant_turn_that_fits_without_it(counter: TokenCounter):
    messages = [{"role": "user", "content": f"Read this.\n{LONG[:2400]}\nWhat is it?"}]
    messages += [{"role": "assistant", "content": LONG[:1800]}, {"role": "user", "content": "And?"}]
    trajectory = read([*messages, {"role": "assistant", "content": LONG[:900]}])
    done = segmented(counter, trajectory, policy=ROOMY)
    assert done.segments
    assert not done.metrics.still_over_limit
    assert_all_there(trajectory, done)


def test_a_row_without_assistant_is_left_as_it_is(counter: TokenCounter):
    done = segmented(counter, read([{"role": "user", "content": LONG}]))
    assert (done.segments, done.metrics.reason) == ((), "no_assistant_turn")


def test_a_row_that_fits_stays_and_a_failed_summary_keeps_the_original(counter: TokenCounter):
    short = segmented(counter, read([TASK, {"role": "assistant", "content": "ok"}]))
    assert short.segments == ()
    assert short.metrics.outcome == "skipped_under_target"
    failed = segmented(counter, agent_run(30), raising(SummaryError("refused_answer", "no")))
    assert (failed.segments, failed.turns, failed.metrics.outcome) == ((), None, "failed")
    assert failed.metrics.reason == "refused_answer"


def test_each_running_summary_has_the_time_of_a_row(counter: TokenCounter):
    class Slow(Writer):
        async def summarize(self, request, usage):
            await asyncio.sleep(0.1)
            return await super().summarize(request, usage)

    slow = Slow(lambda _: f"{SUMMARY_PREFIX} done")
    done = segmented(counter, agent_run(50), slow, replace(ROOMY, timeout_s=0.4))
    assert len(slow.asked) > 4
    assert done.metrics.outcome == "compressed"
    late = segmented(counter, agent_run(50), slow, replace(ROOMY, timeout_s=0.05))
    assert (late.metrics.outcome, late.metrics.reason) == ("failed", "trajectory_timeout")


def test_tool_groups_stand_again_out_of_the_loss(counter: TokenCounter):
    policy = replace(ROOMY, segment_overlap=2, marks="auto", target="axolotl")
    trajectory = agent_run(50)
    done = segmented(counter, trajectory, policy=policy)
    trained = []
    for segment in done.segments:
        turns = said(segment.composed.turns)
        again = [turn for turn in turns if turn.raw.get("train") is False]
        assert (segment.context_tokens > 0) == bool(again)
        trained += [turn for turn in turns if turn.raw.get("train") is not False]
        assert segment.tokens <= 1000
    assert sum(segment.context_tokens > 0 for segment in done.segments) == len(done.segments) - 1
    assert [turn.raw for turn in trained] == [turn.raw for turn in said(trajectory.turns)]


def test_summaries_can_be_trained(counter: TokenCounter):
    writer = Writer(lambda _: f"{words(30)} {len(writer.asked)}")
    policy = replace(ROOMY, train_summaries=True, marks="auto", target="openai", facts="off")
    done = segmented(counter, agent_run(50), writer, policy)
    rows = [segment for segment in done.segments if segment.kind == "summary"]
    assert len(rows) == len(writer.asked) == len(stretches(done)) - 1
    for number, segment in enumerate(rows, 1):
        *context, answer = segment.composed.turns
        assert answer.text == f"{words(30)} {number}"
        assert answer.role == "assistant"
        assert "Summarise all that has happened" in context[-1].text
        assert all(turn.raw.get("weight") == 0 for turn in said(tuple(context)))
        assert segment.tokens <= 1000
    assert all(violations(segment.composed.turns, "openai") == () for segment in done.segments)


@pytest.mark.parametrize("target", ["llama-factory", "mistral", "openai", "trl", "verl", "axolotl"])
@pytest.mark.parametrize("sharegpt", [False, True])
def test_segments_are_valid_for_who_took_the_row(counter: TokenCounter, target, sharegpt):
    trajectory = read(list(valid_messages([6, 0, 14, 2, 9], sharegpt=sharegpt)))
    had = violations(trajectory.turns, target)
    policy = replace(POLICY, target=target, target_max_tokens=150, summary_size=30)
    done = segmented(counter, trajectory, Writer(lambda _: f"{SUMMARY_PREFIX} done"), policy)
    assert len(done.segments) > 2
    kinds = {each.kind for each in had}
    assert [
        each for s in done.segments for each in violations(s.composed.turns, target) if each.kind not in kinds
    ] == []


def test_a_summary_that_is_too_long_is_trimmed_and_facts_stay(counter: TokenCounter):
    secret = "/srv/data/unit-7741.json"
    messages = [TASK, call("a"), result("a", f"wrote {secret}\n" + "noise line\n" * 60)]
    messages += [{"role": "assistant", "content": "I look on. " * 40} for _ in range(6)]
    messages.append({"role": "assistant", "content": f"I open {secret} again."})
    done = segmented(counter, read(messages), Writer(lambda _: words(500)))
    assert all(segment.tokens <= 400 for segment in done.segments)
    assert done.metrics.facts_needed
    assert done.metrics.facts_kept == done.metrics.facts_needed
