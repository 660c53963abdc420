"""A row before and after compression as JSON, for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from trajcompress.results.show.load import Shown
from trajcompress.results.show.model import Step
from trajcompress.transcript.trajectory import Trajectory


def as_json(shown: Shown) -> str:
    """Return everything as one JSON object: metrics, the rows before and after, the turns, the summary.

    It is plain ASCII, so it can be printed anywhere, and lone surrogates of a row come through.
    """
    view, pair = shown.view, shown.pair
    summary = view.summary
    value = {
        "metrics": view.metrics.as_dict(),
        "why": asdict(view.why) if view.why else None,
        "helps": list(view.helps),
        "before": _row(pair.before),
        "after": _rows(pair.after),
        "raw": pair.raw,
        "turns": [_turn(step, section.number) for section in view.sections for step in section.steps],
        "summary": None
        if summary is None
        else {
            "text": summary.text,
            "turn": summary.index,
            "folded": summary.folded,
            "tokens": summary.tokens,
            "facts": asdict(summary.facts) if summary.facts else None,
        },
        "notes": list(view.notes),
    }
    return json.dumps(value, indent=2, default=str).replace("\x7f", "\\u007f")


def _row(trajectory: Trajectory | None) -> dict[str, Any] | None:
    return None if trajectory is None else trajectory.row


def _rows(after: tuple[Trajectory, ...]) -> Any:
    """Return the row that was written, None where there is none; several as a list."""
    rows = [each.row for each in after]
    return rows if len(rows) > 1 else next(iter(rows), None)


def _turn(step: Step, number: int | None) -> dict[str, Any]:
    before, after = step.before, step.after
    return {
        "part": step.part,
        **({} if number is None else {"row_after": number}),
        "label": step.turn.label,
        "protocol_part": step.turn.protocol_part,
        "index_before": before.index if before else None,
        "index_after": after.index if after else None,
        "tokens_before": before.tokens if before else None,
        "tokens_after": after.tokens if after else None,
        "changes": list(step.changes),
    }
