"""Events of a worker on their way to the driver: those of each row as sums now and then, the others as they are.

So what the driver does does not grow with the rows.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from trajcompress.events import Event, Figure

_NOT_HANDLED = frozenset({"failed", "rejected"})


@dataclass(slots=True)
class _OpenRow:
    size: int
    is_reached: bool = False


class FoldedEvents:
    """An :class:`~trajcompress.events.Emit` that sums up ``taken``, ``planned`` and ``done`` in one ``moved``.

    Args:
        send: is given an event and its figures.
        each_s: how often sums are sent, in seconds.
        keeps_planned: whether each ``planned`` is sent as well, for a log.
    """

    def __init__(
        self, send: Callable[[Event, dict[str, Figure]], None], each_s: float, *, keeps_planned: bool
    ) -> None:
        self._send = send
        self._each_s = each_s
        self._keeps_planned = keeps_planned
        self._lock = threading.Lock()
        self._open: dict[tuple[Figure, Figure], _OpenRow] = {}
        self._sums: Counter[str] = Counter()
        self._bytes_read: Figure = None
        self._sent_at = time.monotonic()

    def __call__(self, event: Event, /, **figures: Figure) -> None:
        """Take an event."""
        row = figures.get("source_file"), figures.get("source_row")
        match event:
            case "taken":
                with self._lock:
                    opened = self._open[row] = _OpenRow(_number(figures, "size"))
                    self._sums["taken_size"] += opened.size
                    self._bytes_read = figures.get("bytes_read", self._bytes_read)
            case "planned":
                with self._lock:
                    self._sums["summarised"] += self._reach(row)
                    self._sums["planned"] += not self._keeps_planned
                if self._keeps_planned:
                    self._send(event, figures)
            case "done":
                with self._lock:
                    self._done(row, figures)
                if figures.get("outcome") in _NOT_HANDLED:
                    figures.pop("bytes_read", None)  # what was read is said with what was taken
                    self._send(event, figures)
            case _:
                self._send(event, figures)
        if time.monotonic() - self._sent_at >= self._each_s:
            self.flush()

    def _reach(self, row: tuple[Figure, Figure]) -> bool:
        opened = self._open.get(row)
        if opened is None or opened.is_reached:
            return False
        opened.is_reached = True
        self._sums["reached_size"] += opened.size
        return True

    def _done(self, row: tuple[Figure, Figure], figures: dict[str, Figure]) -> None:
        self._reach(row)
        opened = self._open.pop(row, _OpenRow(0))
        self._sums["done_size"] += opened.size
        self._bytes_read = figures.get("bytes_read", self._bytes_read)
        if (outcome := figures.get("outcome")) not in _NOT_HANDLED:
            self._sums[str(outcome)] += 1
            self._sums["rows"] += 1
            self._sums["passes"] += _number(figures, "passes")

    def flush(self) -> None:
        """Send the sums so far."""
        with self._lock:
            sums, self._sums = self._sums, Counter()
            self._sent_at = time.monotonic()
            bytes_read = self._bytes_read
        if sums:
            self._send("moved", {**sums, "bytes_read": bytes_read})


def _number(figures: dict[str, Figure], name: str) -> int:
    value = figures.get(name)
    return value if isinstance(value, int) else 0
