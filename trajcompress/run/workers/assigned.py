"""A worker's side of the queue of parts: what there is to do, and that it has been read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from msgspec import structs

from trajcompress.engine.messages import Channel
from trajcompress.run.parts.assignment import Assignment
from trajcompress.run.parts.cursor import Cursor
from trajcompress.run.parts.rows import count_rows
from trajcompress.run.parts.selection import Selection
from trajcompress.run.rows.explainer import Collected
from trajcompress.run.workers.messages import Given, PartEnds, PartRead, Take, WhereBegins


def assigned(channel: Channel, selection: Selection) -> Iterator[Assignment]:
    """Yield what there is to do, and where it begins: its rows are counted first where others wait for that."""
    given: Given | None
    while (given := channel.ask(Take())) is not None:
        assignment = given.assignment
        if given.counts_first:
            places, number = count_rows(assignment), assignment.part.number
            start = assignment.start if assignment.piece else channel.ask(WhereBegins(number))
            if start is None:
                continue
            assignment = structs.replace(assignment, start=start)
            counts = replace(places.counts, taken=places.taken(selection, start))
            channel.emit(PartEnds(number, start.behind(counts, same_source=True)))
        yield assignment


def report_read(channel: Channel, collected: Collected) -> Callable[[Assignment, Cursor], None]:
    """Return what is called with each assignment that was read, and with its end; ``collected`` has how it was."""

    def read(assignment: Assignment, end: Cursor) -> None:
        if assignment.is_last:
            channel.emit(PartEnds(assignment.part.number, end))
        channel.emit(PartRead(assignment, collected.take()))

    return read
