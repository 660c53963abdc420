"""The life of what programs hold open: opened at once, closed by ``with`` or by hand, opened anew once pickled."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, Self, TypeVar

from trajcompress.api.opened import Opened

Held = TypeVar("Held", bound=Opened)


class Closable(Generic[Held]):
    """Holds what ``opening`` makes, one for each process, until it is closed."""

    def __init__(self, opening: Callable[[], Held]) -> None:
        self._begin_unopened(opening)
        self._open()

    def close(self) -> None:
        """Close connections and files; what is under way is cancelled. Nothing happens the second time."""
        self._is_closed = True
        if self._finalizer is not None:
            self._finalizer()

    async def aclose(self) -> None:
        """Close as :meth:`close` does, while the event loop goes on."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __getstate__(self) -> Callable[[], Held]:
        return self._opening

    def __setstate__(self, opening: Callable[[], Held]) -> None:
        self._begin_unopened(opening)

    def _begin_unopened(self, opening: Callable[[], Held]) -> None:
        self._opening = opening
        self._lock = Lock()
        self._opened: Held | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None
        self._is_closed = False

    def _open(self) -> Held:
        """Open it, where that has not been done in this process."""
        with self._lock:
            if self._is_closed:
                raise RuntimeError(f"this {type(self).__name__} is closed; make another one")
            if self._opened is None or not self._opened.is_ours:
                self._opened = self._opening()
                self._finalizer = weakref.finalize(self, self._opened.close)  # also where nobody closes it
            return self._opened
