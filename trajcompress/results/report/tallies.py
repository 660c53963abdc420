"""What plots and lists show of all rows, each in an object that takes a batch at a time and stays small."""

from __future__ import annotations

import heapq
import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from trajcompress.results.report.columns import flags, numbers
from trajcompress.results.report.figures import (
    FACTS_SHARES,
    Cause,
    LengthBin,
    SegmentedRows,
    SourceFigures,
    Stretch,
    WorstRow,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from trajcompress.results.report.columns import Flags, Numbers

RATIO_STEPS = 20
_STEPS_PER_OCTAVE = 8
_MOST_TOKENS = 2.0**31
_MOST_BINS = 52  # more would be thinner than a reader can tell apart on a phone
_FEWEST_BINS = 12
_SHOWN_SOURCES = 12
_HELD_SOURCES = 5000
_WORST = 10
_SINGLE_SEGMENTS = 4
_NO_REASON = "unknown"


class Lengths:
    """Rows by length. Bins grow by a constant factor, counted from the target, so that it is an edge of two."""

    def __init__(self, target: int) -> None:
        import numpy as np

        self._target = target
        self._first = math.ceil(-math.log2(target) * _STEPS_PER_OCTAVE)
        bins = math.ceil(math.log2(_MOST_TOKENS / target) * _STEPS_PER_OCTAVE) - self._first + 1
        self._counts = np.zeros((2, bins), dtype=np.int64)

    def add(self, before: Numbers, after: Numbers) -> None:
        """Count rows by tokens before and after."""
        import numpy as np

        for counts, tokens in zip(self._counts, (before, after), strict=True):
            known = np.clip(tokens[~np.isnan(tokens)], 1, _MOST_TOKENS)
            steps = np.ceil(np.log2(known / self._target) * _STEPS_PER_OCTAVE).astype(np.int64)
            np.add.at(counts, steps - self._first, 1)

    def bins(self) -> list[LengthBin]:
        """Return the bins from the shortest row to the longest: the more rows, the finer."""
        used = self._counts.sum(axis=0).nonzero()[0]
        if not len(used):
            return []
        most = min(_MOST_BINS, max(_FEWEST_BINS, 2 * math.isqrt(int(self._counts[0].sum()))))
        for joined in (1, 2, 4, 8, 16):  # fine bins to one that is shown
            first, last = (math.ceil((int(at) + self._first) / joined) for at in (used[0], used[-1]))
            if last - first < most:
                break
        shown = [[0, 0] for _ in range(first, last + 1)]
        for at in used:
            bin_ = shown[math.ceil((int(at) + self._first) / joined) - first]
            for when in (0, 1):
                bin_[when] += int(self._counts[when, at])
        edges = [self._target * 2 ** (step * joined / _STEPS_PER_OCTAVE) for step in range(first - 1, last + 1)]
        return [LengthBin(low, high, *counts) for (low, high), counts in zip(pairwise(edges), shown, strict=True)]


class Ratios:
    """Compressed rows by compression ratio, in equal steps from 0 to 1."""

    def __init__(self) -> None:
        self.counts = [0] * RATIO_STEPS

    def add(self, ratios: Numbers) -> None:
        """Count rows."""
        import numpy as np

        counts, _ = np.histogram(np.clip(ratios[~np.isnan(ratios)], 0, 1), bins=RATIO_STEPS, range=(0, 1))
        self.counts = [before + int(more) for before, more in zip(self.counts, counts, strict=True)]


class SegmentCounts:
    """Rows that became several, by how many: 2, 3, 4, then in steps of twice as many."""

    def __init__(self) -> None:
        self._sums: dict[tuple[int, int], list[int]] = {}

    def add(self, written: Numbers, before: Numbers, after: Numbers) -> None:
        """Count rows by the number of rows that were written for each."""
        for segments, *tokens in zip(*(values[written > 1] for values in (written, before, after)), strict=True):
            sums = self._sums.setdefault(_span_of(int(segments)), [0, 0, 0])
            for at, value in enumerate((1, *tokens)):
                sums[at] += int(value)

    def ordered(self) -> list[SegmentedRows]:
        """Return them from the fewest segments to the most."""
        return [SegmentedRows(*span, *sums) for span, sums in sorted(self._sums.items())]


def _span_of(segments: int) -> tuple[int, int]:
    if segments <= _SINGLE_SEGMENTS:
        return segments, segments
    low = _SINGLE_SEGMENTS
    while segments > 2 * low:
        low *= 2
    return low + 1, 2 * low


class FactsShares:
    """Rows by the share of their facts that were kept, as ``FACTS_SHARES`` names them."""

    def __init__(self) -> None:
        self.counts = [0] * len(FACTS_SHARES)

    def add(self, needed: Numbers, kept: Numbers) -> None:
        """Count the rows that needed any."""
        any_needed = needed > 0
        shares = kept[any_needed] / needed[any_needed]
        above = 0
        for at, (least, _) in enumerate(FACTS_SHARES):
            down_to = int((shares >= least).sum())
            self.counts[at] += down_to - above
            above = down_to


class Sources:
    """Tokens by input file."""

    def __init__(self) -> None:
        self._sums: dict[str, list[int]] = {}
        self._others = [0, 0, 0, 0]
        self._other_names = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch to their files."""
        import pyarrow as pa

        sums = ["still_over_limit", "original_tokens", "tokens_saved"]
        table = pa.table({name: batch[name] for name in ("source_file", *sums)})
        grouped = table.group_by("source_file").aggregate(
            [("source_file", "count"), *((name, "sum") for name in sums)]
        )
        columns = [grouped[name].to_pylist() for name in ("source_file_count", *(f"{name}_sum" for name in sums))]
        for name, *more in zip(grouped["source_file"].to_pylist(), *columns, strict=True):
            before = self._sums.get(name, [0, 0, 0, 0])
            self._sums[name] = [one + (other or 0) for one, other in zip(before, more, strict=True)]
        if len(self._sums) > _HELD_SOURCES:  # metrics are in input order, so the files of long ago are complete
            self._fold()

    def largest(self) -> list[SourceFigures]:
        """Return the files that save most, and the rest of them as one."""
        if len(self._sums) > _SHOWN_SOURCES + 1 or self._other_names:
            self._fold()
        shown = [SourceFigures(name, *sums) for name, sums in self._ordered()]
        if self._other_names:
            others = SourceFigures(f"{self._other_names:,} other files", *self._others)
            shown.append(replace(others, files=self._other_names))
        return shown

    def _ordered(self) -> list[tuple[str, list[int]]]:
        return sorted(self._sums.items(), key=lambda item: (-item[1][3], -item[1][0], item[0]))

    def _fold(self) -> None:
        """Join all but the largest with the others."""
        for name, sums in self._ordered()[_SHOWN_SOURCES:]:
            self._others = [one + other for one, other in zip(self._others, sums, strict=True)]
            self._other_names += 1
            del self._sums[name]


class Causes:
    """Rows still over the limit, by reason."""

    def __init__(self) -> None:
        self._causes: dict[str, Cause] = {}

    def add(self, batch: pa.RecordBatch, excess: Numbers) -> None:
        """Count the rows that are; one without a count has no excess."""
        import numpy as np

        over = batch["still_over_limit"]
        columns = (batch[name].filter(over).to_pylist() for name in ("reason", "outcome"))
        more = np.nan_to_num(excess[flags(batch, "still_over_limit")]).astype(int).tolist()
        for reason, outcome, tokens in zip(*columns, more, strict=True):
            known = self._causes.get(reason or _NO_REASON) or Cause(reason or _NO_REASON, outcome, 0, 0, 0)
            self._causes[known.reason] = replace(
                known,
                rows=known.rows + 1,
                excess=known.excess + tokens,
                largest_excess=max(known.largest_excess, tokens),
            )

    def ordered(self) -> list[Cause]:
        """Return the causes, that of most rows first."""
        return sorted(self._causes.values(), key=lambda each: (-each.rows, each.reason))


class Worst:
    """The few rows with the largest amounts."""

    def __init__(self, most: int = _WORST) -> None:
        self._most = most
        self._heap: list[tuple[int, int, WorstRow]] = []
        self._seen = 0

    def add(self, batch: pa.RecordBatch, amounts: Numbers, chosen: Flags) -> None:
        """Look at the chosen rows of a batch; an amount that is not known counts as 0."""
        import numpy as np

        amounts = np.nan_to_num(amounts)
        places = chosen.nonzero()[0]
        for at in places[np.argsort(-amounts[places], kind="stable")][: self._most].tolist():
            self._seen += 1
            amount = int(amounts[at])
            row = WorstRow((batch["source_file"][at].as_py(), batch["source_row"][at].as_py()), amount)
            heapq.heappush(self._heap, (amount, -self._seen, row))  # of equals the first stays
            if len(self._heap) > self._most:
                heapq.heappop(self._heap)

    def ordered(self) -> list[WorstRow]:
        """Return the rows, the worst first."""
        return [row for _, _, row in sorted(self._heap, reverse=True)]


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
