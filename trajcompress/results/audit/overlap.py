"""Rows that several of the audited metrics hold: added up they would count twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

from trajcompress.errors import InputError
from trajcompress.results.audit.figures import brief
from trajcompress.results.audit.files import MetricsFile, open_metrics, require_columns
from trajcompress.results.audit.query import selected
from trajcompress.results.audit.sandbox import connect
from trajcompress.results.audit.where import Condition
from trajcompress.wording import counted

_PLACE = ("source_file", "source_row")


def refuse_same_rows(files: Sequence[MetricsFile], condition: Condition | None, note: Callable[[str], None]) -> None:
    """Raise InputError where two runs have the same rows; ``note`` is called where they share names alone."""
    inputs = [_inputs(file) for file in files]
    for at, one in enumerate(files):
        for before, other in enumerate(files[:at]):
            for name in sorted(inputs[at] & inputs[before]):
                rows = _rows_in_both(one, other, name, condition)
                if not rows:
                    continue
                here, there = (file.fingerprints().get(name) for file in (one, other))
                if here is not None and there is not None and here != there:
                    note(
                        f"{one.name} and {other.name}: both have {brief(name)}, which was not the same then; its "
                        "rows are taken for others"
                    )
                    continue
                raise InputError(
                    f"{one.name}: {counted(rows, 'row')} of {brief(name)} {'is' if rows == 1 else 'are'} in "
                    f"{other.name}, too, and would be added up twice; `trajcompress compare {other.name} {one.name}` "
                    "sets them side by side"
                )


def _inputs(file: MetricsFile) -> set[str]:
    names: set[str] = set()
    with closing(open_metrics(file)) as parquet:
        require_columns(file, parquet.schema_arrow, _PLACE)
        for batch in parquet.iter_batches(columns=["source_file"]):
            names.update(batch.column(0).unique().to_pylist())
    return names


def _rows_in_both(one: MetricsFile, other: MetricsFile, name: str, condition: Condition | None) -> int:
    """Count the rows of an input that two runs have, of those that meet the condition."""
    import pyarrow as pa

    tables = []
    for file in (one, other):
        with closing(open_metrics(file)) as parquet, selected(file, parquet, condition, _PLACE) as connection:
            query = "SELECT CAST(source_row AS BIGINT) AS row FROM selected WHERE source_file = ?"
            rows = [row for (row,) in connection.execute(query, [name]).fetchall()]
            tables.append(pa.table({"row": pa.array(rows, pa.int64())}))
    with connect() as connection:
        connection.register("one", tables[0])
        connection.register("other", tables[1])
        ((rows,),) = connection.execute("SELECT count(*) FROM one SEMI JOIN other USING (row)").fetchall()
    return int(rows)
