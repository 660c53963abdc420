"""What a compacted trajectory must be, and the strategies that bring it there: made once from the settings."""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal, Protocol, TypeAlias, TypeVar

from msgspec import Struct, field

from trajcompress.compaction.region import Protection, SummaryShare
from trajcompress.compaction.state import State
from trajcompress.settings.budget import Compression
from trajcompress.settings.choices import Fit, Marks, MistralVersion, Mode, Placement, Target, TrainOn
from trajcompress.summarize.base import Summary, SummaryRequest

T = TypeVar("T")
Asking: TypeAlias = Generator[SummaryRequest, Summary, T]
"""Yields what is to be summarised and is sent the summary, or thrown why there is none; returns ``T``."""


class Skip(Struct, frozen=True):
    """Why a strategy leaves a state as it is; without a ``reason`` there was nothing for it to do."""

    reason: str | None = None
    error: str | None = None


NOTHING_TO_DO = Skip()


class Strategy(Protocol):
    """One rung of the ladder: brings a trajectory over its budget nearer to it."""

    def __call__(self, state: State, policy: Policy) -> Asking[State | Skip]:
        """Return the next state, which may still be over the budget, or why there is none.

        Raises:
            SummaryError: a summary was needed, and there is none.
            TimeoutError: the time for the trajectory is up.
        """
        ...


class Policy(Struct, frozen=True):
    """What a compacted trajectory must be, and the ladder that leads there. Sizes are tokens.

    In ``mode`` segments a trajectory over its budget becomes several rows, and no strategy is applied. The last
    ``segment_overlap`` tool groups of each stretch stand again in the next; with ``train_summaries`` each running
    summary has a row that teaches to write it.
    The ``facts`` that kept turns need are asked of the summariser and seen to, or only ``counted``, or not looked up.
    Where ``refused_is_unfit`` one that the chat template refuses has no form in the target.
    A trajectory of fewer than ``min_tokens`` is left alone. ``clear_observations``: old ones are cleared, with
    ``skip_under_target`` off also in trajectories that fit; ``clear_read`` clears them in what a summariser reads.
    The last ``keep_observations`` are not cleared, and stay whole up to the target divided by ``latest_share`` even
    where turns of the assistant have to go. ``fit`` strict lets long observations of kept turns be truncated.
    ``strategies`` are for rows over their budget, ``finishing`` ones for those that these made fit. A model's summary
    that cannot be used is written again by the built-in summariser where ``built_in_on_failure``.
    """

    target_max_tokens: int
    summary_size: int | SummaryShare
    mode: Mode = "row"
    segment_overlap: int = 0
    train_summaries: bool = False
    strategies: tuple[Strategy, ...] = ()
    finishing: tuple[Strategy, ...] = ()
    min_tokens: int = 0
    protection: Protection = field(default_factory=Protection)
    placement: Placement = "auto"
    target: Target = "template"
    refused_is_unfit: bool = False
    mistral: MistralVersion = "v3"
    assistant_only: bool = False
    notice: str | None = None
    max_passes: int = Compression.max_passes
    clear_observations: bool = False
    clear_read: bool = False
    keep_observations: int = Compression.keep_observations
    latest_share: int = 8
    fit: Fit = "lenient"
    skip_under_target: bool = True
    redact: bool = True
    marks: Marks = "none"
    train_on: TrainOn = "assistant"
    mapped_roles: frozenset[str] = frozenset()
    focus: str | None = None
    built_in_on_failure: bool = False
    facts: Literal["asked", "counted", "off"] = "asked"
    timeout_s: float | None = None

    @property
    def grounded(self) -> bool:
        """Whether summaries are to tell the facts that kept turns need."""
        return self.facts == "asked"
