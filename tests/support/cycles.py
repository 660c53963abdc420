"""Whether work leaves anything that only the collector finds.

An exception holds the frames that it passed, and these what they worked on: a frame that holds the exception, too,
keeps it all alive until the collector comes by.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def leaving_no_cycles() -> Iterator[None]:
    """Fail where the block leaves any."""
    gc.collect()
    gc.disable()
    try:
        yield
        assert gc.collect() == 0
    finally:
        gc.enable()
