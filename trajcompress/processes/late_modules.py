"""Packages that are loaded once something of theirs is looked up, as some load thousands of types that nobody uses.

What imports one gets the package itself, empty as yet; its submodules can be imported all the same. It is for
packages whose submodules do not rely on what their ``__init__`` did before.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

_OF_IMPORTS = frozenset({"__path__", "__file__", "__spec__", "__loader__", "__package__", "__cached__"})
_lock = RLock()


@contextmanager
def late(*names: str) -> Iterator[None]:
    """Whoever imports one of these packages for the first time in the block gets it empty; its first use fills it."""
    finder = _LateFinder(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _LateModule(ModuleType):
    """A package whose code runs when an attribute is missing."""

    def __getattr__(self, attribute: str) -> Any:
        if attribute in _OF_IMPORTS:
            raise AttributeError(attribute)
        self._fill()
        return getattr(self, attribute)

    def __dir__(self) -> list[str]:
        self._fill()
        return dir(self)

    def _fill(self) -> None:
        with _lock:  # another thread waits until all is there
            if type(self) is _LateModule:
                _turn_into(self, _FillingModule)  # its own code may look for what is not there yet
                loader = self.__spec__.loader if self.__spec__ else None
                try:
                    if loader is not None:
                        loader.exec_module(self)
                except BaseException:  # also where it is interrupted, the module is to load at the next use
                    _turn_into(self, _LateModule)
                    raise
                _turn_into(self, ModuleType)


class _FillingModule(ModuleType):
    """A package whose code is running: another thread that misses an attribute waits for the end of that."""

    def __getattr__(self, attribute: str) -> Any:
        with _lock:
            if type(self) is _FillingModule:  # this thread runs the code itself
                raise AttributeError(f"module {self.__name__!r} has no attribute {attribute!r}")
        return getattr(self, attribute)


def _turn_into(module: ModuleType, kind: type[ModuleType]) -> None:
    module.__class__ = kind


class _LateLoader(Loader):
    """Makes an empty package and leaves its code to the loader of its own."""

    def __init__(self, own: Loader) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _LateModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._own
        if module.__spec__ is not None:
            module.__spec__.loader = self._own


class _LateFinder(MetaPathFinder):
    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _LateLoader(spec.loader)
        return spec
