"""What workers and the coordinator of a run say to each other about parts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from trajcompress.dataset.shape import Columns
from trajcompress.dataset.storage.location import Location
from trajcompress.events import Event, Figure
from trajcompress.metrics.totals import Totals
from trajcompress.run.folder.counter_facts import CounterFacts
from trajcompress.run.parts.assignment import Assignment
from trajcompress.run.parts.committed import CommittedPart
from trajcompress.run.parts.cursor import Cursor
from trajcompress.run.parts.selection import Selection
from trajcompress.run.parts.writer import DataFormat
from trajcompress.run.progress.progress import Progress
from trajcompress.run.rows.explainer import HowRead

SHOW_EACH_S = 0.25
"""How often a worker says how far it is."""


class Take(Struct, frozen=True):
    """A question for something to do; None is the answer where there is nothing more."""


class Given(Struct, frozen=True):
    """The answer: a part; ``counts_first`` says that others wait for its rows to be counted."""

    assignment: Assignment
    counts_first: bool


class WhereBegins(Struct, frozen=True):
    """A question for where a part begins; None is the answer where nothing of it is taken."""

    number: int


class PartEnds(Struct, frozen=True):
    """The place behind a part."""

    number: int
    end: Cursor


class PartRead(Struct, frozen=True):
    """All rows of a part have been read; ``how`` in each of its sources."""

    assignment: Assignment
    how: Sequence[HowRead]


class Advanced(Struct, frozen=True):
    """How far a worker is: rows that are not committed yet, and bytes that it has read since it began."""

    progress: Progress = field(default_factory=Progress)
    bytes_read: int = 0


class PartCommitted(Struct, frozen=True):
    """A part, or a piece of it, is committed; ``advanced`` is as of then."""

    part: CommittedPart
    advanced: Advanced


class TakeLast(Struct, frozen=True):
    """A question for something to do once all parts are committed; None is the answer where there is nothing."""


class Narrow(Struct, frozen=True):
    """An answer: a part, and the columns that its data is to have."""

    part: CommittedPart
    columns: Columns


class Widened(Struct, frozen=True):
    """A part has taken the place of a narrower one."""

    part: CommittedPart


class Joined(Struct, frozen=True):
    """Some metrics are joined there."""

    joined: Location


class Noted(Struct, frozen=True):
    """A line for people."""

    text: str


class Happened(Struct, frozen=True):
    """An event of the run."""

    event: Event
    figures: dict[str, Figure]


class LeftOpen(Struct, frozen=True):
    """What the rows add up to that are not committed at a worker's end."""

    totals: Totals


class Loaded(Struct, frozen=True):
    """A worker has loaded the tokenizer."""

    facts: CounterFacts


class Begin(Struct, frozen=True):
    """A question for how to work, once the tokenizer is loaded; None is the answer where there is nothing to do."""


class Instructions(Struct, frozen=True):
    """The answer: which rows are taken, how data files are written, and where the run folder is.

    Each worker says how far it is every ``show_each_s`` seconds.
    """

    selection: Selection
    data_format: DataFormat
    folder: Location
    show_each_s: float
