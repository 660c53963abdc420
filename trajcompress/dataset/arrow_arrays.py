"""Arrow arrays of Python values, made without pandas.

``pyarrow.array`` imports that, to ask whether values are of its types: a tenth of the CPU of a run over 400 rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from trajcompress.dataset.jsonl_parts import dumped

if TYPE_CHECKING:  # loading it costs more than the whole of --help
    import pyarrow as pa


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return the array that ``pyarrow.array`` makes of values of a type; of JSON these are what it stands for.

    Lone surrogates, which an id or an error may quote from a row and Arrow cannot hold, are escaped.
    """
    import numpy as np
    import pyarrow as pa

    is_ = pa.types
    contents: list[Any] = []
    fields: list[pa.Array] = []
    if is_.is_string(kind) or kind == pa.json_():
        texts = _json(values) if kind == pa.json_() else _utf8(values)
        contents = [_offsets(texts), b"".join(texts)]
    elif is_.is_list(kind):
        lists = [value or () for value in values]
        contents, fields = [_offsets(lists)], [array_of(list(chain.from_iterable(lists)), kind.value_type)]
    elif is_.is_struct(kind):
        fields = [array_of([value and value[field.name] for value in values], field.type) for field in kind]
    elif is_.is_boolean(kind):
        contents = [np.packbits(np.array(values, bool), bitorder="little")]
    elif is_.is_int64(kind) or is_.is_float64(kind):
        contents = [np.array([0 if value is None else value for value in values], kind.to_pandas_dtype())]
    else:  # a type of a Parquet input
        return pa.nulls(len(values)) if is_.is_null(kind) else pa.array(values, kind)
    known = np.packbits(np.array([value is not None for value in values], bool), bitorder="little")
    buffers = [pa.py_buffer(part) for part in (known, *contents)]
    return pa.Array.from_buffers(kind, len(values), buffers, children=fields)


def _json(values: Sequence[Any]) -> list[bytes]:
    texts = iter(dumped([value for value in values if value is not None]))
    return [b"" if value is None else next(texts) for value in values]


def _utf8(values: Sequence[str | None]) -> list[bytes]:
    return [b"" if value is None else value.encode("utf-8", "backslashreplace") for value in values]


def _offsets(parts: Sequence[Sequence[Any]]) -> Any:
    """Return where each part begins, and where the last one ends."""
    import numpy as np

    return np.cumsum([0, *map(len, parts)], dtype=np.int32)
