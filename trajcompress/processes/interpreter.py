"""Interpreter settings of a process that works on rows: memory arenas, garbage collection, freed memory."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

FRUGAL = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "131072",
    "MALLOC_TRIM_THRESHOLD_": "1000000",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Has glibc give freed memory back, which otherwise each thread keeps: some 90 MB less for each process."""
_GC_THRESHOLD = 600_000
"""Rows are trees, which go without a collector: in cycles are some three objects a row, and thirty a failed call."""


def prepare_interpreter() -> None:
    """Set up a process that does nothing else."""
    gc.set_threshold(_GC_THRESHOLD)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else numpy starts one for each core, and each spins at first


@contextmanager
def no_collector() -> Iterator[None]:
    """Nobody looks for reference cycles in the block, which makes a great many objects that are soon gone."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def release_memory() -> None:
    """Have the C library give back what loading has freed, where it can: some 60 MB behind a tokenizer."""
    with suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)
