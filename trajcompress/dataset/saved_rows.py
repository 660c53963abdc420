"""Rows of data sets that were saved with ``save_to_disk``.

Their Arrow files are read as streams, batch by batch. ``datasets`` would map them into memory, where every page that
was ever touched counts as used, and would parse their JSON columns with a parser that rounds large numbers.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trajcompress.dataset.arrow_rows import one_line, refuse_twins, rows_of_batches
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.storage.location import Location, failure_of, open_binary, size_of
from trajcompress.dataset.streams import Progress, unreadable_input
from trajcompress.errors import InputError

if TYPE_CHECKING:  # pyarrow takes a third of a second to import
    import pyarrow as pa

_STATE = "state.json"
_INFO = "dataset_info.json"
_SPLITS = "dataset_dict.json"
METADATA_FILES = frozenset({_STATE, _INFO, _SPLITS, "dataset_infos.json"})
"""JSON files that ``datasets`` writes beside the rows; they hold none."""


def is_saved(files: Container[str]) -> bool:
    """Whether files of these names are what ``Dataset.save_to_disk`` or ``DatasetDict.save_to_disk`` leaves."""
    return _SPLITS in files or (_STATE in files and _INFO in files)


def saved_splits(folder: Location) -> list[str]:
    """The splits of a saved ``DatasetDict``, in its order; empty for a saved ``Dataset``.

    Raises:
        InputError: the folder's index of splits cannot be read.
    """
    if not (folder / _SPLITS).is_file():
        return []
    with _metadata(folder / _SPLITS) as splits:
        return [str(name) for name in splits["splits"]]


def saved_files(folder: Location) -> list[Location]:
    """The Arrow files of a saved ``Dataset``, in the order of their rows.

    Raises:
        InputError: the folder's index of files cannot be read, or a file is not there.
    """
    with _metadata(folder / _STATE) as state:
        files = [folder / entry["filename"] for entry in state["_data_files"]]
        # Written by datasets before 2.0 for a shuffled or filtered data set; the files alone are other rows.
        if state.get("_indices_data_files"):
            raise InputError(f"{folder}: holds row indices of an old datasets version; load it and save it again")
    for file in files:
        if not file.is_file():
            raise InputError(f"{folder}: {file.name} is missing; save the dataset again")
    return files


def read_saved(source: Source, progress: Progress | None = None) -> Iterator[Row | Unreadable]:
    """Read the rows of a saved ``Dataset``, or of one split of a saved ``DatasetDict``.

    What cannot be read to the end of an Arrow file is one :class:`Unreadable`; reading goes on with the next file.

    Raises:
        InputError: a file cannot be opened, or the folder is not whole.
    """
    import pyarrow as pa

    index = done = 0
    for path in saved_files(_folder(source)):
        try:
            with _opened(path, source) as batches:
                for row in rows_of_batches(_sound(batches), source=source.name, start=index):
                    yield row
                    index = row.index + 1
        except (
            OSError,
            ValueError,
            MemoryError,
            pa.ArrowException,
        ) as error:  # memory: for a length that is not true
            yield Unreadable(source.name, index, None, "unreadable_page", f"{path.name}: {one_line(error)}", "")
            index += 1
        done += size_of(path)
        if progress:
            progress(done)


def _sound(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give the batches that are what they should be: to look at a value of another may bring the process down."""
    for batch in batches:
        batch.validate(full=True)
        yield batch


def saved_schema(source: Source) -> pa.Schema | None:
    """The Arrow schema of a saved data set; None where its first file cannot be read or there is none.

    Raises:
        InputError: a file cannot be opened, or the folder is not whole.
    """
    import pyarrow as pa

    for path in saved_files(_folder(source)):
        try:
            with _opened(path, source) as batches:
                return batches.schema
        except (OSError, ValueError, MemoryError, pa.ArrowException):
            return None
    return None


@contextmanager
def _opened(path: Location, source: Source) -> Iterator[pa.RecordBatchReader]:
    import pyarrow as pa

    try:
        file = open_binary(path)
    except OSError as error:
        raise unreadable_input(source, error) from error
    try:
        with file, pa.ipc.open_stream(file) as batches:
            refuse_twins(batches.schema, source)
            yield batches
    finally:
        if failure := failure_of(file):  # it is not the file that is at fault, but the store that did not give it
            raise unreadable_input(source, failure) from failure


def _folder(source: Source) -> Location:
    if source.path is None:
        raise InputError(f"{source.name}: a saved dataset needs its folder")
    return source.path


@contextmanager
def _metadata(path: Location) -> Iterator[Any]:
    try:
        yield json.loads(path.read_bytes())
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: not a whole dataset of save_to_disk ({error!r}); save it again") from error
