"""GitHub-flavoured Markdown, for a pull request or the summary of a CI job."""

from __future__ import annotations

import re

from trajcompress.processes.late_patterns import late_re
from trajcompress.results.audit.formats.section import Section
from trajcompress.results.audit.formats.sections import sections
from trajcompress.results.audit.report import AuditReport

_SPECIAL = late_re(r"([\\`*_\[\]<>|~&#])")


def render(report: AuditReport) -> str:
    """Return the report as Markdown tables, the verdict first."""
    verdict = [] if not report.gates else ["All gates pass." if report.passed else f"**{_failed(report)}**"]
    return "\n\n".join(["## trajcompress audit", *verdict, *map(_table, sections(report))])


def _failed(report: AuditReport) -> str:
    return f"{len(report.failed_gates)} of {len(report.gates)} gates fail."


def _table(section: Section) -> str:
    left = section.texts | section.quoted
    rule = [":---" if name in left else "---:" for name in section.header]
    rows = [
        [
            _quote(cell) if name in section.quoted else _escape(cell)
            for cell, name in zip(row, section.header, strict=True)
        ]
        for row in section.rows
    ]
    lines = "\n".join(f"| {' | '.join(cells)} |" for cells in (section.header, rule, *rows))
    return f"### {_escape(section.title)}\n\n{lines}"


def _quote(text: str) -> str:
    """Show a text of a row as code: nothing in it is markup, a mention or a link."""
    if not text.strip() or text == "-":
        return _escape(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{pad}{text.replace('|', chr(92) + '|')}{pad}{fence}"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
