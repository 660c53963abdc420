"""The dataset card that a run leaves beside its data, as the hub expects it.

A card is published: it says nothing of the machine that made it. And it depends on the run's outcome alone, so that a
resumed run leaves the same one.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import PurePosixPath, PureWindowsPath
from types import MappingProxyType
from typing import Any, TypeAlias

from trajcompress.compaction.loss_marks import has_mark
from trajcompress.dataset.storage.location import Location
from trajcompress.dataset.storage.parquet import open_parquet
from trajcompress.metrics.files import BATCH_ROWS
from trajcompress.metrics.reasons import OUTCOMES
from trajcompress.metrics.row import WRITTEN_COLUMNS, rows_written_each
from trajcompress.metrics.totals import Totals
from trajcompress.tokens.trained_template import OWN
from trajcompress.transcript.summary_marks import SUMMARY_END, SUMMARY_PREFIX
from trajcompress.wording import bar, counted

_SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"),
)
_LARGER = "100M<n<1B"
_COUNTED = {
    "template": "rendered chat template",
    "content": "text of the turns",
    "content_framed": "text of the turns, the framing of messages, calls and tools estimated",
    "content_template_refused": "text of the turns, as the chat template refuses the row",
}
_FIRST = {"first_system": "system", "first_human": "human", "first_gpt": "assistant", "first_tool": "tool"}
_REDACTED = {
    "dataset": "marks stand for them in all columns",
    "egress": "marks stand for them in summaries; other messages are as they were",
    "off": "left as they are",
}
_PRUNED = {
    "all": "one line each, where that was enough or a summary needed it",
    "safe": "as they were; one line each for whoever wrote the summary",
    "off": "as they were",
}
_SELECTIONS = ("limit", "sample_percent", "sample_count", "shard", "min_tokens")


def dataset_card(
    run_json: dict[str, Any],
    totals: Totals,
    metrics: Location,
    starters: Mapping[str, str] = MappingProxyType({}),
    segments: Location | None = None,
) -> str:
    """Return the card as Markdown with YAML front matter.

    Args:
        run_json: what shaped the run.
        totals: what its metrics add up to.
        metrics: its ``metrics.parquet``.
        starters: its starter files for a trainer, by name.
        segments: its ``segments.parquet``, where rows are segments.
    """
    import jinja2

    settings = run_json["settings"]
    target = settings["compression.target_max_tokens"]
    room = settings["compression.summary_target_tokens"]
    trains_summaries = settings.get("compression.train_summaries", False)
    before, after = read_lengths(metrics, segments)
    template = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True).from_string(  # noqa: S701 - Markdown, not HTML
        resources.files("trajcompress.run.folder").joinpath("card.md.jinja").read_text(encoding="utf-8")
    )
    return template.render(
        size=next((name for most, name in _SIZES if after.total() < most), _LARGER),
        digest=_digest(run_json, totals),
        suffix=settings["output.format"],
        version=run_json["versions"]["trajcompress-cli"],
        target=f"{target:,}",
        room="a fifth as many" if room == "auto" else f"about {room:,}",
        figures=list(_figures(totals)),
        bars=length_bars(before, after, target),
        reasons=[(reason, f"{rows:,}") for reason, rows in sorted(totals.reasons.items())],
        settings=list(_settings(run_json, totals)),
        in_segments=segments is not None,
        clears=settings["compression.prune"] != "off",
        summaries_trained=trains_summaries,
        trained_twice=trains_summaries and not has_mark(settings["output.marks"], settings["compression.target"]),
        starters=dict(starters),
        mark=SUMMARY_PREFIX,
        end=SUMMARY_END,
    )


def _digest(run_json: dict[str, Any], totals: Totals) -> str:
    """Return what tells runs apart: ``datasets`` finds what it keeps of a folder by its name and the card's head."""
    inputs = [(source["stem"], source["fingerprint"]) for source in run_json["inputs"]]
    content = json.dumps([inputs, totals.as_dict()])
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]


def _figures(totals: Totals) -> Iterator[tuple[str, str]]:
    figures = totals.as_dict()
    yield "rows read", f"{totals.rows:,}"
    for key, name in (
        *OUTCOMES.items(),
        *((("rows_written", "rows written"),) if "rows_written" in figures else ()),
        ("still_over_limit", "still over the target"),
        ("original_tokens", "tokens before"),
        ("compressed_tokens", "tokens after"),
    ):
        yield name, f"{figures[key]:,}"
    if figures["assistant_tokens_kept_ratio"] is not None:
        kept = f"{figures['assistant_tokens_kept_ratio']:.1%}"
        yield "assistant tokens kept, of rows over the target", kept
    if totals.facts_needed:
        kept = f"{totals.facts_kept:,} of {totals.facts_needed:,}"
        yield "facts that kept turns rely on, found in the summaries", kept


