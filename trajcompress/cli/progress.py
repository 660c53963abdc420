"""Telling a person how a run goes: notes and a bar on stderr."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Never, Self

if TYPE_CHECKING:
    from tqdm import tqdm

    from trajcompress.run.totals import Totals


class TerminalReporter:
    """Writes to stderr: notes always, the bar only where somebody looks."""

    def __init__(self, *, quiet: bool, task: str = "compress") -> None:
        self._quiet = quiet
        self._task = task
        self._bar: tqdm[Never] | None = None

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

    def advanced(self, bytes_read: int, totals: Totals) -> None:
        """Move the bar on."""
        if self._bar is None or self._bar.disable:
            return
        self.moved(
            bytes_read,
            f"{totals.rows} rows, {totals.outcomes['compressed']} compressed, {totals.not_handled} failed, "
            f"{totals.summarization_api_calls} calls, {totals.tokens_saved:,} tokens saved",
        )

    def moved(self, bytes_read: int, text: str) -> None:
        """Move the bar on, with a few words behind it."""
        if self._bar is not None and not self._bar.disable:
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(bytes_read - self._bar.n)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
