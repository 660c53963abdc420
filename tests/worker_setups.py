"""What workers are set up with in tests of the pool: it has to be found by their processes, too."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import Any

from trajcompress.errors import SummaryError
from trajcompress.events import Tell
from trajcompress.trajectory import Trajectory
from trajcompress.workers.wire import Answered, Handle


@dataclass(frozen=True)
class Odd:
    """Does as it is told, most of which nobody should."""

    broken: str = ""

    def prepare(self, tell: Tell) -> Handle:
        if self.broken:
            raise ValueError(self.broken)

        def handle(message: Any) -> Answered:
            match message:
                case "who":
                    return Answered(os.getpid())
                case "fail":
                    raise SummaryError("overloaded", "come back later")
                case "break":
                    raise ZeroDivisionError("nobody thought of this")
                case "print":
                    os.write(1, b"not an answer\n")
                    print("nor this")  # noqa: T201 - as a library might
                    return Answered("done")
                case "tell":
                    tell("planned", tokens=7)
                    tell("retried", reason="so")
                    return Answered("told")
                case "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                case Trajectory():
                    return Answered((message.turns[::-1], message.turns[0].text), message.turns)
            return Answered(message)

        return handle
