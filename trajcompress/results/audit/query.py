"""Asking a metrics file: one pass over the columns that are needed, in memory that does not grow with its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from trajcompress.errors import InputError, SettingsError
from trajcompress.metrics.files import BATCH_ROWS
from trajcompress.metrics.row import metrics_schema
from trajcompress.metrics.totals import USED
from trajcompress.results.audit.figures import AuditedRow, FaultRows, Figures, Group, Kind, by_rows
from trajcompress.results.audit.files import MetricsFile, match_columns, open_metrics, require_columns
from trajcompress.results.audit.sandbox import connect
from trajcompress.results.audit.where import Condition, first_line
from trajcompress.results.kept import KEPT_COLUMNS, KeptTally

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NEEDED = (
    "source_file", "source_row", "trajectory_id", "outcome", "reason", "original_tokens", "compressed_tokens",
    "tokens_saved", "head_tokens", "tail_tokens", "still_over_limit", "facts_needed", "facts_kept",
    "in_dataset",
)  # fmt: skip
"""The columns that every audit needs."""

_ASSISTANT = ("assistant_tokens_original", "assistant_tokens_kept")
_FAULTS = ("input_faults", "output_faults", "new_faults")
_WRITTEN = ("rows_written", "max_row_tokens", "rows_over_limit")
_LATER = ("summarization_api_calls", "non_summaries", "input_invalid", *_ASSISTANT, *_FAULTS, *_WRITTEN)
"""Columns that those of earlier versions may lack."""
_ROW = (
    "source_file", "trajectory_id", "reason", "source_row", "original_tokens", "compressed_tokens", "head_tokens",
    "tail_tokens", "facts_needed", "facts_kept", "outcome",
)  # fmt: skip
_LATER_OF_ROW = (
    "source_line", "original_turns", "observations", "summarizer", "largest_turn", "largest_turn_role",
    "largest_turn_tokens",
)  # fmt: skip
"""The same, of rows that are named."""
_LOST = (
    "assistant_tokens_kept < assistant_tokens_original",
    "NULL",
    "assistant_tokens_original - assistant_tokens_kept",
)
_KINDS: dict[Kind, tuple[str, str, str]] = {
    "over_limit": ("still_over_limit", "coalesce(reason, 'unknown')", "coalesce(compressed_tokens, 0)"),
    "failed": ("outcome = 'failed'", "coalesce(reason, 'unknown')", "coalesce(original_tokens, 0)"),
    "rejected": ("outcome = 'rejected'", "coalesce(reason, 'unknown')", "coalesce(original_tokens, 0)"),
    "left_out": (
        "NOT in_dataset AND outcome <> 'rejected'",
        "coalesce(reason, 'unknown')",
        "coalesce(original_tokens, 0)",
    ),
    "facts_lost": ("facts_kept < facts_needed", "NULL", "facts_needed - facts_kept"),
}
"""Of each kind: which rows, grouped by what, ranked by what."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of each file. ``near`` is a share of the target; rows above ``max_ratio`` are named."""

    condition: Condition | None = None
    near: Decimal | None = None
    max_ratio: Decimal | None = None
    examples: int = 5


def read_figures(file: MetricsFile, question: Question) -> Figures:
    """Add the metrics of the rows up, and find the groups of those that somebody should look at.

    Raises:
        InputError: they cannot be read or lack a column.
        SettingsError: the condition fits none of their columns.
    """
    figures = Figures()
    groups: dict[Kind, list[Group]] = {}
    with closing(open_metrics(file)) as parquet:
        require_columns(file, parquet.schema_arrow, NEEDED)
        later = [name for name in _LATER if name in parquet.schema_arrow.names]
        require_columns(file, parquet.schema_arrow, later)
        names = [name for name in (*NEEDED, *later) if name in USED]
        with selected(file, parquet, question.condition, names) as connection:
            for batch in connection.sql(_whole(names)).to_arrow_reader(BATCH_ROWS):
                figures.totals.add_batch(batch)
        later_of_row = [name for name in _LATER_OF_ROW if name in parquet.schema_arrow.names]
        require_columns(file, parquet.schema_arrow, later_of_row)
        columns = (*NEEDED, *later_of_row, *(name for name in (*_ASSISTANT, *_FAULTS, *_WRITTEN) if name in later))
        with selected(file, parquet, question.condition, columns) as connection:
            found = connection.execute(_groups_sql(file, question, columns)).fetchall()
        if set(_ASSISTANT) <= set(later):
            kept = KeptTally(file.target)
            with selected(file, parquet, question.condition, KEPT_COLUMNS) as connection:
                for batch in connection.sql(_whole(KEPT_COLUMNS)).to_arrow_reader(BATCH_ROWS):
                    kept.add(batch)
            figures.kept_by_input, figures.kept_by_length = kept.by_input(), kept.by_length()
        if set(_FAULTS) <= set(later):
            with selected(file, parquet, question.condition, _FAULTS) as connection:
                figures.faults = _read_faults(connection)
    figures.answers_judged = "non_summaries" in later and figures.totals.rows > 0
    figures.assistant_known = set(_ASSISTANT) <= set(later)
    figures.faults_known = set(_FAULTS) <= set(later)
    for kind, cause, rows, largest in found:
        examples = tuple(AuditedRow(kind=kind, path=file.name, **row) for row in largest[: question.examples])
        groups.setdefault(kind, []).append(Group(cause, rows, examples))
    figures.groups = {kind: by_rows(of_kind) for kind, of_kind in groups.items()}
    return figures


