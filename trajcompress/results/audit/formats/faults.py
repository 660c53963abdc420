"""What the target refuses of rows, as they were read and as they are written."""

from __future__ import annotations

from collections.abc import Iterator

from trajcompress.results.audit.figures import brief, number
from trajcompress.results.audit.formats.section import Section, named
from trajcompress.results.audit.report import AuditReport
from trajcompress.transcript.violation import TEMPLATE_REFUSES

_HELPS: dict[str, str] = {
    TEMPLATE_REFUSES: "--for TRAINER writes rows in its form; trajcompress check says why of each"
}


def faults(report: AuditReport) -> Iterator[Section]:
    """Show what the target refuses of rows as they were read and as they are written, and what is new."""
    total, new_only = report.total, report.new_only
    kinds = [(kind, rows) for kind, rows in sorted(total.faults.items()) if rows.new or not new_only]
    if not kinds:
        return
    header: tuple[str, ...] = ("fault", "new") if new_only else ("fault", "as read", "as written", "new")
    rows: tuple[tuple[str, ...], ...] = tuple(
        (brief(kind), *map(number, (of.new,) if new_only else (of.read, of.written, of.new))) for kind, of in kinds
    )
    if any(kind in _HELPS for kind, _ in kinds):
        header = (*header, "what helps")
        rows = tuple((*row, _HELPS.get(kind, "-")) for row, (kind, _) in zip(rows, kinds, strict=True))
    what = "Rows that the run made invalid for the target" if new_only else "Rows that are invalid for the target"
    yield Section(f"{what}, by fault", header, rows, frozenset({"what helps"}), quoted=frozenset({"fault"}))
    if total.count("newly_invalid"):
        yield named(
            report,
            "The largest of each fault that came with the run",
            ("fault", "tokens"),
            [
                (row, (brief(group.cause or ""), number(row.compressed_tokens)))
                for group in total.groups["newly_invalid"]
                for row in group.examples
            ],
        )
