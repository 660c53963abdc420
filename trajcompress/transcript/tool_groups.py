"""Tool groups: which call each result answers, and the spans of calls with their results. Pure.

A result answers a call by id where both carry one, else by the name that a speaker addressed, else by position: the
first call without a result, and without one that carries its id later, among the latest that stand side by side. A
result that nothing asked for belongs to the turn before it, so that it is never moved away from its context.

Calls and results are those of ``Turn.calls`` and ``Turn.answers``, whatever the roles of the turns.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from trajcompress.transcript.roles import addressee_of
from trajcompress.transcript.trajectory import Turn

Place: TypeAlias = tuple[int, int]
"""A turn, and which of its calls or results."""

Evidence: TypeAlias = Literal["id", "repeated_id", "name", "position", "adjacency"]


class Match(NamedTuple):
    """A result, the call that it answers (None where nothing asked for it), and what says so.

    ``repeated_id``: the call of this id has its result already. ``name`` and ``adjacency`` are of turns whose call
    may stand in their text: the speaker addressed who answers, or is an assistant without calls right before it.
    """

    result: Place
    call: Place | None
    by: Evidence | None


def match_results(turns: Sequence[Turn], *, repeats: bool = True) -> list[Match]:
    """Match each result, in order, with the call that it answers.

    Args:
        turns: the transcript, or a part of it.
        repeats: whether a second result with a call's id belongs to that call; else its id is as good as unknown.
    """
    calls = _Calls({answer: index for index, turn in enumerate(turns) for answer in turn.answers if answer})
    callers_of_name: defaultdict[str, list[int]] = defaultdict(list)
    addressees = {name: addressee_of(name) for name in {turn.own_role for turn in turns} if "->" in name}
    matches: list[Match] = []
    for index, turn in enumerate(turns):
        if addressees and (addressee := addressees.get(turn.own_role)):
            callers_of_name[addressee].append(index)
        if (
            turn.calls and not turn.in_text
        ):  # before its answers: a server-side tool's result stands in the turn that made the call
            calls.add(turn, index)
        for number, answer in enumerate(turn.answers):
            if turn.in_text:  # an observation in plain text answers the turn right before it, and nothing farther
                acts = index and turns[index - 1].calls and not turns[index - 1].answers
                call = index - 1, number if turns[index - 1].apart else 0
                matches.append(Match((index, number), *((call, "adjacency") if acts else (None, None))))
                continue
            found = calls.of_id(answer, repeats=repeats) if answer else None
            if found is None and addressees and (callers := callers_of_name[turn.own_role]):
                found = (callers.pop(), 0), "name"
            if found is None:
                found = calls.next_open(has_id=answer is not None)
            if found is None and not number and _may_call_in_text(turns, index - 1):
                found = (index - 1, 0), "adjacency"
            matches.append(Match((index, number), *(found or (None, None))))
        calls.results_began |= bool(turn.answers)
    return matches


def answers_each_call(turns: Sequence[Turn], *, may_stay_open: bool) -> bool:
    """Whether each call of an exchange has one result behind it, told by its id or by being alone: no fault then."""
    made: set[str | None] = set()
    waiting: set[str | None] = set()
    for turn in turns:
        for call in turn.calls:
            if call.id in made:
                return False
            made.add(call.id)
            waiting.add(call.id)
        for answer in turn.answers:
            if answer not in waiting:
                return False
            waiting.remove(answer)
    if waiting and not may_stay_open:
        return False
    return all(made) or (len(made) == 1 and not any("->" in turn.own_role for turn in turns))


def allowed_cuts(turns: Sequence[Turn]) -> list[bool]:
    """Return for each position ``0 … len(turns)`` whether a cut before that turn leaves every tool group whole."""
    cuts = [True] * (len(turns) + 1)
    for start, end in tool_groups(turns):
        cuts[start + 1 : end] = [False] * (end - start - 1)
    return cuts


def tool_groups(turns: Sequence[Turn]) -> list[tuple[int, int]]:
    """Return the tool groups as ``[start, end)`` spans in order; spans that would overlap are one."""
    groups: list[tuple[int, int]] = []
    for (index, _), call, _ in match_results(turns):
        start, end = max(0, index - 1 if call is None else call[0]), index + 1
        while groups and groups[-1][1] > start:
            start = min(start, groups.pop()[0])
        groups.append((start, end))
    return groups


def _may_call_in_text(turns: Sequence[Turn], index: int) -> bool:
    return index >= 0 and turns[index].role == "assistant" and (turns[index].in_text or not turns[index].calls)


_Found: TypeAlias = tuple[Place, Evidence]


class _Calls:
    """The calls so far, and those without a result by run: turns side by side that make calls are a run.

    Calls that come once results have begun leave those before them to late results that carry their id. Queues lose
    what has its result when they are next read, so that a row of any size takes linear time.
    """

    def __init__(self, last_of_id: Mapping[str, int]) -> None:
        """Take which turn answers each id last."""
        self._last_of_id = last_of_id
        self.results_began = False
        self._open: set[Place] = set()
        self._runs: list[tuple[deque[Place], deque[Place]]] = []  # since results began: calls with an id, and without
        self._of_id: dict[str, deque[Place]] = {}  # in the newest run that has the id
        self._newest: dict[str, Place] = {}
        self._run_start = self._last = -2

    def add(self, turn: Turn, index: int) -> None:
        """Add the calls of a turn."""
        if self.results_began and not turn.answers:
            self._runs.clear()
        if self.results_began or self._last < index - 1:
            self._runs.append((deque(), deque()))
            self._run_start = index
        self.results_began, self._last = False, index
        for number, call in enumerate(turn.calls):
            place = index, number
            self._open.add(place)
            if not call.id or self._last_of_id.get(call.id, -1) < index:  # else its own result comes
                self._runs[-1][not call.id].append(place)
            if call.id:
                if self._newest.get(call.id, place)[0] < self._run_start:
                    del self._of_id[call.id]  # a reused id means the newest calls that have it
                self._of_id.setdefault(call.id, deque()).append(place)
                self._newest[call.id] = place

    def of_id(self, answer: str, *, repeats: bool) -> _Found | None:
        """Take the first open call of an id, else return the newest that has it, unless it may be one without id."""
        if answer not in self._newest:
            return None
        if (place := self._first(self._of_id[answer])) is not None:
            return self._take(place, "id")
        if not repeats or any(self._first(without_id) for _, without_id in self._runs[-1:]):
            return None
        return self._newest[answer], "repeated_id"

    def next_open(self, *, has_id: bool) -> _Found | None:
        """Take the first open call of the newest run that has one; for an unknown id, rather a call without id."""
        while self._runs:
            named, unnamed = map(self._first, self._runs[-1])
            if unnamed is not None and (has_id or named is None or unnamed < named):
                return self._take(unnamed, "position")
            if named is not None:
                return self._take(named, "position")
            self._runs.pop()
        return None

    def _first(self, queue: deque[Place]) -> Place | None:
        while queue and queue[0] not in self._open:
            queue.popleft()
        return queue[0] if queue else None

    def _take(self, place: Place, by: Evidence) -> _Found:
        self._open.remove(place)
        return place, by
