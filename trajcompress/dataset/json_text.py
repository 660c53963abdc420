"""JSON text to rows, exactly as the standard library reads it, only faster."""

from __future__ import annotations

import codecs
import json
from typing import Any

import msgspec

from trajcompress.dataset.rows import MAX_ROW_BYTES, CutText, Row, Unreadable, raw_text
from trajcompress.json_values import DEEPEST_PLAIN, MAX_DEPTH, depth_of

_decode = msgspec.json.Decoder().decode
LOOKS = {
    "UTF-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "gzip, so its name should end in .gz": (b"\x1f\x8b",),
    "Zstandard, so its name should end in .zst": (b"\x28\xb5\x2f\xfd",),
    "xz, so its name should end in .xz": (b"\xfd7zXZ\0",),
    "bzip2, so its name should end in .bz2": (b"BZh",),
    "Parquet, so its name should end in .parquet": (b"PAR1",),
}
"""What text that is none may be, by how it begins."""


class JsonTextError(ValueError):
    """Text that cannot be read as JSON; ``reason`` is a word of :class:`Unreadable`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def parse_json(raw: bytes) -> Any:
    """Parse UTF-8 JSON text with the result of ``json.loads``.

    Integers of any size, NaN, Infinity and lone surrogate escapes are kept; of duplicate keys the last one wins.

    Raises:
        JsonTextError: not UTF-8, not JSON, nested too deep, or an integer of more digits than
            Python converts (4300).
    """
    value = _parse(raw)
    _allowed_depth(value)
    return value


def parse_row(raw: bytes, *, source: str, index: int, line: int | None = None) -> Row | Unreadable:
    """Parse one row. Only rows of JSON lines, which have a ``line``, keep their bytes."""
    if isinstance(raw, CutText):
        detail = f"longer than {MAX_ROW_BYTES // 2**20} MiB; these are its first bytes"
        return Unreadable(source, index, line, "row_too_large", detail, raw_text(raw))
    try:
        value = _parse(raw)
        depth = _allowed_depth(value)
    except JsonTextError as error:
        return Unreadable(source, index, line, error.reason, str(error), raw_text(raw))
    if not isinstance(value, dict):
        detail = f"a row is a JSON object, this is {_kind(value)}"
        return Unreadable(source, index, line, "not_an_object", detail, raw_text(raw))
    return Row(source, index, line, value, raw if line is not None else None, is_plain=depth < DEEPEST_PLAIN)


def _parse(raw: bytes) -> Any:
    try:
        # msgspec is stricter than json.loads but never gives another value, so whatever it refuses gets a second try.
        return _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _parse_reference(raw)


def _allowed_depth(value: Any) -> int:
    """Return how deep a value is nested, or raise that it is too deep."""
    depth = depth_of(value)
    if depth > MAX_DEPTH:
        raise JsonTextError("nested_too_deep", f"nested deeper than {MAX_DEPTH} levels")
    return depth


def _parse_reference(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        looks = next((f"; it looks like {kind}" for kind, begins in LOOKS.items() if raw.startswith(begins)), "")
        raise JsonTextError("invalid_utf8", f"{error.reason} at byte {error.start}{looks}") from error
    except json.JSONDecodeError as error:
        raise JsonTextError("invalid_json", f"{error.msg.removesuffix(' at')} at character {error.pos}") from error
    except RecursionError as error:
        raise JsonTextError("nested_too_deep", f"nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:
        raise JsonTextError("number_too_long", "an integer has more digits than can be converted") from error


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "a number"
