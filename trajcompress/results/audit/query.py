"""Asking a metrics file: one pass over the columns that are needed, in memory that does not grow with its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from trajcompress.errors import InputError, SettingsError
from trajcompress.results.audit.figures import AuditedRow, Figures, Group, Kind, by_rows
from trajcompress.results.audit.files import MetricsFile, match_columns, open_metrics, require_columns
from trajcompress.results.audit.sandbox import connect
from trajcompress.results.audit.where import Condition, first_line
from trajcompress.summarize.answers.reasons import NO_SUMMARY

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NEEDED = (
    "source_file", "source_row", "trajectory_id", "outcome", "reason", "original_tokens", "compressed_tokens",
    "head_tokens", "tail_tokens", "still_over_limit", "facts_needed", "facts_kept",
)  # fmt: skip
"""The columns that every audit needs."""

_LATER = ("summarization_api_calls", "non_summaries")
"""Columns that those of earlier versions may lack."""
_BATCH_ROWS = 10_000
_NUMBERS = (
    "source_row", "original_tokens", "compressed_tokens", "head_tokens", "tail_tokens", "facts_needed", "facts_kept",
)  # fmt: skip
_ROW = ("source_file", "trajectory_id", "reason", *_NUMBERS)
_KINDS: dict[Kind, tuple[str, str, str]] = {
    "over_limit": ("still_over_limit", "coalesce(reason, 'unknown')", "coalesce(compressed_tokens, 0)"),
    "failed": ("outcome = 'failed'", "coalesce(reason, 'unknown')", "coalesce(original_tokens, 0)"),
    "rejected": ("outcome = 'rejected'", "coalesce(reason, 'unknown')", "coalesce(original_tokens, 0)"),
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
    """Read the metrics once, and add them up.

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
        with selected(file, parquet, question.condition, (*NEEDED, *later)) as connection:
            found = connection.execute(_figures_sql(file, question, later)).fetchall()
    for kind, cause, rows, *sums, largest in found:
        if kind == "all":
            figures.outcomes[cause] = rows
            figures.original_tokens += sums[0]
            figures.compressed_tokens += sums[1]
            figures.facts_needed += sums[2]
            figures.facts_kept += sums[3]
            figures.facts_unknown += sums[4]
            figures.asked_model += sums[5]
            if "non_summaries" in later:
                figures.no_summary = (figures.no_summary or 0) + sums[6]
                figures.no_summary_failed += sums[7]
        else:
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
            batches = parquet.iter_batches(batch_size=_BATCH_ROWS, columns=names)
            connection.register("metrics", pa.RecordBatchReader.from_batches(narrowed, batches))
            connection.execute(f"CREATE TEMP VIEW selected AS SELECT {shown} FROM metrics {where}")  # noqa: S608 - checked
            yield connection
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            remedy = "mend --where, or make the metrics again" if condition else "make the metrics again"
            raise InputError(f"{file.path}: cannot be evaluated: {first_line(error)}; {remedy}") from error


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


def _figures_sql(file: MetricsFile, question: Question, later: Sequence[str]) -> str:
    kinds = dict(_KINDS)
    if question.near is not None and file.target is not None:
        least = math.ceil(question.near * file.target)
        kinds["near_limit"] = (
            f"NOT still_over_limit AND compressed_tokens >= {least}",
            "NULL",
            "compressed_tokens",
        )
    if question.max_ratio is not None:
        excess = f"compressed_tokens - {question.max_ratio:f} * original_tokens"
        kinds["over_ratio"] = (f"{excess} > 0", "NULL", f"CAST(ceil({excess}) AS BIGINT)")
    marks = ", ".join(
        f"CASE WHEN {rows} THEN {{kind: '{kind}', cause: {cause}, size: {size}}} END"
        for kind, (rows, cause, size) in kinds.items()
    )
    numbers = ", ".join(f"CAST({name} AS BIGINT) AS {name}" for name in _NUMBERS)
    row = ", ".join(f"{name}: {name}" for name in _ROW)
    most = max(question.examples, 1)  # DuckDB takes no 0
    calls, bad = (name if name in later else "0" for name in _LATER)
    reasons = ", ".join(f"'{reason}'" for reason in sorted(NO_SUMMARY))
    # A row is counted once under `all`, by outcome, and once under each kind that it is of.
    return f"""
        WITH whole AS (SELECT * REPLACE ({numbers}) FROM selected),
        marked AS (
            SELECT *, unnest([{{kind: 'all', cause: outcome, size: NULL::BIGINT}}, {marks}]) AS mark FROM whole
        )
        SELECT mark.kind, mark.cause, count(*),
            coalesce(sum(original_tokens), 0)::BIGINT, coalesce(sum(compressed_tokens), 0)::BIGINT,
            coalesce(sum(facts_needed), 0)::BIGINT, coalesce(sum(facts_kept), 0)::BIGINT,
            count(*) FILTER (outcome = 'compressed' AND facts_needed IS NULL),
            count(*) FILTER ({calls} > 0),
            count(*) FILTER ({bad} > 0),
            count(*) FILTER ({bad} > 0 AND outcome = 'failed' AND reason IN ({reasons})),
            min_by(
                {{{row}, size: mark.size}}, {{size: -mark.size, file: source_file, row: source_row}}, {most}
            ) FILTER (mark.size IS NOT NULL)
        FROM marked WHERE mark IS NOT NULL GROUP BY mark.kind, mark.cause
    """  # noqa: S608 - nothing but names and numbers of ours
