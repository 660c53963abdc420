"""What a summariser is: one async method.

A summariser is handed the turns of the region and a budget in tokens, and returns a summary or raises. It knows
nothing of plans, placements, or the rest of the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from typing import Generic, Protocol, TypeVar

from trajcompress.events import Emit, nobody
from trajcompress.transcript.trajectory import Turn

MAX_TURN_CHARS = 3_000
"""Characters of a turn that the summariser is shown at most, but for lines of facts."""

BUILT_IN = "extractive"
"""The name of the built-in summariser, which writes the same for the same request."""


async def never_renewed(_cancelled: asyncio.CancelledError) -> bool:
    """Say that no time-out was the cause."""
    return False


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What to summarise, for which row: ``row_id`` is unique within a run.

    ``head`` are the kept turns before ``region``: for the goal, not to be repeated. ``target_tokens`` bounds the
    summary, prefix included, in tokens of the tokenizer behind ``count``. Within ``waiting()`` the row's time-out
    stands still: for time that is spent in a queue, not on the row. ``facts`` are strings of the region that the kept
    turns after it rely on, the most important first: they should stand in the summary verbatim, as far as they fit.
    ``emit`` is the sink of events of its calls. ``renew`` takes a cancellation: where that is the row's time-out, it
    gives the row its time anew and returns True.

    ``previous`` is an earlier summary, prefix included, of turns that are not in ``region``; the new one takes its
    place, so it must hold what still matters of it. ``answer`` is one to the same request that was longer than
    asked, or left out facts. ``focus`` is a topic that gets the larger share. ``special_tokens`` are those of the
    target's tokenizer, none of which may stand in a summary. ``turn_chars`` bounds what is shown of one turn, in
    characters, but for lines of facts. ``redactions`` secrets were taken out of what is read here for the first time.
    ``taken`` gives, by place in the region, words that kept turns take from it, and how much each tells; no model is
    sent these.
    """

    row_id: str
    head: tuple[Turn, ...]
    region: tuple[Turn, ...]
    target_tokens: int
    count: Callable[[str], int]
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    renew: Callable[[asyncio.CancelledError], Awaitable[bool]] = never_renewed
    facts: tuple[str, ...] = ()
    emit: Emit = nobody
    previous: str | None = None
    answer: str | None = None
    focus: str | None = None
    special_tokens: tuple[str, ...] = ()
    turn_chars: int = MAX_TURN_CHARS
    redactions: int = 0
    taken: Callable[[], Mapping[int, Mapping[str, float]]] = dict


_OF_ALL_TRIES = ("api_calls", "errors", "non_summaries", "prompt_tokens", "completion_tokens", "cost_usd")


@dataclass(slots=True)
class Usage:
    """What a summary cost. Filled as calls are made, so it is right after a failure too."""

    api_calls: int = 0  # HTTP requests, retries included
    errors: int = 0  # requests that gave no usable answer
    cache_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0  # of the prompts, found in the provider's cache of prefixes
    batched_prompt_tokens: int = 0  # of all that was sent, what went with batches
    batched_completion_tokens: int = 0
    redactions: int = 0  # secrets kept back from the requests
    latency_s: float = 0.0
    reused: int = 0  # summaries that were found where they are kept; nobody was asked for them
    cost_usd: float | None = 0.0  # None once there was a call whose price nobody knows
    non_summaries: int = 0  # answers that held no summary: refusals, empty talk, calls and the like

    def add(self, other: Usage) -> None:
        """Add another request's cost to this one."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.cost_usd = add_costs(self.cost_usd, other.cost_usd)

    def of_all_tries(self, paid: Usage) -> Usage:
        """Return what all tries of a row cost, where calls are known; time and cache hits stay those of the last."""
        paid_in_all = {name: getattr(paid, name) for name in _OF_ALL_TRIES}
        return replace(self, **paid_in_all) if paid.api_calls else self

    def add_tokens(self, sent: int | None, written: int | None, cached: int | None, *, batched: bool = False) -> None:
        """Add the tokens that a server counts for one call; None where it counts none."""
        self.prompt_tokens += sent or 0
        self.completion_tokens += written or 0
        self.cached_tokens += min(cached or 0, sent or 0)
        if batched:
            self.batched_prompt_tokens += sent or 0
            self.batched_completion_tokens += written or 0


_NUMBERS = tuple(each.name for each in fields(Usage) if each.name != "cost_usd")


def add_costs(one: float | None, other: float | None) -> float | None:
    """Return the sum of two costs, None where either is unknown."""
    return None if one is None or other is None else one + other


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary: ``text`` starts with :data:`SUMMARY_PREFIX` exactly once; ``summarizer`` names who wrote it.

    ``redactions`` secrets were taken out of it before it was kept.
    """

    text: str
    summarizer: str
    redactions: int = 0


class Summarizer(Protocol):
    """Anything that can summarise a region."""

    @property
    def name(self) -> str:
        """Named in the metrics, for example ``extractive`` or the model's name."""

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Summarise ``request.region``.

        ``usage`` is the caller's account: every call made is added to it as it happens, so that a failed
        summary's calls are counted too.

        Raises:
            SummaryError: no usable summary for this row.
            SummarizerUnusableError: no row can be summarised; the run should stop early.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


S = TypeVar("S", bound=Summarizer)


class Around(Generic[S]):
    """What summarisers that stand around another one have of it: its name; closing them closes it."""

    def __init__(self, inner: S) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The name of who is asked."""
        return self._inner.name

    async def aclose(self) -> None:
        """Close who is asked."""
        await self._inner.aclose()
