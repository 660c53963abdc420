"""Aligned text: for a terminal fitted to its width, else whole lines, each row on one, that a program can search."""

from __future__ import annotations

from trajcompress.results.audit.formats.section import Section
from trajcompress.results.audit.formats.sections import sections
from trajcompress.results.audit.report import AuditReport
from trajcompress.results.text_table import Columns, lines_of

_NAMES = frozenset({"path", "row", "id"})
_INDENT = "  "


def render(report: AuditReport, width: int | None = None) -> str:
    """Return the report as plain text, fitted to ``width`` columns where one is given."""
    return "\n\n".join(_table(section, width) for section in sections(report))


def _table(section: Section, width: int | None) -> str:
    left = section.texts | section.quoted
    columns = Columns(section.header, texts=left - _NAMES, names=left & _NAMES)
    titled = section.header != ("figure", "value")
    return "\n".join([section.title, *lines_of(columns, section.rows, width, indent=_INDENT, titled=titled)])
