"""What became of rows that were written in the form of a target."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq


def count_fixed(metrics: Path) -> dict[str, int]:
    """Return how many rows there are, and of them the changed, the ones without a form, and the rejected."""
    table = pq.read_table(metrics, columns=["outcome", "reason", "formed"])
    return {
        "rows": table.num_rows,
        "changed": pc.sum(table["formed"]).as_py() or 0,
        "unfit": pc.sum(pc.equal(table["reason"], "form_unfit")).as_py() or 0,
        "rejected": pc.sum(pc.equal(table["outcome"], "rejected")).as_py() or 0,
    }
