"""The bytes of a file or of standard input, decompressed, in chunks."""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, cast

from trajcompress.dataset.rows import Source
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.errors import InputError

if TYPE_CHECKING:  # not every Python is built with these
    import bz2
    import lzma

Progress: TypeAlias = Callable[[int], None]
"""Called with how many bytes of a source, as they are on disk, have been read so far."""

_CHUNK = 2**18
# Small, because a decompressor that meets a damaged byte gives nothing of the chunk it is in, and because a hostile
# chunk grows a thousandfold.
_COMPRESSED_CHUNK = 2**14
_ZSTD_PIECE = 2**9  # may grow thirty-thousandfold
_XZ_MEMORY = 2**30  # for its dictionary; xz -9 asks for 64 MiB
_ZSTD_STARTS = (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + each]) + b"\x2a\x4d\x18" for each in range(16)))
"""Of frames that hold data, and of those that hold none and may stand before them."""
BOM = b"\xef\xbb\xbf"


class _DamageError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class _Member(Protocol):
    """A member, stream or frame of compressed data; ``rest`` is what came behind its end, None before that."""

    rest: bytes | None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Give what the data holds, in chunks that stay small however far it expands."""
        ...


class _Kind(NamedTuple):
    """A way to compress: what begins a member, what that raises where it is damaged, and the bytes of its start."""

    name: str
    new: Callable[[], _Member]
    failures: tuple[type[Exception], ...]
    start: tuple[bytes, ...]

    def damage(self, error: Exception, begin: bytes, count: int) -> _DamageError:
        """Return the error for a member that is damaged, the ``count``-th; ``begin`` is how the file begins."""
        if count == 1 and not begin.startswith(self.start):
            return _DamageError("not_compressed", f"its bytes are not those of {self.name}")
        return _DamageError("corrupt_input", f"the compressed data is damaged: {error}")


class _Pieces:
    """A :class:`_Member` of zlib or zstandard: a few bytes are fed at a time, as they may expand without a limit."""

    def __init__(self, inner: Any, step: int) -> None:
        self.rest: bytes | None = None
        self._inner = inner
        self._step = step

    def feed(self, data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), self._step):
            yield self._inner.decompress(data[at : at + self._step])
            if self._inner.eof:
                self.rest = self._inner.unused_data + data[at + self._step :]
                return


class _Limited:
    """A :class:`_Member` of bz2 or lzma, which give as much at a time as they are asked for."""

    def __init__(self, inner: bz2.BZ2Decompressor | lzma.LZMADecompressor) -> None:
        self.rest: bytes | None = None
        self._inner = inner

    def feed(self, data: bytes) -> Iterator[bytes]:
        yield self._inner.decompress(data, _CHUNK)
        while not (self._inner.needs_input or self._inner.eof):
            yield self._inner.decompress(b"", _CHUNK)
        if self._inner.eof:
            self.rest = self._inner.unused_data


class ByteStream:
    """The bytes of a source, decompressed, without a byte order mark; to be iterated over once.

    Damage ends the iteration early instead of raising, so that what came before it can be used: ``damage`` is None
    until then, and afterwards the reason (``truncated_input``, ``corrupt_input``,
    ``not_compressed``) and the detail.
    """

    def __init__(self, source: Source, progress: Progress | None = None) -> None:
        self.damage: tuple[str, str] | None = None
        self._source = source
        self._progress = progress

    def __iter__(self) -> Iterator[bytes]:
        """Give the chunks; raise InputError where the file cannot be opened or read."""
        try:
            yield from _without_bom(_decompressed(self._source, self._progress))
        except _DamageError as error:
            self.damage = error.reason, str(error)


def unreadable_input(source: Source, error: OSError) -> InputError:
    """The error for a source that the operating system, or the store, will not let us read."""
    remedy = "" if isinstance(source.path, StorePath) else "; check that the file is there and can be read"
    return InputError(f"{source.name}: {error.strerror or error}{remedy}")


def _without_bom(chunks: Iterator[bytes]) -> Iterator[bytes]:
    start = b""
    for chunk in chunks:
        start += chunk
        if len(start) >= len(BOM):
            break
    yield start.removeprefix(BOM)
    yield from chunks


def _decompressed(source: Source, progress: Progress | None) -> Iterator[bytes]:
    suffix = source.path.suffix.lower() if source.path else ""
    try:
        kind = _kind(suffix)
    except ImportError as error:
        raise InputError(
            f"{source.name}: this Python was built without {error.name}; decompress the file first"
        ) from error
    if kind is None:
        return _raw(source, progress, _CHUNK)
    return _inflated(_raw(source, progress, _COMPRESSED_CHUNK), kind)


def _kind(suffix: str) -> _Kind | None:
    """Return how a file with such a suffix is compressed; None where it is not."""
    match suffix:
        case ".gz":
            return _Kind(
                "gzip",
                lambda: _Pieces(zlib.decompressobj(wbits=31), _COMPRESSED_CHUNK),
                (zlib.error,),
                (b"\x1f\x8b",),
            )
        case ".zst":
            import zstandard

            frames = zstandard.ZstdDecompressor()
            return _Kind(
                "Zstandard",
                lambda: _Pieces(frames.decompressobj(), _ZSTD_PIECE),
                (zstandard.ZstdError,),
                _ZSTD_STARTS,
            )
        case ".bz2":
            import bz2

            return _Kind("bzip2", lambda: _Limited(bz2.BZ2Decompressor()), (OSError, ValueError), (b"BZh",))
        case ".xz":
            import lzma

            new = partial(lzma.LZMADecompressor, memlimit=_XZ_MEMORY)
            return _Kind("xz", lambda: _Limited(new()), (lzma.LZMAError,), (b"\xfd7zXZ\0", b"\x5d\0\0"))
        case _:
            return None


def read_from(source: Source, begin: int, progress: Progress | None = None) -> Iterator[bytes]:
    """Give the bytes of a file as they are on disk, from byte ``begin`` on; raises as :class:`ByteStream`."""
    return _raw(source, progress, _CHUNK, begin)


def _raw(source: Source, progress: Progress | None, size: int, begin: int = 0) -> Iterator[bytes]:
    """Give the bytes as they are on disk; of a file that has grown since it was found, the first of them."""
    done = begin
    end = source.size or sys.maxsize  # some file systems call files empty that are not
    try:
        # Unbuffered, a pipe's bytes are had as they come, without waiting for a whole chunk.
        with source.path.open("rb", buffering=0) if source.path else nullcontext(_standard_input()) as file:
            if begin:
                file.seek(begin)
            while done < end and (chunk := file.read(min(size, end - done))):
                done += len(chunk)
                yield chunk
                if progress:
                    progress(done)
    except OSError as error:
        raise unreadable_input(source, error) from error


def _standard_input() -> io.RawIOBase:
    # Not its buffer: that is locked while a read blocks, and the interpreter could not end without the lock.
    return cast("io.RawIOBase", getattr(sys.stdin.buffer, "raw", sys.stdin.buffer))


def _inflated(chunks: Iterator[bytes], kind: _Kind) -> Iterator[bytes]:
    """Decompress one member (gzip, bz2, xz) or frame (zstd) after the other."""
    member: _Member | None = None
    begin, count = b"", 0
    for raw in chunks:
        rest, begin = raw, begin or raw
        while rest:
            if member is None:
                # gzip files may be padded with zeros, on tapes and by block devices; xz files by fours of them.
                rest = rest.lstrip(b"\0") if count else rest
                if not rest:
                    break
                member, count = kind.new(), count + 1
            try:
                yield from _gathered(member.feed(rest))
            except kind.failures as error:
                raise kind.damage(error, begin, count) from error
            rest = member.rest or b""
            member = None if member.rest is not None else member
    if member is not None:
        raise _DamageError("truncated_input", "the compressed data is cut short")


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Join small pieces, as each chunk costs its readers something, and cut large ones, as each costs them memory."""
    held: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size >= _CHUNK:
                whole, held, size = b"".join(held), [], 0
                for at in range(0, len(whole), _CHUNK):
                    yield whole[at : at + _CHUNK]
    except Exception:  # a decoder, or the store below it, raises what it likes; it goes on
        yield b"".join(held)  # what came before the damage
        raise
    yield b"".join(held)
