"""Comparing runs: two passes over the metrics of each, for the rows that they share, and for what became of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from trajcompress.errors import InputError
from trajcompress.metrics.files import BATCH_ROWS
from trajcompress.metrics.row import ID_COLUMNS
from trajcompress.metrics.totals import USED, Totals
from trajcompress.results.audit.files import MetricsFile, find_metrics, open_metrics, require_columns
from trajcompress.results.audit.sandbox import connect
from trajcompress.results.audit.where import first_line
from trajcompress.results.compare.inputs import NamedInputs, changed, from_stdin, numbered
from trajcompress.results.compare.model import ComparedRun, Comparison, DifferingRow, Side

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LINE = "source_line"
"""Of the place, too; metrics of earlier versions lack it."""
_SIDE = tuple(each.name for each in fields(Side))
_ENDED = "CASE WHEN still_over_limit THEN 'over' ELSE outcome END"
_FIGURES = ("compressed_tokens", "assistant_tokens_kept", "facts_kept")
_OUT_OF_PLACE = frozenset({"output.dir", "output.overwrite", "output.log_file", "processing.num_workers"})
"""Settings that shape no row."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """The metrics of a run, open, and the numbers of its inputs."""

    file: MetricsFile
    parquet: Any
    inputs: Mapping[str, int]


def compare(paths: Sequence[str], examples: int) -> Comparison:
    """Compare the runs in some folders, or their metrics, row by row; ``examples`` rows that differ are returned.

    Raises:
        InputError: there are fewer than two, one is named twice, or metrics cannot be read or lack a column.
    """
    files = [find_metrics(path) for path in paths]
    _check_several(files)
    named = [NamedInputs(_names(file), file.fingerprints()) for file in files]
    with connect(threads=1) as connection:
        opened = [
            _Opened(file, parquet, inputs)
            for file, parquet, inputs in zip(files, map(open_metrics, files), numbered(named), strict=True)
        ]
        try:
            for at, run in enumerate(opened):
                _load(connection, at, run)
            common, differing = _join(connection, len(opened), examples)
            runs = tuple(_totals(connection, run) for run in opened)
            rows = _rows(connection, opened)
        finally:
            for run in opened:
                run.parquet.close()
    return Comparison(runs, common, differing, rows, _settings(files), changed(named), from_stdin(named))


def _check_several(files: Sequence[MetricsFile]) -> None:
    if len(files) == 1:
        raise InputError(f"{files[0].name}: one run alone; name another to compare it with")
    seen: dict[Any, str] = {}
    for file in files:
        if (path := file.path.resolve()) in seen:
            raise InputError(f"{file.name}: the same metrics as {seen[path]}; name two runs")
        seen[path] = file.name


def _names(file: MetricsFile) -> list[str]:
    """Return the inputs that rows came of, in the order of the run."""
    names: dict[str, None] = {}
    with closing(open_metrics(file)) as parquet:
        require_columns(file, parquet.schema_arrow, (*ID_COLUMNS, *_SIDE))
        for batch in parquet.iter_batches(BATCH_ROWS, columns=["source_file"]):
            names.update(dict.fromkeys(batch.column(0).unique().to_pylist()))
    return list(names)


@contextmanager
def _reading(connection: DuckDBPyConnection, run: _Opened, columns: Sequence[str]) -> Iterator[None]:
    """Have columns of a run as the view ``metrics``, to be read once, with the number of each row's ``input``."""
    import duckdb
    import pyarrow as pa

    schema = run.parquet.schema_arrow
    names = [name for name in dict.fromkeys(("source_file", "source_row", *columns)) if name in schema.names]
    batches = run.parquet.iter_batches(BATCH_ROWS, columns=names)
    reader = pa.RecordBatchReader.from_batches(pa.schema([schema.field(name) for name in names]), batches)
    inputs = pa.table({"source_file": list(run.inputs), "input": list(run.inputs.values())})
    try:
        connection.register("read", reader)
        connection.register("inputs", inputs)
        connection.execute(
            "CREATE OR REPLACE TEMP VIEW metrics AS SELECT read.*, input, CAST(source_row AS BIGINT) AS row "
            "FROM read JOIN inputs USING (source_file)"
        )
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise InputError(
            f"{run.file.path}: cannot be evaluated: {first_line(error)}; make the metrics again"
        ) from error


