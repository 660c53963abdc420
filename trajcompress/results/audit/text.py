"""Texts that rows bring, made fit to print: one line, and nothing that a terminal or a parser would act on."""

from __future__ import annotations

from trajcompress.results.audit.figures import AuditedRow
from trajcompress.wording import printable

_MOST_CHARS = 200


def brief(text: str) -> str:
    """Make a text printable, and cut a very long one."""
    shown = printable(text)
    return shown if len(shown) <= _MOST_CHARS else f"{shown[: _MOST_CHARS - 3]}..."


def place(row: AuditedRow) -> str:
    """Say where a row stood in the input."""
    return f"{brief(row.source_file)}:{row.source_row}"


def identity(row: AuditedRow) -> str:
    """Return the id of a row; one that could not be read has none."""
    return "-" if row.trajectory_id is None else brief(row.trajectory_id)


def number(value: int | None) -> str:
    """Write a number, or that there is none."""
    return "-" if value is None else f"{value:,}"


def describe(row: AuditedRow) -> str:
    """Say what is the matter with a row."""
    reason = brief(row.reason or "unknown")
    match row.kind:
        case "failed" | "rejected":
            return f"{row.kind}: {reason}"
        case "facts_lost":
            return f"{number(row.size)} of {number(row.facts_needed)} facts lost"
        case "over_limit":
            tokens, head, tail = map(number, (row.compressed_tokens, row.head_tokens, row.tail_tokens))
            return f"still over the limit: {reason}, {tokens} tokens, head {head}, tail {tail}"
        case _:
            return f"{number(row.compressed_tokens)} of {number(row.original_tokens)} tokens are left"
