"""An earlier summary as lines of the record: told again beside what is new, each thing once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trajcompress.facts import facts_line
from trajcompress.summarize.endpoint.answer import strip_prefixes
from trajcompress.summarize.extractive.fit import NAMES, Item
from trajcompress.summarize.extractive.text import one_line

_SECTIONS = {
    "goal": "Goal",
    "actions": "Actions",
    "actions taken": "Actions",
    "results and values": "Results and values",
    "needed later": "Needed later",
    "errors": "Errors",
    "files touched": "Files touched",
    "decisions": "Decisions",
    "open ends": "Open ends",
}
_UNKNOWN = "Results and values"  # where lines go that stand under no heading, or one of another language
# As high as the middle of what is new: these lines were the best of theirs, and are older.
_SCORES = {"Goal": 2.4, "Actions": 2.2, "Errors": 1.8, "Files touched": 2.2, "Decisions": 2.5, NAMES: 1.0}
_SCORE = 2.0
_STALE = 0.3  # what was open before may be done by now
_OPEN = 3.0
_HEADING = re.compile(r"#{1,6} +(.+?):?|\**([^\W\d][\w ]{2,30})\**:\**")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,2}[.)]) +")
_MORE_ACTIONS = re.compile(r"… (\d{1,6}) more actions?")
_SEVERAL = re.compile(r"[\w.-]{1,60}: .*; ")
_FILE = re.compile(r"(\S{1,200}) \(((?:changed|run|read)(?:, (?:changed|run|read)){0,2})\)")
_ALSO_SEEN = "also seen: "
_SAME_CHARS = 60


def carry_over(previous: str, items: list[Item], *, goes_on: bool) -> int:
    """Add the lines of an earlier summary to the items, before them; return the actions that they stand for.

    Args:
        previous: the earlier summary.
        items: what is new; a file that both touched becomes one item.
        goes_on: whether there is anything new, so that what was open may be done.
    """
    actions = 0
    told: list[Item] = []
    for section, text in _lines(previous):
        if section == "Actions":
            more = _MORE_ACTIONS.fullmatch(text)
            covers = int(more[1]) if more else 1 + text.count("; ") * bool(_SEVERAL.match(text))
            actions += covers
            if not more:
                told.append(Item(section, 0, _SCORES[section], text, covers=covers))
        elif text.startswith(_ALSO_SEEN):
            told += [Item(NAMES, 0, _SCORES[NAMES], name) for name in text.removeprefix(_ALSO_SEEN).split(", ")]
        else:
            score = (_STALE if goes_on else _OPEN) if section == "Open ends" else _SCORES.get(section, _SCORE)
            told.append(Item(section, 0, score, text))
    known = {(item.section, _key(item.text)): item for item in items}
    files = {file[1]: item for item in items if (file := _FILE.fullmatch(item.text))}
    kept = []
    for item in told:
        file = _FILE.fullmatch(item.text)
        if file and (newer := files.get(file[1])) is not None:
            newer.text = _joined(file, newer.text)
        elif known.setdefault((item.section, _key(item.text)), item) is item:
            kept.append(item)
    for place, item in enumerate(kept):
        item.order = place - len(kept) - 1.0  # before the goal that the head gives, and all else
        item.score += place / len(kept) / 2
    items += kept
    return actions


def _lines(previous: str) -> Iterator[tuple[str, str]]:
    """Yield each line that says something, with its section."""
    section = _UNKNOWN
    note = facts_line(("",))
    for raw in strip_prefixes(previous).splitlines():
        line = one_line(raw)
        if heading := _HEADING.fullmatch(line):
            section = _SECTIONS.get((heading[1] or heading[2]).strip("* ").lower(), _UNKNOWN)
        elif line and not line.startswith(note):  # the facts still needed are listed anew
            marker = _BULLET.match(line)
            yield section, line[marker.end() :] if marker else line


def _key(text: str) -> str:
    return text.rstrip("…")[:_SAME_CHARS]


def _joined(older: re.Match[str], newer: str) -> str:
    both = {*older[2].split(", "), *newer.rpartition("(")[2].rstrip(")").split(", ")}
    return f"{older[1]} ({', '.join(how for how in ('changed', 'run', 'read') if how in both)})"
