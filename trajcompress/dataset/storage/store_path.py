"""A path in a store: what is needed of :class:`pathlib.Path`, over fsspec."""

from __future__ import annotations

import asyncio
import errno
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from trajcompress.dataset.storage.asking import answered, os_error
from trajcompress.dataset.storage.range_file import BLOCK_BYTES, RangeFile
from trajcompress.dataset.storage.store_url import StoreUrl
from trajcompress.dataset.storage.stores import STORES, filesystem

if TYPE_CHECKING:
    from fsspec.asyn import AsyncFileSystem


_BUFFER_BYTES = 2**18
_SLASHES_OF_REPO = 2


@dataclass(frozen=True, slots=True)
class Looked:
    """What a store says of an object: its size in bytes, and a text that changes with its content."""

    size: int
    version: str


@dataclass(frozen=True, order=True)
class StorePath(StoreUrl):
    """An object or a folder at ``url``, which has no slash at its end.

    Whatever asks the store raises OSError: FileNotFoundError, PermissionError, or, where it was asked again and again
    for nothing, another; ``filename`` is the address, ``strerror`` says what is wrong.
    """

    listed: Looked | None = field(default=None, compare=False, repr=False)

    @cached_property
    def looked(self) -> Looked:
        """What a listing said of the object, else what the store says when it is first asked."""
        return self.listed or self.look()

    def look(self) -> Looked:
        """Ask the store for the object as it is now."""
        info = self._info()
        if info["type"] == "directory":
            raise FileNotFoundError(errno.ENOENT, "is a folder, and no object", self.url)
        return self._looked(info)

    def is_dir(self) -> bool:
        """Tell whether there are objects under this path, or it is a bucket."""
        try:
            return self.listed is None and self._info()["type"] == "directory"
        except FileNotFoundError:
            return False

    def is_file(self) -> bool:
        """Tell whether there is an object of this name."""
        try:
            return self.listed is not None or self._info()["type"] != "directory"
        except FileNotFoundError:
            return False

    def exists(self) -> bool:
        """Tell whether there is an object of this name, or any under it."""
        return self.is_file() or self.is_dir()

    def read_text(self, encoding: str = "utf-8") -> str:
        """Read the whole object as text."""
        return self.read_bytes().decode(encoding)

    def iterdir(self) -> Iterator[StorePath]:
        """Give the objects and folders that are directly in this one; none where there is no such folder."""
        try:
            found = self._ask("_ls", self.key, detail=True)
        except FileNotFoundError:
            return
        entries = {info["name"]: info for info in found if info["name"].strip("/") != self.key}
        folders = [StorePath(self._url(name)) for name, info in entries.items() if info["type"] == "directory"]
        yield from sorted([*self._objects(entries), *folders])

    def find(self) -> list[StorePath]:
        """List all objects under this path, sorted by their addresses."""
        fresh = {"refresh": True} if self.scheme == "hf" else {}  # whose library remembers listings
        return self._objects(self._ask("_find", self.key, detail=True, **fresh))

    def glob(self, pattern: str) -> list[StorePath]:
        """List what matches a pattern, relative to this path, sorted; ``**`` goes through folders."""
        found = self._ask("_glob", f"{self.key}/{pattern}", detail=True)
        folders = [StorePath(self._url(name)) for name, info in found.items() if info["type"] == "directory"]
        return sorted([*self._objects(found), *folders])

    def read_bytes(self) -> bytes:
        """Read the whole object."""
        return bytes(self._ask("_cat_file", self.key))

    @overload
    def open(self, mode: Literal["rb"], buffering: Literal[0], *, block_bytes: int = ...) -> RangeFile: ...
    @overload
    def open(self, mode: Literal["rb"]) -> io.BufferedReader: ...
    def open(
        self, mode: str, buffering: int = -1, *, block_bytes: int = BLOCK_BYTES
    ) -> RangeFile | io.BufferedReader:
        """Open the object for reading: ranges of it are fetched ahead of use, several at a time."""
        if mode != "rb":
            raise ValueError(f"{self.url}: objects are opened for reading only")
        store, url, key, loop = self._store, self.url, self.key, self._store.loop

        def fetch(start: int, end: int) -> Any:
            question = answered(url, store._cat_file, key, start=start, end=end)  # noqa: SLF001 - the public one waits
            return asyncio.run_coroutine_threadsafe(question, loop)

        file = RangeFile(self.url, self.looked.size, fetch, block_bytes)
        return io.BufferedReader(file, _BUFFER_BYTES) if buffering else file

    def write_bytes(self, data: bytes) -> int:
        """Put an object, which others see whole or not at all."""
        self.__dict__.pop("looked", None)
        self._ask("_pipe_file", self.key, data)
        return len(data)

    def create(self, data: bytes) -> None:
        """Put an object where none is yet.

        Raises:
            FileExistsError: there is one.
        """
        try:
            self._ask("_pipe_file", self.key, data, mode="create")
        except FileExistsError:
            if self.read_bytes() != data:  # else it is ours: the answer was lost, and it was put again
                raise

    def upload(self, file: Path) -> None:
        """Put a file of this machine, a large one in pieces; others see it once it is whole."""
        self.__dict__.pop("looked", None)
        self._ask("_put_file", str(file), self.key)

    def unlink(self, missing_ok: bool = False) -> None:
        """Delete the object; no store says whether there was one."""
        try:
            self._ask("_rm_file", self.key)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def _info(self) -> Any:
        # The hub's library remembers what it was told, and tells versions only where it is asked for more.
        is_file_of_hub = self.scheme == "hf" and self.key.count("/") > _SLASHES_OF_REPO
        fresh = {"refresh": True, "expand_info": True} if is_file_of_hub else {}
        return self._ask("_info", self.key, **fresh)

    def _objects(self, found: dict[str, Any]) -> list[StorePath]:
        objects = (
            StorePath(self._url(name), self._looked(info))
            for name, info in found.items()
            if info["type"] != "directory" and not name.endswith("/")  # some tools mark folders so
        )
        return sorted(objects)

    def _looked(self, info: Any) -> Looked:
        version = STORES[self.scheme].version(info)
        return Looked(int(info["size"] or 0), str(version or "").strip('"'))

    @property
    def _store(self) -> AsyncFileSystem:
        try:
            return filesystem(self.scheme)
        except (ValueError, OSError) as error:  # for want of credentials
            raise os_error(error, self.url) from error

    def _url(self, name: str) -> str:
        return f"{self.scheme}://{name.strip('/')}"

    def _ask(self, what: str, *given: Any, **options: Any) -> Any:
        from fsspec.asyn import sync

        store = self._store
        return sync(store.loop, answered, self.url, getattr(store, what), *given, **options)


def read_together(paths: Sequence[StorePath]) -> list[bytes | OSError]:
    """Read small objects of one store at the same time; return the content of each, or why it cannot be read."""
    if not paths:
        return []
    from fsspec.asyn import sync

    store = paths[0]._store  # noqa: SLF001 - of this module

    async def read() -> Any:
        questions = (answered(path.url, store._cat_file, path.key) for path in paths)  # noqa: SLF001
        return await asyncio.gather(*questions, return_exceptions=True)

    found: list[bytes | BaseException] = sync(store.loop, read)
    return [
        each if isinstance(each, bytes | OSError) else os_error(each, path.url)
        for each, path in zip(found, paths, strict=True)
    ]
