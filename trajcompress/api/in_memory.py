"""Data sets in memory, compressed into the same kind: lists, iterables, and those of the package ``datasets``."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from trajcompress.api.compressor import MOST_AHEAD, Compressed, Compressor
from trajcompress.api.inputs import InputKind, numbered, without_progress_bars
from trajcompress.api.results import CompressedDataset, CompressedRow
from trajcompress.api.rows import MEMORY, columns_of, rows_of
from trajcompress.errors import InputError
from trajcompress.run.progress.progress import Progress
from trajcompress.run.progress.reporter import Reporter
from trajcompress.transcript.trajectory import RowId


class NamingCompressor(Compressor):
    """A compressor of rows whose names in the metrics are given with them."""

    def compress_named(self, rows: Iterable[tuple[Any, RowId]]) -> Iterator[Compressed]:
        """Compress rows as :meth:`compress_many` does."""
        return self._many(rows, self.concurrency)


def compress_in_memory(
    inputs: Any, kind: InputKind, compressor: NamingCompressor, reporter: Reporter
) -> CompressedDataset[Any]:
    """Compress all rows; of an iterable and an ``IterableDataset``, as they are taken.

    Raises:
        SummarizerUnusableError: no row can be summarised.
        InputError: a column of a ``Dataset`` can hold what became of it in no type.
    """
    if kind == "IterableDataset":
        return _lazy(inputs, compressor)
    if kind in ("Dataset", "DatasetDict"):
        with compressor:
            return _of_datasets(inputs, kind, compressor, reporter)
    made: CompressedDataset[Any] = CompressedDataset([])
    taken = _taken(_compressed({MEMORY: inputs}, compressor, made, reporter), compressor)
    if kind == "iterable":
        return replace(made, rows=taken)
    made.rows.extend(taken)
    return made


class _Kept(NamedTuple):
    """A row that is not rejected, as it was given at a place of a split, and as it is now."""

    split: str
    place: int
    given: Any
    row: Any


def _taken(done: Iterator[_Kept], compressor: Compressor) -> Iterator[Any]:
    with compressor:
        for each in done:
            yield each.row


def _compressed(
    splits: Mapping[str, Iterable[Any]],
    compressor: NamingCompressor,
    made: CompressedDataset[Any],
    reporter: Reporter,
) -> Iterator[_Kept]:
    """Yield each row that is not rejected; fill the metrics."""
    under_way: deque[tuple[str, int, Any]] = deque()

    def rows() -> Iterator[tuple[Any, RowId]]:
        for each in numbered(splits):
            under_way.append(each)
            yield each[2], RowId(*each[:2])

    progress = Progress()
    reporter.started(None)
    for done in compressor.compress_named(rows()):
        split, place, given = under_way.popleft()
        made.metrics.append(done.metrics)
        progress.add(done.metrics)
        reporter.advanced(0, progress)
        row = done.row if isinstance(done, CompressedRow) else done.messages
        if done.metrics.outcome == "rejected":
            made.rejected.append(row)
        else:
            yield _Kept(split, place, given, row)


def _lazy(inputs: Any, compressor: NamingCompressor) -> CompressedDataset[Any]:
    made: CompressedDataset[Any] = CompressedDataset(None)

    def compress(batch: Mapping[str, Any], places: Sequence[int]) -> dict[str, list[Any]]:
        if places[0] == 0:  # another pass
            made.metrics.clear()
            made.rejected.clear()
        named = ((row, RowId(MEMORY, place)) for row, place in zip(rows_of(batch), places, strict=True))
        done = list(compressor.compress_named(named))
        rows = [each.row for each in done if isinstance(each, CompressedRow)]  # all of them
        kept = [each.metrics.outcome != "rejected" for each in done]
        made.metrics.extend(each.metrics for each in done)
        made.rejected.extend(row for row, keep in zip(rows, kept, strict=True) if not keep)
        columns = columns_of(rows)
        return {
            name: [value for value, keep in zip(values, kept, strict=True) if keep]
            for name, values in columns.items()
        }

    size = max(compressor.concurrency, MOST_AHEAD)  # not all of them take a call
    how = {"batched": True, "batch_size": size, "with_indices": True, "remove_columns": inputs.column_names}
    return replace(made, rows=inputs.map(compress, **how))


def _of_datasets(
    inputs: Any, kind: InputKind, compressor: NamingCompressor, reporter: Reporter
) -> CompressedDataset[Any]:
    import datasets

    splits = dict(inputs) if kind == "DatasetDict" else {MEMORY: inputs}
    plain = {name: split.with_format(None) for name, split in splits.items()}
    made: CompressedDataset[Any] = CompressedDataset(None)
    kept: dict[str, list[int]] = {name: [] for name in splits}
    changes: dict[str, dict[str, dict[int, Any]]] = {name: {} for name in splits}
    for each in _compressed(plain, compressor, made, reporter):
        if each.row is not each.given:
            for name in [*each.given, *(name for name in each.row if name not in each.given)]:
                if each.given.get(name) != each.row.get(name):
                    changes[each.split].setdefault(name, {})[len(kept[each.split])] = each.row.get(name)
        kept[each.split].append(each.place)
    rebuilt = {}
    for name, split in splits.items():
        shown = split.format
        with without_progress_bars():
            made_of = _rebuilt(plain[name], kept[name], changes[name])
        rebuilt[name] = made_of.with_format(shown["type"], **shown["format_kwargs"])
    return replace(made, rows=datasets.DatasetDict(rebuilt) if kind == "DatasetDict" else rebuilt[MEMORY])


def _rebuilt(dataset: Any, kept: list[int], changes: Mapping[str, Mapping[int, Any]]) -> Any:
    """Return the rows of a data set that are kept, with other values at places of some columns.

    A column that holds nothing any more is left out.
    """
    order = [*dataset.column_names, *(name for name in changes if name not in dataset.column_names)]
    made = dataset if len(kept) == len(dataset) else dataset.select(kept)
    for name, by_place in changes.items():
        values = list(made[name]) if name in made.column_names else [None] * len(kept)
        for place, value in by_place.items():
            values[place] = value
        if all(value is None for value in values):
            order.remove(name)
        else:
            column, feature = _column(name, values, dataset.features.get(name))
            made = _with_column(made, name, column, feature)
    return made.select_columns(order)


def _with_column(dataset: Any, name: str, column: Any, feature: Any) -> Any:
    """Return a data set with a column in the place of one of that name; never without any, which has no rows."""
    spare = max([name, *dataset.column_names], key=len) + "_"
    made = dataset.add_column(spare, column, feature=feature)
    made = made.remove_columns([name]) if name in made.column_names else made
    return made.rename_column(spare, name)


def _column(name: str, values: list[Any], feature: Any) -> tuple[Any, Any]:
    """Return a column in a type that holds all of its values: that which it had, else one that is found."""
    import datasets

    for wanted in (feature, None):
        features = datasets.Features({name: wanted}) if wanted is not None else None
        try:
            column = datasets.Dataset.from_dict({name: values}, features=features)
        except Exception:  # noqa: BLE001, S112 - pyarrow and datasets have many ways to say that it does not fit
            continue
        if all(map(_says_the_same, column[name], values)):
            return column.data.column(name), column.features[name]
    raise InputError(
        f"argument inputs: column {name!r} has values of several shapes, which no type of a Dataset holds; name an "
        "output folder, whose files hold them as JSON"
    )


def _says_the_same(read: Any, given: Any) -> bool:
    """Tell whether a value is as it was given, but for keys that hold nothing."""
    if isinstance(read, Mapping) and isinstance(given, Mapping):
        names = read.keys() | given.keys()
        return all(_says_the_same(read.get(name), given.get(name)) for name in names)
    if isinstance(read, list | tuple) and isinstance(given, list | tuple):
        return len(read) == len(given) and all(map(_says_the_same, read, given))
    return bool(read == given)
