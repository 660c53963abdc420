"""How far a run is, in a small file that it keeps while it goes on: ``status`` reads it besides what is committed."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, get_args

from trajcompress.dataset.durable import temporary
from trajcompress.events import Emit, Event, Figure
from trajcompress.metrics.row import Outcome
from trajcompress.run.progress.counts import Counts
from trajcompress.summarize.endpoint.priced import Price, Spent

_EVERY_S = 2.0
_ERRORS = 5
_PLACE = ("source_file", "source_row", "source_line")


class LiveProgress:
    """Counts the events of a session, and writes the counts every other second, and at its end.

    Args:
        path: the file.
        total_bytes: of all inputs, None where that is unknown.
        rpm: requests per minute at most, None for any number.
        price_of: the price of a model's tokens.
    """

    def __init__(
        self, path: Path, total_bytes: int | None, rpm: int | None, price_of: Callable[[str], Price | None]
    ) -> None:
        self._path = path
        self._counts = Counts(time.monotonic(), total_bytes, rpm, price_of=price_of)
        self._began = _now()
        self._outcomes: Counter[str] = Counter()
        self._errors: deque[dict[str, Any]] = deque(maxlen=_ERRORS)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="live", daemon=True)

    def tee(self, emit: Emit) -> Emit:
        """Return a sink of events that counts them, and passes them on."""

        def emit_to_both(event: Event, /, **figures: Figure) -> None:
            emit(event, **figures)
            with self._lock:
                self._take(event, figures)

        return emit_to_both

    def spent(self) -> Spent | None:
        """Return what the calls of this session have cost; None where a server does not count tokens."""
        with self._lock:
            counts = self._counts
            return None if counts.uncounted else Spent(counts.usd or 0.0, counts.paid)

    def _take(self, event: Event, figures: dict[str, Figure]) -> None:
        self._counts.take(event, figures, time.monotonic())
        if event == "done":
            outcome = str(figures.get("outcome"))
            self._outcomes[outcome] += 1
            if outcome in {"failed", "rejected"}:
                self._error(f"{outcome}: {figures.get('reason')}", figures)
        elif event == "moved":
            for outcome in get_args(Outcome):
                self._outcomes[outcome] += int(figures.get(outcome) or 0)
        elif event == "called" and figures.get("result") not in {"answered", "cancelled"}:
            self._error(f"call: {figures.get('result')}", figures)

    def _tick(self) -> None:
        while not self._over.wait(_EVERY_S):
            self._write()

    def _error(self, what: str, figures: dict[str, Figure]) -> None:
        row: dict[str, Any] = {name: figures[name] for name in _PLACE if name in figures}
        self._errors.append({"time": _now(), "what": what, **row})

    def _write(self) -> None:
        with self._lock:
            value = self._as_dict(time.monotonic())
        with suppress(OSError):  # of use to onlookers only
            temporary(self._path).write_text(json.dumps(value) + "\n", encoding="utf-8")
            temporary(self._path).replace(self._path)

    def _as_dict(self, now: float) -> dict[str, Any]:
        counts = self._counts
        pause = counts.pause
        return {
            "pid": os.getpid(),
            "began": self._began,
            "updated": _now(),
            "elapsed_s": round(now - counts.began, 1),
            "share_done": counts.share_done(now),
            "seconds_left": counts.seconds_left(now),
            "rows": self._outcomes.total(),
            "outcomes": dict(+self._outcomes),
            "calls": counts.called,
            "calls_open": counts.in_flight,
            "calls_failed": counts.failed,
            "cost_usd": counts.usd,
            "paused": {"seconds": round(pause.until - now, 1), "why": pause.why} if pause else None,
            "last_errors": list(self._errors),
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._write()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
