"""Telling a person how a run goes: notes and a bar on stderr."""

from __future__ import annotations

import math
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Never, Self

if TYPE_CHECKING:
    from tqdm import tqdm

    from trajcompress.run.progress import Progress


_NOTE_AGAIN_S = 60.0
"""After which a line says once more what the bar, where there is one, shows at any time."""


class TerminalReporter:
    """Writes to stderr: notes always, the bar only where somebody looks."""

    def __init__(self, *, quiet: bool, task: str = "compress") -> None:
        self._quiet = quiet
        self._task = task
        self._bar: tqdm[Never] | None = None
        self._status: str | None = None
        self._has_noted = False
        self._noted_at = -math.inf

    def note(self, text: str) -> None:
        """Write a line, above the bar."""
        if self._quiet:
            return
        if self._bar is None:
            sys.stderr.write(f"{text}\n")
        else:
            self._bar.write(text, file=sys.stderr)

    def started(self, total_bytes: int | None) -> None:
        """Show the bar: bytes of input, as rows differ too much in size to foretell the time by."""
        from tqdm import tqdm

        self._bar = tqdm(
            total=total_bytes,
            unit="B",
            unit_scale=True,
            desc=self._task,
            file=sys.stderr,
            dynamic_ncols=True,
            disable=True if self._quiet else None,  # None: where stderr is no terminal
        )

    def advanced(self, bytes_read: int, progress: Progress) -> None:
        """Move the bar on."""
        if self._bar is None or self._bar.disable:
            return
        self.moved(
            bytes_read,
            f"{progress.rows} rows, {progress.outcomes['compressed']} compressed, {progress.not_handled} failed, "
            f"{progress.summarization_api_calls} calls, {progress.tokens_saved:,} tokens saved",
        )

    def moved(self, bytes_read: int, text: str) -> None:
        """Move the bar on, with a few words behind it."""
        if self._bar is not None and not self._bar.disable:
            self._bar.set_postfix_str(self._status or text, refresh=False)
            self._bar.update(bytes_read - self._bar.n)

    def status(self, text: str | None) -> None:
        """Show what holds the run up, None for nothing: in the bar, and at times in a line of its own."""
        self._status = text
        if self._bar is not None and not self._bar.disable:
            self._bar.set_postfix_str(text or "", refresh=True)
        now = time.monotonic()
        if text is None:
            if self._has_noted:
                self.note("calls are answered again")
            self._has_noted = False
        elif now - self._noted_at >= _NOTE_AGAIN_S:
            self._has_noted, self._noted_at = True, now
            self.note(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
