"""An object of a store as a file that is read: ranges of it are fetched ahead of use, several at a time."""

from __future__ import annotations

import errno
import io
import os
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

BLOCK_BYTES = 4 * 2**20
_AHEAD = 4  # blocks under way while one is used
_KEPT = 12  # blocks in memory: the columns of a row group are read by turns


class RangeFile(io.RawIOBase):
    """Reads an object of ``size`` bytes at ``url``; ``fetch`` begins to fetch what lies between two places.

    Memory holds twelve blocks at most. Where that fails, the error is kept as ``failure``.
    """

    def __init__(
        self, url: str, size: int, fetch: Callable[[int, int], Future[bytes]], block_bytes: int = BLOCK_BYTES
    ) -> None:
        super().__init__()
        self.name = url
        self.failure: OSError | None = None
        self._size = size
        self._block_bytes = block_bytes
        self._fetch = fetch
        self._at = 0
        self._blocks: OrderedDict[int, Future[bytes]] = OrderedDict()
        self._last = -1

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that any place can be gone to."""
        return True

    def tell(self) -> int:
        """Return the place that is read next."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise OSError(errno.EINVAL, "a place before the beginning", self.name)
        self._at = start + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Read so many bytes, fewer at the end of the object; all that follow where no number is given."""
        end = self._size if size is None or size < 0 else min(self._at + size, self._size)
        pieces = []
        while self._at < end:
            number, begin = divmod(self._at, self._block_bytes)
            piece = self._block(number)[begin : begin + end - self._at]
            pieces.append(piece)
            self._at += len(piece)
        return b"".join(pieces)

    def readall(self) -> bytes:
        """Read all that follows."""
        return self.read()

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, as much as it holds."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def prefetch(self, start: int) -> None:
        """Begin to fetch what lies behind a place, as far as there is room for it."""
        for number in range(start // self._block_bytes, -(-self._size // self._block_bytes))[: _KEPT - _AHEAD]:
            self._begin(number)

    def close(self) -> None:
        """Give up what is under way."""
        for future in self._blocks.values():
            future.cancel()
        self._blocks.clear()
        super().close()

    def _block(self, number: int) -> bytes:
        future = self._begin(number)
        if number == self._last + 1:  # read in order: a file's end or one column's values may be all that is wanted
            for ahead in range(number + 1, number + 1 + _AHEAD):
                if ahead * self._block_bytes < self._size:
                    self._begin(ahead)
        self._last = number
        try:
            data = future.result()
        except OSError as error:
            self.failure = error
            raise
        if len(data) != min(self._block_bytes, self._size - number * self._block_bytes):
            self.failure = OSError(errno.EIO, "was replaced by another object while it was read", self.name)
            raise self.failure
        return data

    def _begin(self, number: int) -> Future[bytes]:
        if number in self._blocks:
            self._blocks.move_to_end(number)
        else:
            while len(self._blocks) >= _KEPT:
                self._blocks.popitem(last=False)[1].cancel()
            start = number * self._block_bytes
            self._blocks[number] = self._fetch(start, min(start + self._block_bytes, self._size))
        return self._blocks[number]
