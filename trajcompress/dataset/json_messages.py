"""JSON files that are one array of messages, and nothing around it: a row by themselves."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from trajcompress.dataset.json_split import ValueSplitter
from trajcompress.dataset.json_text import JsonTextError, parse_json, parse_row
from trajcompress.dataset.rows import CutText, Row, Source, Unreadable, raw_text

TURN_KEYS = frozenset({"role", "from"})
UNFINISHED = "the file ends inside a value or an array that is never closed"
_COLUMNS = {"messages": {"role", "content"}, "conversations": {"from", "value"}}
"""What the column is called, and the keys by which messages are known."""


def column_of_messages(text: Iterator[bytes]) -> str | None:
    """Return the column for the messages of such a file; None of any other, which its first element tells."""
    start = next(text, b"")
    if not start.startswith(b"["):
        return None

    def whole() -> Iterator[bytes]:
        yield start
        yield from text

    try:
        first = parse_json(next(iter(ValueSplitter(whole(), first_array_only=True)), b""))
    except JsonTextError:
        return None
    if not isinstance(first, dict) or any(map(_holds_turns, first.values())):
        return None
    return next((column for column, keys in _COLUMNS.items() if keys <= first.keys()), None)


def row_of_messages(source: Source, raw: bytes, column: str, damage: tuple[str, str] | None) -> Row | Unreadable:
    """Return the row that such a file is; ``damage`` says why reading it ended early."""
    if damage:
        return Unreadable(source.name, 0, None, *damage, raw_text(raw))
    if isinstance(raw, CutText):
        return parse_row(raw, source=source.name, index=0)
    row = parse_row(b'{"%s": %s}' % (column.encode(), raw), source=source.name, index=0)
    if isinstance(row, Row):
        return row
    if row.reason == "invalid_json" and not raw.rstrip().endswith(b"]"):
        row = replace(row, reason="truncated_input", detail=UNFINISHED)
    return replace(row, raw=raw_text(raw))


def _holds_turns(value: object) -> bool:
    each = value if isinstance(value, list) else ()
    return any(isinstance(turn, dict) and not TURN_KEYS.isdisjoint(turn) for turn in each)
