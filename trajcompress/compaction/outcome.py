"""The outcome of a row: the one place where what happened to it becomes its metrics."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from trajcompress.compaction.faults import Faults, faults_of
from trajcompress.compaction.happened import FORM_UNFIT, Compacted, Happened
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.segments.segment import Segment
from trajcompress.compaction.state import Splice, State
from trajcompress.facts import facts_in
from trajcompress.facts.count import FactCount
from trajcompress.facts.reading import Reader
from trajcompress.metrics.row import RowMetrics
from trajcompress.tokens.counter import Count
from trajcompress.transcript.observations import is_request
from trajcompress.transcript.text_protocol import count_observations, has_text_protocol
from trajcompress.transcript.trajectory import RowId, Trajectory, Turn

BELOW_MIN_TOKENS = "below_min_tokens"


def conclude(
    row: RowId,
    trajectory: Trajectory,
    policy: Policy,
    engine: str,
    happened: Happened,
    *,
    passes: int,
    redactions: int,
) -> Compacted:
    """Turn what happened to a row into its metrics.

    Args:
        row: where it stands.
        trajectory: it.
        policy: what was to be done.
        engine: counted its tokens.
        happened: what happened.
        passes: how many summaries were asked for.
        redactions: secrets that were taken out of what they were to be made of.
    """
    last = happened.last
    turns = last.written if last else None
    metrics = RowMetrics(
        row.source_file,
        row.source_row,
        trajectory_id=trajectory.id,
        outcome="failed" if happened.failed else "unchanged",
        reason=happened.reason,
        error=happened.error,
        input_format=trajectory.input_format,
        count_engine=engine,
        original_turns=len(trajectory.turns),
        compressed_turns=len(trajectory.turns),
        turns_removed=0,
        redactions=trajectory.redactions + redactions,
        passes=passes,
        still_over_limit=happened.first is not None or happened.count is None,
        observations=count_observations(trajectory.turns),
        text_protocol=has_text_protocol(trajectory.turns),
        formed=bool(trajectory.formed and trajectory.formed.changes),
        form_changes=", ".join(trajectory.formed.changes)
        if trajectory.formed and trajectory.formed.changes
        else None,
        turns_trimmed=trajectory.formed.trimmed if trajectory.formed else 0,
    )
    if happened.count is not None:
        written = [(segment.composed.turns, segment.count) for segment in happened.segments]
        if last is not None and turns is not None:
            written = [(turns, last.count)]
        faults = faults_of(trajectory, happened.count, policy, written)
        metrics = _counted(metrics, happened.count, faults, policy)
    if happened.first is not None:
        metrics = _measured(metrics, happened.first)
    if last is not None and turns is not None:
        metrics = _compressed(metrics, last, turns, policy)
    if happened.segments:
        metrics = _segmented(metrics, happened.segments, trajectory.turns)
    if metrics.still_over_limit and (left := last or happened.first) is not None:
        metrics = _with_largest(metrics, left)
    return Compacted(turns, metrics, happened.segments)


def _counted(metrics: RowMetrics, count: Count, faults: Faults, policy: Policy) -> RowMetrics:
    fits = count.tokens <= policy.target_max_tokens
    read, written, new = (", ".join(sorted({*kinds})) or None for kinds in (faults.read, faults.written, faults.new))
    return replace(
        metrics,
        outcome="skipped_under_target" if fits else metrics.outcome,
        skipped_under_target=fits,
        still_over_limit=metrics.still_over_limit or (metrics.reason == FORM_UNFIT and not fits),
        original_tokens=count.tokens,
        compressed_tokens=count.tokens,
        tokens_saved=0,
        compression_ratio=1.0,
        count_method=count.method,
        count_note=count.note,
        input_invalid=bool(faults.read),
        input_faults=read,
        output_faults=written,
        new_faults=new,
    )


def _measured(metrics: RowMetrics, first: State) -> RowMetrics:
    middle, assistant = first.layout.middle, first.assistant_tokens
    return replace(
        metrics,
        head_tokens=sum(first.sizes[: middle.start]),
        tail_tokens=sum(first.sizes[middle.end :]),
        assistant_tokens_original=assistant,
        assistant_tokens_kept=assistant,
    )


def _compressed(metrics: RowMetrics, last: State, turns: tuple[Turn, ...], policy: Policy) -> RowMetrics:
    original = metrics.original_tokens or 0
    gone = range(last.splice.region.start, last.splice.region.end) if last.splice else ()
    cleared_facts = _cleared_facts(last, gone)
    requests = sum(is_request(last.turns[index]) and not last.turns[index].answers for index in last.truncated)
    changed = replace(
        metrics,
        outcome="compressed",
        was_compressed=True,
        skipped_under_target=False,
        reason=last.reason,
        compressed_tokens=last.tokens,
        tokens_saved=original - last.tokens,
        compression_ratio=last.tokens / original if original else 1.0,
        compressed_turns=len(turns),
        turns_removed=(metrics.original_turns or 0) - len(turns),
        still_over_limit=last.tokens > policy.target_max_tokens,
        turns_pruned=len((last.thinned | last.cleared).difference(gone)),
        turns_elided=len(last.truncated | (last.giants - last.cleared).difference(gone)) - requests,
        requests_truncated=requests,
    )
    facts = FactCount() if cleared_facts is None else cleared_facts
    if last.splice is None:
        if metrics.assistant_tokens_original is not None:
            changed = replace(changed, assistant_tokens_kept=last.assistant_tokens)
        has_facts = cleared_facts is not None or bool(last.truncated)
        facts += last.truncated_facts
    else:
        changed = _spliced(changed, last, last.splice)
        has_facts = cleared_facts is not None or policy.facts != "off"
        if policy.facts != "off":
            facts += last.splice.facts + last.truncated_facts
    return replace(changed, facts_needed=facts.needed, facts_kept=facts.kept) if has_facts else changed


def _segmented(metrics: RowMetrics, segments: Sequence[Segment], read: Sequence[Turn]) -> RowMetrics:
    stretches = [segment for segment in segments if segment.kind == "stretch"]
    summaries = [segment.summary for segment in stretches if segment.summary is not None]
    over = next((segment.over for segment in stretches if segment.over), None)
    truncated = frozenset[int]().union(*(segment.truncated for segment in stretches))
    requests = sum(is_request(read[place]) and not read[place].answers for place in truncated)
    return replace(
        _of_written(metrics, segments),
        outcome="compressed",
        was_compressed=True,
        skipped_under_target=False,
        reason=over,
        still_over_limit=over is not None,
        turns_elided=len(truncated) - requests,
        requests_truncated=requests,
        assistant_tokens_kept=sum(segment.assistant_tokens for segment in stretches if not segment.over),
        placement=next((segment.composed.placed for segment in stretches if segment.composed.placed), None),
        summary_in_loss=any(segment.composed.in_loss for segment in stretches) if summaries else None,
        summarizer=summaries[-1].summarizer if summaries else None,
        summary_tokens=sum(summary.tokens for summary in summaries) if summaries else None,
        facts_needed=sum(summary.facts.needed for summary in summaries) if summaries else None,
        facts_kept=sum(summary.facts.kept for summary in summaries) if summaries else None,
        redactions=metrics.redactions + sum(summary.redactions for summary in summaries),
    )


def _of_written(metrics: RowMetrics, segments: Sequence[Segment]) -> RowMetrics:
    """Say how long the segments are that are written of a row."""
    original = metrics.original_tokens or 0
    tokens = sum(segment.tokens for segment in segments)
    turns = sum(len(segment.composed.placings) for segment in segments)
    return replace(
        metrics,
        compressed_tokens=tokens,
        tokens_saved=original - tokens,
        compression_ratio=tokens / original if original else 1.0,
        compressed_turns=turns,
        turns_removed=(metrics.original_turns or 0) - turns,
        max_row_tokens=max(segment.tokens for segment in segments),
        rows_over_limit=sum(segment.over is not None for segment in segments),
    )


def _spliced(metrics: RowMetrics, last: State, splice: Splice) -> RowMetrics:
    region = splice.region
    gone = sum(
        last.sizes[index] for index in range(region.start, region.end) if last.turns[index].role == "assistant"
    )
    replaced = last.previous.in_row(region) if last.previous else region
    return replace(
        metrics,
        error=None,
        assistant_tokens_kept=(metrics.assistant_tokens_original or 0) - gone,
        region_turns=len(replaced),
        region_start_idx=replaced.start,
        region_end_idx=replaced.end,
        placement=splice.placed,
        summary_in_loss=splice.in_loss,
        summarizer=splice.summarizer,
        summary_tokens=splice.summary_tokens,
        redactions=metrics.redactions + splice.redactions,
    )


def _with_largest(metrics: RowMetrics, left: State) -> RowMetrics:
    """Name the largest turn of those that no summary replaced."""
    gone = range(left.splice.region.start, left.splice.region.end) if left.splice else ()
    kept = [index for index in range(len(left.turns)) if index not in gone]
    if not kept:
        return metrics
    index = max(kept, key=left.sizes.__getitem__)
    turn, previous = left.turns[index], left.previous
    return replace(
        metrics,
        largest_turn=index + (previous is not None and previous.own_turn and index >= previous.index),
        largest_turn_role="observation" if turn.role == "user" and turn.answers else turn.role,
        largest_turn_tokens=left.sizes[index],
    )


def _cleared_facts(last: State, gone: Collection[int]) -> FactCount | None:
    """Return the facts that went with the kept turns that were cleared or cut before, and those still told."""
    if last.ledger is None:
        return None
    needed = last.ledger.needed((last.cleared | last.giants).difference(gone, last.truncated))
    reader = Reader()
    told = sum(len(facts_in(facts, reader.text([last.turns[index]]))) for index, facts in needed.items())
    return FactCount(sum(map(len, needed.values())), told)


def left_out(metrics: RowMetrics, reason: str | None = None) -> RowMetrics:
    """Say that settings leave a row out of the dataset."""
    return replace(metrics, reason=reason or metrics.reason, in_dataset=False, output_faults=None, new_faults=None)


def without_over_limit(metrics: RowMetrics, segments: Sequence[Segment]) -> RowMetrics:
    """Say that settings leave out what is over the limit: of a row in segments those, named, if others are not."""
    fitting = [segment for segment in segments if not segment.over]
    if not fitting:
        return left_out(metrics)
    names = [
        f"{number} of {len(segments)} (turns {segment.first} to {segment.end - 1}, {segment.tokens:,} tokens)"
        for number, segment in enumerate(segments, 1)
        if segment.over
    ]
    return replace(_of_written(metrics, fitting), error=f"over the limit and left out: segment {', '.join(names)}")


def rejected(metrics: RowMetrics, reason: str, detail: str) -> RowMetrics:
    """Say that a row is rejected, whatever was done with it before."""
    return replace(
        metrics,
        outcome="rejected",
        reason=reason,
        error=detail,
        in_dataset=False,
        rows_written=metrics.rows_written and 0,  # None of earlier versions
        max_row_tokens=None,
        rows_over_limit=None,
        was_compressed=False,
        skipped_under_target=False,
        still_over_limit=False,
        compressed_tokens=None,
        tokens_saved=None,
        compression_ratio=None,
        output_faults=None,
        new_faults=None,
    )
