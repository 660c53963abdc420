"""The event log of a run: a JSON line for each event, for programs to follow.

A line is written at once and by one call, so whoever reads sees whole lines, and a kill leaves none in halves. The
log is an extra: where it cannot be written any longer, the run goes on without it and says so.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from trajcompress.errors import OutputError
from trajcompress.events import FREQUENT, Emit, Event, Figure, nobody


class EventLog:
    """Appends events to a file, and calls ``note`` once if it cannot any longer. Calling it is a :class:`Emit`.

    Raises:
        OutputError: the file cannot be opened.
    """

    def __init__(self, path: Path, note: Callable[[str], None]) -> None:
        self._path = path
        self._note = note
        self._lock = threading.Lock()
        self._broken = False
        try:
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}; choose another --log-file") from None

    def __call__(self, event: Event, /, **figures: Figure) -> None:
        """Write a line, but for what is of no use to a log."""
        if event in FREQUENT:
            return
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        given = {name: value for name, value in figures.items() if value is not None}
        line = (json.dumps({"time": time, "event": event, **given}) + "\n").encode()
        with self._lock:
            if not self._broken:
                self._write(line)

    def _write(self, line: bytes) -> None:
        try:
            if (written := self._file.write(line)) == len(line):
                return
            self._file.truncate(self._file.tell() - (written or 0))  # a full disk takes half a line
            reason = "no space left"
        except OSError as error:
            reason = error.strerror or str(error)
        self._broken = True
        self._note(f"{self._path}: the log ends here: {reason}; the run goes on without it")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def open_log(path: str | None, note: Callable[[str], None]) -> AbstractContextManager[Emit]:
    """Open the log that is asked for; without one, events go nowhere. Raises as :class:`EventLog`."""
    return EventLog(Path(path), note) if path else nullcontext(nobody)
