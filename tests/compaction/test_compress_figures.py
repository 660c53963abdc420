from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from compressing import Writer, assert_adds_up, raising, run, words
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from shared import SOURCES, rows_of, tokenizer_folder
from trajectories import Example, calls_without_result, examples, results_without_call, users_in_a_row

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import Protection
from trajcompress.errors import SummaryError
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.transcript.trajectory import Trajectory


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return TokenCounter(load_tokenizer())


_writers: st.SearchStrategy[Summarizer] = st.one_of(
    st.just(ExtractiveSummarizer()),
    st.integers(0, 400).map(lambda count: Writer(lambda _: words(count))),
    st.just(raising(SummaryError("empty_answer"))),
)
_rules = st.builds(
    Policy,
    target_max_tokens=st.integers(1, 500),
    summary_size=st.integers(5, 60),
    protection=st.builds(Protection, first_gpt=st.booleans(), last_n_turns=st.integers(0, 4)),
    placement=st.sampled_from(["auto", "human", "fold"]),
    notice=st.sampled_from([None, "Summarised."]),
)


@settings(max_examples=150, deadline=None)
@given(examples(max_steps=20, max_words=30), _rules, _writers)
def test_whatever_happens_the_figures_add_up_and_head_and_tail_are_kept(
    counter: TokenCounter, example: Example, rules: Policy, summarizer: Summarizer
):
    trajectory = example.trajectory
    turns, row = run(counter, trajectory, summarizer, rules)
    assert_adds_up(counter, trajectory, rules, turns, row)
    if turns is None:
        return
    start, end = row.region_start_idx, row.region_end_idx
    assert not any(asked < cut <= answered for cut in (start, end) for asked, answered in example.answered)
    assert len(trajectory.turns) - end >= rules.protection.last_n_turns
    kept = [*trajectory.turns[:start], *trajectory.turns[end:]]
    stands = [turn for index, turn in enumerate(turns) if row.placement != "human" or index != start]
    assert [turn.role for turn in stands] == [turn.role for turn in kept]
    assert sum(old is not new for old, new in zip(kept, stands, strict=True)) <= 2
    if rules.placement == "auto" and not users_in_a_row(trajectory.turns):
        assert not users_in_a_row(turns)


@pytest.mark.parametrize("source", SOURCES)
def test_real_rows_keep_their_tool_calls_and_their_count_is_exact(source):
    folder = str(tokenizer_folder("qwen3" if source == "shared" else "chatml"))
    counter, reference = (
        TokenCounter(load_tokenizer(folder)),
        TokenCounter(load_tokenizer(folder, engine="reference")),
    )
    rules = Policy(target_max_tokens=3000, summary_size=400, notice="Summarised.")
    if source == "made":  # short rows
        rules = replace(rules, target_max_tokens=1400, summary_size=200)
    outcomes = Counter()
    for trajectory in real_rows(rows_of(source), 40, shortest=15_000 if source == "shared" else 3000):
        turns, row = run(counter, trajectory, policy=rules)
        assert_adds_up(reference, trajectory, rules, turns, row)
        outcomes[row.outcome] += 1
        if turns is None:
            continue
        assert results_without_call(turns) <= results_without_call(trajectory.turns)
        assert calls_without_result(turns) <= calls_without_result(trajectory.turns)
        # Where there are some, a cut may make one more, and a summary between turns with names two.
        already = users_in_a_row(trajectory.turns)
        assert users_in_a_row(turns) <= already + 2 * bool(already)
        assert {turn.role for turn in turns} <= {turn.role for turn in trajectory.turns} | {"user"}
        again = read_trajectory(replace_turns(trajectory, turns), "row:0", FormatOptions())
        assert [turn.role for turn in again.turns] == [turn.role for turn in turns]
    assert outcomes["compressed"] >= 20


def real_rows(folder: Path, how_many: int, shortest: int) -> list[Trajectory]:
    """Rows of moderate length from every file, the same ones every time."""
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = [line for line in path.read_text("utf-8").splitlines() if shortest < len(line) < 80_000]
        chosen = random.Random(1).sample(lines, min(len(lines), how_many // 10))  # noqa: S311  no secret
        found += [read_trajectory(json.loads(line), path.name, FormatOptions()) for line in chosen]
    return found[:how_many]
