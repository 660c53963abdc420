"""Aligned text: whole lines, each row on one, so that a program can search them too."""

from __future__ import annotations

from trajcompress.results.audit.formats.sections import Section, sections
from trajcompress.results.audit.report import AuditReport


def render(report: AuditReport) -> str:
    """Return the report as plain text."""
    return "\n\n".join(map(_table, sections(report)))


def _table(section: Section) -> str:
    lines = section.rows if section.header == ("figure", "value") else (section.header, *section.rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = section.texts | section.quoted
    return "\n".join(
        [
            section.title,
            *(
                "  " + "  ".join(map(_padded, line, widths, (name in left for name in section.header))).rstrip()
                for line in lines
            ),
        ]
    )


def _padded(cell: str, width: int, left: bool) -> str:
    return cell.ljust(width) if left else cell.rjust(width)
