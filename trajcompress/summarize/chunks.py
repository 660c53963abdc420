"""Regions that are longer than what a model takes at once: summarised in order, each step updating the summary.

Nothing is left out but what is elided, and counted, inside a single turn. Chunks end between tool groups; only a
group that is too long by itself is cut between its turns, and only such a turn is shown with more elided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from trajcompress.errors import SummaryError
from trajcompress.facts import facts_in
from trajcompress.facts.reading import Reader
from trajcompress.summarize.answers.judge import first_room
from trajcompress.summarize.base import Around, Summarizer, Summary, SummaryRequest, Usage
from trajcompress.summarize.off_loop import OffLoop
from trajcompress.summarize.prompt import build_prompt
from trajcompress.summarize.transcript import render_turn, shown_turns
from trajcompress.transcript.tool_groups import allowed_cuts
from trajcompress.transcript.trajectory import Turn

_MARGIN = 1.15  # models count with another tokenizer than the target's
_STATE = 1.5  # times what is asked for: room for the summary so far
_LEAST_ROOM = 256  # tokens for turns, below which no step would get anywhere
_LEAST_CHARS = 200  # shown of a turn
_NUMBER_TOKENS = 16  # the line over a turn in the prompt, and the empty one after it
_ACTION_TOKENS = 32  # of that line, where it names an action


class ChunkingSummarizer(Around[Summarizer]):
    """Asks ``inner`` once for each part of a region that fits its window.

    Args:
        inner: who is asked.
        context_tokens: what it takes at once, prompt and answer, in tokens of the target's tokenizer.
    """

    def __init__(self, inner: Summarizer, context_tokens: int) -> None:
        super().__init__(inner)
        self._context = int(context_tokens / _MARGIN)

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Summarise the parts of the region in order, and return the last summary, which tells all of them.

        Raises:
            SummaryError: no usable summary of a part, or the row leaves no room for turns in the window.
            SummarizerUnusableError: the model is refused.
        """
        summary: Summary | None = None
        steps = await OffLoop()(self._steps, request)
        if steps and request.answer:  # the parts were read once; reading the answer to them is enough
            return await self._inner.summarize(replace(request, region=(), previous=request.answer), usage)
        for step in steps:
            asked = step if summary is None else replace(step, previous=summary.text)
            summary = await self._inner.summarize(asked, usage)
        return summary or await self._inner.summarize(request, usage)

    def _steps(self, request: SummaryRequest) -> list[SummaryRequest]:
        """Return the requests, one for each part; none where the whole fits at once."""
        prompt = build_prompt(request)
        if prompt.tokens(request.count) + first_room(request.target_tokens) <= self._context:
            return []
        room = int(self._context - _besides_turns(request))
        if room < _LEAST_ROOM:
            raise SummaryError(
                "context_too_small",
                "the model's context leaves no room for turns beside the row's goal and what must survive of it; it "
                f"should be {_context_for(request)} tokens at least (--summarizer-context)",
            )
        parts = list(_parts(request, room))
        text = request.previous or ""
        steps = []
        for part in parts:
            text += "\n" + Reader().text(part)
            facts = request.facts if part is parts[-1] else facts_in(request.facts, text)
            step = replace(request, region=part, facts=facts, answer=None)
            steps.append(replace(step, turn_chars=_shown(step, room)))
        return steps


def least_context(summary_tokens: int, count: Callable[[str], int]) -> int:
    """Return the tokens of the smallest window in which pieces of a region can be read.

    Args:
        summary_tokens: the most that a summary is asked for in.
        count: counts the tokens of a text, as the target's tokenizer does.
    """
    return _context_for(SummaryRequest("", (), (), summary_tokens, count))


def _context_for(request: SummaryRequest) -> int:
    return math.ceil((_besides_turns(request) + _LEAST_ROOM) * _MARGIN) + 1


def _besides_turns(request: SummaryRequest) -> float:
    """Return the tokens of a window that hold no turns of a piece: the rest of the prompt, and the answer."""
    bare = build_prompt(replace(request, region=(), previous=None))
    state = max(_STATE * request.target_tokens, request.count(request.previous or ""))
    return bare.tokens(request.count) + first_room(request.target_tokens) + state


def _parts(request: SummaryRequest, room: int) -> Iterator[tuple[Turn, ...]]:
    """Cut the region into parts of at most ``room`` tokens, each as long as it may be."""
    taken: list[Turn] = []
    used = 0
    for group in _groups(request.region):
        sizes = [_tokens(turn, request) for turn in group]
        whole = sum(sizes) <= room
        for turns, size in [(group, sum(sizes))] if whole else zip(((turn,) for turn in group), sizes, strict=True):
            if taken and used + size > room:
                yield tuple(taken)
                taken, used = [], 0
            taken += turns
            used += size
    if taken:
        yield tuple(taken)


def _tokens(turn: Turn, request: SummaryRequest) -> int:
    over = _NUMBER_TOKENS + (_ACTION_TOKENS if turn.in_text else 0)
    return request.count(render_turn(turn, max_chars=request.turn_chars, facts=request.facts)) + over


def _groups(turns: Sequence[Turn]) -> Iterator[tuple[Turn, ...]]:
    cuts = [place for place, allowed in enumerate(allowed_cuts(turns)) if allowed]
    for start, end in pairwise(cuts):
        yield tuple(turns[start:end])


def _shown(request: SummaryRequest, room: int) -> int:
    """Return the characters of one turn that may be shown, so that the turns fit."""
    chars = request.turn_chars
    while chars > _LEAST_CHARS and request.count(shown_turns(replace(request, turn_chars=chars))) > room:
        chars = max(chars * 2 // 3, _LEAST_CHARS)
    return chars
