"""The bytes of a file or of standard input, decompressed, in chunks."""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Protocol, TypeAlias, cast

from trajcompress.dataset.rows import Source
from trajcompress.errors import InputError

Progress: TypeAlias = Callable[[int], None]
"""Told how many bytes of a source, as they are on disk, have been read so far."""

_CHUNK = 2**18
# Small, because a decompressor that meets a damaged byte gives nothing of the chunk it is in, and because a hostile
# chunk grows a thousandfold.
_COMPRESSED_CHUNK = 2**14
_BOM = b"\xef\xbb\xbf"


class _Decompressor(Protocol):
    """What zlib's and zstandard's decompression objects have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _DamageError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class ByteStream:
    """The bytes of a source, decompressed, without a byte order mark; to be iterated over once.

    Damage ends the iteration early instead of raising, so that what came before it can be used: ``damage`` is None
    until then, and afterwards the reason (``truncated_input``, ``corrupt_input``) and the detail.
    """

    def __init__(self, source: Source, progress: Progress | None = None) -> None:
        self.damage: tuple[str, str] | None = None
        self._source = source
        self._progress = progress

    def __iter__(self) -> Iterator[bytes]:
        """Give the chunks.

        Raises:
            InputError: the file cannot be opened or read.
        """
        try:
            yield from _without_bom(_decompressed(self._source, self._progress))
        except _DamageError as error:
            self.damage = error.reason, str(error)


def unreadable_input(source: Source, error: OSError) -> InputError:
    """The error for a source that the operating system will not let us read."""
    return InputError(f"{source.name}: {error.strerror or error}; check that the file is there and can be read")


def _without_bom(chunks: Iterator[bytes]) -> Iterator[bytes]:
    start = b""
    for chunk in chunks:
        start += chunk
        if len(start) >= len(_BOM):
            break
    yield start.removeprefix(_BOM)
    yield from chunks


def _decompressed(source: Source, progress: Progress | None) -> Iterator[bytes]:
    suffix = source.path.suffix.lower() if source.path else ""
    if suffix == ".gz":
        return _inflated(_raw(source, progress, _COMPRESSED_CHUNK), lambda: zlib.decompressobj(wbits=31), zlib.error)
    if suffix == ".zst":
        import zstandard

        frames = zstandard.ZstdDecompressor()
        return _inflated(_raw(source, progress, _COMPRESSED_CHUNK), frames.decompressobj, zstandard.ZstdError)
    return _raw(source, progress, _CHUNK)


def _raw(source: Source, progress: Progress | None, size: int) -> Iterator[bytes]:
    done = 0
    try:
        # Unbuffered, a pipe's bytes are had as they come, without waiting for a whole chunk.
        with source.path.open("rb", buffering=0) if source.path else nullcontext(_standard_input()) as file:
            while chunk := file.read(size):
                done += len(chunk)
                yield chunk
                if progress:
                    progress(done)
    except OSError as error:
        raise unreadable_input(source, error) from error


def _standard_input() -> io.RawIOBase:
    # Not its buffer: that is locked while a read blocks, and the interpreter could not end without the lock.
    return cast("io.RawIOBase", getattr(sys.stdin.buffer, "raw", sys.stdin.buffer))


def _inflated(chunks: Iterator[bytes], new: Callable[[], _Decompressor], failure: type[Exception]) -> Iterator[bytes]:
    """Decompress one member (gzip) or frame (zstd) after the other."""
    member: _Decompressor | None = None
    count = 0
    for raw in chunks:
        rest = raw
        while rest:
            if member is None:
                # gzip files may be padded with zeros, on tapes and by block devices.
                rest = rest.lstrip(b"\0") if count else rest
                if not rest:
                    break
                member, count = new(), count + 1
            try:
                yield member.decompress(rest)
            except failure as error:
                raise _DamageError("corrupt_input", f"the compressed data is damaged: {error}") from error
            rest = member.unused_data if member.eof else b""
            member = None if member.eof else member
    if member is not None:
        raise _DamageError("truncated_input", "the compressed data is cut short")
