"""Checking a dataset: every row read, judged by the rules of a target, and counted by kind of violation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeAlias

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.standing import Watch
from trajcompress.errors import RowError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.results.check.across import TABLES, Types
from trajcompress.results.check.columns import column_violations, json_columns
from trajcompress.settings.choices import MistralVersion, Target
from trajcompress.transcript.targets import DEMANDS
from trajcompress.transcript.trajectory import Trajectory
from trajcompress.transcript.validity import violations
from trajcompress.transcript.violation import NOTES, Violation

_READ_NO_REASONING: frozenset[Target] = frozenset({"openai", "mistral"})
"""Targets that leave out what stands beside the content as ``reasoning_content``, and render no chat template."""

if TYPE_CHECKING:
    from trajcompress.forms.form import Form
    from trajcompress.results.check.origin import Origin

Fault: TypeAlias = tuple[str, int | None, str]
"""Kind, turn and detail of what is wrong with a row."""


@dataclass(frozen=True, slots=True)
class Example:
    """Where a violation was seen. Rows and turns are counted from 0, lines of JSON lines from 1."""

    file: str
    row: int
    line: int | None
    turn: int | None
    detail: str


@dataclass(slots=True)
class Found:
    """All violations of one kind: how many, in how many rows, and the first of them.

    In ``mended`` of the rows the form of the target has none of them.
    """

    rows: int = 0
    count: int = 0
    mended: int = 0
    examples: list[Example] = field(default_factory=list)


@dataclass(slots=True)
class CheckResult:
    """What a check found, by kind; a row that holds no trajectory counts under the reader's reason.

    ``notes`` are what is noted of rows and makes none of them invalid.
    ``changed`` says of sources what became of them while they were read. ``rows_of_input`` have faults that their
    input had, ``of_input`` of them in all; None where that is not known.
    """

    rows: int = 0
    invalid_rows: int = 0
    found: dict[str, Found] = field(default_factory=dict)
    notes: dict[str, Found] = field(default_factory=dict)
    changed: dict[str, str] = field(default_factory=dict)
    rows_of_input: int | None = None
    of_input: int | None = None

    def add(
        self, read: Row | Unreadable, faults: Sequence[Fault], examples: int, mended: frozenset[str] = frozenset()
    ) -> None:
        """Count one row; keep up to ``examples`` rows of each kind as examples."""
        self.rows += 1
        self.invalid_rows += any(kind not in NOTES for kind, _, _ in faults)
        for kind, times in Counter(kind for kind, _, _ in faults).items():
            found = (self.notes if kind in NOTES else self.found).setdefault(kind, Found())
            found.rows += 1
            found.count += times
            found.mended += kind in mended
            if len(found.examples) < examples:
                turn, detail = next((turn, detail) for name, turn, detail in faults if name == kind)
                found.examples.append(Example(read.source, read.index, read.line, turn, detail))


class Renders(Protocol):
    """Renders rows as a target does, and tells what it makes of them."""

    def violations(self, trajectory: Trajectory) -> Sequence[Violation]:
        """Return what is wrong with what is rendered of a row."""


def check_rows(
    sources: Sequence[Source],
    target: Target,
    options: FormatOptions,
    *,
    renderer: Renders | None = None,
    mistral: MistralVersion = "v3",
    assistant_only: bool = False,
    limit: int | None = None,
    examples: int = 3,
    form: Form | None = None,
    origin: Origin | None = None,
    new_only: bool = False,
    note: Callable[[str], None] = lambda _: None,
    moved: Callable[[int], None] = lambda _: None,
) -> CheckResult:
    """Judge every row of the sources; memory grows with neither their number nor their faults.

    Names in the role map of ``options`` are known roles. The ``renderer`` asks the chat template too, for targets
    that feed one; ``note`` is called with what has grown while it was read, ``moved`` with how many rows are judged.
    The ``form`` of the target says which faults it mends, the ``origin`` of the rows which the input had; with
    ``new_only`` these are left out.

    Raises:
        InputError: a source cannot be opened.
    """
    result = CheckResult()
    watch = Watch(sources, note)
    reads = ((source, read) for source in sources for read in read_rows(source))
    reading: Source | None = None
    rules = Rules(target, options, renderer, mistral, assistant_only=assistant_only)
    inputs = Rules(target, options, renderer, mistral, assistant_only=assistant_only) if origin else None
    for source, read in islice(reads, limit):
        if source is not reading:
            if reading:
                watch.look(reading)
            rules.begin(source)
        reading = source
        faults = list(rules.faults(read))
        mended = rules.mended(read, faults, form) if faults and form else frozenset()
        if origin and inputs and (new := origin.new(source, read, faults, inputs)) is not None:
            had = sum(kind not in NOTES for kind, _, _ in faults) - sum(kind not in NOTES for kind, _, _ in new)
            result.of_input = (result.of_input or 0) + had
            result.rows_of_input = (result.rows_of_input or 0) + (had > 0)
            faults = new if new_only else faults
        result.add(read, faults, examples, mended)
        moved(result.rows)
    if reading:
        watch.look(reading)
    result.changed = watch.changed
    if origin and origin.given_up:
        result.of_input = result.rows_of_input = None
    return result


class Rules:
    """Everything that a row is judged by, and what is remembered of the rows before it."""

    def __init__(
        self,
        target: Target,
        options: FormatOptions,
        renderer: Renders | None,
        mistral: MistralVersion,
        *,
        assistant_only: bool,
    ) -> None:
        self._mistral = mistral
        self._assistant_only = assistant_only
        self._target = target
        self._options = options
        self._renderer = renderer
        self._types = Types()
        self._compares = False
        self._json_columns: frozenset[str] = frozenset()
        self._kind = ""

    def begin(self, source: Source) -> None:
        """Go on with the rows of a source."""
        self._compares = self._target in TABLES and source.kind in {"json", "jsonl"}
        self._json_columns = json_columns(source) if self._target == "verl" else frozenset()
        self._kind = source.kind

    @property
    def compares(self) -> bool:
        """Whether rows of the source are compared with those before them."""
        return self._compares

    def mended(self, read: Row | Unreadable, faults: Sequence[Fault], form: Form) -> frozenset[str]:
        """Return the kinds of faults that a row does not have in the form of the target."""
        if isinstance(read, Unreadable):
            return frozenset()
        where = f"{read.source}:{read.index}"
        try:
            made = form.of(read_trajectory(read.value, where, self._options, known_plain=read.is_plain))
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
            trajectory = read_trajectory(read.value, where, reading or self._options, known_plain=read.is_plain)
        except RowError as error:
            yield error.reason, None, str(error).removeprefix(f"{error.reason}: ")
            return
        for violation in self._violations(trajectory, where):
            yield violation.kind, violation.turn, violation.detail

    def _violations(self, trajectory: Trajectory, where: str) -> Iterator[Violation]:
        yield from self._alone(trajectory)
        if self._target == "verl" and self._kind not in {"", "parquet"}:
            yield Violation("not_parquet", None, self._kind)
        if self._compares:
            yield from self._types.violations(trajectory, where)
            if self._target == "trl":
                yield from self._types.of_template_kwargs(trajectory, where)

    def _alone(self, trajectory: Trajectory) -> Iterator[Violation]:
        """Yield what is wrong with a row by itself."""
        yield from violations(
            trajectory.turns,
            self._target,
            mapped_roles=self._options.role_map,
            mistral=self._mistral,
            assistant_only=self._assistant_only,
        )
        named = self._options.messages_field is not None
        yield from column_violations(
            trajectory,
            self._target,
            named=named,
            rendered=self._renderer is not None and DEMANDS[self._target].renders,
            json_columns=self._json_columns,
        )
        if self._target in _READ_NO_REASONING:
            yield from _left_out(trajectory)
        if self._renderer:
            yield from self._renderer.violations(trajectory)


def _left_out(trajectory: Trajectory) -> Iterator[Violation]:
    for index, turn in enumerate(trajectory.turns):
        if any(turn.raw.get(key) for key in ("reasoning_content", "reasoning")):
            yield Violation("thoughts_not_rendered", index, "reasoning beside the content is not read")
