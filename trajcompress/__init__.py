"""Fit agent trajectories into a token budget before training."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajcompress.api.compactor import Compactor
    from trajcompress.api.compressor import Compressor, count_tokens
    from trajcompress.api.dataset import compress_dataset
    from trajcompress.api.results import (
        CompactedMessages,
        CompressedBatch,
        CompressedDataset,
        CompressedMessages,
        CompressedRow,
        RunningSummary,
    )
    from trajcompress.errors import (
        InputError,
        OutputError,
        RowError,
        SettingsError,
        SummarizerUnusableError,
        SummaryError,
        TokenizerError,
        TrajcompressError,
        UncountableTextError,
        UsageError,
    )
    from trajcompress.metrics.row import RowMetrics
    from trajcompress.run.progress.reporter import RunResult
    from trajcompress.summarizers import Summarizer, SummaryInput

_MODULES = {
    "trajcompress.api.compactor": ("Compactor",),
    "trajcompress.api.compressor": ("Compressor", "count_tokens"),
    "trajcompress.api.dataset": ("compress_dataset",),
    "trajcompress.api.results": (
        "CompactedMessages",
        "CompressedBatch",
        "CompressedDataset",
        "CompressedMessages",
        "CompressedRow",
        "RunningSummary",
    ),
    "trajcompress.errors": (
        "InputError",
        "OutputError",
        "RowError",
        "SettingsError",
        "SummarizerUnusableError",
        "SummaryError",
        "TokenizerError",
        "TrajcompressError",
        "UncountableTextError",
        "UsageError",
    ),
    "trajcompress.metrics.row": ("RowMetrics",),
    "trajcompress.run.progress.reporter": ("RunResult",),
    "trajcompress.summarizers": ("Summarizer", "SummaryInput"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "CompactedMessages",
    "Compactor",
    "CompressedBatch",
    "CompressedDataset",
    "CompressedMessages",
    "CompressedRow",
    "Compressor",
    "InputError",
    "OutputError",
    "RowError",
    "RowMetrics",
    "RunResult",
    "RunningSummary",
    "SettingsError",
    "Summarizer",
    "SummarizerUnusableError",
    "SummaryError",
    "SummaryInput",
    "TokenizerError",
    "TrajcompressError",
    "UncountableTextError",
    "UsageError",
    "compress_dataset",
    "count_tokens",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for only then: the command line's --help needs none of it."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """List what can be imported from here."""
    return sorted(__all__)
