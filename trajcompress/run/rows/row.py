"""One row of a run: parsed in the thread that reads, compressed on the event loop, finished as rows to write."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.compaction.driver import RowDriver
from trajcompress.compaction.happened import BELOW_MIN_TOKENS, FORM_UNFIT, OVER_LIMIT, Happened, LeftOut, mistake_in
from trajcompress.compaction.row_metrics import rejected, segment_metrics, unread
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.errors import INTERNAL, OF_THE_RUN, RowError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.form import Form
from trajcompress.metrics.row import RowMetrics
from trajcompress.metrics.segment import SegmentMetrics
from trajcompress.run.rows.output_rows import Writing, row_to_write, segment_rows
from trajcompress.summarize.base import Usage
from trajcompress.tokens.counter import Count
from trajcompress.transcript.trajectory import RowId, Trajectory

PaidFor: TypeAlias = Callable[[str], Usage]
"""Says what all tries of a row cost, by its id."""

_ALL_COLUMNS = Writing()
_BYTES_PER_TURN = 64  # about what a message costs besides its text


class Rejected(Struct, frozen=True):
    """A row that is no part of the dataset; ``raw`` is the text that was read, ``detail`` what is wrong with it."""

    line: int | None
    reason: str
    detail: str
    raw: str


class Accepted(Struct, frozen=True):
    """A row that holds a trajectory.

    ``raw`` is its own JSON text where it was read from one, ``as_read`` the row before it took another form; both are
    without secrets where reading takes these out. ``read`` is the trajectory before it took that form.
    """

    trajectory: Trajectory
    raw: bytes | None
    line: int | None
    as_read: dict[str, Any]
    read: Trajectory

    def reject(self, reason: str, detail: str) -> Rejected:
        """Reject it after all."""
        return Rejected(self.line, reason, detail, _text(self.raw, self.as_read))


class Parsed(Struct, frozen=True):
    """What was made of a row that was read.

    ``index`` is its place in its source, ``position`` in the whole input, ``size`` about how many bytes it takes.
    """

    source: Source
    index: int
    position: int
    made: Accepted | Rejected
    size: int


class Finished(Struct, frozen=True):
    """What became of an input row: written as ``rows``, or rejected, or (neither is there) left out on purpose.

    In a dataset of segments there is one of ``segments`` for each row that is written.
    """

    parsed: Parsed
    metrics: RowMetrics
    rows: tuple[dict[str, Any], ...] = ()
    rejected: Rejected | None = None
    segments: tuple[SegmentMetrics, ...] = ()

    @property
    def raw(self) -> bytes | None:
        """The row's own JSON text, where it alone is written, unchanged, and was read from such."""
        made = self.parsed.made
        if not isinstance(made, Accepted) or len(self.rows) != 1:
            return None
        return made.raw if self.rows[0] is made.as_read else None


def parse_row(
    source: Source, read: Row | Unreadable, position: int, options: FormatOptions, form: Form | None = None
) -> Parsed:
    """Parse a row that was read, and put it into a form where one is given."""
    if isinstance(read, Unreadable):
        rejected = Rejected(_line(source, read), read.reason, read.detail, read.raw)
        return Parsed(source, read.index, position, rejected, len(read.raw))
    try:
        trajectory = read_trajectory(read.value, f"{source.stem}:{read.index}", options, known_plain=read.is_plain)
        formed = form.of(trajectory) if form else trajectory
    except RowError as error:
        rejected = Rejected(_line(source, read), error.reason, error.detail, _text(read.raw, read.value))
        return Parsed(source, read.index, position, rejected, len(rejected.raw))
    except OF_THE_RUN:
        raise
    except Exception as error:  # noqa: BLE001 - a mistake of ours: this row is put aside, and the run goes on
        rejected = Rejected(_line(source, read), INTERNAL, mistake_in(error), _text(read.raw, read.value))
        return Parsed(source, read.index, position, rejected, len(rejected.raw))
    size = len(read.raw) if read.raw else sum(len(turn.text) + _BYTES_PER_TURN for turn in trajectory.turns)
    raw, as_read = (None, trajectory.row) if trajectory.redactions else (read.raw, read.value)
    made = Accepted(formed, raw, _line(source, read), as_read, trajectory)
    return Parsed(source, read.index, position, made, size)


