"""What workers are set up with in tests of engines: it has to be found by their processes, too."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from trajcompress.engine.messages import Channel
from trajcompress.errors import SummarizerUnusableError, SummaryError


class Unsendable(Exception):  # noqa: N818 - it is one of somebody else
    """Cannot be pickled."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Odd:
    """Does as it is told, most of which nobody should."""

    broken: str = ""
    greeting: Any = None

    def work(self, channel: Channel) -> None:
        if self.broken:
            raise ValueError(self.broken)
        if isinstance(self.greeting, int):
            os.kill(os.getpid(), self.greeting)
        if self.greeting is not None:
            channel.emit(self.greeting)
        while (todo := channel.ask("what now?")) is not None:
            _do(channel, todo)


@dataclass(frozen=True)
class Keeping:
    """Tells of what it has, then keeps it."""

    path: Path

    def work(self, channel: Channel) -> None:
        channel.emit("it has come")
        self.path.write_text("what was paid for")


def _do(channel: Channel, todo: Any) -> None:
    match todo:
        case "who":
            channel.emit(os.getpid())
        case "fail":
            raise SummaryError("overloaded", "come back later")
        case "unusable":
            raise SummarizerUnusableError("bad_key", "no", has_answered=True)
        case "break":
            raise Unsendable("nobody thought of this", lambda: None)
        case "print":
            os.write(1, b"not an answer\n")
            print("nor this")  # noqa: T201 - as a library might
            channel.emit("done")
        case "spin":
            sum(1 for _ in count())
        case "ask and wait":
            channel.ask("wait")
        case "until stopped":
            stopped = threading.Event()
            channel.on_stop(stopped.set)
            stopped.wait()
        case int():
            os.kill(os.getpid(), todo)
