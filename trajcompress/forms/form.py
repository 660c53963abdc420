"""A form: rewrites the roles, calls, tools and columns of a trajectory as a target reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from trajcompress.dataset.shape import Columns
from trajcompress.errors import RowError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.columns import of_columns
from trajcompress.forms.media_faults import media_faults
from trajcompress.forms.server_tools import with_results_apart
from trajcompress.settings.choices import MistralVersion, Target
from trajcompress.transcript.targets import demands_of
from trajcompress.transcript.trajectory import Formed, Message, Trajectory, Turn
from trajcompress.transcript.validity import violations
from trajcompress.transcript.violation import NOTES, Violation

Change: TypeAlias = Literal[
    "column",
    "columns",
    "system",
    "roles",
    "content",
    "fields",
    "reasoning",
    "calls",
    "arguments",
    "ids",
    "tools",
    "merged",
    "opened",
    "trimmed",
]
"""What may be changed: the column or the role names of the messages, content that is no text, and so on.

``opened``: an empty user turn was put before an assistant's that begins the row.
"""

_NOT_NULL: Mapping[Target, str] = {
    "axolotl": "system",
    "llama-factory": "system",
    "trl": "chat_template_kwargs",
}
"""The column at which the loader of a target raises where it is there, and null."""


_COUNTS_MARKS: frozenset[Target] = frozenset({"llama-factory", "verl"})
"""Targets whose load stops at a row that has not an image for each mark."""


class UnfitError(Exception):
    """A target has no form that holds the row; the message says what of it."""


class Draft(Struct):
    """A row on its way into a form: its messages, its other columns, and what was changed so far."""

    messages: list[Message]
    columns: dict[str, Any]
    column: str
    changes: set[Change] = field(default_factory=set)


Write: TypeAlias = Callable[[Sequence[Turn], Draft], None]
"""Writes turns into a draft in the form of one target. Raises UnfitError."""


class Form(Struct, frozen=True):
    """Writes trajectories as a target reads them.

    Args:
        target: who reads them.
        write: writes the messages.
        options: how the row that is made is read again.
        trim_end: whether turns after the last assistant turn, from which no trainer learns, are cut.
        types: those of columns that the target reads in one type only.
        mistral: the version of the tokenizer where the target is mistral.
        assistant_only: whether the target learns from assistant turns alone.
        refuses: tells whether the chat template refuses a row as it was read.
    """

    target: Target
    write: Write
    options: FormatOptions
    trim_end: bool = False
    types: Columns = field(default_factory=dict)
    mistral: MistralVersion = "v3"
    assistant_only: bool = False
    refuses: Callable[[Trajectory], bool] | None = None

    def of(self, trajectory: Trajectory) -> Trajectory:
        """Return the trajectory in this form: itself where the target reads it as it is.

        One that the target cannot hold is returned as it was read, and says why.
        """
        made = of_columns(trajectory, self.target, self._of_messages)
        if made is trajectory or made.formed is None or not made.formed.changes:
            return made
        faults: tuple[str, ...] = tuple(
            found.kind for found in self._violations(trajectory, self.mistral) if found.kind not in NOTES
        )
        if self.refuses and not trajectory.source_columns and self.refuses(trajectory):
            faults += ("template_refuses",)
        return replace(made, formed=replace(made.formed, read_faults=faults, read_format=trajectory.format))

    def _of_messages(self, trajectory: Trajectory) -> Trajectory:
        """Return a trajectory whose messages stand in one column in this form."""
        turns = self._learnt(trajectory.turns)
        draft = Draft([], dict(trajectory.row), trajectory.messages_field)
        trimmed = len(trajectory.turns) - len(turns)
        if trimmed:
            draft.changes.add("trimmed")
        if trajectory.messages_as_text:
            draft.changes.add("column")
        if (name := _NOT_NULL.get(self.target)) and draft.columns.get(name, "") is None:
            draft.changes.add("system" if name == "system" else "columns")
            if name == "system":
                del draft.columns[name]
            else:  # other rows have it, so that without it this one would be given a null by the loader
                draft.columns[name] = {}
        try:
            given = _with_system(turns, trajectory, draft)
            apart = with_results_apart(given)
            if apart is not given:
                draft.changes.add("calls")
            self.write(apart, draft)
            made = self._read_again(trajectory, draft) if draft.changes else trajectory
            unfit = self._refused(made)
        except (UnfitError, RowError) as error:
            unfit = str(error)
        if unfit is not None:
            return replace(trajectory, formed=Formed(unfit=unfit))
        return replace(made, formed=Formed(tuple(sorted(draft.changes)), trimmed)) if draft.changes else trajectory

    def _learnt(self, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        """Return the turns up to the last of the assistant; all where there is none, or nothing is to be cut."""
        last = max((index for index, turn in enumerate(turns) if turn.role == "assistant"), default=-1)
        return turns[: last + 1] if self.trim_end and last >= 0 else turns

    def _read_again(self, trajectory: Trajectory, draft: Draft) -> Trajectory:
        column = draft.column
        row = {name: value for name, value in draft.columns.items() if name != trajectory.messages_field}
        if column in row:
            raise UnfitError(f"its messages belong into column {column}, which holds something else")
        row = _put(row, column, draft.messages, list(draft.columns).index(trajectory.messages_field))
        options = replace(self.options, format="auto", messages_field=column, redact=False)
        read = read_trajectory(row, trajectory.id, options)
        return replace(
            read,
            id=trajectory.id,
            redactions=trajectory.redactions,
            source=trajectory.source,
            source_columns=trajectory.source_columns,
        )

    def _refused(self, made: Trajectory) -> str | None:
        """Return why the target's loader would drop the row all the same, and what would take it."""
        fault = self._fault(made, self.mistral)
        if fault is None or self.target != "mistral":
            return fault
        versions = get_args(MistralVersion)
        later = versions[versions.index(self.mistral) + 1 :]
        takes = next((each for each in later if self._fault(made, each) is None), None)
        return f"{fault}; --mistral-version {takes} takes the row" if takes else fault

    def _fault(self, made: Trajectory, mistral: MistralVersion) -> str | None:
        if self.target in _COUNTS_MARKS and (fault := next(media_faults(made, self.target), None)):
            return f"media_mismatch: {fault}"
        fatal = demands_of(self.target, assistant_only=self.assistant_only).fatal
        if fatal is not None and not fatal:
            return None
        for found in self._violations(made, mistral):
            if found.kind not in NOTES and (fatal is None or found.kind in fatal):
                where = "" if found.turn is None else f"turn {found.turn}: "
                return f"{found.kind}: {where}{found.detail}"
        return None

    def _violations(self, trajectory: Trajectory, mistral: MistralVersion) -> tuple[Violation, ...]:
        return violations(
            trajectory.turns,
            self.target,
            mapped_roles=self.options.role_map,
            mistral=mistral,
            assistant_only=self.assistant_only,
        )


def _with_system(turns: tuple[Turn, ...], trajectory: Trajectory, draft: Draft) -> tuple[Turn, ...]:
    """Return the turns with the system prompt of a column as the first."""
    if trajectory.system is None:
        return turns
    draft.changes.add("system")
    del draft.columns["system"]
    keys = ("role", "content") if trajectory.format == "openai" else ("from", "value")
    raw = {keys[0]: "system", keys[1]: trajectory.system}
    return (Turn("system", trajectory.system, raw, own_role="system"), *turns)


def _put(row: dict[str, Any], name: str, value: Any, place: int) -> dict[str, Any]:
    items = list(row.items())
    items.insert(min(place, len(items)), (name, value))
    return dict(items)
