"""The head of segments: the system prompt and the task, and before the first stretch also worked examples. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.segments.compose import Placing
from trajcompress.compaction.state import State
from trajcompress.compaction.text import elide_results
from trajcompress.transcript.trajectory import Turn


def head_end(turns: Sequence[Turn]) -> int:
    """Return where the system prompt and the task end: at the first turn that is neither."""
    return next(
        (index for index, turn in enumerate(turns) if turn.role not in {"system", "user"} or turn.answers), len(turns)
    )


def task_places(turns: Sequence[Turn], end: int) -> list[int]:
    """Return the places of the system prompt and the task; worked examples and manuals are neither."""
    places = [index for index in range(end) if not turns[index].example]
    return places if any(turns[index].role == "user" for index in places) else list(range(end))


def fitted_head(state: State, places: Sequence[int], policy: Policy, excess: int = 0) -> list[Placing]:
    """Return the head, cut where it would leave less than a quarter of the budget to all else.

    With ``fit`` strict worked examples lose their middle then, and after them long requests, until half is left; and
    ``excess`` tokens more.
    """
    turns, sizes, target = state.turns, state.sizes, policy.target_max_tokens
    outside = max(0, state.tokens - sum(sizes))
    held = outside + sum(sizes[place] for place in places)
    whole = [turns[place] for place in places]
    if held > target * 3 // 4:
        excess += held - target // 2
    if policy.fit == "strict" and excess:
        examples = [at for at, turn in enumerate(whole) if turn.example]
        long = [at for at, place in enumerate(places) if whole[at].role == "user" and sizes[place] > target // 4]
        requests = sorted((at for at in long if at not in examples), key=lambda at: -sizes[places[at]])
        count = state.count_text
        whole = list(elide_results(whole, [*examples, *requests], excess, count, requests=requests))
    return [Placing(turn, place) for turn, place in zip(whole, places, strict=True)]
