"""The metrics of a row, and of its segments: the one place where what happened becomes them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from trajcompress.compaction.faults import Faults, faults_of
from trajcompress.compaction.happened import BELOW_MIN_TOKENS, Happened
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.segments.segment import Segment
from trajcompress.compaction.state import Splice, State
from trajcompress.facts import facts_in
from trajcompress.facts.count import FactCount
from trajcompress.facts.reading import Reader
from trajcompress.metrics.row import RowMetrics
from trajcompress.metrics.segment import SegmentMetrics
from trajcompress.tokens.counter import Count, TokenCounter
from trajcompress.transcript.observations import is_request
from trajcompress.transcript.text_protocol import count_observations, has_text_protocol
from trajcompress.transcript.trajectory import Region, RowId, Trajectory, Turn

_Metrics: TypeAlias = dict[str, Any]
"""Metrics by their names, of which a row's are made at once: a copy of them takes twice as long."""


def conclude(
    row: RowId, trajectory: Trajectory, happened: Happened, *, policy: Policy, counter: TokenCounter, line: int | None
) -> RowMetrics:
    """Return the metrics of a row that was compacted by ``policy``, counted by ``counter`` and read from ``line``."""
    last, usage, formed = happened.last, happened.usage, trajectory.formed
    metrics: _Metrics = {
        "trajectory_id": trajectory.id,
        "outcome": "failed" if happened.failed else "unchanged",
        "reason": happened.reason,
        "error": happened.error,
        "input_format": trajectory.input_format,
        "count_engine": counter.engine,
        "original_turns": len(trajectory.turns),
        "compressed_turns": len(trajectory.turns),
        "turns_removed": 0,
        "redactions": trajectory.redactions + happened.redactions + usage.redactions,
        "passes": happened.passes,
        "still_over_limit": happened.over_limit,
        "observations": count_observations(trajectory.turns),
        "text_protocol": has_text_protocol(trajectory.turns),
        "formed": bool(formed and formed.changes),
        "form_changes": ", ".join(formed.changes) if formed and formed.changes else None,
        "turns_trimmed": formed.trimmed if formed else 0,
        "summarization_api_calls": usage.api_calls,
        "summarization_errors": usage.errors,
        "non_summaries": usage.non_summaries,
        "cache_hits": usage.cache_hits,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": usage.cost_usd,
        "latency_s": usage.latency_s,
        "source_line": line,
    }
    if happened.count is not None:
        written = [(segment.composed.turns, segment.count) for segment in happened.segments]
        if last is not None:
            written = [(last.written, last.count)]
        faults = faults_of(trajectory, happened.count, policy, written, counter)
        metrics |= _counted(happened.count, faults, policy)
        if happened.failed:
            metrics |= {"outcome": "failed", "skipped_under_target": False}
    if happened.first is not None:
        metrics |= _measured(happened.first)
    if last is not None:
        metrics |= _compressed(metrics, last, policy)
    if happened.segments:
        metrics |= _segmented(metrics, happened, trajectory.turns)
    if happened.over_limit and (left := last or happened.first) is not None:
        metrics |= _largest(left)
    metrics |= _written(metrics, happened)
    return RowMetrics(row.source_file, row.source_row, **metrics)


def _counted(count: Count, faults: Faults, policy: Policy) -> _Metrics:
    fits = count.tokens <= policy.target_max_tokens
    read, written, new = (", ".join(sorted({*kinds})) or None for kinds in (faults.read, faults.written, faults.new))
    fitting: _Metrics = {"outcome": "skipped_under_target", "skipped_under_target": True} if fits else {}
    return {
        **fitting,
        "original_tokens": count.tokens,
        "compressed_tokens": count.tokens,
        "tokens_saved": 0,
        "compression_ratio": 1.0,
        "count_method": count.method,
        "count_note": count.note,
        "input_invalid": bool(faults.read),
        "input_faults": read,
        "output_faults": written,
        "new_faults": new,
    }


