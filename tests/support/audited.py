"""Metrics to audit: written row by row, with what a test does not care about filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trajcompress.metrics.row import RowMetrics, metrics_schema

TARGET = 1000


def good(row: int, **changes: Any) -> dict[str, Any]:
    """Return the metrics of a row that was compressed well."""
    metrics = RowMetrics("a.jsonl", row, f"row-{row}", "compressed").as_dict()
    tokens = {"original_tokens": 2000, "compressed_tokens": 800, "head_tokens": 300, "tail_tokens": 200}
    return metrics | tokens | {"facts_needed": 10, "facts_kept": 10, "was_compressed": True} | changes


def over(row: int, cause: str = "tail", tokens: int = 1500, **changes: Any) -> dict[str, Any]:
    return good(row, still_over_limit=True, reason=cause, compressed_tokens=tokens, **changes)


def failed(row: int, reason: str = "trajectory_timeout") -> dict[str, Any]:
    return over(row, reason, 2000, outcome="failed", was_compressed=False, facts_needed=None, facts_kept=None)


def rejected(row: int, reason: str = "invalid_json") -> dict[str, Any]:
    metrics = RowMetrics("a.jsonl", row, reason=reason, error="what is wrong", in_dataset=False)
    return metrics.as_dict()


def write_metrics(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows, schema=metrics_schema()), path)
    return path
