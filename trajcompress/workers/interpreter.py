"""What every process that works on rows wants of its interpreter."""

from __future__ import annotations

import gc
import os

_GC_THRESHOLD = 50_000
"""Rows are trees, which go without a collector: so next to nothing is found by looking for cycles."""


def prepare_interpreter() -> None:
    """Set up a process that does nothing else."""
    gc.set_threshold(_GC_THRESHOLD)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else numpy starts one for each core, and each spins at first