def _measured(first: State) -> _Metrics:
    middle, assistant = first.layout.middle, first.assistant_tokens
    return {
        "head_tokens": sum(first.sizes[: middle.start]),
        "tail_tokens": sum(first.sizes[middle.end :]),
        "assistant_tokens_original": assistant,
        "assistant_tokens_kept": assistant,
    }


def _changed(metrics: _Metrics, tokens: int, turns: int) -> _Metrics:
    """Say that a row is compressed, and how much is written for it."""
    original = metrics.get("original_tokens") or 0
    return {
        "outcome": "compressed",
        "was_compressed": True,
        "skipped_under_target": False,
        "compressed_tokens": tokens,
        "tokens_saved": original - tokens,
        "compression_ratio": tokens / original if original else 1.0,
        "compressed_turns": turns,
        "turns_removed": metrics["original_turns"] - turns,
    }


def _compressed(metrics: _Metrics, last: State, policy: Policy) -> _Metrics:
    gone = range(last.splice.region.start, last.splice.region.end) if last.splice else ()
    cleared_facts = _cleared_facts(last, gone)
    requests = sum(is_request(last.turns[index]) and not last.turns[index].answers for index in last.truncated)
    changed = _changed(metrics, last.tokens, len(last.written))
    changed["turns_pruned"] = len((last.thinned | last.cleared).difference(gone))
    changed["turns_elided"] = len(last.truncated | (last.cut_first - last.cleared).difference(gone)) - requests
    changed["requests_truncated"] = requests
    facts = FactCount() if cleared_facts is None else cleared_facts
    has_facts = cleared_facts is not None or policy.facts != "off"  # of bulk there are none
    if last.splice is None:
        if metrics.get("assistant_tokens_original") is not None:
            changed["assistant_tokens_kept"] = last.assistant_tokens
        has_facts = has_facts or bool(last.truncated)
        facts += last.truncated_facts
    else:
        changed |= _spliced(metrics, last, last.splice, last.replaced or last.splice.region)
        if policy.facts != "off":
            facts += last.splice.facts + last.truncated_facts
    if has_facts:
        changed |= {"facts_needed": facts.needed, "facts_kept": facts.kept}
    return changed


def _segmented(metrics: _Metrics, happened: Happened, read: Sequence[Turn]) -> _Metrics:
    segments, saved = happened.segments, [segment for _, segment in happened.saved]
    written = saved or segments
    stretches = [segment for segment in segments if segment.kind == "stretch"]
    summaries = [segment.summary for segment in stretches if segment.summary is not None]
    truncated = frozenset[int]().union(*(segment.truncated for segment in stretches))
    requests = sum(is_request(read[place]) and not read[place].answers for place in truncated)
    tokens = sum(segment.tokens for segment in written)
    turns = sum(len(segment.composed.placings) for segment in written)
    return {
        **_changed(metrics, tokens, turns),
        "max_row_tokens": max(segment.tokens for segment in written),
        "rows_over_limit": sum(segment.over is not None for segment in written),
        "error": _unsaved(segments) if 0 < len(saved) < len(segments) else None,
        "turns_elided": len(truncated) - requests,
        "requests_truncated": requests,
        "assistant_tokens_kept": sum(segment.assistant_tokens for segment in stretches if not segment.over),
        "placement": next((segment.composed.placed for segment in stretches if segment.composed.placed), None),
        "summary_in_loss": any(segment.composed.in_loss for segment in stretches) if summaries else None,
        "summarizer": summaries[-1].summarizer if summaries else None,
        "summary_tokens": sum(summary.tokens for summary in summaries) if summaries else None,
        "facts_needed": sum(summary.facts.needed for summary in summaries) if summaries else None,
        "facts_kept": sum(summary.facts.kept for summary in summaries) if summaries else None,
        "redactions": metrics["redactions"] + sum(summary.redactions for summary in summaries),
    }


def _unsaved(segments: Sequence[Segment]) -> str:
    """Name the segments that are left out, where others are not."""
    names = (
        f"{number} of {len(segments)} (turns {segment.first} to {segment.end - 1}, {segment.tokens:,} tokens)"
        for number, segment in enumerate(segments, 1)
        if segment.over
    )
    return f"over the limit and left out: segment {', '.join(names)}"


