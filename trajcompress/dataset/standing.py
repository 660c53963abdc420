"""Change detection for inputs: a fingerprint when reading begins, compared once all is read.

The file system tells, by size, time of writing, and which file it is. Where that is too little, bytes are read again.
A store tells by what it calls the version of an object (S3: its ETag), and what it says is believed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.dataset.rows import Source
from trajcompress.dataset.saved_rows import saved_files
from trajcompress.dataset.storage.location import Location, size_of
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.errors import InputError
from trajcompress.wording import counted, printable

_NAMED = 10


class Change(Struct, frozen=True):
    """What became of a source while it was read, in words; one that ``only_grew`` still holds what was read."""

    what: str
    only_grew: bool = False


class _Stamp(Struct, frozen=True):
    """What the file system says of a file, or a store of an object. Sizes are bytes, times nanoseconds."""

    path: Location
    inode: int
    size: int
    written: int | str  # in a store, the version
    touched: int  # by anything: a link, permissions, or a time of writing that was set back

    @classmethod
    def of(cls, path: Location, *, anew: bool = True) -> _Stamp:
        """Look at a file; what a listing has told of an object is enough unless it is to be looked at anew."""
        if isinstance(path, StorePath):
            looked = path.look() if anew else path.looked
            return cls(path, 0, looked.size, looked.version, 0)
        status = os.stat(path)  # noqa: PTH116 - Path.stat is the same, and slower
        return cls(path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class Standing:
    """How the files of a source stand now, to be compared with how they stand later.

    Of what has no files here, such as standard input, nothing can be said.
    """

    def __init__(self, source: Source) -> None:
        self._stamps: list[_Stamp] = []
        self._gone: Change | None = None
        try:
            self._stamps = [_Stamp.of(path, anew=False) for path in _files(source)]
        except OSError as error:
            self._gone = _gone(error)
        if source.kind != "saved":  # it may have grown since it was found
            self._stamps = [replace(each, size=source.size or 0) for each in self._stamps]

    def change(self, before: str | None = None) -> Change | None:
        """Say what has changed since; None where nothing has.

        ``before`` is the source's fingerprint at that time. Without it, a file that is longer now counts as grown,
        and one of the same size and time of writing as the same.
        """
        if self._gone:
            return self._gone
        grown: Change | None = None
        doubtful = False
        for then in self._stamps:
            try:
                now = _Stamp.of(then.path)
            except OSError as error:
                return _gone(error)
            if change := _change_of(then, now):
                if not change.only_grew:
                    return change
                grown = change
            doubtful = doubtful or now != then  # touched by something, or longer
        if doubtful and before is not None:
            try:
                same = fingerprint([(each.path, each.size) for each in self._stamps]) == before
            except InputError:
                same = False
            if not same:
                return Change("was written to, or replaced by another file,")
        return grown


class Watch:
    """Looks whether sources still stand as they did when it was made, each once it has been read.

    ``changed`` and ``grown`` say what became of those that do not, by name. Of what has grown, only what stood there
    at first is read.
    """

    def __init__(self, sources: Iterable[Source], note: Callable[[str], None]) -> None:
        self.sources = list(sources)
        self.changed: dict[str, str] = {}
        self.grown: dict[str, str] = {}
        self.fingerprints: dict[str, str | None] = {}
        self._standing = {source.name: Standing(source) for source in self.sources}
        self._note = note

    def look(self, source: Source) -> None:
        """Look at a source that was read."""
        change = self._standing[source.name].change(self.fingerprints.get(source.name))
        if change is None:
            return
        if not change.only_grew:
            self.changed[source.name] = change.what
        elif self.grown.get(source.name) != change.what:
            self.grown[source.name] = change.what
            self._note(f"{printable(source.name)}: {change.what} while it was read; what was added is left out")


def change_lines(changed: Mapping[str, str]) -> list[str]:
    """Say what became of sources while they were read, a line for each of the first ones."""
    lines = [f"{printable(name)} {what} while it was read" for name, what in list(changed.items())[:_NAMED]]
    more = len(changed) - len(lines)
    return [*lines, f"and {counted(more, 'input')} more"] if more else lines


def fingerprint_of(source: Source) -> str | None:
    """Return the fingerprint of what a source's files held when it was found; None where it has none.

    Raises:
        InputError: a file cannot be read.
    """
    files = _files(source)
    if not files:
        return None
    if source.kind != "saved":
        return fingerprint([(path, source.size or 0) for path in files])
    return fingerprint([(path, size_of(path)) for path in files])


def _files(source: Source) -> list[Location]:
    if source.path is None or source.is_stream:
        return []
    if source.kind == "saved":
        return [source.path / "state.json", *saved_files(source.path)]
    return [source.path]


def _gone(error: OSError) -> Change:
    if isinstance(error, FileNotFoundError):
        return Change("was removed")
    return Change(f"could not be looked at again ({error.strerror})")


def _change_of(then: _Stamp, now: _Stamp) -> Change | None:
    if isinstance(then.path, StorePath):
        return Change("was replaced by another object") if now != then else None
    if now.size < then.size:
        return Change(f"was cut from {then.size:,} to {now.size:,} bytes")
    if now.size > then.size:
        return Change(f"grew from {then.size:,} to {now.size:,} bytes", only_grew=then.size > 0)
    if now.written != then.written:
        return Change("was written to" if now.inode == then.inode else "was replaced by another file")
    return None


_READ_WHOLE = 256 * 2**20
_BLOCK_BYTES = 2**18
_BLOCKS = 256
_DIGITS = 16


def fingerprint(files: Sequence[tuple[Location, int]]) -> str:
    """Return a digest of the first so many bytes of each file; of a very large one, of blocks spread over them.

    Of an object in a store it is a digest of its size and version.

    Raises:
        InputError: a file cannot be read.
    """
    digests = [_digest(path, size) for path, size in files]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:_DIGITS]


def _digest(path: Location, size: int) -> str:
    try:
        digest = hashlib.sha256(str(size).encode())
        if isinstance(path, StorePath):
            digest.update(path.looked.version.encode())
            return digest.hexdigest()[:_DIGITS]
        with path.open("rb") as file:
            if size <= _READ_WHOLE:
                left = size
                while left and (block := file.read(min(left, _BLOCK_BYTES))):
                    digest.update(block)
                    left -= len(block)
            else:
                for number in range(_BLOCKS):
                    file.seek((size - _BLOCK_BYTES) * number // (_BLOCKS - 1))
                    digest.update(file.read(_BLOCK_BYTES))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; fix that, or leave the file out") from error
    return digest.hexdigest()[:_DIGITS]
