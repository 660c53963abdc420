"""The data core: a trajectory is turns plus the row they came in.

Adapters in :mod:`trajcompress.formats` make these from rows and put changed turns back into rows. Everything
between reads the normalised fields; ``Turn.raw`` is the message as the row has it and is never changed in
place, so whatever is kept is written back as it was. What a row has by the hundred is a struct, which is made in a
tenth of the time that a frozen dataclass takes; ``msgspec.structs.replace`` changes one.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

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
    the leading user turns. ``aside``: how many of the last lines of an observation a person says, where
    the row tells that. ``in_answer``: it stands in the column of an answer, which :class:`Split` names. ``apart``: of
    its calls in text each has a result of its own.
    """

    role: Role
    text: str
    raw: Message
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: tuple[str | None, ...] = ()
    images: int = 0
    marks: int = 0  # in its text, for images and the like of a column
    own_role: str = ""  # the row's name for the role
    name: str | None = None  # the tool that a result comes from, or the speaker, where the row says
    in_text: bool = False
    example: bool = False
    aside: int | None = None
    in_answer: bool = False
    apart: bool = False

    @property
    def media(self) -> int:
        """How many images and the like it shows: in parts of its own, and of a column."""
        return self.images + self.marks


class Held(Struct, frozen=True):
    """How a column holds messages: a list of them, the JSON text of one, one message, or its text alone."""

    column: str
    kind: Literal["messages", "json", "message", "text"]


class Split(Struct, frozen=True):
    """Where the messages of a row stand that has them in several columns.

    ``answer`` is the column of the turns that are ``in_answer``, ``prompt`` that of those before; where the prompt
    ``is_implicit`` both answers of a pair begin with it. ``other`` is the column of the other answer of a preference
    pair, of ``other_turns``: neither answer is ever changed.
    """

    prompt: Held | None
    answer: Held
    other: Held | None = None
    is_implicit: bool = False
    other_turns: tuple[Turn, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that hold messages, that of the prompt first."""
        answers = sorted(held.column for held in (self.answer, self.other) if held is not None)
        return (self.prompt.column, *answers) if self.prompt else tuple(answers)

    @property
    def has_text(self) -> bool:
        """Whether a column holds text alone."""
        return any(held is not None and held.kind == "text" for held in (self.prompt, self.answer, self.other))

    @property
    def is_text(self) -> bool:
        """Whether a prompt and the one answer are text alone, which no chat template renders."""
        return self.other is None and all(held is None or held.kind == "text" for held in (self.prompt, self.answer))


class Formed(Struct, frozen=True):
    """What became of a row that was to be in the form of a target.

    ``changes`` name what was changed, ``trimmed`` counts turns cut at the end. ``unfit`` says why the target cannot
    hold it; then nothing was changed. ``read_faults`` are the kinds of violations before the changes, and
    ``read_format`` is that of its messages then; None where nothing was changed.
    """

    changes: tuple[str, ...] = ()
    trimmed: int = 0
    unfit: str | None = None
    read_faults: tuple[str, ...] | None = None
    read_format: MessageFormat | None = None


class Trajectory(Struct, frozen=True):
    """One training example.

    ``row`` is the whole row with ``row[messages_field]`` the messages that ``turns`` was read from, a list or, where
    ``messages_as_text``, the JSON text of one. ``tools`` are the tool definitions for the chat template.
    ``system`` is the system prompt of a column of that name, where the first turn is none: it goes before the turns.
    ``passed_over`` are other columns that hold messages, but fewer; ``redactions`` the secrets that reading took out.
    ``is_plain``: it is known that messages and tools are of JSON's own types alone, and not deep. They stay so
    whatever becomes of the turns, as nothing else is ever put in. ``formed`` is there where the row is not written in
    the form in which it was read, or cannot be. ``source`` names the format of another tool that the row was in
    before it became ``row``, and ``source_columns`` those of its messages where these had to be rewritten.
    ``lifted_from`` is the path of names to messages that stood within a column, whose values ``row`` has as columns.
    ``split`` is there where messages stand in several columns; ``messages_field`` is then the first of them.
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
    source: str | None = None
    source_columns: tuple[str, ...] = ()
    lifted_from: str | None = None
    split: Split | None = None

    @property
    def input_format(self) -> str:
        """The format that the row was in."""
        return self.source or (self.formed and self.formed.read_format) or self.format

    @property
    def message_columns(self) -> tuple[str, ...]:
        """The columns of the row that hold messages."""
        return self.split.columns if self.split else (self.messages_field,)

    @property
    def fixed_turns(self) -> int:
        """How many turns at the end must stay as they are: the answer of a pair, the last turn of a completion."""
        if self.split is None:
            return 0
        return sum(turn.in_answer for turn in self.turns) if self.split.other else 1


class RowId(NamedTuple):
    """Where a row stands: its file, and its position there from 0."""

    source_file: str
    source_row: int

    def __str__(self) -> str:
        return f"{self.source_file}#{self.source_row}"


class Region(Struct, frozen=True):
    """The contiguous turns ``[start, end)`` that a summary replaces."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start
