"""Whether a value fits a shape, and whether Parquet can carry it at all.

This runs on every row, so a shape is compiled once into a closure that only says yes or no; who asks finds the
reason, or the wider shape, for the few rows where the answer is no.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from trajcompress.dataset.shape import EXACT, INT64, List, Opaque, Scalar, Shape, Struct, is_name, is_utf8
from trajcompress.json_values import MAX_DEPTH

if TYPE_CHECKING:
    import pyarrow as pa

_UINT64 = 2**64

Acceptor: TypeAlias = Callable[[Any], bool]


def acceptor(shape: Shape) -> Acceptor:
    """Return the test whether a value has ``shape``, and can be read back unchanged where it is JSON."""
    match shape:
        case List(Scalar.JSON):
            return lambda value: value is None or (type(value) is list and is_json(value))
        case List(item):
            accepts = acceptor(item)
            return lambda value: value is None or (type(value) is list and all(map(accepts, value)))
        case Struct():
            return _struct_acceptor(shape)
        case Opaque(arrow, base):
            return _SCALARS[Scalar.STR] if base is Scalar.STR else _opaque_acceptor(arrow)
        case Scalar():
            return _SCALARS[shape]


def is_json(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Return whether a JSON column holds ``value`` so that every reader gets it back."""
    kind = type(value)
    if kind is dict or kind is list:
        if depth == 0:
            return False
        for item in value.values() if kind is dict else value:
            # strings are most of every row: not calling for them halves the cost of the walk
            if type(item) is not str and not is_json(item, depth - 1):
                return False
        return True
    if kind is int:
        return bool(-INT64 <= value < _UINT64)
    return value is None or kind is str or kind is bool or kind is float


def unrepresentable(row: dict[str, Any]) -> str | None:
    """Say where and why Parquet cannot carry ``row`` so that ``datasets`` loads it, or return None.

    Example: ``messages[3].score: integer beyond 64 bits``.
    """
    for name, value in row.items():
        if not is_name(name):
            return f"column {name!r}: its name holds NUL or lone surrogates"
        if reason := _problem(value, name, MAX_DEPTH):
            return reason
    return None


def _problem(value: Any, path: str, depth: int) -> str | None:
    if is_json(value, depth):
        return None
    if type(value) is int:
        return f"{path}: integer beyond 64 bits"
    if type(value) is not dict and type(value) is not list:
        return None  # a native value: only its column can say whether it holds it
    if depth == 0:
        return f"{path[:80]}…: nested deeper than {MAX_DEPTH} levels"
    for key, item in value.items() if type(value) is dict else enumerate(value):
        where = f"{path}.{key}" if type(value) is dict else f"{path}[{key}]"
        if reason := _problem(item, where, depth - 1):
            return reason
    return None


def _struct_acceptor(shape: Struct) -> Acceptor:
    names = shape.names
    tests = [acceptor(field) for _, field in shape.fields]

    def accepts(value: Any) -> bool:
        if type(value) is not dict or tuple(value) != names:
            return value is None
        for test, item in zip(tests, value.values(), strict=True):  # noqa: SIM110 - all() is half as fast here
            if not test(item):
                return False
        return True

    return accepts


def _opaque_acceptor(arrow: pa.DataType) -> Acceptor:
    import pyarrow as pa

    def accepts(value: Any) -> bool:
        try:
            back = pa.array([value], arrow)[0].as_py()
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return False
        return type(back) is type(value) and (back == value or (back != back and value != value))  # noqa: PLR0124 - NaN

    return accepts


_SCALARS: dict[Scalar, Acceptor] = {
    Scalar.NULL: lambda value: value is None,
    Scalar.BOOL: lambda value: value is None or type(value) is bool,
    Scalar.INT: lambda value: value is None or (type(value) is int and -EXACT <= value <= EXACT),
    Scalar.BIG_INT: lambda value: value is None or (type(value) is int and -INT64 <= value < INT64),
    Scalar.FLOAT: lambda value: (
        value is None or type(value) is float or (type(value) is int and -EXACT <= value <= EXACT)
    ),
    Scalar.STR: lambda value: value is None or (type(value) is str and is_utf8(value)),
    Scalar.JSON: is_json,
    Scalar.OBJECTS: is_json,
    Scalar.MIXED: lambda _: False,
}
