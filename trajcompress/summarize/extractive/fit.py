"""The best text of a record within a budget of tokens."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct, field

from trajcompress.facts import Told, facts_in, facts_missing, in_brief
from trajcompress.outcomes.text import LEAST_CHARS, harmless, shorten
from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.extractive.left_out import COMMAND, REQUEST, Left, steps_in, tool_named, write_left
from trajcompress.transcript.markup import break_markup
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX

_CHARS_PER_TOKEN = 3.4
_HEAD_CHARS, _HEADS = 14, 4  # of a section; of those that begin, and lines that count what is left out
_SHORT_SHARE = 0.6  # of the budget goes to lines in their short form before any gets its long one
_REQUESTS_SHARE = 0.6
_LEAST_SCORE = 0.1  # that a step made again later may fall below
_MOST_COST = 25.0  # characters, for each point of its score, of a longer form of a step
_NEEDED_SHARE = 0.6
_ATTEMPTS = 6
_ENOUGH = 0.9
_MARGIN = 0.97
_CAME = " → "
_COUNTED = late_re(r"«| ×\d+$|more\)$", re.MULTILINE)  # steps that say something of their own


class Section(Enum):
    """The parts of a record: the last two stand at the end, each of the others wherever it goes on."""

    EARLIER = "Before"
    REQUESTS = "Requests"
    REPLIES = "Replies"
    NOTES = "Notes"
    STEPS = "Steps"
    CHANGED = "Files changed"
    NEEDED = "Needed later"


_COUNTED_WHERE_LEFT_OUT = frozenset({Section.REQUESTS, Section.STEPS})
"""Else what was done for one request passes for what was done for the one before."""
BRIEF_CHARS = 24
"""So short is what a person answers, such as "yes", which says nothing without what was asked, and may come again."""
ASKED, CHANGED, RECENT = 22.0, 20.0, 3.0
"""Scores, whether told now or before: what people ask goes last, then which files changed; and what is added to the
score of a line for how late it stands in the region."""


class Line(Struct):
    """One line in its ``forms``, the longest first; one that is left out, or has none, is counted as ``left``.

    ``worth`` is what more than the shortest tells, where that is more than the score: what kept turns take from it.
    What ``is_first`` is told in short before any line is told at length. ``answered`` is the turn of a step's result.
    """

    section: Section
    order: float
    score: float
    forms: tuple[str, ...]
    count: int = 1
    left: Left = Left()
    worth: float = 0.0
    is_first: bool = False
    answered: int | None = None

    def cost(self, form: int) -> float:
        """What a form takes beyond the next shorter one, for what it tells; what people ask is told in full first."""
        if self.section is Section.REQUESTS:
            return 0.0
        shorter = self.forms[form + 1 :][:1]
        tells = max(self.score, self.worth if form == len(self.forms) - 2 else 0.0, _LEAST_SCORE)
        return (len(self.forms[form]) - sum(map(len, shorter))) / tells

    def is_worth(self, form: int) -> bool:
        """Whether a form tells enough for what it takes; room that is left goes to turns of the row."""
        was_told = self.order < 0  # by the summary before
        if self.section is not Section.STEPS or was_told or form == len(self.forms) - 1 or self.worth > self.score:
            return True
        return self.cost(form) <= _MOST_COST


_NeededLines: TypeAlias = dict[str, Collection[str]]
"""Words that facts stand in, each with those that it tells."""
_Said: TypeAlias = tuple[Section, str | Counter[Left]]
"""A line, or what is left out between two."""


class Record(Struct, frozen=True):
    """What a summary may tell; ``needed`` has for each fact that must stand in it the words around it.

    ``steps`` has for a turn that is the result of one step the place of its line.
    """

    lines: tuple[Line, ...]
    needed: Mapping[str, Told] = field(default_factory=dict)
    steps: Mapping[int, int] = field(default_factory=dict)
    special_tokens: tuple[str, ...] = ()
    _cleaned: dict[str, str] = field(default_factory=dict)

    def clean(self, text: str) -> str:
        """Return a line without anything that a chat or a terminal would act on; each is written several times."""
        if text not in self._cleaned:
            self._cleaned[text] = break_markup(harmless(text), self.special_tokens).strip()
        return self._cleaned[text]


def fit(record: Record, budget: int, count: Callable[[str], int]) -> str:
    """Write the best record of at most ``budget`` tokens; if not even the prefix fits, the prefix alone."""
    room = budget * _CHARS_PER_TOKEN
    everything = (
        sum(len(line.forms[0]) + 3 for line in record.lines if line.forms)
        + sum(len(told.words) for told in record.needed.values())
        + 100
    )
    low, high = 0.0, float("inf")
    best, best_room = "", 0.0
    for _ in range(_ATTEMPTS):
        text = _render(record, room)
        used = count(text)
        if used <= budget:
            low = max(low, room)
            best, best_room = (text, room) if len(text) > len(best) else (best, best_room)
            if used >= _ENOUGH * budget or room >= everything:
                break
        else:
            high = min(high, room)
        room *= _MARGIN * budget / max(used, 1)
        if not low < room < high:
            room = (low + min(high, 2 * max(low, 1))) / 2
        if high - low < _HEAD_CHARS:
            break
    while best == "" and (room := min(room, high) / 2) > _HEAD_CHARS:  # a text of many tokens, as of figures
        best = text if count(text := _render(record, room)) <= budget else ""
    if best in {"", SUMMARY_PREFIX}:
        return _shortest(record, budget, count)
    in_detail = _render(record, best_room, in_detail=True) if best_room else best
    return in_detail if count(in_detail) <= budget else best


def _render(record: Record, room: float, *, in_detail: bool = False) -> str:
    """Write what goes into so many characters: lines by their score, then facts that none of these tells."""
    chosen = _choose(record.lines, room)
    text = _written(record, chosen, in_detail=in_detail)
    missing = facts_missing(tuple(record.needed), text) if record.needed else ()
    if not missing:
        return text
    requests = (line for line in record.lines if line.section is Section.REQUESTS and line.forms)
    asked = max(requests, key=lambda line: line.score, default=None)
    spared = len(SUMMARY_PREFIX) + _HEADS * _HEAD_CHARS + (len(asked.forms[-1]) + 3 if asked else 0)
    for_needed = min(_NEEDED_SHARE * room, max(room - spared, 0))
    lines = _needed_lines(record, missing, for_needed)
    taken = sum(len(line) + 3 for line in lines) + _HEAD_CHARS
    if len(text) + taken > room:
        chosen = _choose(record.lines, room - taken)
        text = _written(record, chosen, in_detail=in_detail)
        lines = _needed_lines(record, facts_missing(tuple(record.needed), text), for_needed)
    return _written(record, chosen, lines, in_detail=in_detail)


def _needed_lines(record: Record, missing: Sequence[str], room: float) -> _NeededLines:
    """Write facts with the words they stand in, the most important first; with fewer words where not all fit."""
    words = {fact: record.needed[fact].words for fact in missing}
    lines, fits = _needed_lines_of(missing, words, room)
    return lines if fits else _needed_lines_of(missing, in_brief(words), room)[0]


def _needed_lines_of(missing: Sequence[str], words: Mapping[str, str], room: float) -> tuple[_NeededLines, bool]:
    """Write facts, none in two lines but with others, and say whether all of them fit."""
    lines: _NeededLines = {}
    left, fits = list(missing), True
    while left:
        line = words[left.pop(0)]
        if len(line) + 3 > room:
            fits = False
            continue
        told = facts_in(missing, line)
        needless = [other for other, facts in lines.items() if other in line or all(map(told.__contains__, facts))]
        room -= len(line) + 3 - sum(len(other) + 3 for other in needless)
        lines = {other: facts for other, facts in lines.items() if other not in needless} | {line: told}
        left = [other for other in left if other not in told]
    return lines, fits


def _step_of(record: Record, facts: Iterable[str]) -> int | None:
    """Return the place of the step whose result tells all of some facts; None where that is not known."""
    turns = {record.needed[fact].turn for fact in facts}
    turn = turns.pop() if len(turns) == 1 else None
    return None if turn is None else record.steps.get(turn)


def _choose(lines: Sequence[Line], room: float) -> dict[int, int]:
    """Choose lines, each with one of its forms: in short by their score, then what tells most for what it takes."""
    ranked = sorted(range(len(lines)), key=lambda place: -lines[place].score)
    chosen: dict[int, int] = {}
    room -= len(SUMMARY_PREFIX) + _HEAD_CHARS * len({line.section for line in lines})
    spent_on_requests = 0.0
    whole = room
    last_asked = max((i for i in ranked if lines[i].section is Section.REQUESTS), default=-1)  # what is worked on
    shortest = [(place, len(lines[place].forms) - 1) for place in ranked if lines[place].forms]
    each_form = [(place, form) for place, last in shortest for form in range(last + 1)]
    told_best = [each for each in each_form if lines[each[0]].is_worth(each[1])]
    told_best.sort(key=lambda each: lines[each[0]].cost(each[1]))
    for share, forms in ((_SHORT_SHARE, shortest), (1.0, told_best)):
        for place, form in forms:
            if chosen.get(place, form + 1) <= form:
                continue
            now = len(lines[place].forms[chosen[place]]) + 3 if place in chosen else 0
            cost = len(lines[place].forms[form]) + 3 - now
            asked = lines[place].section is Section.REQUESTS and place != last_asked
            kept_back = 0.0 if place == last_asked or lines[place].is_first else (1 - share) * whole
            if cost > room - kept_back or (asked and spent_on_requests + cost > _REQUESTS_SHARE * whole):
                continue
            chosen[place] = form
            room -= cost
            spent_on_requests += cost * asked
    return chosen


def _written(
    record: Record,
    chosen: Mapping[int, int],
    needed: Mapping[str, Collection[str]] = MappingProxyType({}),
    *,
    in_detail: bool,
) -> str:
    """Write the chosen lines in the order in which they happened, a section wherever it goes on.

    What is ``needed`` stands behind all. ``in_detail`` it stands beside the step whose result told it, if that is
    known, and of steps that are left out it is said on which files they were used.
    """
    told: set[str] = set()
    happened: list[_Said] = []
    changed: list[str] = []
    beside: dict[int, list[str]] = {}
    alone: list[str] = []
    for words, facts in needed.items():
        place = _step_of(record, facts) if in_detail else None
        (alone if place is None else beside.setdefault(place, [])).append(words)
    tools = {line.left.tool.replace(COMMAND, " "): line.left.tool for line in record.lines}
    # Of what reads the same the last is told; people say "yes" more than once.
    for place in sorted(range(len(record.lines)), key=lambda place: record.lines[place].order, reverse=True):
        line = record.lines[place]
        text = line.forms[chosen[place]] if place in chosen else ""
        if place in beside:
            text = f"{text}; " if text else f"{line.forms[-1].partition(_CAME)[0]}{_CAME}"
            text += "; ".join(f"… {words}" for words in beside[place])
        text = record.clean(text)
        is_new = text not in told or (line.section is Section.REQUESTS and len(text) <= BRIEF_CHARS)
        if is_new and any(map(str.isalnum, text)):
            told.add(text)
            if line.section is Section.CHANGED:
                changed.append(text)
            else:
                happened.append((line.section, text))
        elif line.section in _COUNTED_WHERE_LEFT_OUT:
            left = Left(REQUEST) if line.section is Section.REQUESTS else line.left
            happened.append((line.section, Counter({left: line.count})))
    said: list[tuple[Section, str]] = []
    for section, what in _once(_merged(happened[::-1]), tools):
        if isinstance(what, str):
            said.append((section, what))
        else:
            said.append((_section_of(what), record.clean(write_left(what, files=in_detail))))
    said += ((Section.CHANGED, text) for text in reversed(changed))
    said += ((Section.NEEDED, text) for text in dict.fromkeys(filter(None, map(record.clean, alone))))
    lines = [SUMMARY_PREFIX]
    for section, together in itertools.groupby(said, key=lambda each: each[0]):
        lines += [f"{section.value}:", *(f"- {text}" for _, text in together)]
    return "\n".join(lines)


def _section_of(left: Counter[Left]) -> Section:
    return Section.STEPS if left.keys() - {Left(REQUEST)} else Section.REQUESTS


def _merged(happened: Sequence[_Said]) -> list[_Said]:
    """Tell steps with one tool that came to the same, one after the other, as one: the last, and how many more."""
    told: list[_Said] = []
    same, known, last = 0, ("", ""), ""
    for section, step in happened:
        if section is not Section.STEPS or not isinstance(step, str):
            told.append((section, step))
            same, known = 0, ("", "")
            continue
        label, _, came = step.partition(" → ")
        before, known = known, (label.partition(" ")[0], came if len(came) >= LEAST_CHARS else label)
        same = same + 1 if known == before and not _COUNTED.search(f"{label}\n{last}") else 0
        last = label
        if same:
            told.pop()
        told.append((section, f"{label} (and {same} more) → {came}" if same else step))
    return told


def _once(happened: Sequence[_Said], tools: Mapping[str, str]) -> list[_Said]:
    """Tell steps that read the same once, where the last of them stands, and count the earlier ones."""
    told: set[str] = set()
    said: list[_Said] = []
    for section, text in reversed(happened):
        left = text if isinstance(text, Counter) else None
        if isinstance(text, str) and section is Section.STEPS and text in told:
            left = Counter({Left(tool_named(text, tools)): steps_in(text)})
        if left is None:
            told.add(str(text))
            said.append((section, text))
        elif said and isinstance(before := said[-1][1], Counter):
            said[-1] = section, before + left
        else:
            said.append((section, left))
    return said[::-1]


def _shortest(record: Record, budget: int, count: Callable[[str], int]) -> str:
    """Give the most important line, cut as short as it must be."""
    first = max((line for line in record.lines if line.forms), key=lambda line: line.score, default=None)
    if first is None:
        return SUMMARY_PREFIX
    size = max(int(budget * _CHARS_PER_TOKEN), 1)
    while size > 2:  # noqa: PLR2004 - a shorter cut says nothing
        text = f"{SUMMARY_PREFIX} {record.clean(shorten(first.forms[0], size))}"
        if count(text) <= budget:
            return text
        size //= 2
    return SUMMARY_PREFIX
