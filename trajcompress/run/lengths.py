"""How long rows are, before and after, as bars of text: a plot that every Markdown page and terminal shows."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

WIDTH = 20  # characters of the longest bar
_EDGES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)  # of the target; a row of exactly that length is below the edge
_EIGHTHS = " ▏▎▍▌▋▊▉"


def read_lengths(metrics: Path) -> tuple[list[int], list[int]]:
    """Return the tokens of all rows before and of the dataset's rows after, without those that nobody could count."""
    import pyarrow.parquet as pq

    names = ["original_tokens", "compressed_tokens", "in_dataset"]
    with pq.ParquetFile(metrics) as file:  # read_table loads datasets, and they pandas
        table = file.read(names)
    before, after, kept = (table[name].to_pylist() for name in names)  # arrow's own filters take longer to load
    taken = [tokens for tokens, is_kept in zip(after, kept, strict=True) if is_kept]
    return [tokens for tokens in before if tokens is not None], [tokens for tokens in taken if tokens is not None]


def length_bars(before: Sequence[int], after: Sequence[int], target: int) -> str:
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


def _count(lengths: Sequence[int], edges: Sequence[int]) -> list[int]:
    counted = Counter(bisect_left(edges, length) for length in lengths)
    return [counted[place] for place in range(len(edges) + 1)]


def _bar(rows: int, most: int) -> str:
    """Draw a bar; whatever is more than nothing shows."""
    eighths = max(rows * WIDTH * 8 // most, 1 if rows else 0)
    return f"{'█' * (eighths // 8)}{_EIGHTHS[eighths % 8]}".strip().ljust(WIDTH)
