"""Values of JSON that are told, each where it stands: an object's keys in their order, and records side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from trajcompress.outcomes.compact import is_empty
from trajcompress.processes.late_patterns import late_re

Path: TypeAlias = tuple[int, ...]
"""Which child of which child of the whole a value is."""

FEW = 4
"""Records that are told all or not at all."""

_MARK_CHARS = 14  # of how many more there are
_MOST_GAPS, _MOST_OF_SERIES = 2, 4  # that are marked where they are
_NO_DATA = late_re(r"schema|example|sample|template", re.IGNORECASE)
_MORE = late_re(r"; … (\d{1,9}) more(?=[;\])])")
_FIELD = late_re(r"\w[\w.-]{0,60}=[^\s=]")  # as a record begins
_CLOSES = {"[": "]", "(": ")"}
_ENDS, _SIGN = frozenset(_CLOSES.values()), late_re(r"[][(),;]")

_Node: TypeAlias = dict[int, Any]  # what is told of each child: its text, or a node of its own


def children(value: Any) -> list[tuple[str, Any]]:
    """Return what an object or a list holds, with keys where there are some."""
    if isinstance(value, dict):
        return [(str(key), item) for key, item in value.items()]
    return [("", item) for item in value]


def are_records(value: Any) -> bool:
    """Whether records stand side by side: in a list, or under a name each, which then have keys in common."""
    records = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if len(records) <= 1 or not all(isinstance(each, dict) for each in records):
        return False
    return isinstance(value, list) or not set(records[0]).isdisjoint(records[1])


class _Inside(NamedTuple):
    """What a container holds, and whether that is records."""

    items: Sequence[tuple[str, Any]]
    records: bool


class ToldValues:
    """Values that are told of JSON, as many as have room."""

    def __init__(self, data: Any) -> None:
        """Take the whole."""
        self._data = data
        self._values: dict[Path, str] = {}
        self._inside: dict[Path, _Inside] = {}
        self._paid: set[tuple[object, ...]] = set()  # containers, and keys of records
        self._size = 0

    def __bool__(self) -> bool:
        """Whether anything is told."""
        return bool(self._values)

    def __contains__(self, path: Path) -> bool:
        """Whether something is told of a value."""
        return path in self._paid

    def add(self, path: Path, text: str, room: int) -> bool:
        """Tell a value where it has room; say whether it is told."""
        if path in self._paid or any(self._values.get(path[:depth]) for depth in range(1, len(path))):
            return True
        cost, paid = self._cost(path)
        if self._size + cost + len(text) > room:
            return False
        for depth in range(1, len(path)):
            self._values.pop(path[:depth], None)  # a name alone
        self._values[path] = text
        self._paid |= paid
        self._size += cost + len(text)
        return True

    def room(self, most: int) -> int:
        """Return how much room is left."""
        return most - self._size

    def tables(self) -> list[Path]:
        """Return where records are of which something is told."""
        return [path for path, inside in self._inside.items() if inside.records and path in self._paid]

    def lists(self) -> list[Path]:
        """Return where other lists are of which something is told."""
        inside = [path for path, inside in self._inside.items() if not inside.records and path in self._paid]
        return [path for path in inside if (items := self.items(path)) and not items[0][0]]

    def items(self, path: Path) -> Sequence[tuple[str, Any]]:
        """Return what a container holds."""
        return self._within(path).items

    def _within(self, path: Path) -> _Inside:
        if path not in self._inside:
            value = self._within(path[:-1]).items[path[-1]][1] if path else self._data
            self._inside[path] = _Inside(children(value), are_records(value))
        return self._inside[path]

    def _cost(self, path: Path) -> tuple[int, set[tuple[object, ...]]]:
        """Return what a value takes besides its text, and what of that is paid for once."""
        cost, paid = 2, set[tuple[object, ...]]({path})
        table: Path | None = None
        for depth, position in enumerate(path):
            within, inside = path[:depth], self._within(path[:depth])
            key, _ = inside.items[position]
            here = path[: depth + 1]
            if within not in self._paid:
                paid.add(within)
                cost += 4 + (_MARK_CHARS if inside.records else 0)
            name = (table, key) if table is not None and not inside.records else (here, key)
            if key and name not in self._paid:
                paid.add(name)
                cost += len(key) + 1
            table = within if inside.records else table
        return cost, paid

    def line(self, most: int) -> str:
        """Write all that is told in one line; records that differ in their keys may take more than they were to."""
        while len(line := self._written()) > most and len(self._values) > 1:
            last = next(reversed(self._values))
            gone = self._alike(last)
            for path in gone if len(gone) < len(self._values) else [last]:
                del self._values[path]
        return line

    def _alike(self, path: Path) -> list[Path]:
        """Return a value that is told, with those that few records beside its own have under the same key."""
        table = self._within(path[:-2]) if len(path) > 1 else None
        if table is None or not table.records or len(table.items) > FEW:
            return [path]
        beside = [each for each in self._values if len(each) == len(path) and each[:-2] == path[:-2]]
        return [each for each in beside if self._key(each) == self._key(path)]

    def _key(self, path: Path) -> str:
        return self._within(path[:-1]).items[path[-1]][0]

    def _written(self) -> str:
        whole: _Node = {}
        for path, text in sorted(self._values.items()):
            node = whole
            for position in path[:-1]:
                node = node.setdefault(position, {})
            node[path[-1]] = text
        if not whole:
            return ""
        if not isinstance(self._data, dict) or are_records(self._data):
            return _records(whole, self._data)
        said = ", ".join(f"{key}={text}" for key, text in _pairs(whole, self._data).items())
        return f"{said}, …" if _leaves_out(whole, self._data) else said


def _pairs(node: _Node, value: Mapping[str, Any]) -> dict[str, str]:
    """Write what is told of an object; one that holds but one told container goes by the name of that.

    But not one whose key says that what it holds is no data.
    """
    said: dict[str, str] = {}
    inside = children(value)
    for position, told in node.items():
        key, item = inside[position]
        inner = list(told.values()) if isinstance(told, dict) else []
        holds_one = len(inner) == 1 and isinstance(inner[0], dict) and isinstance(item, dict)
        if holds_one and not are_records(item) and not _NO_DATA.search(key):
            ((name, text),) = _pairs(told, item).items()
            key, text = (name, text) if name not in said else (key, f"({name}={text})")
        else:
            text = _written(told, item)
        said[key] = text
    return said


def _written(told: str | _Node, value: Any) -> str:
    if isinstance(told, str):
        return told
    if isinstance(value, dict) and not are_records(value):
        said = ", ".join(f"{key}={text}" for key, text in _pairs(told, value).items())
        return f"({said}, …)" if _leaves_out(told, value) else f"({said})"
    return _records(told, value)


def _leaves_out(node: _Node, value: Mapping[str, Any]) -> bool:
    """Whether an object holds more than is told of it, so that this may not pass for all."""
    return any(not is_empty(item) for at, (_, item) in enumerate(children(value)) if at not in node)


def _records(node: _Node, value: Any) -> str:
    """Write items of a list, or records under a name each; keys that all of them have are told of the first.

    Of others it is said how many there are: where these stand, or, where they stand in many places, at the end.
    """
    inside = children(value)
    rows = {
        at: _pairs(told, inside[at][1])
        for at, told in node.items()
        if not isinstance(told, str) and isinstance(inside[at][1], dict)
    }
    shared = [key for key in next(iter(rows.values()), {}) if all(key in cells for cells in rows.values())]
    said: list[str] = []
    first = True
    gaps = _gaps(list(node), inside)
    for position, told in node.items():
        said += _more(gaps.pop(position, 0))
        label, text = inside[position][0], ""
        if position in rows:
            cells = rows[position]
            keys = [*shared, *(key for key in cells if key not in shared)]
            bare = [] if first or (label and len(keys) == 1) else shared
            shown = [cells[key] if key in bare else f"{key}={cells[key]}" for key in keys]
            shown += ["…"] if len(inside) == 1 and _leaves_out(told, inside[0][1]) else []  # it is no row of a table
            text, first = shown[0] if bare and len(shown) == 1 else f"({', '.join(shown)})", False
        elif told:
            text = _written(told, inside[position][1])
        said.append(f"{label}={text}" if label and text else label or text)
    marked = "; ".join([*said, *_more(sum(gaps.values()))])
    return f"[{marked}]" if isinstance(value, list) else f"({marked})"


def _gaps(told: Sequence[int], items: Sequence[tuple[str, Any]]) -> dict[int, int]:
    """Return how many items are left out before which of those that are told, or before their end.

    Of single values it matters little where.
    """
    size = len(items)
    if not any(isinstance(items[at][1], dict | list) for at in told):
        return {size: size - len(told)}
    ends = (*told, size)
    gaps = {at: at - before - 1 for before, at in zip((-1, *told), ends, strict=True) if at - before > 1}
    most = _MOST_OF_SERIES if any(isinstance(items[at][1], list) for at in told) else _MOST_GAPS
    return gaps if len(gaps) <= most else {size: size - len(told)}


def _more(number: int) -> list[str]:
    return [f"… {number} more"] if number else []


def closed(short: str, said: str) -> str:
    """End a record that was cut behind its last whole value, and a list with how many more there are.

    One record alone would seem to be the only one.

    Args:
        short: how something said begins, cut behind a whole value or, with an ellipsis, amid one.
        said: all of it, as :meth:`ToldValues.line` writes it.

    >>> closed("[(id=1, total=20.0)", "[(id=1, total=20.0); (2, 30.0); (3, 5.5); … 4 more]")
    '[(id=1, total=20.0); … 6 more]'
    >>> closed("id=1, home=(city=Mosj…", "id=1, home=(city=Mosjøen, zip=8656), age=3")
    'id=1, …'
    """
    inside: list[str] = []  # brackets that are open
    end, whole = len(short.removesuffix("…")), 0
    for found in _SIGN.finditer(said, 0, end):
        sign = found[0]
        if sign in _CLOSES:
            inside.append(sign)
        elif inside and sign == _CLOSES[inside[-1]]:
            inside.pop()
        elif sign == "," and not inside:
            whole = found.start()
    if _FIELD.match(said) and whole and short.endswith("…"):
        return f"{said[:whole]}, …"
    if inside[:1] != ["["] or not said.startswith(short[:end]):
        return short
    more, depth = 0, len(inside)
    for found in _SIGN.finditer(said, end):
        at, sign = found.start(), found[0]
        depth += (sign in _CLOSES) - (sign in _ENDS)
        if depth == 1 and said.startswith("; ", at):
            left_out = _MORE.match(said, at)
            more += int(left_out[1]) if left_out else 1
        if not depth:
            closing = "".join(map(_CLOSES.__getitem__, reversed(inside[1:])))
            return f"{short}{closing}; … {more} more]" if more else f"{short}{closing}]"
    return short
