"""What helps a row that is still over its limit: only what bears on the row and is not in force already. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from trajcompress.metrics.reasons import UNCOUNTABLE, explain
from trajcompress.settings.budget import LEAST_SUMMARY
from trajcompress.settings.model import SETTINGS
from trajcompress.wording import counted

_TARGET = "compression.target_max_tokens"
_RESULTS = frozenset({"tool", "observation"})
_PROTECTED_BY = {
    "user": "first_human",
    "assistant": "first_gpt",
    "tool": "first_tool",
    "observation": "first_tool",
}
_OF_SUMMARIES = frozenset({"summary", "passes_used_up", "region_not_larger_than_summary", "summary_saves_nothing"})


class OverRow(Protocol):
    """What is to be known of a row that is still over its limit: columns of its metrics, by their names."""

    @property
    def outcome(self) -> str | None: ...  # noqa: D102
    @property
    def reason(self) -> str | None: ...  # noqa: D102
    @property
    def compressed_tokens(self) -> int | None: ...  # noqa: D102
    @property
    def original_turns(self) -> int | None: ...  # noqa: D102
    @property
    def head_tokens(self) -> int | None: ...  # noqa: D102
    @property
    def tail_tokens(self) -> int | None: ...  # noqa: D102
    @property
    def observations(self) -> int | None: ...  # noqa: D102
    @property
    def summarizer(self) -> str | None: ...  # noqa: D102
    @property
    def largest_turn(self) -> int | None: ...  # noqa: D102
    @property
    def largest_turn_role(self) -> str | None: ...  # noqa: D102
    @property
    def largest_turn_tokens(self) -> int | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Remedy:
    """What may help a row; ``changes`` are the settings that do it, none where it is done elsewhere.

    With ``of_turn`` it is one turn of this row that is to be changed; ``target`` is one that the row fits as far as
    it is compressed, where no protection helps.
    """

    words: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    of_turn: bool = False
    target: int | None = None


@dataclass(frozen=True, slots=True)
class LargestTurn:
    """The largest turn of a row that is still over its limit; ``tokens`` of ``row_tokens``."""

    index: int
    role: str
    tokens: int
    row_tokens: int

    def __str__(self) -> str:
        share = f" ({self.tokens / self.row_tokens:.0%})" if self.row_tokens else ""
        return f"turn {self.index:,}, {self.role}, {counted(self.tokens, 'token')}{share}"


def largest_turn(row: OverRow) -> LargestTurn | None:
    """Return the largest turn of a row; None where it fits, or metrics of an earlier version do not say."""
    if row.largest_turn is None or row.largest_turn_role is None or row.largest_turn_tokens is None:
        return None
    return LargestTurn(row.largest_turn, row.largest_turn_role, row.largest_turn_tokens, row.compressed_tokens or 0)


def remedies(row: OverRow, settings: Mapping[str, Any]) -> list[Remedy]:
    """Return what may help a row that is still over its limit, the mildest first.

    Args:
        row: what became of it.
        settings: those of the run, by dotted key; of a missing one the default is taken, but of the target.
    """
    defaults = {key: each.default for key, each in SETTINGS.items()}
    return list(_remedies(row, {**defaults, _TARGET: None, **settings}))


def _remedies(row: OverRow, settings: Mapping[str, Any]) -> Iterator[Remedy]:
    largest = largest_turn(row)
    role = largest.role if largest else None
    if row.outcome == "failed" or row.reason == UNCOUNTABLE:  # it could fit: with a summary, or repaired
        yield Remedy(explain(row.reason or "", row.outcome or "").remedy)
        return
    if row.reason == "tools_schema":
        yield Remedy("fewer tools, or a shorter system prompt, in the input")
        return
    if row.reason == "form_unfit":
        target = settings["compression.target"]
        yield Remedy(f"another shape of the row: trajcompress check INPUT --for {target} says what is in the way")
        return
    if largest is not None and _is_alone_over(row, largest, settings):
        yield from _larger_target(row, largest)
        return
    if settings["compression.fit"] != "strict" and (role in _RESULTS or row.observations):
        yield Remedy("--fit strict", {"compression.fit": "strict"})
    if settings["compression.mode"] == "segments":  # which protects no turn, and clears none
        yield Remedy("a larger --target-max-tokens")
        yield from _shorter_turn(row, largest)
        return
    if settings["compression.prune"] not in (None, "all") and row.observations:
        yield Remedy("--prune all", {"compression.prune": "all"})
    if row.reason in _OF_SUMMARIES or _has_no_room_for_summaries(row, settings):
        yield from _of_summaries(row, settings)
    yield from _protecting_less(row, largest, settings)
    yield from _shorter_turn(row, largest)


def _is_alone_over(row: OverRow, largest: LargestTurn, settings: Mapping[str, Any]) -> bool:
    """Tell whether the largest turn is over the target alone, and is one that always stays and cannot be cut."""
    target = settings[_TARGET]
    if target is None or largest.tokens <= target or settings["compression.mode"] == "segments":
        return False
    is_cut = settings["compression.fit"] == "strict" or largest.role == "assistant"  # as far as it can be
    return largest.role == "system" or (is_cut and largest.index + 1 == row.original_turns)


def _larger_target(row: OverRow, largest: LargestTurn) -> Iterator[Remedy]:
    tokens = row.compressed_tokens or 0
    yield Remedy(
        f"one turn alone is over the target, whatever else is protected: --target-max-tokens {tokens}",
        target=tokens,
    )
    yield Remedy(f"a shorter turn {largest.index:,} in the input", of_turn=True)


def _shorter_turn(row: OverRow, largest: LargestTurn | None) -> Iterator[Remedy]:
    if largest is not None and largest.tokens > _half(row):
        yield Remedy(f"a shorter turn {largest.index:,} in the input", of_turn=True)


def _has_no_room_for_summaries(row: OverRow, settings: Mapping[str, Any]) -> bool:
    """Tell whether no summary was written as the turns between the protected ones are no longer than one may be."""
    size = settings["compression.summary_target_tokens"]
    middle = (row.compressed_tokens or 0) - (row.head_tokens or 0) - (row.tail_tokens or 0)
    return row.summarizer is None and isinstance(size, int) and max(LEAST_SUMMARY, size // 3) < middle <= size


def _of_summaries(row: OverRow, settings: Mapping[str, Any]) -> Iterator[Remedy]:
    passes, size = settings["compression.max_passes"], settings["compression.summary_target_tokens"]
    if row.reason == "passes_used_up":
        yield Remedy(f"--max-passes {2 * passes}", {"compression.max_passes": 2 * passes})
    if isinstance(size, int) and row.reason != "passes_used_up":
        less = max(LEAST_SUMMARY, size // 3)
        if less < size:
            yield Remedy(f"--summary-target-tokens {less}", {"compression.summary_target_tokens": less})
    if row.summarizer not in (None, "extractive", "plan"):
        yield Remedy("another --model")


def _protecting_less(row: OverRow, largest: LargestTurn | None, settings: Mapping[str, Any]) -> Iterator[Remedy]:
    of_tail = list(_protecting_less_of_tail(row, largest, settings))
    of_head = list(_protecting_less_of_head(row, largest, settings))
    if not of_head or not _is_head_over(row, settings):
        yield from of_tail
        yield from of_head
        return
    yield from of_head  # without which the others do not help
    for head in of_head:
        for tail in of_tail:
            yield Remedy(f"{head.words} with {tail.words}", {**head.changes, **tail.changes})


def _protecting_less_of_tail(
    row: OverRow, largest: LargestTurn | None, settings: Mapping[str, Any]
) -> Iterator[Remedy]:
    turns, last = row.original_turns or 0, settings["protected_turns.last_n_turns"]
    tail_tokens, tail = settings["protected_turns.tail_tokens"], row.tail_tokens or 0
    if tail_tokens is not None and tail >= _half(row) / 2:
        less = tail_tokens // 2
        yield Remedy(f"--tail-tokens {less}", {"protected_turns.tail_tokens": less})
    elif tail_tokens is None and last > 1 and (row.reason in {"tail", "no_middle"} or tail >= _half(row) / 2):
        behind = turns - 1 - largest.index if largest is not None else 0
        fewer = behind if 0 < behind < last else 1
        yield Remedy(f"--last-n-turns {fewer}", {"protected_turns.last_n_turns": fewer})


def _protecting_less_of_head(
    row: OverRow, largest: LargestTurn | None, settings: Mapping[str, Any]
) -> Iterator[Remedy]:
    key = _PROTECTED_BY.get(largest.role) if largest is not None else None
    keys: Sequence[str] = ()
    if (
        largest is not None
        and key is not None
        and (row.head_tokens or 0) >= max(largest.tokens, row.tail_tokens or 0)
    ):
        keys = (key,)
    elif _is_head_over(row, settings):
        keys = ("first_tool", "first_gpt", "first_human")
    if able := [each for each in keys if settings[f"protected_turns.{each}"]]:
        changes = {f"protected_turns.{each}": False for each in able}
        yield Remedy(f"{', '.join(able)}: false in protected_turns of the YAML", changes)


def _is_head_over(row: OverRow, settings: Mapping[str, Any]) -> bool:
    """Tell whether the protected first turns alone are over the target."""
    target = settings[_TARGET]
    return target is not None and (row.head_tokens or 0) > target


def _half(row: OverRow) -> float:
    return (row.compressed_tokens or 0) / 2
