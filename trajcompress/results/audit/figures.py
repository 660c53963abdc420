"""The figures of an audit: rows by outcome, sums, and groups of rows that somebody should look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["over_limit", "failed", "rejected", "facts_lost", "near_limit", "over_ratio"]


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


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of one kind and cause: how many, and the first of them by size."""

    cause: str | None
    rows: int
    examples: tuple[AuditedRow, ...]


@dataclass(slots=True)
class Figures:
    """Sums over rows. Tokens are those of rows that could be counted."""

    outcomes: dict[str, int] = field(default_factory=dict)
    original_tokens: int = 0
    compressed_tokens: int = 0
    facts_needed: int = 0
    facts_kept: int = 0
    facts_unknown: int = 0  # compressed rows whose facts nobody looked up
    asked_model: int = 0  # rows for which a model was called
    no_summary: int | None = None  # those of them that it answered with no summary; None: an older version wrote them
    no_summary_failed: int = 0  # those of these that failed by it
    groups: dict[Kind, tuple[Group, ...]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """All rows."""
        return sum(self.outcomes.values())

    @property
    def not_handled(self) -> int:
        """Rows that failed or were rejected."""
        return self.outcomes.get("failed", 0) + self.outcomes.get("rejected", 0)

    @property
    def compression_ratio(self) -> float | None:
        """Tokens after by tokens before, None where none were counted."""
        return self.compressed_tokens / self.original_tokens if self.original_tokens else None

    def count(self, kind: Kind) -> int:
        """Count the rows of a kind."""
        return sum(group.rows for group in self.groups.get(kind, ()))

    def examples(self, *kinds: Kind) -> tuple[AuditedRow, ...]:
        """Return the named rows of some kinds, largest first."""
        return _largest(row for kind in kinds for group in self.groups.get(kind, ()) for row in group.examples)


def add_up(parts: Sequence[Figures], examples: int) -> Figures:
    """Add figures up, with at most ``examples`` rows named in each group."""
    total = Figures()
    for part in parts:
        for outcome, rows in part.outcomes.items():
            total.outcomes[outcome] = total.outcomes.get(outcome, 0) + rows
        total.original_tokens += part.original_tokens
        total.compressed_tokens += part.compressed_tokens
        total.facts_needed += part.facts_needed
        total.facts_kept += part.facts_kept
        total.facts_unknown += part.facts_unknown
        total.asked_model += part.asked_model
        if part.no_summary is not None:
            total.no_summary = (total.no_summary or 0) + part.no_summary
        total.no_summary_failed += part.no_summary_failed
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
