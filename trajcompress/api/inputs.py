"""What a data set can be given as: files, rows, and the kinds of the package ``datasets``."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

from trajcompress.api.rows import is_messages
from trajcompress.dataset.durable import temporary
from trajcompress.errors import InputError
from trajcompress.formats.messages import MESSAGES, is_message

InputKind: TypeAlias = Literal["files", "list", "iterable", "Dataset", "IterableDataset", "DatasetDict"]
STAGED = "-input"
"""What the name of the folder ends in that rows of memory are written to for a run, beside that of the run."""


def kind_of(inputs: Any) -> InputKind:
    """Tell what is given.

    Raises:
        InputError: it is none of these.
    """
    if isinstance(inputs, str | Path):
        return "files"
    if type(inputs).__module__.partition(".")[0] == "datasets":
        return _kind_of_datasets(inputs)
    check_rows("inputs", inputs)
    if isinstance(inputs, Mapping):
        raise InputError("argument inputs: a mapping is one row, which goes through Compressor.compress()")
    if isinstance(inputs, list | tuple):
        names = sum(isinstance(each, str | Path) for each in inputs)
        if not inputs:
            raise InputError("argument inputs: is empty; name files or folders, or give rows")
        if 0 < names < len(inputs):
            raise InputError("argument inputs: holds names of files and rows; give the one or the other")
        return "files" if names else "list"
    if isinstance(inputs, AsyncIterable):
        raise InputError("argument inputs: asynchronous rows go through Compressor.acompress_many()")
    if isinstance(inputs, Iterable) and not isinstance(inputs, bytes):
        return "iterable"
    raise InputError(
        f"argument inputs: should be files, rows or a data set of the package datasets, not {type(inputs).__name__}"
    )


def check_rows(argument: str, rows: Any) -> None:
    """Refuse what looks like rows and is none: a frame or a table, whose items are columns, and one trajectory.

    Raises:
        InputError: it is one; says what to give.
    """
    kind = type(rows).__name__
    if kind in ("DataFrame", "LazyFrame"):
        to_dicts = "to_dict('records')" if hasattr(rows, "to_dict") and hasattr(rows, "iterrows") else "to_dicts()"
        raise InputError(f"argument {argument}: is a {kind}; give its rows: .{to_dicts}")
    if hasattr(rows, "to_pylist"):
        raise InputError(f"argument {argument}: is a {kind} of pyarrow; give its rows: .to_pylist()")
    if is_messages(rows) and rows and all(isinstance(each, Mapping) and is_message(dict(each)) for each in rows):
        raise InputError(
            f"argument {argument}: is a list of messages, which is one row; give [messages], or the messages to "
            "Compressor.compress()"
        )


def stage(inputs: Any, kind: InputKind, output: str | Path) -> list[str]:
    """Write rows of memory to files beside a run folder, and return their names: a run reads them, also another time.

    Raises:
        InputError: a row cannot be written, or the run folder is not of this machine.
        OSError: the files cannot be written.
    """
    folder = _folder_beside(output)
    folder.mkdir(parents=True, exist_ok=True)
    if kind in ("Dataset", "DatasetDict"):
        splits = inputs if kind == "DatasetDict" else {"rows": inputs}
        paths = {name: folder / f"{name}.parquet" for name in splits}
        for name, path in paths.items():
            with without_progress_bars():
                splits[name].with_format(None).to_parquet(str(temporary(path)))
            temporary(path).replace(path)
        return [str(path) for path in paths.values()]
    path = folder / "rows.jsonl"
    with temporary(path).open("w", encoding="ascii") as lines:
        lines.writelines(map(_line, range(2**63), inputs))
    temporary(path).replace(path)
    return [str(path)]


@contextmanager
def without_progress_bars() -> Iterator[None]:
    """Keep the package ``datasets`` from drawing bars."""
    import datasets

    was_quiet = datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if not was_quiet:
            datasets.enable_progress_bars()


def numbered(splits: Mapping[str, Iterable[Any]]) -> Iterator[tuple[str, int, Any]]:
    """Yield each row with its split and its place there."""
    for split, rows in splits.items():
        for place, row in enumerate(rows):
            yield split, place, row


def _folder_beside(output: str | Path) -> Path:
    if "://" in str(output):
        raise InputError(
            f"argument output: rows are written beside it first, which {output} does not take; name a folder"
        )
    path = Path(output)
    return path.with_name(path.name + STAGED)


_NO_JSON = (TypeError, ValueError, RecursionError)


def _line(number: int, row: Any) -> str:
    row = {MESSAGES: row} if is_messages(row) else row
    try:
        return json.dumps(row, default=_plain) + "\n"
    except _NO_JSON as error:
        where = next((f"column {name!r}: " for name, value in _columns(row) if not _is_json(value)), "")
        raise InputError(
            f"argument inputs: row {number} cannot be written as JSON ({where}{error}); leave the column out, or the "
            "output"
        ) from error


def _columns(row: Any) -> Iterable[tuple[Any, Any]]:
    return row.items() if isinstance(row, Mapping) else ()


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, default=_plain)
    except _NO_JSON:
        return False
    return True


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value is of type {type(value).__name__}")


def _kind_of_datasets(inputs: Any) -> InputKind:
    import datasets

    if isinstance(inputs, datasets.Dataset):
        return "Dataset"
    if isinstance(inputs, datasets.DatasetDict):
        return "DatasetDict"
    if isinstance(inputs, datasets.IterableDataset):
        return "IterableDataset"
    raise InputError(f"argument inputs: a {type(inputs).__name__} is not known; give its splits one by one")
