"""What rows of a dataset are judged by: the rules of a target, and the rows before them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct

from trajcompress.compaction.loss_marks import unread_marks
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.errors import RowError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.form import Form
from trajcompress.results.check.across import TABLES, Types
from trajcompress.results.check.columns import column_violations, json_columns
from trajcompress.results.check.surrogates import lone_surrogates
from trajcompress.settings.choices import MistralVersion, Target
from trajcompress.transcript.targets import DEMANDS
from trajcompress.transcript.trajectory import Trajectory
from trajcompress.transcript.validity import violations
from trajcompress.transcript.violation import OF_RENDERING, TEMPLATE_REFUSES, Violation

_READ_NO_REASONING: frozenset[Target] = frozenset({"openai", "mistral"})
"""Targets that leave out what stands beside the content as ``reasoning_content``, and render no chat template."""

Fault: TypeAlias = tuple[str, int | None, str]
"""Kind, turn and detail of what is wrong with a row."""


class Renders(Protocol):
    """Renders rows as a target does, and tells what it makes of them."""

    def violations(self, trajectory: Trajectory) -> Sequence[Violation]:
        """Return what is wrong with what is rendered of a row."""

    def behind_refusal(self, trajectory: Trajectory) -> Sequence[Violation] | None:
        """Return what would be wrong with it of a row that is refused, if it were not; None where nobody can say."""


class Standard(Struct, frozen=True):
    """What rows are judged by, whichever rows they are.

    Attributes:
        target: whose rules apply.
        options: how rows are read; names in their role map are known roles.
        renderer: asks the chat template too, for targets that feed one.
        mistral: the version of Mistral's rules.
        assistant_only: whether the target trains on the assistant's turns alone.
        form: that of the target, which says what faults it mends.
    """

    target: Target
    options: FormatOptions = FormatOptions()
    renderer: Renders | None = None
    mistral: MistralVersion = "v3"
    assistant_only: bool = False
    form: Form | None = None


class Rules:
    """Judges rows by a standard, and by what is remembered of the rows before them."""

    def __init__(self, standard: Standard) -> None:
        self._standard = standard
        self._types = Types()
        self._compares = False
        self._json_columns: frozenset[str] = frozenset()
        self._kind = ""
        self.marks: Counter[str] = Counter()
        """In how many rows the target does not read such marks of the loss."""

    def begin(self, source: Source) -> None:
        """Go on with the rows of a source."""
        self._compares = self._standard.target in TABLES and source.kind in {"json", "jsonl"}
        self._json_columns = json_columns(source) if self._standard.target == "verl" else frozenset()
        self._kind = source.kind

    @property
    def compares(self) -> bool:
        """Whether rows of the source are compared with those before them."""
        return self._compares

    def mended(self, read: Row | Unreadable, faults: Sequence[Fault]) -> frozenset[str]:
        """Return the kinds of faults that a row does not have in the form of the target."""
        form = self._standard.form
        if isinstance(read, Unreadable) or not faults or form is None:
            return frozenset()
        where = f"{read.source}:{read.index}"
        try:
            made = form.of(read_trajectory(read.value, where, self._standard.options, known_plain=read.is_plain))
        except RowError:
            return frozenset()
        if made.formed is None or made.formed.unfit is not None:
            return frozenset()
        left = {violation.kind for violation in self._alone(made)}
        return frozenset({kind for kind, _, _ in faults} - left - {"types_differ"})

    def faults(self, read: Row | Unreadable, reading: FormatOptions | None = None) -> Iterator[Fault]:
        """Yield what is wrong with a row; ``reading`` says how it is read, where that is not as it is judged."""
        if isinstance(read, Unreadable):
            yield read.reason, None, read.detail
            return
        where = f"{read.source}:{read.index}"
        try:
            trajectory = read_trajectory(
                read.value, where, reading or self._standard.options, known_plain=read.is_plain
            )
        except RowError as error:
            yield error.reason, None, str(error).removeprefix(f"{error.reason}: ")
            return
        self.marks.update(unread_marks(trajectory.turns, self._standard.target))
        for violation in self._violations(trajectory, where):
            yield violation.kind, violation.turn, violation.detail

    def of_input(self, read: Row | Unreadable, reading: FormatOptions, faults: Sequence[Fault]) -> list[Fault]:
        """Return what is wrong with a row of the input, also what shows only once the template does not refuse it.

        Args:
            read: the row.
            reading: how it is read.
            faults: those of the row that was made of it: where nobody can say what the refusal hides, it hides these.
        """
        had = list(self.faults(read, reading))
        renderer = self._standard.renderer
        if renderer is None or isinstance(read, Unreadable) or all(kind != TEMPLATE_REFUSES for kind, _, _ in had):
            return had
        trajectory = read_trajectory(read.value, f"{read.source}:{read.index}", reading, known_plain=read.is_plain)
        hidden = renderer.behind_refusal(trajectory)
        if hidden is None:
            return [*had, *(fault for fault in faults if fault[0] in OF_RENDERING)]
        return [*had, *((each.kind, each.turn, each.detail) for each in hidden)]

    def _violations(self, trajectory: Trajectory, where: str) -> Iterator[Violation]:
        yield from self._alone(trajectory)
        if self._standard.target == "verl" and self._kind not in {"", "parquet"}:
            yield Violation("not_parquet", None, self._kind)
        if self._compares:
            yield from self._types.violations(trajectory, where)
            if self._standard.target == "trl":
                yield from self._types.of_template_kwargs(trajectory, where)

    def _alone(self, trajectory: Trajectory) -> Iterator[Violation]:
        """Yield what is wrong with a row by itself."""
        yield from violations(
            trajectory.turns,
            self._standard.target,
            mapped_roles=self._standard.options.role_map,
            mistral=self._standard.mistral,
            assistant_only=self._standard.assistant_only,
        )
        named = self._standard.options.messages_field is not None
        yield from column_violations(
            trajectory,
            self._standard.target,
            named=named,
            rendered=self._standard.renderer is not None and DEMANDS[self._standard.target].renders,
            json_columns=self._json_columns,
        )
        yield from lone_surrogates(trajectory)
        if self._standard.target in _READ_NO_REASONING:
            yield from _left_out(trajectory)
        if self._standard.renderer:
            yield from self._standard.renderer.violations(trajectory)


def _left_out(trajectory: Trajectory) -> Iterator[Violation]:
    for index, turn in enumerate(trajectory.turns):
        if any(turn.raw.get(key) for key in ("reasoning_content", "reasoning")):
            yield Violation("thoughts_not_rendered", index, "reasoning beside the content is not read")
