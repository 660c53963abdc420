"""Checking a dataset: every row read, judged by the rules of a target, and counted by kind of violation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.standing import Watch
from trajcompress.errors import RowError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.settings.choices import Target
from trajcompress.transcript.trajectory import Trajectory
from trajcompress.transcript.validity import violations
from trajcompress.transcript.violation import Violation


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
    """All violations of one kind: how many, in how many rows, and the first of them."""

    rows: int = 0
    count: int = 0
    examples: list[Example] = field(default_factory=list)


@dataclass(slots=True)
class CheckResult:
    """What a check found, by kind; a row that holds no trajectory counts under the reader's reason.

    ``changed`` says of sources what became of them while they were read.
    """

    rows: int = 0
    invalid_rows: int = 0
    found: dict[str, Found] = field(default_factory=dict)
    changed: dict[str, str] = field(default_factory=dict)

    def add(self, read: Row | Unreadable, faults: Sequence[tuple[str, int | None, str]], examples: int) -> None:
        """Count one row; keep up to ``examples`` rows of each kind as examples."""
        self.rows += 1
        self.invalid_rows += bool(faults)
        for kind, times in Counter(kind for kind, _, _ in faults).items():
            found = self.found.setdefault(kind, Found())
            found.rows += 1
            found.count += times
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
    limit: int | None = None,
    examples: int = 3,
    note: Callable[[str], None] = lambda _: None,
) -> CheckResult:
    """Judge every row of the sources; memory grows with neither their number nor their faults.

    Names in the role map of ``options`` are known roles. The ``renderer`` asks the chat template too, for targets
    that feed one; ``note`` is told what has grown while it was read.

    Raises:
        InputError: a source cannot be opened.
    """
    result = CheckResult()
    watch = Watch(sources, note)
    reads = ((source, read) for source in sources for read in read_rows(source))
    reading: Source | None = None
    for source, read in islice(reads, limit):
        if reading and source is not reading:
            watch.look(reading)
        reading = source
        result.add(read, list(_faults(read, target, options, renderer)), examples)
    if reading:
        watch.look(reading)
    result.changed = watch.changed
    return result


def _faults(
    read: Row | Unreadable, target: Target, options: FormatOptions, renderer: Renders | None
) -> Iterator[tuple[str, int | None, str]]:
    if isinstance(read, Unreadable):
        yield read.reason, None, read.detail
        return
    try:
        trajectory = read_trajectory(read.value, f"{read.source}:{read.index}", options, known_plain=read.is_plain)
    except RowError as error:
        yield error.reason, None, str(error).removeprefix(f"{error.reason}: ")
        return
    found = [*violations(trajectory.turns, target, mapped_roles=options.role_map)]
    if renderer:
        found += renderer.violations(trajectory)
    for violation in found:
        yield violation.kind, violation.turn, violation.detail
