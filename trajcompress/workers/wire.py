"""Messages between the processes of one run: pickles, each behind its length.

What comes back names the turns of the row that was sent by their places, so they stay those of the row, and little
has to be sent.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any, Protocol, TypeAlias

from trajcompress.events import Emit, Event, Figure
from trajcompress.transcript.trajectory import Turn

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a message; ``turns`` are those of its row."""

    value: Any
    turns: Sequence[Turn] = ()


@dataclass(frozen=True, slots=True)
class Raised:
    """What a message came to instead."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Told:
    """Something that happened on the way to an answer."""

    event: Event
    figures: dict[str, Figure]


Handle: TypeAlias = Callable[[Any], Answered]


class Setup(Protocol):
    """What a worker is told first: how to make what answers its messages."""

    def prepare(self, emit: Emit) -> Handle:
        """Load what is needed, and return what answers."""


def send(stream: IO[bytes], message: Any, turns: Sequence[Turn] = ()) -> None:
    """Send a message, with ``turns`` as their places; raise OSError where nobody reads any more."""
    body = io.BytesIO()
    # Asking of each thing in it whether it is a turn takes as long as the rest.
    _Pickler(body, turns).dump(message) if turns else pickle.dump(message, body, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(body.tell()))
    stream.write(body.getbuffer())
    stream.flush()


def receive(stream: IO[bytes], turns: Sequence[Turn] = ()) -> Any:
    """Return the next message.

    Raises:
        EOFError: the other end is closed.
        OSError: this end is.
    """
    (length,) = _LENGTH.unpack(_read(stream, _LENGTH.size))
    return _Unpickler(io.BytesIO(_read(stream, length)), turns).load()


def _read(stream: IO[bytes], size: int) -> bytes:
    read = stream.read(size)
    if len(read) < size:
        raise EOFError
    return read


class _Pickler(pickle.Pickler):
    def __init__(self, file: IO[bytes], turns: Sequence[Turn]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._places = {id(turn): place for place, turn in enumerate(turns)}

    def persistent_id(self, thing: Any) -> int | None:
        return self._places.get(id(thing)) if isinstance(thing, Turn) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: IO[bytes], turns: Sequence[Turn]) -> None:
        super().__init__(file)
        self._turns = turns

    def persistent_load(self, place: int) -> Turn:
        return self._turns[place]
