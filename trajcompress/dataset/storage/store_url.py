"""The address of an object or a folder in a store: the part of :class:`pathlib.PurePath` that is needed of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Self


@dataclass(frozen=True, order=True)
class StoreUrl:
    """An address, which has no slash at its end."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> Self:
        return type(self)(f"{self.url}/{name}")

    def as_posix(self) -> str:
        """Return the address."""
        return self.url

    @property
    def scheme(self) -> str:
        """The kind of store."""
        return self.url.partition("://")[0]

    @property
    def key(self) -> str:
        """The address without its scheme, as libraries of stores take it."""
        return self.url.partition("://")[2]

    @property
    def name(self) -> str:
        """The last part, of a bucket its name."""
        return PurePosixPath(self.key).name

    @property
    def suffix(self) -> str:
        """The end of the name from its last dot on."""
        return PurePosixPath(self.key).suffix

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return PurePosixPath(self.key).stem

    @property
    def parent(self) -> Self:
        """The folder around it; of a bucket itself."""
        above, slash, _ = self.url.rpartition("/")
        return type(self)(above) if slash and not above.endswith("/") else self

    @property
    def parents(self) -> list[Self]:
        """The folders around it, the nearest first."""
        return [] if self.parent == self else [self.parent, *self.parent.parents]

    def with_name(self, name: str) -> Self:
        """Return the address of that name in the same folder."""
        return self.parent / name

    def resolve(self) -> Self:
        """Return itself: a store has no links."""
        return self

    def is_symlink(self) -> bool:
        """Tell that it is no link: a store has none."""
        return False

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: a store has no folders."""

    def rmdir(self) -> None:
        """Do nothing: a store has no folders."""
