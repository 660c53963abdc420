"""What differs between two results: lines that say where, and the old and the new value."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

MOST = 5
"""Differences that are shown of a file."""
_NEVER = {"latency_s"}  # a time
_SHOWN = 160  # characters of a value
_BEFORE = 40  # of them that are the same
_NOTHING = object()


def of_runs(old: Path, new: Path, columns: Collection[str], figures: Collection[str]) -> Iterator[str]:
    """Yield the differences of two run folders.

    Args:
        old: one folder.
        new: the other.
        columns: of the metrics, that may differ.
        figures: keys of the totals, that may differ; the digest of the run, which is made of them, may then, too.
    """
    for name in sorted(_files(old) | _files(new)):
        if not (old / name).exists() or not (new / name).exists():
            yield f"{name}: only in the {'old' if (old / name).exists() else 'new'} run"
        elif name == "metrics.parquet":
            yield from shown(name, _of_tables(old / name, new / name, {*columns, *_NEVER}))
        elif name == "summary.json":
            totals = [json.loads((folder / name).read_bytes()) for folder in (old, new)]
            kept = [{key: value for key, value in each.items() if key not in figures} for each in totals]
            yield from shown(name, of_values(kept[0], kept[1]))
        else:
            found = _of_files(old / name, new / name)
            yield from shown(name, (line for line in found if not (figures and "description: run " in line)))


def shown(name: str, found: Iterator[str]) -> Iterator[str]:
    """Yield the first differences of a file, each behind its name."""
    yield from (f"{name}: {line}" for line in islice(found, MOST))
    if next(found, None) is not None:
        yield f"{name}: … and more"


def of_values(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """Yield where two JSON values differ, with both values there."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from of_values(old.get(key, _NOTHING), new.get(key, _NOTHING), f"{at}.{key}" if at else str(key))
        if list(old) != list(new) and old.keys() == new.keys():
            yield f"{at or 'keys'}: in another order"
    elif isinstance(old, list) and isinstance(new, list):
        for index, (one, other) in enumerate(zip_longest(old, new, fillvalue=_NOTHING)):
            yield from of_values(one, other, f"{at}[{index}]")
    elif type(old) is not type(new) or _text(old) != _text(new):
        yield f"{at}: {_beside(_text(old), _text(new))}"


def of_lines(old: str, new: str) -> Iterator[str]:
    """Yield the lines that differ; JSON lines by what they hold."""
    for number, (one, other) in enumerate(zip_longest(old.splitlines(), new.splitlines()), start=1):
        if one != other:
            yield from (f"line {number}, {line.removeprefix(': ')}" for line in _of_texts(one, other))


def _files(folder: Path) -> set[str]:
    every = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in every if path.parts[0] not in {".state", "run.json"}}


def _of_files(old: Path, new: Path) -> Iterator[str]:
    if old.read_bytes() == new.read_bytes():
        return
    if old.suffix == ".parquet":
        found = _of_tables(old, new, set())
    else:
        found = of_lines(old.read_text("utf-8"), new.read_text("utf-8"))
    first = next(found, None)
    yield first or "bytes differ, what they hold does not"
    yield from found


def _of_tables(old: Path, new: Path, ignored: set[str]) -> Iterator[str]:
    one, other = (_without(pq.read_table(path), ignored) for path in (old, new))
    types = [
        {name: str(table.schema.field(name).type) for name in sorted(table.column_names)} for table in (one, other)
    ]
    yield from (f"schema, {line}" for line in of_values(types[0], types[1]))
    marks = [{str(key): str(value) for key, value in (t.schema.metadata or {}).items()} for t in (one, other)]
    yield from (f"schema metadata, {line}" for line in of_values(marks[0], marks[1]))
    if one.num_rows != other.num_rows:
        yield f"rows: {one.num_rows} → {other.num_rows}"
    both = [name for name in one.column_names if name in other.column_names]
    for row, (a, b) in enumerate(zip(one.select(both).to_pylist(), other.select(both).to_pylist(), strict=False)):
        for column in both:
            if a[column] != b[column]:
                yield from (
                    f"row {row}, {line}" for line in of_values(_parsed(a[column]), _parsed(b[column]), column)
                )


def _of_texts(old: Any, new: Any, at: str = "") -> list[str]:
    """Return the differences of two values that do differ, by what they hold where they are JSON."""
    found = list(islice(of_values(_parsed(old), _parsed(new), at), MOST + 1))
    return found or list(of_values(old, new, at))


def _without(table: pa.Table, ignored: set[str]) -> pa.Table:
    return table.select([name for name in table.column_names if name not in ignored])


def _parsed(value: Any) -> Any:
    """Return what the JSON of an ``arrow.json`` column or a line stands for, else the value itself."""
    if not isinstance(value, str) or value[:1] not in {"{", "["}:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _text(value: Any) -> str:
    return "(nothing)" if value is _NOTHING else repr(value)


def _beside(old: str, new: str) -> str:
    """Return both, long ones from shortly before they part."""
    start = 0
    if max(len(old), len(new)) > _SHOWN:
        same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        start = max(same - _BEFORE, 0)
    return f"{_window(old, start)} → {_window(new, start)}"


def _window(text: str, start: int) -> str:
    end = start + _SHOWN
    return "…" * (start > 0) + text[start:end] + "…" * (len(text) > end)
