"""What is told of a result in JSON: why it failed, else its values."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from trajcompress.facts.json_words import NAMING
from trajcompress.facts.parts import Wanted
from trajcompress.json_values import MAX_DEPTH
from trajcompress.outcomes.compact import compact, is_empty, is_false, pairs
from trajcompress.outcomes.records.documented import signature_of
from trajcompress.outcomes.records.failed_json import failure_in, failures
from trajcompress.outcomes.records.raised import raised
from trajcompress.outcomes.records.rest import Query, cell, is_figure, naming, tell_rest
from trajcompress.outcomes.records.series import tell_ends
from trajcompress.outcomes.records.told_values import FEW, Path, ToldValues, are_records, children
from trajcompress.outcomes.records.used_values import used_of
from trajcompress.outcomes.text import LEAST_CHARS, joined, one_line, shorten
from trajcompress.processes.late_patterns import late_re

_OF_FAILURE = frozenset({"status", "message", "msg", "reason", "detail", "details", "code", "success", "timestamp"})
_REFUSED = late_re(r"reject|denied|refus|abort|cancel|declin|block|invalid|not[ _-]", re.IGNORECASE)
_WRITTEN = late_re(
    r"(?:\A|_)(?:applied|saved|replaced|replacements|(?:files|lines)_changed|files_written)\Z|\A[a-z]+Applied\Z"
)
_OF_CALL = late_re(r"(?:\A|_)(?:server|category|action|tool|function)(?:_name)?\Z", re.IGNORECASE)
_NOTHING = (0, "0")
_MOST_BESIDE = 2 * FEW  # lists of records
_TABLE_CHARS = 300  # of records that are told all, though later turns use some of them


def read_structured(data: Any, query: Query, limit: int, most: int) -> tuple[str, str, bool]:
    """Read a JSON result: its error if it names one, then what later turns take from it, then its values.

    Args:
        data: the result.
        query: what is asked of it: records that have what later turns use go before others.
        limit: the most characters.
        most: the most where later turns take so much from it.

    Returns:
        What it says on one line, how many items it has if it is a list, and whether it says that something failed.
    """
    most = max(most, limit * 4 // 3)
    if called := signature_of(data, query.wanted, most):
        return called, "", False
    own = _without_echoes(data, query)
    data = own if isinstance(_only_value(own), dict) else data
    why, beside = failure_in(data, limit)
    if not why:
        why, beside = failure_in(_only_value(data), limit)
    if why:
        return _with_rest(shorten(why, 2 * limit), beside, query, limit, most), "", True
    undone = query.makes and isinstance(data, dict) and _is_undone(data, query.call)
    held = (each for each in (data, _only_value(data)) if isinstance(each, dict))
    failed = undone or any(_says_failed(each, looked_up=query.looked_up) for each in held)
    if failed and not any(isinstance(each, dict | list) and each for each in data.values()):
        return shorten(f"failed: {one_line(compact(data, 2 * limit))}", 2 * limit), "", True
    if failed_records := failures(data, limit):
        return joined(failed_records, 2 * limit), "", True
    said = _told(data, query, limit, most)
    size = f"{len(data)} items" if isinstance(data, list) and len(data) > 1 else ""
    return f"failed: {said}" if failed else said, size, failed


def _only_value(data: Any) -> Any:
    """Return the one value of an object that says something; None where that is no container, or not alone."""
    held = [value for value in data.values() if not is_empty(value)] if isinstance(data, dict) else []
    return held[0] if len(held) == 1 and isinstance(held[0], dict | list) else None


def _without_echoes(data: Any, query: Query) -> Any:
    """Return an object without what it repeats of the call, if it has anything else that tells something.

    But for its id or name; of what was changed these are the names of what was called alone.
    """
    if not isinstance(data, dict):
        return data
    own = {
        key: item
        for key, item in data.items()
        if isinstance(item, dict | list | bool) or not query.says(str(item)) or _is_own(key, query)
    }
    return own if len(own) < len(data) and not all(map(is_empty, own.values())) else data


def _is_own(key: str, query: Query) -> bool:
    """Whether what stands under a key says of a record what it is, though the call says it, too."""
    return not _OF_CALL.search(key) and (query.makes or NAMING.search(key) is not None)


def _told(data: Any, query: Query, limit: int, most: int) -> str:
    """Tell the values of JSON: all in short where that has room, else what later turns use, then what tells most."""
    own = _without_echoes(data, query)
    line = one_line(compact(data, limit) if own is data else pairs(own, limit)) or "empty"
    if "…" not in line and len(line) <= limit:
        return line
    data = raised(_unwrapped(data) if own is data else own)
    told = ToldValues(data)
    tables = _tell_used(told, data, query.wanted, most)
    query = query._replace(keys=frozenset(name for table in tables.values() for _, name in table.inner))
    room = min(limit * 4 // 3, told.room(most))
    tell_rest(told, (), data, query, most - told.room(most) + room)
    for path in dict.fromkeys((*tables, *told.tables())):
        _tell_figures(told, path, max(most, limit * 2))
    for path in told.lists():
        tell_ends(told, path, room)
    return told.line(most) or shorten(line, limit)


def _with_rest(why: str, beside: dict[str, Any], query: Query, limit: int, most: int) -> str:
    """Say why a call failed, then what else it gave, as far as there is room."""
    room = limit * 8 // 5 - len(why) - 2
    room = min(room, limit) * 3 // 4
    if not beside or room < LEAST_CHARS:
        return why
    ((key, item), *others) = beside.items()
    rest = _told(beside, query, room, max(most - len(why) - 2, room))
    return f"{why}; {key}={rest}" if not others and not isinstance(item, dict | list) else f"{why}; {rest}"


def _says_failed(data: dict[str, Any], *, looked_up: bool) -> bool:
    """Whether a result says that its call failed: a record that was looked up says of itself how it stands."""
    if is_false(data.get("success")) or (is_false(data.get("ok")) and not looked_up):
        return True
    status = str(data.get("status", "")).lower()
    others = sum(not is_empty(value) for key, value in data.items() if key not in _OF_FAILURE)
    is_error = status == "error" or data.get("result") == "error"
    return is_error or (status in {"failed", "failure"} and not (looked_up and others))


def _is_undone(data: dict[str, Any], asked: str) -> bool:
    """Whether what was to be changed is not: somebody said no, which was not asked for, or nothing was written."""
    nothing = (value for key, value in data.items() if _WRITTEN.search(key))
    refused = _REFUSED.search(str(data.get("status", "")))
    return (refused is not None and refused[0].lower() not in asked.lower()) or any(
        value in (0, "0") or is_false(value) for value in nothing
    )


def _unwrapped(data: Any) -> Any:
    """Return what the one key of an object holds, if that is a container."""
    for _ in range(MAX_DEPTH):
        if (inner := _only_value(data)) is None:
            break
        data = inner
    return data


class _Table(NamedTuple):
    """What later turns use of records that stand side by side.

    ``rows``: which of them, with what to tell of one of which no value is used. ``keys``: of what, ``inner``: of what
    of an object that they hold; ``name``: the key of what names them, where they stand under no names.
    """

    rows: dict[Path, str]
    keys: dict[str, None]
    name: str | None
    inner: dict[tuple[str, str], None]


def _tell_used(told: ToldValues, data: Any, wanted: Wanted, most: int) -> dict[Path, _Table]:
    """Tell what later turns use, what is needed first, and of records that have it what names them.

    Return these by where they stand.
    """
    tables: dict[Path, _Table] = {}
    for used in sorted(used_of(data, wanted, most), key=lambda each: not each.needed):
        if used.row is None:
            told.add(used.path, used.text, most)
            continue
        path = used.row[:-1]
        if path not in tables:
            records = told.items(path)
            tables[path] = _Table({}, {}, None if records[0][0] else naming([each for _, each in records]), {})
        table = tables[path]
        if used.path == used.row:
            table.rows[used.row] = used.text
        elif told.add(used.path, used.text, most):
            table.rows.setdefault(used.row, "")
            record = told.items(used.row)
            depth = len(used.path) - len(used.row)
            if depth == 1:
                table.keys[record[used.path[-1]][0]] = None
            elif depth == 2 and isinstance(record[used.path[-2]][1], dict):  # noqa: PLR2004 - of an object in it
                table.inner[record[used.path[-2]][0], told.items(used.path[:-1])[used.path[-1]][0]] = None
                _tell_beside(told, used.path, most)
            for at, text in _cells(record, {table.name}):
                told.add((*used.row, at), text, most)
    _share_keys(told, tables)
    seen: set[str] = set()
    for path, table in sorted(tables.items()):
        _tell_columns(told, path, table, most, seen)
    return dict(sorted(tables.items()))


def _share_keys(told: ToldValues, tables: dict[Path, _Table]) -> None:
    """Have lists that a list holds, such as the legs of several journeys, tell the same of their records."""
    inside: dict[Path, list[_Table]] = {}
    for path, table in tables.items():
        if path and not told.items(path[:-1])[path[-1]][0]:
            inside.setdefault(path[:-1], []).append(table)
    for parent, beside in inside.items():
        others = [(*parent, at) for at, (_, item) in enumerate(told.items(parent)) if are_records(item)]
        if len(others) <= _MOST_BESIDE:
            new = {path: _Table({}, {}, beside[0].name, {}) for path in others if path not in tables}
            tables.update(new)
            beside.extend(new.values())
        keys = {key: None for table in beside for key in table.keys}
        inner = {key: None for table in beside for key in table.inner}
        for table in beside:
            table.keys.update(keys)
            table.inner.update(inner)


def _tell_columns(told: ToldValues, path: Path, table: _Table, most: int, seen: set[str]) -> None:
    """Tell of records that have used values what is used of one of them; of few records of all.

    Of a record that is one of those ``seen`` before its name is told.
    """
    records = told.items(path)
    keys = {table.name, *table.keys}
    cells: dict[Path, list[tuple[int, str]]] = {}
    size = 0
    for number, (_, record) in enumerate(records):
        row = (*path, number)
        if row in table.rows or size <= _TABLE_CHARS or len(records) <= FEW:
            cells[row] = _cells(children(record), {table.name} if repr(record) in seen else keys)
            size += sum(len(text) + 2 for _, text in cells[row])
    fits = size <= told.room(most) and (len(records) <= FEW or size <= _TABLE_CHARS)
    others = [row for row in cells if row not in table.rows] if fits else []
    for row in (*sorted(table.rows), *others):
        for at, text in cells[row]:
            told.add((*row, at), text, most)
        record = repr(records[row[-1]][1])
        if record not in seen:
            _tell_inner(told, row, table, most)
        seen.add(record)
        text = table.rows.get(row, "")
        if not cells[row] and (text or records[row[-1]][0]):
            told.add(row, text, most)


def _tell_inner(told: ToldValues, row: Path, table: _Table, most: int) -> None:
    """Tell of a record what is used of the objects that one beside it holds, such as one of its prices."""
    for at, (key, value) in enumerate(told.items(row)) if table.inner else ():
        if isinstance(value, dict):
            for inner, (name, item) in enumerate(children(value)):
                if (key, name) in table.inner and (text := cell(item)):
                    told.add((*row, at, inner), text, most)
                    _tell_beside(told, (*row, at, inner), most)


def _tell_beside(told: ToldValues, path: Path, most: int) -> None:
    """Tell where other objects of a record have nothing under a key that is used of one, as no seats at a price."""
    name = told.items(path[:-1])[path[-1]][0]
    for at, (_, value) in enumerate(told.items(path[:-2])):
        for inner, (key, item) in enumerate(children(value)) if isinstance(value, dict) else ():
            if key == name and item in _NOTHING:
                told.add((*path[:-2], at, inner), cell(item), most)


def _tell_figures(told: ToldValues, path: Path, most: int) -> None:
    """Tell what records come to that are told by their names, or by words alone: what is decided by is a figure."""
    records = told.items(path)
    rows = [(*path, number) for number in range(len(records)) if (*path, number) in told]
    held = [(*row, at) for row in rows for at, (key, value) in enumerate(told.items(row)) if is_figure(key, value)]
    if not held or any(place in told for place in held):
        return
    key = told.items(held[0][:-1])[held[0][-1]][0]
    for row in rows:
        for at, text in _cells(told.items(row), {key}):
            told.add((*row, at), text, most)


def _cells(record: Sequence[tuple[str, Any]], keys: Collection[str | None]) -> list[tuple[int, str]]:
    """Return what a record has under some keys, if that is short."""
    return [(at, text) for at, (key, value) in enumerate(record) if key in keys and (text := cell(value))]
