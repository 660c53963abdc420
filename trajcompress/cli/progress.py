"""Progress on stderr: notes, and a bar or lines."""

from __future__ import annotations

import math
import os
import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from trajcompress.cli.printing import wrapped
from trajcompress.cli.progress_text import bar_line, log_line
from trajcompress.events import Event, Figure
from trajcompress.run.progress.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from trajcompress.run.progress.progress import Progress
    from trajcompress.settings import Settings
    from trajcompress.summarize.endpoint.priced import Price

Shown: TypeAlias = Literal["auto", "bar", "lines", "off"]
"""What shows progress; auto: a bar on a terminal, else lines."""

_NOTE_AGAIN_S = 60.0
"""After which a line says once more what the bar, where there is one, shows at any time."""
_MANY_USELESS = 20
_TICK_S = 0.5
_LINE_S = 30.0
_CLEAR = "\r\x1b[K"


class TerminalReporter:
    """Writes to stderr: notes unless told otherwise, a bar only where somebody looks, else a line now and then.

    A thread draws the bar, so that its clock moves whatever else happens.
    """

    def __init__(
        self,
        *,
        quiet: bool = False,
        notes: bool = True,
        task: str = "compress",
        shown: Shown = "auto",
        settings: Settings | None = None,
        price_of: Callable[[str], Price | None] | None = None,
    ) -> None:
        self._notes = notes and not quiet
        self._task = task
        self._shown = "off" if quiet else shown if shown != "auto" else "bar" if _is_terminal() else "lines"
        self._rpm = settings.summarization.rpm if settings else None
        self._tpm = settings.summarization.tpm if settings else None
        self._price_of = price_of
        self._counts: Counts | None = None
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._has_logged = False
        self._has_noted = False
        self._noted_at = -math.inf
        self._has_said_useless = False

    def note(self, text: str) -> None:
        """Write a line, above the bar."""
        if not self._notes:
            return
        with self._lock:
            width = shutil.get_terminal_size((80, 24)).columns if _is_terminal() else None
            sys.stderr.write(f"{_CLEAR if self._draws else ''}{wrapped(text, width)}\n")
            if self._draws:
                self._draw()

    def started(self, total_bytes: int | None) -> None:
        """Begin to show progress through so many bytes of input."""
        with self._lock:
            self._counts = Counts(time.monotonic(), total_bytes, self._rpm, self._tpm, self._price_of)
            if self._shown != "off" and self._thread is None:
                every = _TICK_S if self._shown == "bar" else _LINE_S
                self._thread = threading.Thread(target=self._tick, args=(every,), name="progress", daemon=True)
                self._thread.start()
                if self._draws:
                    self._draw()

    def advanced(self, bytes_read: int, progress: Progress) -> None:
        """Take note of rows that were consumed."""
        with self._lock:
            if self._counts is not None:
                self._counts.read_to(bytes_read)
                self._counts.rows = max(self._counts.rows, progress.rows)
                self._counts.compressed = progress.outcomes["compressed"]
                self._counts.not_handled = progress.not_handled

    def moved(self, bytes_read: int, rows: int) -> None:
        """Take note of rows that were planned."""
        with self._lock:
            if self._counts is not None:
                self._counts.read_to(bytes_read)
                self._counts.rows = rows

    def follow(self, event: Event, /, **figures: Figure) -> None:
        """Take note of what happens to a row, or to its calls."""
        with self._lock:
            if self._counts is not None:
                self._counts.take(event, figures, time.monotonic())
                self._say_useless(event, figures)

    def _say_useless(self, event: Event, figures: dict[str, Figure]) -> None:
        """Say once that none of the first answers was a summary: no such row stops a run, and each is paid for."""
        counts = self._counts
        if event != "called" or counts is None or counts.useless != _MANY_USELESS or self._has_said_useless:
            return
        self._has_said_useless = True
        if counts.none_usable:
            self.note(
                f"none of the first {_MANY_USELESS} answers was a summary (the last: {figures.get('result')}), and "
                "each is paid for; the run goes on. Ctrl-C stops it, and --max-failed N would have; to start again "
                "with another --model: --overwrite"
            )

    def status(self, text: str | None) -> None:
        """Say what holds the run up, None for nothing, in a line of its own at times; the bar has it too."""
        now = time.monotonic()
        if text is None:
            if self._has_noted:
                self.note("calls are answered again")
            self._has_noted = False
        elif now - self._noted_at >= _NOTE_AGAIN_S:
            self._has_noted, self._noted_at = True, now
            self.note(text)

    def calls(self) -> tuple[int, float | None]:
        """Return how many calls have ended in this session, and what they cost in USD, None where that is unknown."""
        return (self._counts.called, self._counts.usd) if self._counts else (0, None)

    @property
    def _draws(self) -> bool:
        return self._shown == "bar" and self._counts is not None and not self._over.is_set()

    def _tick(self, every: float) -> None:
        while not self._over.wait(every):
            with self._lock:
                if self._draws:
                    self._draw()
                elif not self._over.is_set():
                    self._log()

    def _log(self) -> None:
        if self._counts is not None:
            _write(log_line(self._counts, self._task, time.monotonic()) + "\n")
            self._has_logged = True

    def _draw(self) -> None:
        if self._counts is not None:
            width = shutil.get_terminal_size((80, 24)).columns
            _write(_CLEAR + bar_line(self._counts, self._task, time.monotonic(), width))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            drew = self._draws
            self._over.set()
            if drew:
                _write(_CLEAR)
            elif self._has_logged:  # else the last line of a log would tell of the middle of the run
                self._log()
        if self._thread is not None:
            self._thread.join()


def _is_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _write(text: str) -> None:
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:  # a bar of blocks, on a terminal that has none
        text = text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    sys.stderr.write(text)
    sys.stderr.flush()


_PLAIN = {ord("█"): "#", ord("░"): "-", ord("·"): "|", **{ord(part): "-" for part in "▏▎▍▌▋▊▉"}}
