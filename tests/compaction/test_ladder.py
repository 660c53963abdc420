"""The ladder of strategies, by a strategy of one's own: what a new one takes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compressing import POLICY, Writer, compact, words
from msgspec import structs
from msgspec.structs import replace as replace_struct
from trajectories import openai

from trajcompress.compaction.ladder import with_standard_ladder
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.state import State
from trajcompress.tokens.counter import IMAGE_TOKENS, TokenCounter
from trajcompress.transcript.trajectory import Trajectory, Turn


def drop_old_images(state: State, policy: Policy) -> Asking[State | Skip]:
    """Drop all images but the last, where the template takes the row without them."""
    yield from ()
    with_images = [index for index, turn in enumerate(state.turns) if turn.images]
    if len(with_images) < 2:
        return NOTHING_TO_DO
    turns = list(state.turns)
    for index in with_images[:-1]:
        turns[index] = without_images(turns[index])
    dropped = replace(state.with_turns(tuple(turns)), reason="old_images")
    return dropped if dropped.tokens < state.tokens else Skip("images_take_nothing")


def without_images(turn: Turn) -> Turn:
    parts = [part for part in turn.raw["content"] if part["type"] == "text"]
    return replace_struct(turn, raw={**turn.raw, "content": parts}, images=0)


def screenshot(text: str) -> list[dict]:
    return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]


@pytest.fixture(scope="module")
def policy() -> Policy:
    standard = with_standard_ladder(structs.replace(POLICY, target_max_tokens=2 * IMAGE_TOKENS, summary_size=200))
    return structs.replace(standard, strategies=(drop_old_images, *standard.strategies))


def browsing(pages: int, words_each: int = 10) -> Trajectory:
    """Return the row of an agent that looks at a picture of each page."""
    turns: list[tuple[str, object]] = [("system", "You browse."), ("user", "Find the price.")]
    for page in range(pages):
        said = f"Here is page {page} for you: "
        turns += [("assistant", f"I open page {page} for you."), ("user", screenshot(said + "word " * words_each))]
    return openai(*turns, ("assistant", "It costs 3."))


def test_a_strategy_of_ones_own_makes_a_row_fit_without_a_summary(counter: TokenCounter, policy: Policy):
    trajectory, writer = browsing(5), Writer(lambda _: words(5))
    done = compact(counter, trajectory, writer, policy)
    assert not writer.asked
    assert [turn.images for turn in done.turns] == [0] * (len(trajectory.turns) - 2) + [1, 0]
    assert [turn.text for turn in done.turns] == [turn.text for turn in trajectory.turns]
    assert (done.metrics.outcome, done.metrics.reason, done.metrics.passes) == ("compressed", "old_images", 0)
    assert done.metrics.compressed_tokens == counter.count(structs.replace(trajectory, turns=done.turns)).tokens
    assert done.metrics.compressed_tokens <= policy.target_max_tokens < done.metrics.original_tokens
    assert done.metrics.assistant_tokens_kept == done.metrics.assistant_tokens_original


def test_what_it_leaves_over_is_for_the_strategies_after_it(counter: TokenCounter, policy: Policy):
    trajectory, writer = browsing(12, words_each=400), Writer(lambda _: words(5))
    done = compact(counter, trajectory, writer, policy)
    assert len(writer.asked) == 1
    assert sum(turn.images for turn in writer.asked[0].region) > 1  # it is told what stood there
    assert sum(turn.images for turn in done.turns) == 1
    assert (done.metrics.outcome, done.metrics.summarizer) == ("compressed", "writer")
    assert done.metrics.compressed_tokens == counter.count(structs.replace(trajectory, turns=done.turns)).tokens
    assert not done.metrics.still_over_limit


def test_a_row_that_fits_goes_down_no_ladder(counter: TokenCounter, policy: Policy):
    done = compact(counter, browsing(1), Writer(lambda _: words(5)), policy)
    assert (done.turns, done.metrics.outcome) == (None, "skipped_under_target")


def test_a_strategy_that_helps_too_little_leaves_the_row_as_it_was(counter: TokenCounter, policy: Policy):
    alone = structs.replace(policy, strategies=(drop_old_images,), target_max_tokens=20)
    done = compact(counter, browsing(3), Writer(lambda _: words(5)), alone)
    assert (done.turns, done.metrics.outcome, done.metrics.still_over_limit) == (None, "unchanged", True)


def test_strategies_after_a_summary_see_the_row_without_it_whatever_stands_between(
    counter: TokenCounter, policy: Policy
):
    seen: list[State] = []

    def look(state: State, policy: Policy) -> Asking[State | Skip]:
        yield from ()
        seen.append(state)
        return replace(state, before=state)

    *early, last = with_standard_ladder(structs.replace(policy, fit="strict")).strategies
    too_long = Writer(lambda _: words(600))
    for strategies in ((*early, last), (*early[:-1], look, early[-1], look, last)):
        row = structs.replace(policy, strategies=strategies, fit="strict", target_max_tokens=600)
        seen.append(compact(counter, browsing(3, words_each=600), too_long, row))
    plain, spliced, again, between = seen
    assert spliced.splice is not None
    assert again.unspliced is spliced.unspliced
    assert spliced.unspliced.splice is None
    assert (between.turns, between.metrics) == (plain.turns, plain.metrics)