class Admission(Struct, frozen=True):
    """Which handled rows are left out of the dataset: over the limit, of few tokens, or unfit for the target."""

    save_over_limit: bool = True
    min_tokens: int | None = None
    save_unfit: bool = True

    def judge(self, happened: Happened) -> Happened:
        """Say whether a row is left out, or some of its segments."""
        judged = replace(happened, save_over_limit=self.save_over_limit)
        return replace(judged, left_out=self._left_out(judged))

    def _left_out(self, judged: Happened) -> LeftOut | None:
        count = judged.count  # None where nobody can say
        if self.min_tokens is not None and count is not None and count.tokens < self.min_tokens:
            return BELOW_MIN_TOKENS
        over = judged.over_limit and not self.save_over_limit and not judged.saved
        if judged.reason == FORM_UNFIT and (over or not self.save_unfit):
            return FORM_UNFIT
        return OVER_LIMIT if over else None


async def finish_row(
    parsed: Parsed,
    driver: RowDriver,
    admission: Admission,
    writing: Writing = _ALL_COLUMNS,
    *,
    counted: Count | None = None,
    paid_for: PaidFor | None = None,
) -> Finished:
    """Take a parsed row to its end.

    ``counted`` is its count, where that is known; ``paid_for`` is there where this is not its first try.

    Raises:
        SummarizerUnusableError: no row can be summarised.
        EngineMismatchError: counts of the whole run are in doubt.
    """
    row_id, line = RowId(parsed.source.name, parsed.index), parsed.made.line
    if isinstance(parsed.made, Rejected):
        return Finished(parsed, unread(row_id, parsed.made.reason, parsed.made.detail, line), rejected=parsed.made)
    trajectory = parsed.made.trajectory
    happened = admission.judge(await driver.compact(trajectory, row_id, counted, line))
    if paid_for is not None:
        happened = replace(happened, usage=happened.usage.of_all_tries(paid_for(str(row_id))))
    try:
        return _finished(parsed, parsed.made, happened, driver, writing)
    except OF_THE_RUN:
        raise
    except Exception as error:  # noqa: BLE001 - a mistake of ours: the row stays as it is, and the run goes on
        wrong = admission.judge(happened.given_up(error))
    try:
        return _finished(parsed, parsed.made, wrong, driver, writing)
    except OF_THE_RUN:
        raise
    except Exception:  # noqa: BLE001 - not even that: it is put aside
        why = parsed.made.reject(INTERNAL, wrong.error or "")
        return Finished(parsed, unread(row_id, why.reason, why.detail, line), rejected=why)


def _finished(parsed: Parsed, made: Accepted, happened: Happened, driver: RowDriver, writing: Writing) -> Finished:
    """Write the metrics of a row, and the rows that it becomes."""
    row_id, trajectory = RowId(parsed.source.name, parsed.index), made.trajectory
    metrics = driver.metrics(row_id, trajectory, happened, made.line)
    if happened.left_out:
        return leave_out(parsed, made, metrics, happened.left_out)
    if happened.segments:
        rows = tuple(segment_rows(trajectory, happened.saved, len(happened.segments), writing))
    else:
        rows = (row_to_write(trajectory, happened.last, writing),)
    segments = tuple(segment_metrics(row_id, trajectory, happened)) if writing.segments else ()
    return Finished(parsed, metrics, rows, segments=segments)


def leave_out(parsed: Parsed, accepted: Accepted, metrics: RowMetrics, why: LeftOut) -> Finished:
    """Leave a handled row out of the dataset; what is too short is no reject."""
    if why == BELOW_MIN_TOKENS:
        return Finished(parsed, metrics)
    detail = metrics.error or FORM_UNFIT if why == FORM_UNFIT else f"over the limit: {metrics.reason}"
    return Finished(parsed, metrics, rejected=accepted.reject(why, detail))


def reject(parsed: Parsed, metrics: RowMetrics, why: Rejected) -> Finished:
    """Reject a row, whatever was done with it before."""
    return Finished(parsed, rejected(metrics, why.reason, why.detail), rejected=why)


def _line(source: Source, read: Row | Unreadable) -> int | None:
    """Return the line that was read, from 1; None where there are none, or nobody can open them again."""
    return None if source.is_stream else read.line


def _text(raw: bytes | None, row: dict[str, Any]) -> str:
    if raw is not None:
        return raw.decode("utf-8", "surrogateescape")
    try:
        return json.dumps(row, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):  # as deep as this it was read from something else than JSON
        return ""
