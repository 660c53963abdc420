"""Builds the view of a row: its turns before aligned with those after, by head, region, middle and tail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from trajcompress.compaction.measure import measure
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import lay_out
from trajcompress.compaction.segments.columns import is_segment
from trajcompress.errors import TrajcompressError
from trajcompress.metrics.reasons import explain
from trajcompress.metrics.row import RowMetrics
from trajcompress.results.show.figures import figures_of
from trajcompress.results.show.model import Part, Section, Step, TurnView, View
from trajcompress.results.show.summary import SummaryView, facts_of, folded_block
from trajcompress.results.show.turns import changes, excerpt, label, whole_text
from trajcompress.run.past.pairs import Pair
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.summary_marks import SUMMARY_END
from trajcompress.transcript.text_protocol import part_of
from trajcompress.transcript.trajectory import Region, Trajectory, Turn
from trajcompress.wording import place_in


def build_view(
    pair: Pair, policy: Policy, counter: TokenCounter | None, *, tokenizer: str, notes: Sequence[str] = ()
) -> View:
    """Put together what there is to see; without a ``counter``, as its tokenizer cannot be loaded, no tokens."""
    metrics = pair.metrics
    summary = _summary(pair, policy)
    sections = [
        Section(part, tuple(steps))
        for part, steps in groupby(_steps(pair, policy, counter, summary), key=lambda step: step.part)
    ]
    if len(pair.after) > 1:
        sections += _written(pair, counter)
    place = place_in(metrics.source_file, metrics.source_row, metrics.source_line)
    return View(
        title=f"{metrics.trajectory_id} ({place})" if metrics.trajectory_id else place,
        metrics=metrics,
        figures=tuple(figures_of(metrics, policy.target_max_tokens, summary, tokenizer)),
        why=explain(metrics.reason, metrics.outcome) if metrics.reason else None,
        sections=tuple(sections),
        summary=summary,
        raw=pair.raw,
        notes=(*((pair.why,) if pair.why else ()), *notes),
    )


def _written(pair: Pair, counter: TokenCounter | None) -> Iterator[Section]:
    """Yield a section for each of several rows that were written, named by what of the row before stands in it."""
    begins = 0
    for number, written in enumerate(pair.after, 1):
        row = written.row
        name = f"written as row {number}"
        if is_segment(row):
            name = f"segment {row['segment']} of {row['segments']}"
            name += ", which teaches its summary" if row["kind"] == "summary" else ""
            if pair.before and row["kind"] == "stretch" and (places := _places(pair.before, written, begins)):
                begins = places[-1] + 1
                last = f" to {places[-1]}" if len(places) > 1 else ""
                name += f", with turn{'s' if last else ''} {places[0]}{last} in full"
        yield Section(
            "written", tuple(Step("written", None, turn) for turn in _views(written, counter)), number, name
        )


def _places(before: Trajectory, written: Trajectory, begins: int) -> list[int]:
    """Return where the assistant turns of a row stand in the row before, from some turn on."""
    places = []
    for turn in written.turns:
        same = (at for at in range(begins, len(before.turns)) if before.turns[at].text == turn.text)
        if turn.role == "assistant" and (place := next(same, None)) is not None:
            places.append(place)
            begins = place + 1
    return places


def region_of(metrics: RowMetrics) -> Region | None:
    """Return the turns that the summary replaced, None where there is no such."""
    if metrics.region_start_idx is None or metrics.region_end_idx is None:
        return None
    return Region(metrics.region_start_idx, metrics.region_end_idx)


def _summary(pair: Pair, policy: Policy) -> SummaryView | None:
    metrics, before, after = pair.metrics, pair.before, _only(pair)
    region = region_of(metrics)
    if region is None or after is None:
        return None
    folded = metrics.placement == "fold"
    index, text = region.start, None
    if not folded:
        text = after.turns[index].text
    else:
        # Into the turn behind the region, else into the one before it.
        for index, source in ((region.start, region.end), (region.start - 1, region.start - 1)):
            if 0 <= index < len(after.turns):
                block = folded_block(before.turns[source] if before else None, after.turns[index])
                if block:
                    text = block.removesuffix(SUMMARY_END).rstrip()
                    break
    if text is None:
        return None
    facts = facts_of(before.turns, region, text, redact=policy.redact) if before else None
    return SummaryView(text, index, folded, metrics.summary_tokens, facts)


def _only(pair: Pair) -> Trajectory | None:
    """Return what was written, where that is a single row, whose turns can stand beside those before."""
    return pair.after[0] if len(pair.after) == 1 else None


def _steps(pair: Pair, policy: Policy, counter: TokenCounter | None, summary: SummaryView | None) -> list[Step]:
    metrics, written = pair.metrics, _only(pair)
    before = _views(pair.before, counter)
    after = _views(written, counter)
    region = region_of(metrics) or Region(metrics.original_turns or 0, metrics.original_turns or 0)
    if pair.before is None:
        stands = summary.index if summary and not summary.folded else -1
        return [Step("summary" if turn.index == stands else "kept", None, turn) for turn in after]
    parts = _parts(pair.before, metrics, policy, counter, region)
    added = int(metrics.placement == "human")
    steps = []
    for index, turn in enumerate(before):
        if index == region.end and len(region) and added and after:
            steps.append(Step("summary", None, after[region.start]))
        if region.start <= index < region.end:
            steps.append(Step("region", turn, None))
            continue
        if written is None:
            steps.append(Step(parts[index], turn, None))
            continue
        at = index if index < region.start else index - len(region) + added
        folded = summary.text if summary and summary.folded and summary.index == at else None
        done = changes(pair.before.turns[index], written.turns[at], notice=policy.notice, folded=folded)
        steps.append(Step(parts[index], turn, after[at], done))
    if region.end == len(before) and len(region) and added and after:
        steps.append(Step("summary", None, after[region.start]))
    return steps


def _parts(
    before: Trajectory, metrics: RowMetrics, policy: Policy, counter: TokenCounter | None, region: Region
) -> list[Part]:
    count = len(before.turns)
    if metrics.head_tokens is None:  # never over the limit, so nothing was planned
        return ["kept"] * count
    middle = _middle(before, policy, counter) or Region(region.start, count)

    def part(index: int) -> Part:
        if index < middle.start:
            return "head"
        return "tail" if index >= middle.end else "middle"

    return [part(index) for index in range(count)]


def _middle(trajectory: Trajectory, policy: Policy, counter: TokenCounter | None) -> Region | None:
    """Find the turns that the run did not protect; None where that takes tokens that nobody can count."""
    if counter is not None:
        try:
            count = counter.count(trajectory)
            if count.tokens > policy.target_max_tokens:
                state = measure(trajectory, count, counter, policy)
                middle = state.layout.middle
                return state.previous.in_row(middle) if state.previous else middle
        except TrajcompressError:  # its text cannot be counted
            pass
    if policy.protection.tail_tokens is not None:
        return None
    sizes, fixed = [0] * len(trajectory.turns), trajectory.fixed_turns
    return lay_out(trajectory.turns, policy.protection, sizes, target=policy.target, fixed=fixed).middle


def _views(trajectory: Trajectory | None, counter: TokenCounter | None) -> list[TurnView]:
    if trajectory is None:
        return []
    sizes = _sizes(trajectory.turns, counter)
    return [
        TurnView(index, label(turn), _other_name(turn), size, whole_text(turn), excerpt(turn), part_of(turn))
        for index, (turn, size) in enumerate(zip(trajectory.turns, sizes, strict=True))
    ]


def _sizes(turns: Sequence[Turn], counter: TokenCounter | None) -> Sequence[int | None]:
    if counter is not None:
        try:
            return counter.count_turns(turns)
        except TrajcompressError:  # its text cannot be counted
            pass
    return [None] * len(turns)


def _other_name(turn: Turn) -> str | None:
    """Return the row's name for the role where it is another."""
    return turn.own_role if turn.own_role != turn.role else None
