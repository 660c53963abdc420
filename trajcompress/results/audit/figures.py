"""The figures of an audit: totals, and groups of rows that somebody should look at; such rows in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from trajcompress.metrics.remedies import largest_turn
from trajcompress.metrics.totals import Totals
from trajcompress.results.kept import Kept, added, in_bands
from trajcompress.wording import place_in, printable

if TYPE_CHECKING:
    from trajcompress.results.compare.model import DifferingRow

Kind: TypeAlias = Literal[
    "over_limit",
    "failed",
    "rejected",
    "left_out",
    "facts_lost",
    "assistant_lost",
    "near_limit",
    "over_ratio",
    "newly_invalid",
]


@dataclass(frozen=True, slots=True)
class AuditedRow:
    """A row that an audit names. ``size`` is what it is ranked by: tokens, or facts for those that lost some."""

    kind: Kind
    path: str  # as the audit was asked for it
    source_file: str
    source_row: int  # from 0
    trajectory_id: str | None
    reason: str | None
    original_tokens: int | None
    compressed_tokens: int | None
    head_tokens: int | None
    tail_tokens: int | None
    facts_needed: int | None
    facts_kept: int | None
    size: int
    outcome: str | None = None
    source_line: int | None = None  # from 1; None where the input has no lines, or the metrics do not say
    original_turns: int | None = None
    observations: int | None = None
    summarizer: str | None = None
    largest_turn: int | None = None  # of the turns that are left, where the row is still over
    largest_turn_role: str | None = None
    largest_turn_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of one kind and cause: how many, and the first of them by size."""

    cause: str | None
    rows: int
    examples: tuple[AuditedRow, ...]


@dataclass(frozen=True, slots=True)
class FaultRows:
    """Rows with one kind of fault: as they were ``read``, as they are ``written``, and where it is ``new``."""

    read: int = 0
    written: int = 0
    new: int = 0

    def __add__(self, other: FaultRows) -> FaultRows:
        """Add other rows."""
        return FaultRows(self.read + other.read, self.written + other.written, self.new + other.new)


@dataclass(slots=True)
class Figures:
    """Totals of rows, and groups of them."""

    totals: Totals = field(default_factory=Totals)
    answers_judged: bool = False  # whether metrics say which answers were no summary: those of old versions do not
    groups: dict[Kind, tuple[Group, ...]] = field(default_factory=dict)
    assistant_known: bool = False  # whether metrics say what is kept of the assistant
    kept_by_input: list[Kept] = field(default_factory=list)
    kept_by_length: list[Kept] = field(default_factory=list)  # empty where the target is not known
    faults_known: bool = False  # whether metrics name the faults of rows
    faults: dict[str, FaultRows] = field(default_factory=dict)

    def count(self, kind: Kind) -> int:
        """Count the rows of a kind."""
        return sum(group.rows for group in self.groups.get(kind, ()))

    def examples(self, *kinds: Kind) -> tuple[AuditedRow, ...]:
        """Return the named rows of some kinds, largest first."""
        return _largest(row for kind in kinds for group in self.groups.get(kind, ()) for row in group.examples)


def add_up(parts: Sequence[Figures], examples: int) -> Figures:
    """Put the figures of several files together, with at most ``examples`` rows named in each group."""
    total = Figures()
    for part in parts:
        total.totals.join(part.totals)
        total.answers_judged |= part.answers_judged
        total.kept_by_input = added([*total.kept_by_input, *part.kept_by_input])
        total.kept_by_length = in_bands(added([*total.kept_by_length, *part.kept_by_length]))
        for fault, rows in part.faults.items():
            total.faults[fault] = total.faults.get(fault, FaultRows()) + rows
    total.faults_known = all(part.faults_known for part in parts)
    total.assistant_known = all(part.assistant_known for part in parts)
    for kind in dict.fromkeys(kind for part in parts for kind in part.groups):
        total.groups[kind] = _join([group for part in parts for group in part.groups.get(kind, ())], examples)
    return total


def by_rows(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Put the groups of most rows first."""
    return tuple(sorted(groups, key=lambda group: (-group.rows, group.cause or "")))


def _join(groups: Sequence[Group], examples: int) -> tuple[Group, ...]:
    by_cause: dict[str | None, list[Group]] = {}
    for group in groups:
        by_cause.setdefault(group.cause, []).append(group)
    return by_rows(
        Group(
            cause,
            sum(group.rows for group in same),
            _largest(row for group in same for row in group.examples)[:examples],
        )
        for cause, same in by_cause.items()
    )


def _largest(rows: Iterable[AuditedRow]) -> tuple[AuditedRow, ...]:
    return tuple(sorted(rows, key=lambda row: -row.size))


_MOST_CHARS = 200


def brief(text: str) -> str:
    """Make a text printable, and cut a very long one."""
    shown = printable(text)
    return shown if len(shown) <= _MOST_CHARS else f"{shown[: _MOST_CHARS - 3]}..."


def place(row: AuditedRow | DifferingRow) -> str:
    """Say where a row stood in the input."""
    return place_in(brief(row.source_file), row.source_row, row.source_line)


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
        case "failed" | "rejected" | "left_out":
            return f"{row.kind.replace('_', ' ')}: {reason}"
        case "assistant_lost":
            return f"{number(row.size)} assistant tokens are not kept"
        case "newly_invalid":
            return "written with faults that it was not read with"
        case "facts_lost":
            return f"{number(row.size)} of {number(row.facts_needed)} facts lost"
        case "over_limit":
            tokens, head, tail = map(number, (row.size, row.head_tokens, row.tail_tokens))
            largest = f", {brief(str(size))}" if (size := largest_turn(row)) else ""
            return f"still over the limit: {reason}, {tokens} tokens, head {head}, tail {tail}{largest}"
        case _:
            return f"{number(row.compressed_tokens)} of {number(row.original_tokens)} tokens are left"
