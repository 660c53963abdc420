"""Writing the selected rows: their ids, one a line, or all their metrics as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from trajcompress.dataset.durable import publish, temporary
from trajcompress.dataset.storage.location import location_of
from trajcompress.errors import OutputError, SettingsError
from trajcompress.metrics.files import BATCH_ROWS
from trajcompress.metrics.row import ID_COLUMNS
from trajcompress.results.audit.files import MetricsFile, open_metrics, require_columns
from trajcompress.results.audit.query import selected
from trajcompress.results.audit.where import Condition
from trajcompress.wording import printable

_HEAD_BYTES = 2**16
"""What is read of a file that is there already, to tell whether it is an earlier export."""


def check_export(target: Path, files: Sequence[MetricsFile]) -> None:
    """Make sure that rows can be written there.

    Raises:
        SettingsError: the name does not say in which form.
        OutputError: it lies in a run that is read, or is an input of one, its folder does not exist, or it exists and
            is no earlier export.
        InputError: the metrics cannot be read.
    """
    if target.suffix not in {".txt", ".jsonl"}:
        raise SettingsError(f"--export {target}: should end in .txt for ids, or in .jsonl for whole rows")
    if not target.parent.is_dir():
        raise OutputError(f"--export {target}: there is no folder {target.parent}; make it first")
    for run in (location_of(file.name).resolve() for file in files):
        if run.is_dir() and run in target.resolve().parents:
            raise OutputError(f"--export {target}: lies in the run {run.name}; choose another place")
    if target.exists():
        for file in files:
            _check_no_input(target, file)
        if not _is_export(target, files):
            raise OutputError(
                f"--export {target}: exists and is no earlier export of these rows; delete it, or choose another"
            )
    if temporary(target).exists():
        raise OutputError(f"--export {target}: would be written as {temporary(target)}, which exists; move that away")


def export_rows(files: Sequence[MetricsFile], condition: Condition | None, target: Path) -> int:
    """Write the rows that meet the condition, in the order of the files, and return how many there are.

    A row without an id is named by its place, ``source_file:source_row``.

    Raises:
        InputError: metrics cannot be read or lack a column.
        SettingsError: the condition fits none of their columns.
        OutputError: the file cannot be written.
    """
    rows = 0
    try:
        with temporary(target).open("wb") as out:
            for file in files:
                for line in _lines(file, condition, ids=target.suffix == ".txt"):
                    out.write(line + b"\n")
                    rows += 1
        publish(target)
    except OSError as error:
        raise OutputError(f"--export {target}: cannot be written: {error.strerror}; choose another place") from error
    finally:
        temporary(target).unlink(missing_ok=True)
    return rows


def _lines(file: MetricsFile, condition: Condition | None, *, ids: bool) -> Iterator[bytes]:
    columns = ID_COLUMNS if ids else None
    encode = msgspec.json.Encoder(enc_hook=str).encode
    with closing(open_metrics(file)) as parquet:
        names = columns or tuple(parquet.schema_arrow.names)
        require_columns(file, parquet.schema_arrow, columns or ())
        # One thread keeps the rows in their order.
        with selected(file, parquet, condition, names, threads=1) as connection:
            result = connection.execute("FROM selected")
            while rows := result.fetchmany(BATCH_ROWS):
                for row in rows:
                    yield _id(*row) if ids else encode(dict(zip(names, row, strict=True)))


def _check_no_input(target: Path, file: MetricsFile) -> None:
    # Where inputs are now is not known for sure: they are named as seen from where the run was made.
    if any(name is not None and Path(name).name == target.name for name in _inputs(file)):
        raise OutputError(
            f"--export {target}: may be an input of {file.name}, which has the same name; choose another"
        )


def _inputs(file: MetricsFile) -> set[str | None]:
    names: set[str | None] = set()
    with closing(open_metrics(file)) as parquet:
        require_columns(file, parquet.schema_arrow, ("source_file",))
        for batch in parquet.iter_batches(BATCH_ROWS, columns=["source_file"]):
            names.update(batch.column(0).unique().to_pylist())
    return names


def _is_export(target: Path, files: Sequence[MetricsFile]) -> bool:
    """Tell whether a file may be one that an export has written: empty, metrics, or ids of these runs alone."""
    if not target.is_file():
        return False
    with target.open("rb") as opened:
        lines = opened.read(_HEAD_BYTES).splitlines(keepends=True)
    whole = {line.rstrip(b"\n") for line in lines if line.endswith(b"\n")}
    if not whole:
        return not lines
    if target.suffix == ".jsonl":
        return all(map(_is_metrics, whole))
    for file in files:
        whole.difference_update(_lines(file, None, ids=True))
    return not whole


def _is_metrics(line: bytes) -> bool:
    try:
        row = msgspec.json.decode(line)
    except msgspec.MsgspecError:
        return False
    return isinstance(row, dict) and row.keys() >= {*ID_COLUMNS, "outcome"}


def _id(source_file: str, source_row: int, trajectory_id: str | None) -> bytes:
    return printable(f"{source_file}:{source_row}" if trajectory_id is None else trajectory_id).encode()
