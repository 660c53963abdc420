"""Workflow commands of GitHub Actions: an error for each gate that failed, a warning for each row behind it.

GitHub shows ten errors and ten warnings of a step and drops the others without a word, so the last warning says how
many rows there are besides.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajcompress.results.audit.figures import AuditedRow, describe, identity, place
from trajcompress.results.audit.report import AuditReport
from trajcompress.wording import counted, printable

_MOST_WARNINGS = 10


def render(report: AuditReport) -> str:
    """Return the report as lines of a job's log."""
    return "\n".join(_lines(report))


def _lines(report: AuditReport) -> Iterator[str]:
    total = report.total.totals
    figures = f"{counted(total.rows, 'row')}, {total.still_over_limit:,} still over the limit"
    outcomes = total.outcomes
    yield _command("notice", f"{figures}, {outcomes['failed']:,} failed, {outcomes['rejected']:,} rejected")
    for gate in report.gates:
        said = f"{gate.name}: {gate.figure}, {gate.limit}"
        yield f"pass {said}" if gate.passed else _command("error", said, gate.name)
    rows: list[tuple[str, AuditedRow]]
    if report.gates:
        offending = sum(gate.offending for gate in report.failed_gates)
        rows = [(gate.name, row) for gate in report.failed_gates for row in gate.rows]
    else:
        offending, found = report.trouble()
        rows = [("", row) for row in found]
    shown = rows if offending <= _MOST_WARNINGS else rows[: _MOST_WARNINGS - 1]
    for title, row in shown:
        yield _command("warning", f"{place(row)} ({identity(row)}): {describe(row)}", title, row)
    if more := offending - len(shown):
        yield _command("warning", f"and {more:,} more rows; --export names them all")


def _command(kind: str, message: str, title: str = "", row: AuditedRow | None = None) -> str:
    given = {
        "file": printable(row.source_file) if row else "",
        "line": str(row.source_line) if row and row.source_line else "",
        "title": f"trajcompress audit {title}".rstrip(),
    }
    properties = ",".join(f"{key}={_property(value)}" for key, value in given.items() if value)
    return f"::{kind} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