def _load(connection: DuckDBPyConnection, at: int, run: _Opened) -> None:
    """Keep of each row what tells whether it ended alike: four numbers and a word."""
    figures = ", ".join(f"coalesce({name}, -1) AS {name}" for name in _FIGURES)
    with _reading(connection, run, (*_FIGURES, "outcome", "still_over_limit")):
        connection.execute(
            f"CREATE TEMP TABLE run_{at} AS SELECT input, row, {_ENDED} AS ended, {figures} FROM metrics"  # noqa: S608 - our own
        )


def _join(connection: DuckDBPyConnection, runs: int, examples: int) -> tuple[int, int]:
    """Find the rows that all runs have, and those that differ most; return how many have, and how many differ."""
    joined = "run_0" + "".join(f" JOIN run_{at} USING (input, row)" for at in range(1, runs))
    others = range(1, runs)
    ended = " OR ".join(f"run_{at}.ended <> run_0.ended" for at in others)
    figures = " OR ".join(f"run_{at}.{name} <> run_0.{name}" for at in others for name in _FIGURES)
    tokens = ", ".join(f"run_{at}.compressed_tokens" for at in range(runs))
    connection.execute(
        f"CREATE TEMP TABLE common AS SELECT input, row, ({ended}) AS otherwise, ({ended} OR {figures}) AS differs, "  # noqa: S608 - our own
        f"greatest({tokens}) - least({tokens}) AS spread FROM {joined}"
    )
    connection.execute(
        "CREATE TEMP TABLE most AS SELECT *, row_number() OVER (ORDER BY otherwise DESC, spread DESC, input, row) AS "  # noqa: S608 - a number
        f"nth FROM common WHERE differs QUALIFY nth <= {examples}"
    )
    ((common, differing),) = connection.execute("SELECT count(*), count(*) FILTER (differs) FROM common").fetchall()
    return common, differing


def _totals(connection: DuckDBPyConnection, run: _Opened) -> ComparedRun:
    whole, common = Totals(), Totals()
    names = [name for name in USED if name in run.parquet.schema_arrow.names]
    for batch in run.parquet.iter_batches(BATCH_ROWS, columns=names):
        whole.add_batch(batch)
    with _reading(connection, run, names):
        query = f"SELECT {', '.join(names)} FROM metrics SEMI JOIN common USING (input, row) ORDER BY input, row"  # noqa: S608 - our own
        for batch in connection.sql(query).to_arrow_reader(BATCH_ROWS):
            common.add_batch(batch)
    return ComparedRun(run.file, whole, common)


def _rows(connection: DuckDBPyConnection, runs: Sequence[_Opened]) -> tuple[DifferingRow, ...]:
    places: list[tuple[str, int, str | None, int | None]] = []
    sides: list[list[Side]] = []
    for run in runs:
        line = _LINE if _LINE in run.parquet.schema_arrow.names else f"NULL AS {_LINE}"
        columns = ", ".join((*ID_COLUMNS, line, *_SIDE))
        with _reading(connection, run, (*ID_COLUMNS, *_SIDE, _LINE)):
            query = f"SELECT {columns} FROM metrics JOIN most USING (input, row) ORDER BY most.nth"  # noqa: S608 - our own
            found = connection.execute(query).fetchall()
        places = places or [(file, int(row), name, line) for file, row, name, line, *_ in found]
        sides.append([Side(*values) for _, _, _, _, *values in found])
    each_row = zip(places, zip(*sides, strict=True), strict=True)
    return tuple(DifferingRow(file, row, name, of_row, line) for (file, row, name, line), of_row in each_row)


def _settings(files: Sequence[MetricsFile]) -> dict[str, tuple[Any, ...]]:
    """Return the settings that differ; nothing where those of one are not known."""
    settings = [file.settings for file in files]
    if not all(settings):
        return {}
    keys = dict.fromkeys(key for each in settings for key in each)
    values = {key: tuple(each.get(key) for each in settings) for key in keys if key not in _OUT_OF_PLACE}
    return {key: each for key, each in values.items() if any(value != each[0] for value in each)}
