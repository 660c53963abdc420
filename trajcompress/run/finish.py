"""The end of a run: data files are brought to one schema, and metrics and rejects of all parts are put together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from trajcompress.dataset.durable import publish, temporary
from trajcompress.dataset.shape import Columns
from trajcompress.dataset.storage.location import Location, read_all
from trajcompress.dataset.writers import narrower_files, widen_file
from trajcompress.errors import OutputError
from trajcompress.metrics.files import join_metrics, join_tables, read_totals
from trajcompress.metrics.segment import SegmentMetrics
from trajcompress.metrics.totals import Totals
from trajcompress.run.folder.manifest import WrittenFile, describe_file, first_damage
from trajcompress.run.parts.committed import CommittedPart
from trajcompress.run.parts.store import PartStore

_JOINED_PARTS = 64


class Join(Struct, frozen=True):
    """Metrics of parts that follow each other, and where they are to be joined."""

    metrics: tuple[Location, ...]
    joined: Location


def finish_parts(
    store: PartStore,
    parts: Sequence[CommittedPart],
    changed: Collection[str] = (),
    joined: Sequence[Location] = (),
) -> list[WrittenFile]:
    """Put the results of all ``parts`` together, which are in input order; return the files that the run leaves.

    May be repeated, also after a kill, with the same outcome. Rows of sources that have ``changed`` while they were
    read are marked. What others have ``joined`` of the metrics stands in the place of those of parts.

    Raises:
        OutputError: what was committed has been changed meanwhile, or no schema holds all data.
    """
    folder = store.folder
    if why := first_damage(folder.path, [file for part in parts for file in part.files]):
        raise OutputError(f"{why}; run the same command again, which does its rows again")
    columns, narrow = narrow_parts(store, parts)
    wide = {part.key: widen_part(store, part, columns) for part in narrow}
    join_metrics(folder.metrics, joined or metrics_of(store, parts), changed)
    for path in joined:
        path.unlink()
    segments = [file for part in parts if (file := part.file_of("segments"))]
    of_segments = []
    if segments:
        join_tables(folder.segments, SegmentMetrics, [folder.path / file.name for file in segments])
        written = sum(file.rows for file in segments)
        of_segments.append(describe_file(folder.segments, folder.segments.name, written))
    rejects = [file for part in parts if (file := part.file_of("rejected"))]
    _join_files(folder.rejected, [folder.path / file.name for file in rejects])
    return [
        *(data for part in parts if (data := wide.get(part.key, part).data)),
        describe_file(folder.metrics, folder.metrics.name, sum(part.progress.rows for part in parts)),
        *of_segments,
        describe_file(folder.rejected, folder.rejected.name, sum(file.rows for file in rejects)),
    ]


def joins_of(store: PartStore, parts: Sequence[CommittedPart]) -> list[Join]:
    """Return what of the metrics is joined before all of it is: of many parts, some that follow each other."""
    metrics = metrics_of(store, parts)
    if len(metrics) < 2 * _JOINED_PARTS:
        return []
    groups = [tuple(metrics[begin : begin + _JOINED_PARTS]) for begin in range(0, len(metrics), _JOINED_PARTS)]
    return [
        Join(group, store.folder.metrics_parts / f"joined-{number:05}.parquet") for number, group in enumerate(groups)
    ]


def narrow_parts(store: PartStore, parts: Sequence[CommittedPart]) -> tuple[Columns, list[CommittedPart]]:
    """Return the columns of all data, and the parts that lack some of them, which are to be widened.

    Raises:
        OutputError: no schema holds all data.
    """
    of_data = {store.folder.path / part.data.name: part for part in parts if part.data}
    columns, narrow = narrower_files(list(of_data))
    return columns, [of_data[path] for path in narrow]


def widen_part(store: PartStore, part: CommittedPart, columns: Columns) -> CommittedPart:
    """Write the data of a part again with such columns; return the part that takes its place."""
    assert part.data is not None  # noqa: S101 - else nothing is to be widened
    path = store.folder.path / part.data.name
    widen_file(path, columns)
    return store.replace(part, describe_file(temporary(path), part.data.name, part.data.rows))


def metrics_of(store: PartStore, parts: Sequence[CommittedPart]) -> list[Location]:
    """Return the metrics of parts, where they have any."""
    return [store.folder.path / file.name for part in parts if (file := part.file_of("metrics"))]


def totals_of(store: PartStore, parts: Sequence[CommittedPart]) -> Totals:
    """Add up the rows of parts."""
    return read_totals(*metrics_of(store, parts))


def _join_files(path: Location, parts: Sequence[Location]) -> None:
    with temporary(path).open("wb") as file:
        for content in read_all(parts):
            if isinstance(content, OSError):
                raise content
            file.write(content)
    publish(path)