def _spliced(metrics: _Metrics, last: State, splice: Splice, replaced: Region) -> _Metrics:
    region = range(splice.region.start, splice.region.end)
    gone = sum(last.sizes[index] for index in region if last.turns[index].role == "assistant")
    return {
        "assistant_tokens_kept": (metrics.get("assistant_tokens_original") or 0) - gone,
        "region_turns": len(replaced),
        "region_start_idx": replaced.start,
        "region_end_idx": replaced.end,
        "placement": splice.placed,
        "summary_in_loss": splice.in_loss,
        "summarizer": splice.summarizer,
        "summary_tokens": splice.summary_tokens,
        "redactions": metrics["redactions"] + splice.redactions,
    }


def _largest(left: State) -> _Metrics:
    """Name the largest turn of those that no summary replaced."""
    gone = range(left.splice.region.start, left.splice.region.end) if left.splice else ()
    kept = [index for index in range(len(left.turns)) if index not in gone]
    if not kept:
        return {}
    index = max(kept, key=left.sizes.__getitem__)
    turn, previous = left.turns[index], left.previous
    return {
        "largest_turn": index + (previous is not None and previous.own_turn and index >= previous.index),
        "largest_turn_role": "observation" if turn.role == "user" and turn.answers else turn.role,
        "largest_turn_tokens": left.sizes[index],
    }


def _cleared_facts(last: State, gone: Collection[int]) -> FactCount | None:
    """Return the facts that went with the kept turns that were cleared or cut before, and those still told."""
    if last.ledger is None:
        return None
    needed = last.ledger.needed((last.cleared | last.cut_first).difference(gone, last.truncated))
    reader = Reader()
    told = sum(len(facts_in(facts, reader.text([last.turns[index]]))) for index, facts in needed.items())
    return FactCount(sum(map(len, needed.values())), told)


def _written(metrics: _Metrics, happened: Happened) -> _Metrics:
    """Say how many rows of the dataset a row becomes, none where settings leave it out, and how long they are."""
    if happened.left_out:
        return {
            "reason": BELOW_MIN_TOKENS if happened.left_out == BELOW_MIN_TOKENS else metrics["reason"],
            "in_dataset": False,
            "rows_written": 0,
            "max_row_tokens": None,
            "rows_over_limit": None,
            "output_faults": None,
            "new_faults": None,
        }
    if happened.segments:
        return {"rows_written": len(happened.saved)}
    over = int(happened.over_limit)
    return {"rows_written": 1, "max_row_tokens": metrics.get("compressed_tokens"), "rows_over_limit": over}


def unread(row: RowId, reason: str, detail: str, line: int | None = None) -> RowMetrics:
    """Return the metrics of a row that holds no trajectory."""
    return rejected(RowMetrics(*row, source_line=line, rows_written=0), reason, detail)


def segment_metrics(row: RowId, trajectory: Trajectory, happened: Happened) -> Iterator[SegmentMetrics]:
    """Yield the metrics of each segment that is written; a row that fits, or could not be segmented, is one."""
    place, of = (*row, trajectory.id), len(happened.segments)
    if not of:
        turns, over = len(trajectory.turns), happened.over_limit
        yield SegmentMetrics(*place, 1, 1, "stretch", happened.tokens, end_turn=turns, over_limit=over)
    for number, segment in happened.saved:
        summary = segment.summary
        yield SegmentMetrics(
            *place,
            number,
            of,
            segment.kind,
            segment.tokens,
            assistant_tokens=segment.assistant_tokens,
            context_assistant_tokens=segment.context_tokens,
            first_turn=segment.first,
            end_turn=segment.end,
            summary_tokens=summary.tokens if summary else None,
            facts_needed=summary.facts.needed if summary else None,
            facts_kept=summary.facts.kept if summary else None,
            over_limit=segment.over is not None,
        )


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
