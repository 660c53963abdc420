"""A row before and after, cut down to what a reader wants to see of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from trajcompress.compaction.provenance import summary_turn
from trajcompress.metrics.row import RowMetrics
from trajcompress.redact import redact
from trajcompress.results.show.safe import printable
from trajcompress.run.past.pairs import Pair
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Trajectory, Turn

_TURN_CHARS = 500
_SUMMARY_CHARS = 4000
_MOST_TURNS = 12
_LARGEST = 2

Clean = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn; ``chars`` is its length, ``hidden_chars`` how much of it is not shown."""

    number: int  # from 0, as in the metrics
    role: str
    text: str
    chars: int
    hidden_chars: int
    label: str  # what is special about it, in words; mostly nothing
    is_summary: bool = False
    is_replaced: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """Turns that are not shown."""

    turns: int
    replaced: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A row before and after; None or no row where there is nothing to show, which ``why`` or the metrics explain."""

    before: list[ShownTurn | Gap] | None
    after: list[list[ShownTurn | Gap]]
    why: str | None


def clean_text(text: str, *, redacted: bool) -> str:
    """Make text of a row fit for a page; where ``redacted``, without secrets: a page goes where no dataset may."""
    return printable(redact(text).text if redacted else text)


def error_of(metrics: RowMetrics, *, redacted: bool) -> str:
    """Return what went wrong with a row, cut to a size for a page."""
    return clean_text(metrics.error or "", redacted=redacted)[:_TURN_CHARS]


def make_excerpt(pair: Pair, *, redacted: bool) -> Excerpt:
    """Cut a row down; see :func:`clean_text` for ``redacted``."""
    metrics = pair.metrics
    start, end = metrics.region_start_idx, metrics.region_end_idx
    region = range(start, end) if metrics.was_compressed and start is not None and end is not None else range(0)

    clean = partial(clean_text, redacted=redacted)
    before = _cut(pair.before, region, None, clean) if pair.before else None
    written = pair.after if metrics.was_compressed else ()
    summary = summary_turn(written[0].turns, region.start) if len(written) == 1 and region else None
    after = [_cut(each, range(0), summary, clean) for each in written]
    return Excerpt(before, after, pair.why and printable(pair.why))


def _cut(trajectory: Trajectory, region: range, summary: int | None, clean: Clean) -> list[ShownTurn | Gap]:
    texts = [_text(turn) for turn in trajectory.turns]
    chosen = _choose([len(text) for text in texts], region, summary)
    largest = max(range(len(texts)), key=lambda at: len(texts[at]), default=None)
    shown: list[ShownTurn | Gap] = []
    after = 0
    for at in chosen:
        shown += _gap(range(after, at), region)
        after = at + 1
        label = "summary" if at == summary else "replaced" if at in region else ""
        if at == largest and at != summary:
            label = f"{label}, largest turn".removeprefix(", ")
        shown.append(_show(trajectory.turns[at], at, clean(texts[at]), label, is_replaced=at in region))
    return shown + _gap(range(after, len(texts)), region)


def _choose(sizes: Sequence[int], region: range, summary: int | None) -> list[int]:
    """Choose turns: the summary, the largest, both ends, both ends of the region."""
    last = len(sizes) - 1
    wanted: Iterable[int] = (
        *(() if summary is None else (summary,)),
        *sorted(range(len(sizes)), key=lambda at: -sizes[at])[:_LARGEST],
        *(0, 1, last),
        *((region.start, region.start + 1, region.stop - 1, region.start - 1, region.stop) if region else ()),
        *((summary - 1, summary + 1) if summary is not None else ()),
        *(last - 1, 2),
    )
    chosen = list(dict.fromkeys(at for at in wanted if 0 <= at <= last))
    return sorted(chosen[:_MOST_TURNS])


def _gap(turns: range, region: range) -> list[ShownTurn | Gap]:
    return [Gap(len(turns), sum(at in region for at in turns))] if turns else []


def _show(turn: Turn, at: int, text: str, label: str, *, is_replaced: bool) -> ShownTurn:
    is_summary = label == "summary"
    begin = max(0, text.find(SUMMARY_PREFIX)) if is_summary else 0
    part = text[begin : begin + (_SUMMARY_CHARS if is_summary else _TURN_CHARS)]
    return ShownTurn(at, turn.role, part, len(text), len(text) - len(part), label, is_summary, is_replaced)


def _text(turn: Turn) -> str:
    """Return everything that a turn says, its reasoning and calls too."""
    calls = [f"→ {call.name}({call.arguments})" for call in turn.calls if not call.in_text]
    return "\n".join(filter(None, (turn.reasoning, turn.text, *calls)))
