"""A comparison as JSON, for programs."""

from __future__ import annotations

import json
from dataclasses import asdict

from trajcompress.results.compare.model import Comparison


def as_json(comparison: Comparison) -> str:
    """Return the comparison as one JSON object; names that ``summary.json`` has mean the same here."""
    runs = comparison.runs
    value = {
        "runs": [
            {"path": run.file.name, "target_max_tokens": run.file.target, **run.totals.as_dict()} for run in runs
        ],
        "common": {
            "rows": comparison.common_rows,
            "differing": comparison.differing,
            "runs": [{"path": run.file.name, **run.common.as_dict()} for run in runs],
        },
        "settings": {key: list(values) for key, values in comparison.settings.items()},
        "changed_inputs": list(comparison.changed_inputs),
        "differing_rows": [
            {
                "source_file": row.source_file,
                "source_row": row.source_row,
                "source_line": row.source_line,
                "trajectory_id": row.trajectory_id,
                "runs": [{"path": run.file.name, **asdict(side)} for run, side in zip(runs, row.sides, strict=True)],
            }
            for row in comparison.rows
        ],
    }
    return json.dumps(value, indent=2)
