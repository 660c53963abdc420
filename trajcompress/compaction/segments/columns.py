"""The columns that name a segment in its row, beside all columns of the input row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from trajcompress.compaction.segments.segment import Kind

SEGMENT_COLUMNS = ("trajectory_id", "segment", "segments", "kind")
_KINDS = frozenset(get_args(Kind))


def is_segment(row: Mapping[str, Any]) -> bool:
    """Tell whether a row was written as a segment, by its columns."""
    numbers = (row.get("segment"), row.get("segments"))
    return (
        str(row.get("kind")) in _KINDS
        and all(type(number) is int and number > 0 for number in numbers)
        and isinstance(row.get("trajectory_id"), str)
    )


def with_segment_columns(
    row: Mapping[str, Any], trajectory_id: str, segment: int, segments: int, kind: Kind
) -> dict[str, Any]:
    """Return a row with the columns that name it as a segment; columns of these names that say something else stay.

    Ours then have a ``_2`` behind their name.
    """
    ours = {"trajectory_id": trajectory_id, "segment": segment, "segments": segments, "kind": kind}
    taken = [name for name, value in ours.items() if row.get(name, value) != value and not is_segment(row)]
    return {**row, **{f"{name}_2" if name in taken else name: value for name, value in ours.items()}}
