"""Fit agent trajectories into a token budget before training."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajcompress.api import CompressedRow, Compressor, compress_dataset, count_tokens
    from trajcompress.metrics.row import RowMetrics
    from trajcompress.run.reporter import RunResult

__all__ = ["CompressedRow", "Compressor", "RowMetrics", "RunResult", "compress_dataset", "count_tokens"]

_HOME = {
    "CompressedRow": "trajcompress.api",
    "Compressor": "trajcompress.api",
    "compress_dataset": "trajcompress.api",
    "count_tokens": "trajcompress.api",
    "RowMetrics": "trajcompress.metrics.row",
    "RunResult": "trajcompress.run.reporter",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for only then: the command line's --help needs none of it."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """List what can be imported from here."""
    return sorted(__all__)
