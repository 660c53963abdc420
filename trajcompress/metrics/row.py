"""One row of metrics per input row."""

from __future__ import annotations

import types
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:  # loading it costs more than the whole of --help
    import pyarrow as pa

Outcome: TypeAlias = Literal["compressed", "skipped_under_target", "unchanged", "failed", "rejected"]


@dataclass(frozen=True, slots=True)
class RowMetrics:
    """What became of one row. None means that there is nothing to say: not measured, or not reached."""

    source_file: str
    source_row: int  # position in its file, from 0
    trajectory_id: str | None = None
    outcome: Outcome = "rejected"
    reason: str | None = None
    input_format: str | None = None
    count_method: str | None = None
    count_note: str | None = None  # the template's words where it refused the row, or why this is an estimate
    count_engine: str | None = None
    original_tokens: int | None = None
    compressed_tokens: int | None = None
    tokens_saved: int | None = None
    compression_ratio: float | None = None  # compressed / original
    original_turns: int | None = None
    compressed_turns: int | None = None
    turns_removed: int | None = None
    region_start_idx: int | None = None
    region_end_idx: int | None = None  # exclusive
    region_turns: int | None = None
    head_tokens: int | None = None
    tail_tokens: int | None = None
    assistant_tokens_original: int | None = None
    assistant_tokens_kept: int | None = None
    was_compressed: bool = False
    skipped_under_target: bool = False
    still_over_limit: bool = False
    placement: str | None = None
    passes: int = 0
    summarizer: str | None = None
    summary_tokens: int | None = None
    summarization_api_calls: int = 0  # HTTP requests, retries included
    summarization_errors: int = 0
    non_summaries: int = 0  # answers of a model that held no summary
    cache_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0  # None where the price of a call is unknown
    latency_s: float = 0.0
    facts_needed: int | None = None
    facts_kept: int | None = None
    redactions: int = 0
    turns_pruned: int = 0  # kept turns whose old results were made short
    turns_elided: int = 0  # kept turns whose results lost their middle, so that the row fits
    error: str | None = None
    in_dataset: bool = True  # False for rejected rows, and for rows that settings leave out; see rows_written
    input_invalid: bool | None = None  # the target would refuse the row as it was read
    input_changed: bool = False  # its file changed while it was read, so the row may be torn or out of date
    observations: int | None = None  # turns that hold results, as read
    text_protocol: bool | None = None  # some of them were recognised in plain text
    formed: bool = False  # written in the form of the target, which is not that in which it was read
    form_changes: str | None = None  # what of it was changed for that, by name
    turns_trimmed: int = 0  # cut behind the last assistant turn
    cached_tokens: int = 0  # of prompt_tokens, those that the provider had in its cache of prefixes
    summary_in_loss: bool | None = None  # a trainer that learns from all turns learns to write the summary
    requests_truncated: int = 0  # turns of people that lost their middle, as nothing else makes the row fit
    largest_turn: int | None = None  # as read, from 0; of rows still over the limit, among the turns that are left
    largest_turn_role: str | None = None  # system, user, assistant, tool; observation of a user turn that answers
    largest_turn_tokens: int | None = None
    source_line: int | None = None  # of its file, from 1; None where that has no lines, or cannot be opened again
    input_faults: str | None = None  # kinds of violations that the target would refuse the row for as it was read
    output_faults: str | None = None  # those as it is written
    new_faults: str | None = None  # those of which it is written with more than it was read with
    rows_written: int | None = None  # of the dataset: 0, 1, or how many segments; None of earlier versions
    max_row_tokens: int | None = None  # of the longest of these
    rows_over_limit: int | None = None  # of these

    def as_dict(self) -> dict[str, Any]:
        """Return the columns in their order."""
        return {name: getattr(self, name) for name in COLUMNS}


COLUMNS: tuple[str, ...] = tuple(field.name for field in fields(RowMetrics))


ID_COLUMNS = ("source_file", "source_row", "trajectory_id")
"""The columns that say which input row it is."""

WRITTEN_COLUMNS = ("in_dataset", "rows_written")
"""The columns that say how many rows of the dataset an input row became.

Data files hold these one after the other, in input order; so adding their numbers up finds each of them.
"""


def rows_written(metrics: RowMetrics) -> int:
    """Return how many rows of the dataset were written for an input row."""
    return int(metrics.in_dataset) if metrics.rows_written is None else metrics.rows_written


def rows_written_each(table: pa.Table | pa.RecordBatch) -> pa.ChunkedArray | pa.Array:
    """Return the same for each row of metrics that have those of :data:`WRITTEN_COLUMNS` which their version has."""
    import pyarrow as pa

    has_counts = "rows_written" in table.schema.names
    if has_counts and not table["rows_written"].null_count:
        return table["rows_written"]  # as in this version; what follows imports as much as 10 rows take
    in_dataset = table["in_dataset"].cast(pa.int64())
    if not has_counts:
        return in_dataset
    import pyarrow.compute as pc

    return pc.coalesce(table["rows_written"], in_dataset)


@cache  # which an audit asks for by every column
def metrics_schema() -> pa.Schema:
    """Return the schema of ``metrics.parquet``."""
    return schema_of(RowMetrics)


def schema_of(row: type[Any]) -> pa.Schema:
    """Return the schema of a table of such dataclasses, a column for each field."""
    import pyarrow as pa

    of_python: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    hints = get_type_hints(row)
    return pa.schema([pa.field(field.name, of_python[_base_type(hints[field.name])]) for field in fields(row)])


def _base_type(hint: Any) -> type:
    if get_origin(hint) in (Union, types.UnionType):
        return next(_base_type(arg) for arg in get_args(hint) if arg is not type(None))
    return str if get_origin(hint) is Literal else hint
