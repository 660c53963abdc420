"""Standard output and error whose reader may go away: ``trajcompress … 2>&1 | head -1``, a terminal that is closed.

What is printed tells of the work, and is not the work: that goes on, and the exit code says how it ended.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from typing import Any

_FILES = (io.BufferedWriter, io.FileIO)  # the latter with PYTHONUNBUFFERED
_gone: set[int] = set()
_before: list[io.TextIOWrapper] = []  # the end of one would close what the new one writes to


class _Outlasting(io.FileIO):
    """A stream that leads nowhere once nobody reads it."""

    def __init__(self, number: int) -> None:
        super().__init__(number, "wb", closefd=False)
        self._is_device = stat.S_ISCHR(os.fstat(number).st_mode)  # isatty says no of a terminal that is closed

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:  # anything else, such as a full disk, is for who redirected it to know
            if error.errno != errno.EPIPE and not (error.errno == errno.EIO and self._is_device):
                raise
            _lead_nowhere(self.fileno())
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Have standard output and error go nowhere once their reader is gone, where they are files as usual."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if type(stream) is not io.TextIOWrapper or not isinstance(stream.buffer, _FILES):
            continue
        stream.flush()
        _before.append(stream)
        raw: Any = _Outlasting(stream.fileno())
        lasting = io.TextIOWrapper(
            raw if isinstance(stream.buffer, io.FileIO) else io.BufferedWriter(raw),
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        setattr(sys, name, lasting)


def is_read() -> bool:
    """Tell whether standard output still has a reader, as far as what was written shows."""
    return not _gone or sys.stdout.fileno() not in _gone


def _lead_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
    _gone.add(number)
