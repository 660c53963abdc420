"""The default ladder on drawn rows: no more goes than has to, and compressed again they stay sane."""

from __future__ import annotations

from clearing import FIRST, measured
from compressing import Writer, assert_adds_up, run, words
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from trajectories import DIALECTS, Example, agent_run, examples

from trajcompress.compaction.order import recent_observations
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import Protection
from trajcompress.compaction.text.line import is_line
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.formats.rewrite import result_texts
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Trajectory, Turn

_rules = st.builds(
    lambda last, **fields: replace(FIRST, protection=Protection(last_n_turns=last), **fields),
    last=st.integers(0, 6),
    target_max_tokens=st.integers(100, 2500),
    summary_size=st.integers(20, 150),
    keep_observations=st.integers(0, 6),
)
# What is to stay of the only result that can be cut leaves nothing to cut.
TIGHT = replace(
    FIRST, protection=Protection(last_n_turns=0), target_max_tokens=994, summary_size=20, keep_observations=0
)
_rows = st.one_of(
    examples(max_steps=8, max_words=150).map(lambda example: example.trajectory),
    st.builds(agent_run, st.integers(2, 8), st.sampled_from(DIALECTS), st.integers(100, 400)),
)


@settings(max_examples=80, deadline=None)
@given(_rows, _rules, st.integers(1, 300))
@example(agent_run(7, "openai", 212), TIGHT, 1)
@example(agent_run(7, "openai", 212), TIGHT, 300)
def test_kept_turns_of_the_assistant_are_as_they_were_and_no_more_goes_than_needed(
    counter: TokenCounter, trajectory: Trajectory, rules: Policy, summary_words: int
):
    turns, row = run(counter, trajectory, Writer(lambda _: words(summary_words)), rules)
    assert_adds_up(counter, trajectory, rules, turns, row)
    if turns is None:
        return
    before = iter(turn.raw for turn in trajectory.turns if turn.role == "assistant")
    assert all(any(turn.raw == raw for raw in before) for turn in turns if turn.role == "assistant")
    assert row.reason not in {"summary", "passes_used_up"}
    state = measured(counter, trajectory, rules)
    if row.summarizer is None and state.previous is None:
        last = recent_observations(state, rules).last
        assert not any(is_line(text) for index in last for text in new_texts(trajectory, turns, index))


def new_texts(trajectory: Trajectory, turns: tuple[Turn, ...], index: int) -> list[str]:
    old = set(result_texts(trajectory.turns[index]))
    return [text for text in result_texts(turns[index]) if text not in old]


@settings(max_examples=50, deadline=None)
@given(examples(max_steps=8, max_words=150), _rules, st.integers(20, 90))
def test_a_row_that_is_compressed_again_to_less_stays_sane(
    counter: TokenCounter, example: Example, rules: Policy, percent: int
):
    once, first = run(counter, example.trajectory, Writer(lambda _: words(15)), rules)
    if once is None:
        return
    again = read_trajectory(replace_turns(example.trajectory, once), "again", FormatOptions())
    tighter = replace(rules, target_max_tokens=rules.target_max_tokens * percent // 100)
    twice, row = run(counter, again, Writer(lambda _: words(15)), tighter)
    assert_adds_up(counter, again, tighter, twice, row)
    lines = {text for turn in once for text in result_texts(turn) if is_line(text)}
    for turn in twice or ():
        for text in result_texts(turn):
            assert not is_line(text) or text in lines or not any(line in text for line in lines)
    assert sum(SUMMARY_PREFIX in turn.text for turn in twice or once) <= 1
    assert first.compressed_tokens >= row.compressed_tokens
