"""Shapes: which Arrow type a column of unknown values can have without changing any of them.

A shape is the smallest type that holds all values seen so far. :func:`merge` joins two shapes and is associative,
commutative and idempotent, with ``NULL`` as its identity, so rows can be seen in any grouping. A dict becomes a
``Struct`` only where all dicts have the same keys in the same order and plain values; everything irregular
becomes ``JSON``, which keeps each value as its JSON text. A struct would not do: it adds null keys.

``JSON`` stands only as a whole column or as the item of a column that is a list: ``datasets`` fails to decode it
deeper down.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    import pyarrow as pa

_MAX_LISTS = 4  # lists in lists that are still typed
EXACT = 2**53  # up to here each integer is a float64
INT64 = 2**63


class Scalar(Enum):
    """The shapes without parts."""

    NULL = "null"
    BOOL = "bool"
    INT = "int"  # up to 2**53 either way, so it can still join floats
    BIG_INT = "big int"  # within int64
    FLOAT = "float"
    STR = "str"
    JSON = "json"
    OBJECTS = "objects"  # JSON, and an empty object in the place of null
    MIXED = "mixed"  # values without a JSON form beside others: no column can hold them


class List(msgspec.Struct, frozen=True):
    """Lists whose items all have the shape ``item``."""

    item: Shape


class Struct(msgspec.Struct, frozen=True):
    """Dicts which all have exactly these keys, in this order."""

    fields: tuple[tuple[str, Shape], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(name for name, _ in self.fields)


class Opaque(msgspec.Struct, frozen=True):
    """Values of an Arrow type of a Parquet input, kept as it is.

    ``base`` is the shape their Python values would have by themselves, or None where they have no JSON form.
    """

    type: pa.DataType
    base: Scalar | None


Shape: TypeAlias = Scalar | List | Struct | Opaque
Columns: TypeAlias = dict[str, Shape]  # by name, in the order first seen; a missing column is null

_PLAIN = frozenset({Scalar.NULL, Scalar.BOOL, Scalar.INT, Scalar.BIG_INT, Scalar.FLOAT, Scalar.STR})
_NUMBERS: dict[frozenset[Shape], Scalar] = {
    frozenset({Scalar.INT, Scalar.BIG_INT}): Scalar.BIG_INT,
    frozenset({Scalar.INT, Scalar.FLOAT}): Scalar.FLOAT,
}


def merge(a: Shape, b: Shape) -> Shape:
    """Return the smallest shape that holds what ``a`` and what ``b`` hold."""
    if a == b or b is Scalar.NULL:
        return a
    return b if a is Scalar.NULL else _join(_by_itself(a), _by_itself(b))


def _by_itself(shape: Shape) -> Shape:
    return shape.base if isinstance(shape, Opaque) and shape.base is not None else shape


def _join(a: Shape, b: Shape) -> Shape:
    if a == b:
        return a
    if Scalar.OBJECTS in (a, b):
        return Scalar.OBJECTS if _json_of(a, b) is Scalar.JSON else Scalar.MIXED
    if isinstance(a, List) and isinstance(b, List):
        return list_of(merge(a.item, b.item))
    if isinstance(a, Struct) and isinstance(b, Struct) and a.names == b.names:
        return struct_of((name, merge(x, y)) for (name, x), (_, y) in zip(a.fields, b.fields, strict=True))
    return _NUMBERS.get(frozenset({a, b})) or _json_of(a, b)


def merge_rows(a: Columns, b: Columns) -> Columns:
    """Return the columns that hold rows of ``a`` and rows of ``b``, those of ``a`` first."""
    return a | {name: merge(a.get(name, Scalar.NULL), shape) for name, shape in b.items()}


def list_of(item: Shape) -> Shape:
    """Return the shape of lists of ``item``."""
    if item is Scalar.MIXED:
        return Scalar.MIXED
    return List(Scalar.JSON) if item == List(Scalar.JSON) else List(item)


def struct_of(fields: Iterable[tuple[str, Shape]]) -> Shape:
    """Return the shape of dicts with exactly ``fields``."""
    struct = Struct(tuple(fields))
    shapes = [shape for _, shape in struct.fields]
    unfit = any(shape in (Scalar.JSON, Scalar.MIXED, List(Scalar.JSON)) for shape in shapes)
    return _json_of(*shapes) if unfit or not all(map(is_name, struct.names)) or not shapes else struct


def _json_of(*shapes: Shape) -> Shape:
    return Scalar.JSON if all(map(_has_json_form, shapes)) else Scalar.MIXED


def _has_json_form(shape: Shape) -> bool:
    match shape:
        case List(item):
            return _has_json_form(item)
        case Struct(fields):
            return all(_has_json_form(field) for _, field in fields)
        case Opaque(base=base):
            return base is not None
    return shape is not Scalar.MIXED


def shape_of(value: Any, lists: int = _MAX_LISTS) -> Shape:
    """Return the shape of one value, ``lists`` being how many more lists may be typed.

    Recurses once a level: bound the depth of the value before.
    """
    if value is None:
        return Scalar.NULL
    kind = type(value)
    if kind is str:
        return Scalar.STR if is_utf8(value) else Scalar.JSON
    if kind is int:
        return _int_shape(value)
    if kind is list:
        items: Shape = Scalar.NULL
        for item in value:
            items = merge(items, shape_of(item, lists - 1))
        return list_of(items) if lists > 0 else _json_of(items)
    if kind is dict:
        fields = [(name, shape_of(item, lists)) for name, item in value.items()]
        shapes = [shape for _, shape in fields]
        return struct_of(fields) if all(shape in _PLAIN for shape in shapes) else _json_of(*shapes)
    return Scalar.BOOL if kind is bool else Scalar.FLOAT if kind is float else Scalar.MIXED


def _int_shape(value: int) -> Scalar:
    if -EXACT <= value <= EXACT:
        return Scalar.INT
    return Scalar.BIG_INT if -INT64 <= value < INT64 else Scalar.JSON


def shape_of_arrow(arrow: pa.DataType) -> Shape:
    """Return the shape that keeps values of an Arrow type as they are.

    Raises:
        pyarrow.ArrowNotImplementedError: Parquet has no such type.
    """
    import pyarrow as pa

    is_ = pa.types
    plain = {pa.null(): Scalar.NULL, pa.bool_(): Scalar.BOOL, pa.int64(): Scalar.BIG_INT}
    plain |= {pa.float64(): Scalar.FLOAT, pa.string(): Scalar.STR, pa.json_(): Scalar.JSON}
    if arrow in plain:
        return plain[arrow]
    if is_.is_list(arrow) or is_.is_large_list(arrow) or is_.is_list_view(arrow) or is_.is_large_list_view(arrow):
        return list_of(shape_of_arrow(arrow.value_type))
    if is_.is_struct(arrow):
        return struct_of((field.name, shape_of_arrow(field.type)) for field in arrow)
    arrow = _as_stored(arrow)
    values = arrow.value_type if is_.is_dictionary(arrow) else arrow
    if is_.is_string(values) or is_.is_large_string(values) or is_.is_string_view(values):
        return Opaque(arrow, Scalar.STR)
    if is_.is_integer(arrow):
        return Opaque(arrow, Scalar.JSON if arrow == pa.uint64() else Scalar.INT)
    return Opaque(arrow, Scalar.FLOAT if is_.is_floating(arrow) else None)


@cache
def _as_stored(arrow: pa.DataType) -> pa.DataType:
    """Return the type as which Parquet gives it back: it has no seconds and no 8-bit dictionaries, for example."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pa.BufferOutputStream()
    pq.write_table(pa.schema([("column", arrow)]).empty_table(), file)
    return pq.read_schema(pa.BufferReader(file.getvalue())).field(0).type


def is_utf8(text: str) -> bool:
    """Return whether ``text`` has a UTF-8 form, that is, no lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_name(name: str) -> bool:
    """Return whether ``name`` can be a column or a field; NUL ends a name in Arrow's C interface."""
    return "\0" not in name and is_utf8(name)