def _settings(run_json: dict[str, Any], totals: Totals) -> Iterator[tuple[str, str]]:
    settings = run_json["settings"]
    yield from _tokenizer(run_json["tokenizer"])
    for method, rows in sorted(totals.count_methods.items()):
        yield f"counted: {_COUNTED.get(method, method)}", counted(rows, "row")
    for name, rows in sorted(totals.summarizers.items()):
        yield f"summarised by `{_public(name)}`", counted(rows, "row")
    yield "placed for", f"`{settings['compression.target']}`, {settings['compression.placement']}"
    yield from _shortened(settings)
    if settings["output.marks"] != "none":
        yield "summaries left out of the loss by", f"`{settings['output.marks']}`"
    yield "secrets", _REDACTED[settings["summarization.redact"]]
    if settings["output.add_summary_notice"]:
        yield "notice in the first system turn", f"“{settings['output.summary_notice_text'].strip()}”"
    for key in _SELECTIONS:
        if (value := settings[f"input.{key}"]) is not None:
            yield f"`{key}`", f"{value}"
    if settings["input.sample_percent"] is not None or settings["input.sample_count"] is not None:
        yield "`seed`", f"{settings['input.seed']}"
    yield "versions", ", ".join(f"{name} {version}" for name, version in sorted(run_json["versions"].items()))


def _shortened(settings: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what was done to turns, and to which."""
    if settings.get("compression.mode") == "segments":
        yield "results and requests longer than the target", "lost their middle"
        return
    yield "never summarised", _protected(settings)
    yield "old tool results", _PRUNED[settings["compression.prune"] or "all"]
    if settings["compression.fit"] == "strict":
        yield "rows still too long", "long tool results of protected turns lost their middle"


def _tokenizer(described: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "tokenizer", f"`{_public(described['name'])}`"
    if caveat := described.get("caveat"):
        yield "whose tokens these are", caveat
    if (origin := described.get("template_origin")) and origin != OWN:
        yield "chat template", f"`{origin}`, digest `{described['template_digest']}`"


def _protected(settings: dict[str, Any]) -> str:
    first = [name for key, name in _FIRST.items() if settings[f"protected_turns.{key}"]]
    tail = settings["protected_turns.tail_tokens"]
    last = f"the last {tail:,} tokens" if tail else f"the last {settings['protected_turns.last_n_turns']} turns"
    return f"the first turn of each of {', '.join(first)}, and {last}" if first else last


def _public(name: str) -> str:
    """Return a hub name as it is, of a path the last part: it may tell who made this, and where."""
    windows = PureWindowsPath(name)
    if windows.drive or "\\" in name:
        return windows.name
    path = PurePosixPath(name)
    is_path = path.is_absolute() or name.startswith((".", "~")) or len(path.parts) > 2  # noqa: PLR2004 - owner/name
    return path.name if is_path else name


WIDTH = 20  # characters of the longest bar
_EDGES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)  # of the target; a row of exactly that length is below the edge

Lengths: TypeAlias = Counter[int]
"""How many rows have so many tokens: as large as the longest row, however many there are."""


def read_lengths(metrics: Location, segments: Location | None = None) -> tuple[Lengths, Lengths]:
    """Return the tokens of all rows before and of the dataset's rows after, without those that nobody could count.

    Args:
        metrics: of the run.
        segments: of a run in segments, which hold the tokens of each row after.
    """
    before: Lengths = Counter()
    after: Lengths = Counter()
    names = ["original_tokens", "compressed_tokens", *WRITTEN_COLUMNS]
    with open_parquet(metrics) as file:  # read_table loads datasets, and they pandas
        for batch in file.iter_batches(BATCH_ROWS, columns=names):
            tokens, left = (batch[name].to_pylist() for name in names[:2])  # arrow's own filters load longer
            before.update(length for length in tokens if length is not None)
            taken = zip(left, rows_written_each(batch).to_pylist(), strict=True)
            if segments is None:
                after.update(length for length, written in taken if written and length is not None)
    if segments is not None:
        with open_parquet(segments) as file:
            for batch in file.iter_batches(BATCH_ROWS, columns=["tokens"]):
                after.update(length for length in batch["tokens"].to_pylist() if length is not None)
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
    return bar(eighths).ljust(WIDTH)
