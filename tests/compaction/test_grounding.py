"""Facts that a summary leaves out: asked for once more, then added where the summary has room, else the row."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from asking import summarizer
from compressing import POLICY, Closing, Writer, assert_adds_up, run, words
from loopback import LoopbackServer
from loopback_replies import saying
from msgspec import structs
from trajectories import call, read, result

from trajcompress.errors import SummaryError
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.summarize.fallback import FallbackSummarizer
from trajcompress.transcript.trajectory import Trajectory

NEEDED = [f"src/module_{number}/parser.py" for number in range(8)]


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
    rules = structs.replace(POLICY, target_max_tokens=1100)
    turns, row = run(counter, trajectory, Writer(lambda _: words(size)), rules)
    assert row.facts_needed == row.facts_kept > 0
    assert "Also needed later:\n- " in turns[row.region_start_idx].text
    assert not row.still_over_limit
    assert_adds_up(counter, trajectory, rules, turns, row)


@pytest.mark.parametrize(("passes", "all_kept"), [(1, False), (3, True)])
def test_what_is_added_takes_no_row_over_its_limit(counter, trajectory, passes, all_kept):
    lost = 0
    for target in range(900, 1000, 7):
        rules = structs.replace(POLICY, target_max_tokens=target, max_passes=passes)
        turns, row = run(counter, trajectory, Writer(lambda _: words(98)), rules)
        assert not row.still_over_limit
        assert_adds_up(counter, trajectory, rules, turns, row)
        lost += row.facts_needed - row.facts_kept
    assert (lost == 0) is all_kept


def test_what_is_missing_is_asked_for_once(counter, trajectory):
    writer = Writer(lambda request: f"{words(5)} {' '.join(request.facts)}" if request.answer else words(20))
    turns, row = run(counter, trajectory, writer)
    first, again = writer.asked
    assert again == replace(first, answer=words(20))
    assert turns[row.region_start_idx].text == f"{words(5)} {' '.join(first.facts)}"
    assert (row.passes, row.facts_kept) == (2, row.facts_needed)
    assert_adds_up(counter, trajectory, POLICY, turns, row)


def test_what_is_missing_again_is_added(counter, trajectory):
    writer = Writer(lambda _: words(20))
    turns, row = run(counter, trajectory, writer, structs.replace(POLICY, target_max_tokens=1100))
    assert len(writer.asked) == 2
    assert "Also needed later:\n- src/module_0/parser.py\n" in turns[row.region_start_idx].text


def test_a_model_that_writes_twice_as_much_and_leaves_out_everything_loses_nothing(counter, trajectory):
    for target in range(900, 1300, 20):
        rules = structs.replace(POLICY, target_max_tokens=target)
        turns, row = run(counter, trajectory, Writer(lambda request: words(2 * request.target_tokens)), rules)
        assert (row.still_over_limit, row.facts_kept) == (False, row.facts_needed)
        assert_adds_up(counter, trajectory, rules, turns, row)


@pytest.mark.parametrize("fails", ["error", "time-out"])
def test_where_asking_once_more_fails_the_first_answer_stands(counter, trajectory, fails):
    class Once(Writer):
        async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
            summary = await super().summarize(request, usage)
            if request.answer and fails == "error":
                raise SummaryError("server_error", "it is down")
            await asyncio.sleep(60 if request.answer else 0)
            return summary

    rules = structs.replace(POLICY, target_max_tokens=1100, timeout_s=2)
    turns, row = run(counter, trajectory, Once(lambda _: words(20)), rules)
    assert (row.outcome, row.reason, row.error, row.passes) == ("compressed", None, None, 2)
    assert row.facts_kept == row.facts_needed > 0
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_where_the_built_in_summariser_steps_in_later_what_the_model_wrote_stands(counter, trajectory):
    class FailsLater(Writer):
        async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
            if request.answer:
                raise SummaryError("server_error", "it is down")
            return await super().summarize(request, usage)

    either = FallbackSummarizer(FailsLater(lambda _: words(20)), builtin=ExtractiveSummarizer())
    _, row = run(counter, trajectory, either, structs.replace(POLICY, target_max_tokens=1100))
    assert (row.summarizer, row.passes, row.facts_kept) == ("writer", 2, row.facts_needed)


def test_the_built_in_summariser_is_not_asked_again(counter, trajectory):
    _, row = run(counter, trajectory, policy=structs.replace(POLICY, target_max_tokens=1100))
    assert (row.passes, row.facts_kept) == (1, row.facts_needed)


def test_an_endpoint_is_told_what_it_left_out(counter, trajectory):
    with LoopbackServer(lambda _: saying("Some records were read. src/module_1/parser.py was one.")) as server:
        run(counter, trajectory, Closing(lambda _: "", inner=summarizer(server)))
    first, again = (seen.text for seen in server.seen)
    told = again.partition("An earlier answer left these of them out")[2]
    assert "left these of them out" not in first
    assert "src/module_0/parser.py" in told
    assert "src/module_1/parser.py" not in told


def test_switched_off_nobody_looks(counter, trajectory):
    writer = Writer(lambda _: words(20))
    turns, row = run(counter, trajectory, writer, structs.replace(POLICY, facts="off"))
    assert (row.facts_needed, row.facts_kept, [asked.facts for asked in writer.asked]) == (None, None, [()])
    assert_adds_up(counter, trajectory, structs.replace(POLICY, facts="off"), turns, row)


def test_ungrounded_they_are_counted_and_neither_asked_for_nor_added(counter, trajectory):
    writer = Writer(lambda _: words(20))
    turns, row = run(counter, trajectory, writer, structs.replace(POLICY, facts="counted"))
    assert (row.facts_needed, row.facts_kept) == (6, 0)
    assert [asked.facts for asked in writer.asked] == [()]
    assert turns[row.region_start_idx].text == words(20)
