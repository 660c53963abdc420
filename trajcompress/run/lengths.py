"""How long rows are, before and after, as bars of text: a plot that every Markdown page and terminal shows."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

WIDTH = 20  # characters of the longest bar
_EDGES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)  # of the target; a row of exactly that length is below the edge
_EIGHTHS = " ▏▎▍▌▋▊▉"

Lengths: TypeAlias = Counter[int]
"""How many rows have so many tokens: as large as the longest row, however many there are."""


def read_lengths(metrics: Path) -> tuple[Lengths, Lengths]:
    """Return the tokens of all rows before and of the dataset's rows after, without those that nobody could count."""
    import pyarrow.parquet as pq

    before: Lengths = Counter()
    after: Lengths = Counter()
    names = ["original_tokens", "compressed_tokens", "in_dataset"]
    with pq.ParquetFile(metrics) as file:  # read_table loads datasets, and they pandas
        for batch in file.iter_batches(columns=names):
            tokens, left, kept = (batch[name].to_pylist() for name in names)  # arrow's own filters load longer
            before.update(length for length in tokens if length is not None)
            taken = zip(left, kept, strict=True)
            after.update(length for length, is_kept in taken if is_kept and length is not None)
    return before, after


def length_bars(before: Mapping[int, int], after: Mapping[int, int], target: int) -> str:
    """Draw a line for each range of lengths, in tokens, and one at the target."""
    edges = sorted({round(target * share) for share in _EDGES})  # a tiny target has fewer
    counts = [_count(lengths, edges) for lengths in (before, after)]
    most = max(1, *counts[0], *counts[1])
    lines = [f"{'tokens':>19}  {'rows before':<{WIDTH + 9}}{'rows after':<{WIDTH + 9}}".rstrip()]
    for label, edge, *rows in zip(_labels(edges), [*edges, None], *counts, strict=True):
        lines.append(f"{label:>19}  {''.join(f'{row:>8,} {_bar(row, most)}' for row in rows)}".rstrip())
        if edge == target:
            lines.append(f"{f'target: {target:,}':>19}  {'─' * (2 * WIDTH + 18)}")
    return "\n".join(lines)


def _labels(edges: Sequence[int]) -> Iterator[str]:
    yield from (f"up to {edge:,}" for edge in edges)
    yield f"over {edges[-1]:,}"


def _count(lengths: Mapping[int, int], edges: Sequence[int]) -> list[int]:
    counted = [0] * (len(edges) + 1)
    for length, rows in lengths.items():
        counted[bisect_left(edges, length)] += rows
    return counted


def _bar(rows: int, most: int) -> str:
    """Draw a bar; whatever is more than nothing shows."""
    eighths = max(rows * WIDTH * 8 // most, 1 if rows else 0)
    return f"{'█' * (eighths // 8)}{_EIGHTHS[eighths % 8]}".strip().ljust(WIDTH)
