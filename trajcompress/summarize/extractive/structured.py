"""What came of an action whose result is JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from trajcompress.facts import around, brief
from trajcompress.facts.reading import mentions
from trajcompress.summarize.extractive.compact import compact
from trajcompress.summarize.extractive.text import LEAST_CHARS, joined, one_line, shorten

_SNIPPET_CHARS = 100  # around one value that later turns use
_NAMING = re.compile(r"(?:^|_)(?:id|name|number|title|code|key|label|symbol)$", re.IGNORECASE)

Record: TypeAlias = Mapping[str, Any]


def read_structured(
    data: Any, needed: Sequence[str], limit: int, taken_up: Iterable[str] = ()
) -> tuple[str, str, bool]:
    """Read a JSON result: its error if it names one, then what later turns use of it, then its values.

    Args:
        data: the result.
        needed: what of it later turns use.
        limit: the most characters.
        taken_up: other words that the next turns bring in: records that have them go before others.

    Returns:
        What it says on one line, how many items it has if it is a list, and whether it says that something failed.
    """
    if isinstance(data, dict):
        error = data.get("error") or data.get("errors") or data.get("exception")
        if error and not isinstance(error, bool):
            return shorten(f"error: {one_line(compact(error, limit))}", limit), "", True
        if str(data.get("status", "")).lower() in {"error", "failed", "failure"} or data.get("success") is False:
            return shorten(f"failed: {one_line(compact(data, limit))}", limit), "", True
    line = one_line(compact(data, limit)) or "empty"
    size = f"{len(data)} items" if isinstance(data, list) and len(data) > 1 else ""
    if "…" not in line and len(line) <= limit:
        return line, size, False
    for words, besides in ((around, taken_up), (brief, ())):
        used = _use_of(data, needed, besides, limit, words)
        told = used.told()
        if sum(map(len, told)) + 2 * len(told) <= limit:
            break
    if used.alone and isinstance(data, dict):
        line = one_line(compact({key: value for key, value in data.items() if key not in used.alone}, limit))
    return joined([*told, line], limit), size, False


class _Records(NamedTuple):
    """Records that stand side by side, in a list or under a key each: ``labels``, where it is keys."""

    records: Sequence[Record]
    labels: Sequence[str] = ()


@dataclass(slots=True)
class _Uses:
    """What later turns use of JSON: values by their keys, and those of records that stand side by side."""

    alone: dict[str, list[str]] = field(default_factory=dict)
    records: dict[int, tuple[_Records, dict[int, dict[str, str]]]] = field(default_factory=dict)

    def add(self, key: str, shown: Sequence[str], place: tuple[_Records, int] | None) -> None:
        """Add values of a key, of a record or of none."""
        if place is None:
            self.alone.setdefault(key, []).extend(shown)
            return
        among, number = place
        _, used = self.records.setdefault(id(among), (among, {}))
        used.setdefault(number, {})[key] = _listed(shown)

    def told(self) -> list[str]:
        """Write them: records with what names them, and their keys where they are not those of the one before."""
        lines = [f"{key}={_listed(values)}" if key else _listed(values) for key, values in self.alone.items()]
        for among, used in self.records.values():
            name = None if among.labels else _naming_key(among.records[min(used)])
            keys = (key for values in used.values() for key in values)
            columns = list(dict.fromkeys((*([name] if name else []), *keys)))
            before: list[str] = []
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


def _cell(record: Record, key: str) -> str:
    value = record.get(key)
    return "" if value is None or isinstance(value, dict | list) else shorten(one_line(str(value)), 2 * LEAST_CHARS)


def _use_of(
    data: Any, needed: Sequence[str], besides: Iterable[str], limit: int, words: Callable[[str, str], str]
) -> _Uses:
    """Find the values of JSON that later turns use, ``besides`` too, and for a key that is needed its value.

    ``words`` takes the words around a value out of a longer one.
    """
    wanted = dict.fromkeys((*needed, *besides))  # in their order: that of a set is another in each process
    keys = frozenset(needed)
    found = _Uses()
    waiting: list[tuple[str, Any, tuple[_Records, int] | None]] = [("", data, None)]
    size = 0
    while waiting and wanted and size < limit:
        key, value, place = waiting.pop()
        if isinstance(value, dict):
            among = _Records(list(value.values()), list(map(str, value))) if _are_records(value.values()) else None
            waiting += reversed(
                [(str(name), item, (among, at) if among else place) for at, (name, item) in enumerate(value.items())]
            )
            for name in [name for name in value if name in keys and name in wanted]:
                wanted.pop(name)
                shown = shorten(one_line(compact(value[name], _SNIPPET_CHARS)), _SNIPPET_CHARS)
                found.add(name, [f"({shown})" if isinstance(value[name], dict) else shown], place)
        elif isinstance(value, list):
            among = _Records(value) if _are_records(value) else None
            waiting += reversed([(key, item, (among, at) if among else place) for at, item in enumerate(value)])
        elif value is not None:
            text = str(value)
            if told := [fact for fact in wanted if fact in text and mentions(text, fact)]:
                wanted = {fact: None for fact in wanted if fact not in told}
                short = len(text) <= (_SNIPPET_CHARS if words is around else LEAST_CHARS)
                lines = list(map(one_line, [text] if short else [words(fact, text) for fact in told]))
                found.add(key, lines, place)
                size += sum(map(len, lines))
    return found
