"""The data core: a trajectory is turns plus the row they came in.

Adapters in :mod:`trajcompress.formats` make these from rows and put changed turns back into rows. Everything
between reads the normalised fields; ``Turn.raw`` is the message as the row has it and is never changed in
place, so whatever is kept is written back as it was. What a row has by the hundred is a struct, which is made in a
tenth of the time that a frozen dataclass takes; ``msgspec.structs.replace`` changes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from trajcompress.settings.choices import MessageFormat, Role

Message: TypeAlias = dict[str, Any]


class ToolCall(Struct, frozen=True):
    """One call that an assistant turn makes; ``id`` is None where the row gives none."""

    id: str | None
    name: str
    arguments: str  # JSON text, or whatever text the row has in its place
    in_text: bool = False  # written out in the turn's text, as ``<tool_call>`` tags are


class Turn(Struct, frozen=True):
    """One message, normalised.

    ``text`` is everything a reader would read in it but its calls: the content, list parts joined, the text of
    results that come as parts of a user turn. ``answers`` has an entry for each tool result that the turn
    holds: the id of the call it answers, or None where the row does not say. ``in_text``: these calls or answers are
    those of a text protocol, plain words to whoever takes the row. ``example``: a worked example or a manual among
    the leading user turns.
    """

    role: Role
    text: str
    raw: Message
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: tuple[str | None, ...] = ()
    images: int = 0
    own_role: str = ""  # the row's name for the role
    name: str | None = None  # the tool that a result comes from, or the speaker, where the row says
    in_text: bool = False
    example: bool = False


@dataclass(frozen=True, slots=True)
class Formed:
    """What became of a row that was to be in the form of a target.

    ``changes`` name what was changed, ``trimmed`` counts turns cut at the end. ``unfit`` says why the target cannot
    hold it; then nothing was changed.
    """

    changes: tuple[str, ...] = ()
    trimmed: int = 0
    unfit: str | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One training example.

    ``row`` is the whole row with ``row[messages_field]`` the messages that ``turns`` was read from, a list or, where
    ``messages_as_text``, the JSON text of one. ``tools`` are the tool definitions for the chat template.
    ``system`` is the system prompt of a column of that name, where the first turn is none: it goes before the turns.
    ``passed_over`` are other columns that hold messages, but fewer; ``redactions`` the secrets that reading took out.
    ``is_plain``: it is known that messages and tools are of JSON's own types alone, and not deep. They stay so
    whatever becomes of the turns, as nothing else is ever put in. ``formed`` is there where the row is not written in
    the form in which it was read, or cannot be.
    """

    id: str
    turns: tuple[Turn, ...]
    row: dict[str, Any]
    messages_field: str
    format: MessageFormat
    tools: list[dict[str, Any]] | None = None
    system: str | None = None
    messages_as_text: bool = False
    passed_over: tuple[str, ...] = ()
    redactions: int = 0
    is_plain: bool = False
    formed: Formed | None = None


class RowId(NamedTuple):
    """Where a row stands: its file, and its position there from 0."""

    source_file: str
    source_row: int

    def __str__(self) -> str:
        return f"{self.source_file}#{self.source_row}"


@dataclass(frozen=True, slots=True)
class Region:
    """The contiguous turns ``[start, end)`` that a summary replaces."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start