@contextmanager
def selected(
    file: MetricsFile, parquet: Any, condition: Condition | None, columns: Sequence[str], threads: int = 0
) -> Iterator[DuckDBPyConnection]:
    """Open a database with a view ``selected``: ``columns`` of the rows that meet the condition.

    The view can be read once.

    Raises:
        InputError: reading it fails.
        SettingsError: the condition names no column, or is none.
    """
    import duckdb
    import pyarrow as pa

    schema = parquet.schema_arrow
    named = match_columns(file, schema, condition.columns) if condition else []
    names = list(dict.fromkeys([*columns, *named]))
    narrowed = pa.schema([schema.field(name) for name in names])
    where = f"WHERE ({condition.sql})" if condition else ""
    shown = ", ".join(map(_quoted, columns))
    with connect(threads) as connection:
        try:
            if condition:
                _check_type(connection, narrowed.empty_table(), condition)
            batches = parquet.iter_batches(batch_size=BATCH_ROWS, columns=names)
            connection.register("metrics", pa.RecordBatchReader.from_batches(narrowed, batches))
            connection.execute(f"CREATE TEMP VIEW selected AS SELECT {shown} FROM metrics {where}")  # noqa: S608 - checked
            yield connection
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            remedy = "fix --where, or make the metrics again" if condition else "make the metrics again"
            raise InputError(f"{file.path}: cannot be evaluated: {first_line(error)}; {remedy}") from error


def _read_faults(connection: DuckDBPyConnection) -> dict[str, FaultRows]:
    """Count the rows by the kinds of their faults."""
    found = connection.execute("SELECT *, count(*) FROM selected GROUP BY ALL").fetchall()
    faults: dict[str, FaultRows] = {}
    for *texts, rows in found:
        had, has, new = (frozenset(filter(None, (text or "").split(", "))) for text in texts)
        for kind in had | has | new:
            more = FaultRows(rows * (kind in had), rows * (kind in has), rows * (kind in new))
            faults[kind] = faults.get(kind, FaultRows()) + more
    return faults


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _check_type(connection: DuckDBPyConnection, empty: Any, condition: Condition) -> None:
    import duckdb

    connection.register("nothing", empty)
    try:
        (column,) = connection.execute(f"DESCRIBE SELECT {condition.sql} FROM nothing").fetchall()  # noqa: S608 - checked
    except duckdb.Error as error:
        raise SettingsError(f"--where: {first_line(error)}") from error
    if column[1] != "BOOLEAN":
        raise SettingsError(f"--where: should be a condition, true or false, but is {column[1].lower()}")


def _whole(names: Sequence[str]) -> str:
    """Select columns, numbers as whole ones: pandas makes fractions of them where some are missing."""
    from pyarrow.types import is_integer

    numbers = (name for name in names if is_integer(metrics_schema().field(name).type))
    return f"SELECT * REPLACE ({', '.join(f'CAST({name} AS BIGINT) AS {name}' for name in numbers)}) FROM selected"  # noqa: S608 - our own


def _groups_sql(file: MetricsFile, question: Question, columns: Sequence[str]) -> str:
    kinds = dict(_KINDS)
    if set(_ASSISTANT) <= set(columns):
        kinds["assistant_lost"] = _LOST
    longest = "compressed_tokens"
    if set(_WRITTEN) <= set(columns):
        longest = f"coalesce(max_row_tokens, {longest})"
        over, cause, _ = kinds["over_limit"]
        kinds["over_limit"] = (over, cause, f"coalesce({longest}, 0)")
    if set(_FAULTS) <= set(columns):
        kinds["newly_invalid"] = ("new_faults IS NOT NULL", "new_faults", "coalesce(compressed_tokens, 0)")
    if question.near is not None and file.target is not None:
        least = math.ceil(question.near * file.target)
        kinds["near_limit"] = (f"NOT still_over_limit AND {longest} >= {least}", "NULL", longest)
    if question.max_ratio is not None:
        excess = f"compressed_tokens - {question.max_ratio:f} * original_tokens"
        kinds["over_ratio"] = (f"{excess} > 0", "NULL", f"CAST(ceil({excess}) AS BIGINT)")
    of_kinds = ", ".join(
        f"CASE WHEN {rows} THEN {{kind: '{kind}', cause: {cause}, size: {size}}} END"
        for kind, (rows, cause, size) in kinds.items()
    )
    row = ", ".join(f"{name}: {name}" for name in (*_ROW, *_LATER_OF_ROW) if name in columns)
    most = max(question.examples, 1)  # DuckDB takes no 0
    # A row is counted once under each kind that it is of.
    return f"""
        WITH whole AS ({_whole(columns)}),
        by_kind AS (SELECT *, unnest([{of_kinds}]) AS found FROM whole)
        SELECT found.kind, found.cause, count(*),
            min_by({{{row}, size: found.size}}, {{size: -found.size, file: source_file, row: source_row}}, {most})
        FROM by_kind WHERE found IS NOT NULL GROUP BY found.kind, found.cause
    """  # noqa: S608 - nothing but names and numbers of ours
