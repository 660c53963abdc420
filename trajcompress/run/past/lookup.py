"""Lookup of single rows of a run: by id or place in its metrics, to where they stand in its data files and rejects.

The data files of a run hold what the rows of its metrics became, in the same order. So the metrics, read group by
group, say where each row was written, whatever the number of rows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import accumulate
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from trajcompress.compaction.happened import BELOW_MIN_TOKENS
from trajcompress.dataset.storage.location import Location
from trajcompress.dataset.storage.parquet import open_parquet
from trajcompress.errors import InputError
from trajcompress.metrics.files import row_metrics
from trajcompress.metrics.row import WRITTEN_COLUMNS, RowMetrics, rows_written, rows_written_each
from trajcompress.processes.late_patterns import late_re
from trajcompress.run.past.past_run import PastRun, open_run
from trajcompress.wording import printable

if TYPE_CHECKING:  # pyarrow takes a third of a second to import
    import pyarrow as pa

Place: TypeAlias = tuple[str, int]
"""``source_file`` and ``source_row`` of the metrics."""

_PLACES = ("source_file", "source_row", "reason")
_BY_LINE = late_re(r":line (\d+)\Z", re.ASCII)
_NAMED = 5  # of what is meant or is near
_COMPARED = 20_000  # ids, with one that is not there


class LocatedRow(Struct, frozen=True):
    """A row of the input, and where what was written for it stands.

    What was written for it begins at row ``place`` of the file ``data``, which is None where nothing was; if it was
    rejected or is over a limit that is kept, it is line ``rejected`` of ``rejected.jsonl``. All are counted from 0.
    """

    metrics: RowMetrics
    data: Location | None
    place: int
    rejected: int

    @property
    def is_in_rejects(self) -> bool:
        """Whether ``rejected.jsonl`` holds the row."""
        return not rows_written(self.metrics) and self.metrics.reason != BELOW_MIN_TOKENS


def locate_rows(run: PastRun, wanted: Mapping[str, set[int]]) -> dict[str, list[LocatedRow]]:
    """Find rows in the metrics of a run, by source and in the order of the run; what is not there is left out."""
    import pyarrow.compute as pc

    located: dict[str, list[LocatedRow]] = {}
    data = run.data_files()
    begins = list(accumulate((rows for _, rows in data), initial=0))
    rows_before = rejects_before = 0
    with open_parquet(run.folder.metrics) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=[*_PLACES, *WRITTEN_COLUMNS])
            written = rows_written_each(table)
            left_out = pc.fill_null(pc.equal(table["reason"], BELOW_MIN_TOKENS), fill_value=False)
            rejected = pc.and_not(pc.equal(written, 0), left_out)
            places = zip(table["source_file"].to_pylist(), table["source_row"].to_pylist(), strict=True)
            hits = [at for at, (source, row) in enumerate(places) if row in wanted.get(source, ())]
            whole = file.read_row_group(group) if hits else table
            for at in hits:
                place, line = (_count(column.slice(0, at)) for column in (written, rejected))
                number = bisect_right(begins, rows_before + place) - 1
                metrics = row_metrics(whole, at)
                path = data[number][0] if rows_written(metrics) and number < len(data) else None
                found = LocatedRow(metrics, path, rows_before + place - begins[number], rejects_before + line)
                located.setdefault(metrics.source_file, []).append(found)
            rows_before += _count(written)
            rejects_before += _count(rejected)
    return located


def find_row(folder: Location, wanted: str) -> Place:
    """Find the one row that is called so.

    That is a trajectory's id; a row of the whole run, from 0, as in ``metrics.parquet``; or ``file:row``, or
    ``file:line N`` as messages have it, where the end of the file's path is enough if it is the only such.

    Raises:
        InputError: the folder holds no finished run; there is no such row, or more than one.
    """
    import pyarrow.compute as pc

    run = open_run(folder)
    found: dict[Place, None] = {}
    ids: dict[str, None] = {}
    position = int(wanted) if wanted.isdecimal() and wanted.isascii() and len(wanted) < len(str(2**63)) else -1
    column = "source_line" if _BY_LINE.search(wanted) else "source_row"
    places = _places(run, _BY_LINE.sub(r":\1", wanted))
    with open_parquet(run.folder.metrics) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=["source_file", "source_row", "source_line", "trajectory_id"])
            names = table["trajectory_id"]
            meant = pc.equal(names, wanted)
            if 0 <= position < len(table):
                found[_place(table, position)] = None
            position -= len(table)
            for at in pc.indices_nonzero(meant).to_pylist():
                found[_place(table, at)] = None
            for source, row in places.items() if column in table.schema.names else ():
                here = pc.and_(pc.equal(table["source_file"], source), pc.equal(table[column], row))
                for at in pc.indices_nonzero(pc.fill_null(here, fill_value=False)).to_pylist():
                    found[_place(table, at)] = None
            if len(ids) < _COMPARED:
                ids.update(dict.fromkeys(name for name in names.to_pylist() if name is not None))
    if len(found) == 1:
        return next(iter(found))
    if found:
        listed = ", ".join(f"{printable(file)}:{row}" for file, row in list(found)[:_NAMED])
        more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
        raise InputError(f"{wanted!r}: {len(found):,} rows are called so: {listed}{more}; name one of these")
    raise InputError(f"{folder}: no row {wanted!r}; {_remedy(wanted, ids)}")


def _places(run: PastRun, wanted: str) -> dict[str, int]:
    """Return the rows that ``file:row`` can mean, at most one of each file: files of that name, else of that end."""
    file, _, row = wanted.rpartition(":")
    if not file or not (row.isascii() and row.isdecimal()) or int(row) >= 2**63:
        return {}
    end = PurePosixPath(file).parts
    exact = [name for name in run.inputs if name == file]
    ending_so = [
        name
        for name, described in run.inputs.items()
        if PurePosixPath(name).parts[-len(end) :] == end or described["stem"] == file
    ]
    return dict.fromkeys(exact or ending_so, int(row))


def _place(table: pa.Table, at: int) -> Place:
    return table["source_file"][at].as_py(), table["source_row"][at].as_py()


def _count(column: Any) -> int:
    import pyarrow.compute as pc

    return pc.sum(column).as_py() or 0  # null of nothing


def _remedy(wanted: str, ids: Mapping[str, None]) -> str:
    near = [name for name in ids if wanted.casefold() in name.casefold()][:_NAMED] if wanted else []
    near = near or get_close_matches(wanted, ids, n=_NAMED)
    if near:
        return f"the nearest ids: {', '.join(map(printable, near))}"
    return (
        "name an id, a row of the run or FILE:ROW, counted from 0 as in metrics.parquet, or 'FILE:line N', counted "
        "from 1 as messages name rows"
    )
