"""What came of an action whose result is JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field

from trajcompress.facts.parts import Wanted, parts_with
from trajcompress.facts.reading import mentions
from trajcompress.facts.taken import STRONG
from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.extractive.compact import compact, pairs
from trajcompress.summarize.extractive.page import shown_text
from trajcompress.summarize.extractive.text import LEAST_CHARS, joined, one_line, shorten

_SNIPPET_CHARS = 100  # of one value; of a longer one the sentences that later turns use
_LEAST, _NEEDED = 1.5, 2 * STRONG  # what a word must tell to be looked for among values, and among keys
_SCHEMA = frozenset({"type", "description"})
_NAMING = late_re(r"(?:^|_)(?:id|name|number|title|code|key|label|symbol)$", re.IGNORECASE)

_FEW = 4  # records that stand side by side
_LIST_CHARS = 160

Record: TypeAlias = Mapping[str, Any]


def read_structured(data: Any, wanted: Wanted, limit: int, most: int, asked: str = "") -> tuple[str, str, bool]:
    """Read a JSON result: its error if it names one, then what later turns take from it, then its values.

    Args:
        data: the result.
        wanted: what of it later turns use, and how much each tells: records that have it go before others.
        limit: the most characters.
        most: the most where later turns take so much from it.
        asked: what it answers; texts that it repeats of that are left out.

    Returns:
        What it says on one line, how many items it has if it is a list, and whether it says that something failed.
    """
    if isinstance(data, dict):
        error = data.get("error") or data.get("errors") or data.get("exception")
        if error and not isinstance(error, bool):
            return shorten(f"error: {one_line(compact(error, 2 * limit))}", 2 * limit), "", True
        if str(data.get("status", "")).lower() in {"error", "failed", "failure"} or data.get("success") is False:
            return shorten(f"failed: {one_line(compact(data, 2 * limit))}", 2 * limit), "", True
    if failures := _failures(data):
        return joined(failures, 2 * limit), "", True
    line = one_line(compact(data, limit)) or "empty"
    size = f"{len(data)} items" if isinstance(data, list) and len(data) > 1 else ""
    if "…" not in line and len(line) <= limit:
        return line, size, False
    used = _use_of(data, wanted, most)
    told = used.told(most)
    rest = data
    if isinstance(data, dict) and told:
        rest = {key: value for key, value in data.items() if key not in used.keys and not _repeats(value, asked)}
    elif told:
        rest = None
    line = one_line(pairs(rest, limit) if isinstance(rest, dict) else compact(rest, limit)) if rest else ""
    room = most - sum(map(len, told)) - 2 * len(told)
    return (
        "; ".join((*told, *([shorten(line, min(limit, room))] if line and room > LEAST_CHARS else []))),
        size,
        False,
    )


def _repeats(value: Any, asked: str) -> bool:
    return isinstance(value, str) and " " in value and value in asked


def _failures(data: Any) -> list[str]:
    """Return why each of some records failed, where all did."""
    records = next(iter(data.values())) if isinstance(data, dict) and len(data) == 1 else data
    if not isinstance(records, list) or not records or not all(isinstance(each, dict) for each in records):
        return []
    errors = [each.get("error") for each in records]
    if not all(isinstance(error, str) and error for error in errors):
        return []
    alike: dict[str, list[str]] = {}  # they differ in what they are about
    for error in dict.fromkeys(map(one_line, errors)):
        alike.setdefault(error[:LEAST_CHARS], []).append(error)
    return [f"error: {one}{f' (and {len(more)} more)' if more else ''}" for one, *more in alike.values()]


class _Records(NamedTuple):
    """Records that stand side by side, in a list or under a key each: ``labels``, where it is keys."""

    records: Sequence[Record]
    labels: Sequence[str] = ()


class _Uses(Struct):
    """What later turns use of JSON: values by their keys, and those of records that stand side by side.

    ``keys`` are those of the whole that hold all of it.
    """

    alone: dict[str, list[str]] = field(default_factory=dict)
    records: dict[int, tuple[_Records, dict[int, dict[str, str]]]] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)

    def add(self, key: str, shown: Sequence[str], place: tuple[_Records, int] | None, top: str) -> None:
        """Add values of a key, of a record or of none; ``top`` is the key of the whole that holds it."""
        self.keys.add(top)
        if place is None:
            self.alone.setdefault(key, []).extend(shown)
            return
        among, number = place
        _, used = self.records.setdefault(id(among), (among, {}))
        used.setdefault(number, {})[key] = _listed(shown)

    def told(self, most: int) -> list[str]:
        """Write them: records with what names them, and their keys where they are not those of the one before."""
        told = []
        for line in self._lines():
            most -= len(line) + 2
            if most >= 0:
                told.append(line)
        return told

    def _lines(self) -> list[str]:
        lines = [f"{key}={_listed(values)}" if key else _listed(values) for key, values in self.alone.items()]
        for among, used in self.records.values():
            name = None if among.labels else _naming_key(among.records[min(used)])
            keys = (key for values in used.values() for key in values)
            columns = list(dict.fromkeys((*([name] if name else []), *keys)))
            before: list[str] = []
            if len(among.records) <= _FEW:  # told whole: one of two legs is no journey
                used |= {place: {} for place in range(len(among.records)) if place not in used}
            for number, values in sorted(used.items()):
                cells = {
                    key: cell for key in columns if (cell := values.get(key) or _cell(among.records[number], key))
                }
                same, before = list(cells) == before and not among.labels, list(cells)
                label = among.labels[number : number + 1]
                shown = (cell if same else f"{key}={cell}" for key, cell in cells.items())
                lines.append(f"({', '.join((*label, *shown))})")
        return lines


def _listed(values: Sequence[str]) -> str:
    """Write values one after the other; words out of longer texts with a mark between them."""
    return (" … " if any(" " in value for value in values) else ", ").join(values)


def _naming_key(record: Record) -> str | None:
    """Return the key of what names a record: an id or a name, else its first value."""
    scalars = [key for key, value in record.items() if isinstance(value, str | int) and not isinstance(value, bool)]
    return next((key for key in scalars if _NAMING.search(key)), scalars[0] if scalars else None)


def _are_records(values: Collection[Any]) -> bool:
    return len(values) > 1 and all(isinstance(value, dict) for value in values)


def _are_short(values: Sequence[Any]) -> bool:
    """Whether a list of ids or names is short enough to be told whole."""
    return (
        all(isinstance(value, str | int) for value in values) and sum(len(str(v)) + 2 for v in values) <= _LIST_CHARS
    )


def _cell(record: Record, key: str) -> str:
    value = record.get(key)
    return "" if value is None or isinstance(value, dict | list) else shorten(one_line(str(value)), 2 * LEAST_CHARS)


def _least_of(value: Any) -> float:
    """Return what the name of a value must tell: less where that is a parameter, as schemas of tools have them."""
    return _LEAST if isinstance(value, dict) and not _SCHEMA.isdisjoint(value) else _NEEDED


def _use_of(data: Any, wanted: Wanted, limit: int) -> _Uses:
    """Find the values of JSON that later turns use, and for a key that is needed its value."""
    left = {word: weight for word, weight in wanted.items() if weight >= _LEAST}
    found = _Uses()
    waiting: list[tuple[str, Any, tuple[_Records, int] | None, str]] = [("", data, None, "")]
    size = 0
    while waiting and left and size < limit:
        key, value, place, top = waiting.pop()
        if isinstance(value, dict):
            among = _Records(list(value.values()), list(map(str, value))) if _are_records(value.values()) else None
            items = enumerate(value.items())
            waiting += reversed(
                [(str(name), item, (among, at) if among else place, top or str(name)) for at, (name, item) in items]
            )
            for name in [name for name, item in value.items() if left.get(name, 0.0) >= _least_of(item)]:
                del left[name]
                shown = shorten(one_line(compact(value[name], _SNIPPET_CHARS)), _SNIPPET_CHARS)
                found.add(name, [f"({shown})" if isinstance(value[name], dict) else shown], place, top or name)
        elif isinstance(value, list) and _are_short(value) and any(word in map(str, value) for word in left):
            left = {word: weight for word, weight in left.items() if word not in value}
            found.add(key, [one_line(compact(value, _LIST_CHARS))], place, top)
        elif isinstance(value, list):
            among = _Records(value) if _are_records(value) else None
            waiting += reversed([(key, item, (among, at) if among else place, top) for at, item in enumerate(value)])
        elif value is not None:
            text = str(value)
            if told := [word for word in left if word in text and mentions(text, word)]:
                lines = [text]
                if len(text) > _SNIPPET_CHARS:
                    here = {word: wanted[word] for word in wanted if word in text}
                    lines = [text[start:end] for start, end in parts_with(text, here, limit - size, cost=3)]
                left = {word: weight for word, weight in left.items() if word not in told}
                if lines:
                    found.add(key, [one_line(shown_text(line)) for line in lines], place, top)
                    size += sum(map(len, lines))
    return found
