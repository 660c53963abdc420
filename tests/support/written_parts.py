"""Rows of any shape, written into parts and read back."""

from __future__ import annotations

import math
from itertools import groupby

from hypothesis import strategies as st

from trajcompress.dataset.durable import publish
from trajcompress.dataset.writers import narrower_files, open_part, part_name, read_part_rows, widen_file

NAMES = st.sampled_from(["id", "messages", "tools", "é", "_type", ""])
KEYS = st.sampled_from(["from", "value", "a.b", "_type", "é", "\0", "\ud800"])
EXACT = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.integers(-3, 3) | st.text(max_size=5)
HOSTILE = EXACT | st.floats(allow_nan=False) | st.sampled_from(["\ud800", "x\udfffé", "\0", 2**53, 2**53 + 1])


def rows_of(scalars, keys):
    values = st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=6
    )
    turns = st.lists(st.dictionaries(keys, scalars, min_size=1, max_size=2), max_size=3)
    row = st.dictionaries(NAMES, values | turns, min_size=1, max_size=4)
    return st.lists(st.tuples(st.sampled_from("ab"), row), min_size=1, max_size=8)


def same(a, b, precision):
    """Equal in values, types and key order; an int may have become the equal float."""
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key], precision) for key in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b, [precision] * len(a)))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=precision)
    return a == b and (type(a) is type(b) or (type(a) is int and type(b) is float))


def without_nulls(row):
    return {name: value for name, value in row.items() if value is not None}


def assert_same_rows(got, wanted, precision=0.0):
    got = [without_nulls(row) for row in got]
    wanted = [without_nulls(row) for row in wanted]
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        assert same(other, {name: one[name] for name in other}, precision), (one, other)
        assert set(one) == set(other)


def parts_of(rows, most):
    """Rows of one stem each, so many at most."""
    return [part for _, of_stem in groupby(rows, lambda row: row[0]) for part in batched(list(of_stem), most)]


def batched(rows, most):
    return [rows[at : at + most] for at in range(0, len(rows), most)]


class Parts:
    """Writes parts one after the other, numbered by stem, and brings them to one schema at the end."""

    def __init__(self, folder, output_format, reserved=None):
        folder.mkdir(exist_ok=True)
        self.folder, self.output_format, self.reserved = folder, output_format, reserved
        self.names, self.numbers, self.part, self.name = [], {}, None, None

    def write(self, stem, rows, raw=None, native=None):
        if self.part is None:
            self.name = part_name(stem, self.numbers.get(stem, 0), self.output_format)
            self.part = open_part(self.folder / self.name, self.reserved)
            self.numbers[stem] = self.numbers.get(stem, 0) + 1
        self.part.write(rows, raw, native or {})

    def commit(self):
        if self.part and self.part.close():
            publish(self.folder / self.name)
            self.names.append(self.name)
        self.part = None

    def abort(self):
        self.part.abort()
        self.part = None
        self.numbers[self.name.rpartition("-")[0]] -= 1

    def finish(self):
        self.commit()
        unify([self.folder / name for name in self.names])
        return self.names


def unify(paths):
    columns, narrow = narrower_files(paths)
    for path in narrow:
        widen_file(path, columns)
        publish(path)


def write(folder, rows, output_format="parquet", part_rows=10):
    writer = Parts(folder, output_format)
    for part in parts_of(rows, part_rows):
        for stem, row in part:
            writer.write(stem, [row])
        writer.commit()
    return writer.finish()


def read(folder, names):
    return [row for name in names for row in read_part_rows(folder / name)]


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}
