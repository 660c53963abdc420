"""What workers are set up with in tests of the pool: it has to be found by their processes, too."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from trajcompress.errors import SummaryError
from trajcompress.events import Emit
from trajcompress.transcript.trajectory import Trajectory
from trajcompress.workers.wire import Answered, Handle


class Unsendable(Exception):  # noqa: N818 - it is one of somebody else
    """Cannot be pickled."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Odd:
    """Does as it is told, most of which nobody should."""

    broken: str = ""

    def prepare(self, emit: Emit) -> Handle:
        if self.broken:
            raise ValueError(self.broken)

        return partial(_answer, emit)


def _answer(emit: Emit, message: Any) -> Answered:
    match message:
        case "who":
            return Answered(os.getpid())
        case "fail":
            raise SummaryError("overloaded", "come back later")
        case "break":
            raise Unsendable("nobody thought of this", lambda: None)
        case "print":
            os.write(1, b"not an answer\n")
            print("nor this")  # noqa: T201 - as a library might
            return Answered("done")
        case "tell":
            emit("planned", tokens=7)
            emit("retried", reason="so")
            return Answered("told")
        case "spin":
            sum(1 for _ in count())
        case int():
            os.kill(os.getpid(), message)
        case Trajectory():
            return Answered((message.turns[::-1], message.turns[0].text), message.turns)
    return Answered(message)
