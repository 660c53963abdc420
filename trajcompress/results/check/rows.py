"""Checking a dataset: every row read and judged, and counted by kind of violation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from trajcompress.compaction.happened import mistake_in
from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.standing import Watch
from trajcompress.errors import INTERNAL, OF_THE_RUN
from trajcompress.results.check.origin import Origin
from trajcompress.results.check.rules import Fault, Rules, Standard
from trajcompress.transcript.violation import NOTES


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
    ``unread_marks`` leave assistant turns out of the loss, in so many rows each, and the target does not read them.
    ``changed`` says of sources what became of them while they were read. ``rows_of_input`` have faults that their
    input had, ``of_input`` of them in all; None where that is not known.
    """

    rows: int = 0
    invalid_rows: int = 0
    found: dict[str, Found] = field(default_factory=dict)
    notes: dict[str, Found] = field(default_factory=dict)
    unread_marks: dict[str, int] = field(default_factory=dict)
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


def check_rows(
    sources: Sequence[Source],
    standard: Standard,
    *,
    limit: int | None = None,
    examples: int = 3,
    origin: Origin | None = None,
    new_only: bool = False,
    note: Callable[[str], None] = lambda _: None,
    moved: Callable[[int], None] = lambda _: None,
) -> CheckResult:
    """Judge every row of the sources; memory grows with neither their number nor their faults.

    Args:
        sources: what is read, in this order.
        standard: what rows are judged by.
        limit: how many rows are judged at most.
        examples: how many rows of each kind of violation are kept at most.
        origin: says which faults the input of the rows had.
        new_only: whether these are left out.
        note: called with what has grown while it was read.
        moved: called with how many rows are judged.

    Raises:
        InputError: a source cannot be opened.
    """
    result = CheckResult()
    watch = Watch(sources, note)
    reads = ((source, read) for source in sources for read in read_rows(source))
    reading: Source | None = None
    rules = Rules(standard)
    rules_of_input = Rules(standard)
    for source, read in islice(reads, limit):
        if source is not reading:
            if reading:
                watch.look(reading)
            rules.begin(source)
        reading = source
        faults, mended = _judged(rules, read)
        if origin and (new := origin.new(source, read, faults, rules_of_input)) is not None:
            had = sum(kind not in NOTES for kind, _, _ in faults) - sum(kind not in NOTES for kind, _, _ in new)
            result.of_input = (result.of_input or 0) + had
            result.rows_of_input = (result.rows_of_input or 0) + (had > 0)
            faults = new if new_only else faults
        result.add(read, faults, examples, mended)
        moved(result.rows)
    if reading:
        watch.look(reading)
    result.changed = watch.changed
    result.unread_marks = dict(rules.marks)
    if origin and origin.given_up:
        result.of_input = result.rows_of_input = None
    return result


def _judged(rules: Rules, read: Row | Unreadable) -> tuple[list[Fault], frozenset[str]]:
    """Return the faults of a row, and those that its form mends; a mistake of this package counts as its fault."""
    try:
        faults = list(rules.faults(read))
        return faults, rules.mended(read, faults)
    except OF_THE_RUN:
        raise
    except Exception as error:  # noqa: BLE001 - a mistake of ours: the other rows are judged all the same
        return [(INTERNAL, None, mistake_in(error))], frozenset()
