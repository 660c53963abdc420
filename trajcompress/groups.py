"""Tool groups: an assistant turn with its calls and all the results that answer them. Pure.

Results are matched to calls by id where both carry one, else by position: an answer belongs to the nearest assistant
turn before it that made calls. A result that nothing asked for belongs to the turn before it, so that it is never
moved away from its context.
"""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.trajectory import Turn


def allowed_cuts(turns: Sequence[Turn]) -> list[bool]:
    """Return for each position ``0 … len(turns)`` whether a cut before that turn leaves every tool group whole."""
    cuts = [True] * (len(turns) + 1)
    for start, end in tool_groups(turns):
        cuts[start + 1 : end] = [False] * (end - start - 1)
    return cuts


def tool_groups(turns: Sequence[Turn]) -> list[tuple[int, int]]:
    """Return the tool groups as ``[start, end)`` spans in order; spans that would overlap are one."""
    latest_caller: int | None = None
    caller_of_id: dict[str, int] = {}
    groups: list[tuple[int, int]] = []
    for index, turn in enumerate(turns):
        if turn.answers:
            callers = [caller_of_id.get(answer) if answer else latest_caller for answer in turn.answers]
            known = [caller for caller in callers if caller is not None]
            fallback = index - 1 if latest_caller is None else latest_caller
            _join(groups, max(0, min(known, default=fallback)), index + 1)
        if turn.calls:
            latest_caller = index
            # A reused id means the newest call that has it.
            caller_of_id |= {call.id: index for call in turn.calls if call.id}
    return groups


def _join(groups: list[tuple[int, int]], start: int, end: int) -> None:
    while groups and groups[-1][1] > start:
        start = min(start, groups.pop()[0])
    groups.append((start, end))
