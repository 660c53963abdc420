"""JSON for programs: every figure, with whole texts."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, get_args

from trajcompress.metrics.row import Outcome
from trajcompress.results.audit.figures import AuditedRow, Figures, Group, Kind
from trajcompress.results.audit.gates import GateResult
from trajcompress.results.audit.report import AuditReport

_TOTALS = (
    "rows", *get_args(Outcome), "still_over_limit", "original_tokens", "compressed_tokens", "tokens_saved",
    "compression_ratio", "facts_needed", "facts_kept",
)  # fmt: skip
"""Those whose columns metrics of any version have."""


def render(report: AuditReport) -> str:
    """Return the report as one JSON object."""
    total = report.total
    near = None if report.near is None else {"share": float(report.near), **_rows(total, "near_limit")}
    value = {
        "paths": [
            {"path": file.name, "target_max_tokens": file.target, **_totals(figures)}
            for file, figures in report.files
        ],
        "where": report.where,
        "totals": _totals(total),
        "segments": _segments(total),
        "over_limit": _rows(total, "over_limit"),
        "failed": _rows(total, "failed"),
        "rejected": _rows(total, "rejected"),
        "facts_lost": _rows(total, "facts_lost"),
        "assistant_kept": _assistant_kept(total),
        "near_limit": near,
        "input_invalid": total.totals.input_invalid,
        "faults": _faults(report),
        "no_summary": _no_summary(total),
        "gates": [_gate(gate) for gate in report.gates],
        "passed": report.passed,
        "exported": report.exported,
    }
    return json.dumps(value, indent=2)


def _totals(figures: Figures) -> dict[str, Any]:
    totals = figures.totals.as_dict()
    return {name: totals[name] for name in _TOTALS}


def _segments(figures: Figures) -> dict[str, Any] | None:
    """Return how many rows were written, where those are segments."""
    totals = figures.totals
    if totals.rows_written <= totals.in_dataset:
        return None
    return {"rows_written": totals.rows_written, "rows_over_limit": totals.rows_over_limit}


def _assistant_kept(figures: Figures) -> dict[str, Any] | None:
    """Return what is kept of the assistant, of rows over the target; None where the metrics do not say."""
    if not figures.assistant_known:
        return None
    groups = {"by_length": figures.kept_by_length, "by_input": figures.kept_by_input}
    return {
        "assistant_tokens_original": figures.totals.assistant_tokens_original,
        "assistant_tokens_kept": figures.totals.assistant_tokens_kept,
        **{name: [dataclasses.asdict(each) for each in of] for name, of in groups.items()},
        "rows_lost": _rows(figures, "assistant_lost"),
    }


def _faults(report: AuditReport) -> dict[str, Any] | None:
    """Return the faults of rows for the target, by kind; None where the metrics do not name them."""
    total = report.total
    if not total.faults_known:
        return None
    kinds = {
        kind: dataclasses.asdict(rows)
        for kind, rows in sorted(total.faults.items())
        if rows.new or not report.new_only
    }
    invalid = {name: getattr(total.totals, name) for name in ("output_invalid", "newly_invalid")}
    return {**invalid, "kinds": kinds, "new": _rows(total, "newly_invalid")}


def _no_summary(figures: Figures) -> dict[str, Any] | None:
    """Return how many rows a model answered with no summary, None where nobody counted them."""
    if not figures.answers_judged:
        return None
    totals = figures.totals
    again, failed = totals.no_summary - totals.no_summary_failed, totals.no_summary_failed
    return {"asked_again": again, "failed": failed, "share": totals.no_summary / totals.rows}


def _rows(figures: Figures, kind: Kind) -> dict[str, Any]:
    groups = figures.groups.get(kind, ())
    return {"rows": figures.count(kind), "groups": [_group(group) for group in groups]}


def _group(group: Group) -> dict[str, Any]:
    return {"cause": group.cause, "rows": group.rows, "examples": [_row(row) for row in group.examples]}


def _gate(gate: GateResult) -> dict[str, Any]:
    return dataclasses.asdict(gate) | {"rows": [_row(row) for row in gate.rows]}


def _row(row: AuditedRow) -> dict[str, Any]:
    return {key: value for key, value in dataclasses.asdict(row).items() if key not in {"kind", "size"}}
