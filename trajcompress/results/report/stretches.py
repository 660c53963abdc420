"""Calls, latency and cost over a run, in stretches of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trajcompress.results.report.columns import numbers
from trajcompress.results.report.figures import Stretch

if TYPE_CHECKING:
    import pyarrow as pa

_STRETCHES = 40
_SUMS = {"calls": "summarization_api_calls", "failed_calls": "summarization_errors", "cache_hits": "cache_hits"}


class Stretches:
    """Sums over each stretch of a run of so many rows."""

    def __init__(self, rows: int) -> None:
        import numpy as np

        self._rows = rows
        self._count = max(1, min(rows, _STRETCHES))
        self._done = 0
        self._sums = {name: np.zeros(self._count, dtype=np.int64) for name in _SUMS}
        self._waited, self._latency, self._longest, self._priced, self._cost = np.zeros((5, self._count))

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next rows of the run."""
        import numpy as np

        at = np.arange(self._done, self._done + batch.num_rows) * self._count // max(1, self._rows)
        self._done += batch.num_rows
        for name, column in _SUMS.items():
            self._sums[name] += self._added(at, numbers(batch, column)).astype(np.int64)
        calls, latency, cost = (numbers(batch, name) for name in ("summarization_api_calls", "latency_s", "cost_usd"))
        called = calls > 0
        self._waited += self._added(at, called)
        self._latency += self._added(at, np.where(called, latency, 0))
        np.maximum.at(self._longest, at, np.where(called, np.nan_to_num(latency), 0))
        priced = called & ~np.isnan(cost)
        self._priced += self._added(at, priced)
        self._cost += self._added(at, np.where(priced, cost, 0))

    def ordered(self) -> list[Stretch]:
        """Return the stretches in the order of the run; none where no call was made or saved."""
        if not (self._sums["calls"].any() or self._sums["cache_hits"].any()):
            return []
        edges = [-(-at * self._rows // self._count) for at in range(self._count + 1)]
        return [
            Stretch(
                first=edges[at],
                last=edges[at + 1] - 1,
                **{name: int(sums[at]) for name, sums in self._sums.items()},
                mean_latency=float(self._latency[at] / self._waited[at]) if self._waited[at] else None,
                longest_latency=float(self._longest[at]) if self._waited[at] else None,
                cost_usd=float(self._cost[at]) if self._priced[at] else None,
            )
            for at in range(self._count)
        ]

    def _added(self, at: Any, values: Any) -> Any:
        import numpy as np

        return np.bincount(at, weights=np.nan_to_num(values), minlength=self._count)
