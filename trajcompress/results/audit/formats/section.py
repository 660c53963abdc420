"""A titled table of an audit, and cells that many of them have."""

from __future__ import annotations

from dataclasses import dataclass

from trajcompress.results.audit.figures import AuditedRow, brief, identity, place
from trajcompress.results.audit.report import AuditReport


@dataclass(frozen=True, slots=True)
class Section:
    """A table. The columns named in ``texts`` hold texts, the others numbers; those in ``quoted`` quote from rows."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: frozenset[str] = frozenset()
    quoted: frozenset[str] = frozenset()


def named(
    report: AuditReport, title: str, header: tuple[str, ...], rows: list[tuple[AuditedRow, tuple[str, ...]]]
) -> Section:
    """Name rows, by path too where there are several."""
    several = len(report.files) > 1
    names = ("path", "row", "id") if several else ("row", "id")
    cells = tuple(
        ((brief(row.path),) if several else ()) + (place(row), identity(row), *figures) for row, figures in rows
    )
    quoted = frozenset({*names, "cause", "reason", "what", "fault"})
    return Section(title, (*names, *header), cells, texts=frozenset({"gate", "largest turn"}), quoted=quoted)
