"""The default ladder where a summary is too long, or fails."""

from __future__ import annotations

import pytest
from clearing import FIRST
from compressing import Writer, assert_adds_up, raising, run
from msgspec.structs import replace
from trajectories import call, read, result

from trajcompress.compaction.region import Protection
from trajcompress.errors import SummaryError
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.summary_marks import SUMMARY_END, SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Trajectory


def long_talk(turns: int = 20) -> Trajectory:
    said = [{"role": "assistant", "content": f"Step {number}: " + "I look at it. " * 25} for number in range(turns)]
    return read([{"role": "user", "content": "Mend it."}, *said])


SENTENCE = " It read one more file and found nothing of note."


@pytest.mark.parametrize("times", [2, 5, 40])
@pytest.mark.parametrize("max_passes", [1, 3])
@pytest.mark.parametrize("fit", ["lenient", "strict"])
def test_a_model_that_writes_too_much_keeps_no_row_over_its_limit(
    counter: TokenCounter, fit: str, max_passes: int, times: int
):
    writer = Writer(lambda request: SUMMARY_PREFIX + SENTENCE * (times * request.target_tokens // 11))
    rules = replace(FIRST, fit=fit, max_passes=max_passes)
    turns, row = run(counter, long_talk(), writer, rules)
    assert (row.outcome, row.still_over_limit, row.reason) == ("compressed", False, None)
    assert turns[row.region_start_idx].text.endswith("nothing of note.")
    assert len(writer.asked) <= max_passes
    assert_adds_up(counter, long_talk(), rules, turns, row)


def needing(facts: int) -> Trajectory:
    """A row whose end needs so many paths that only the middle tells."""
    paths = [f"src/package_{number}/module_{number}.py" for number in range(facts)]
    told = [{"role": "user", "content": f"{path} " + "and so on " * 60} for path in paths for _ in (0,)]
    end = {"role": "assistant", "content": f"I mended {', '.join(paths)}."}
    said = [message for one in told for message in (one, {"role": "assistant", "content": "I see."})]
    return read([{"role": "user", "content": "Mend it."}, {"role": "assistant", "content": "Yes."}, *said, end])


def test_what_is_needed_is_put_back_into_a_trimmed_summary(counter: TokenCounter):
    writer = Writer(lambda _: SUMMARY_PREFIX + SENTENCE * 60)
    rules = replace(FIRST, summary_size=150, protection=Protection(last_n_turns=1))
    turns, row = run(counter, needing(6), writer, rules)
    assert (row.still_over_limit, row.summarizer) == (False, "writer")
    assert row.facts_kept == row.facts_needed > 0
    told, _, note = turns[row.region_start_idx].text.partition("\nAlso needed later:\n")
    assert told.endswith("nothing of note.")
    assert all(f"- src/package_{number}/module_{number}.py" in note for number in range(6))
    assert_adds_up(counter, needing(6), rules, turns, row)


@pytest.mark.parametrize("built_in", [False, True])
def test_where_that_does_not_fit_the_summary_failed(counter: TokenCounter, built_in: bool):
    trajectory = needing(30)
    writer = Writer(lambda _: SUMMARY_PREFIX + SENTENCE * 60)
    kept = {"summary_size": 110, "max_passes": 1, "protection": Protection(last_n_turns=1)}
    rules = replace(FIRST, target_max_tokens=800, built_in_on_failure=built_in, **kept)
    turns, row = run(counter, trajectory, writer, rules)
    if built_in:
        assert (row.outcome, row.still_over_limit, row.summarizer) == ("compressed", False, "extractive")
    else:
        assert (row.outcome, row.reason, turns) == ("failed", "overlong_answer", None)
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_a_failure_of_the_model_is_one_as_before(counter: TokenCounter):
    _, row = run(counter, long_talk(), raising(SummaryError("timeout", "late")), FIRST)
    assert (row.outcome, row.reason) == ("failed", "timeout")


def parcels() -> Trajectory:
    """A dialogue in which the last request is what is done then."""
    asked = "The parcel {0} has not come, and it is the {0}th time that I have to write to you of this. Where is it?"
    looked = "I am sorry to hear that, and I have looked it up: parcel {0} is at the depot of Hafen {0}. "
    turns = [{"role": "user", "content": "I wait for my parcels."}]
    for number in range(5):
        answer = looked.format(number) + "We could send it again, or pay you back. " * 6
        turns += [{"role": "assistant", "content": answer}, {"role": "user", "content": asked.format(number)}]
    paid = "\n".join(
        f"parcel {number}: paid back {number * 7} EUR to the account at the bank" for number in range(60)
    )
    return read(
        [
            *turns,
            {"role": "assistant", "content": "It is lost. I can only pay it back. " * 3},
            {"role": "user", "content": "Then pay all of them back, please, and close my account."},
            call("p", "pay_back"),
            result("p", paid),
            {"role": "assistant", "content": "It is done, and your account is closed. " * 4},
            {"role": "user", "content": "Thanks."},
            {"role": "assistant", "content": "Good bye."},
        ]
    )


@pytest.mark.parametrize("target", range(350, 400, 10))
def test_a_built_in_summary_that_is_too_long_is_written_shorter_and_loses_no_end(counter: TokenCounter, target: int):
    rules = replace(FIRST, target_max_tokens=target, summary_size=400)
    turns, row = run(counter, parcels(), ExtractiveSummarizer(), rules)
    assert turns is not None
    summary = turns[row.region_start_idx].text.partition(SUMMARY_END)[0]
    quoted = [line for line in summary.split("\n") if line.startswith('- "')]
    assert all(line.endswith('"') for line in quoted)
    assert any("close my account" in turn.text for turn in turns)
