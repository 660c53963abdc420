"""Tool groups: an assistant turn with its calls and all the results that answer them. Pure.

Results are matched to calls by id where both carry one, else by the name that the caller addressed, else by position:
to the latest calls without a result, whether one turn made them or several in a row. A result that nothing asked for
belongs to the turn before it, so that it is never moved away from its context.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from trajcompress.transcript.roles import addressee_of
from trajcompress.transcript.trajectory import Turn


def allowed_cuts(turns: Sequence[Turn]) -> list[bool]:
    """Return for each position ``0 … len(turns)`` whether a cut before that turn leaves every tool group whole."""
    cuts = [True] * (len(turns) + 1)
    for start, end in tool_groups(turns):
        cuts[start + 1 : end] = [False] * (end - start - 1)
    return cuts


def tool_groups(turns: Sequence[Turn]) -> list[tuple[int, int]]:
    """Return the tool groups as ``[start, end)`` spans in order; spans that would overlap are one."""
    waiting: dict[int, int] = {}  # of the latest calls, by turn, how many have no result yet
    results_began = False
    caller_of_id: dict[str, int] = {}
    callers_of_name: defaultdict[str, list[int]] = defaultdict(list)
    groups: list[tuple[int, int]] = []
    addressees = {name: addressee_of(name) for name in {turn.own_role for turn in turns}}
    for index, turn in enumerate(turns):
        if addressee := addressees[turn.own_role]:
            callers_of_name[addressee].append(index)
        if turn.calls:  # before its answers: a server-side tool's result stands in the turn that made the call
            waiting = {} if results_began else waiting
            waiting[index] = len(turn.calls)
            results_began = False
            # A reused id means the newest call that has it.
            caller_of_id |= {call.id: index for call in turn.calls if call.id}
        if turn.answers:
            results_began = True
            start = index
            for answer in turn.answers:
                caller = caller_of_id.get(answer) if answer else None
                if caller is None:
                    if callers := callers_of_name[turn.own_role]:
                        caller, left = callers.pop(), 0
                    else:
                        caller, left = waiting.popitem() if waiting else (index - 1, 0)
                else:
                    left = waiting.pop(caller, 0)
                if left > 1:
                    waiting[caller] = left - 1
                start = min(start, caller)
            _join(groups, max(0, start), index + 1)
    return groups


def _join(groups: list[tuple[int, int]], start: int, end: int) -> None:
    while groups and groups[-1][1] > start:
        start = min(start, groups.pop()[0])
    groups.append((start, end))
