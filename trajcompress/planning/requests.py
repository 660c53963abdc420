"""What asking a model for summaries takes: the tokens of its requests, what they cost, and how long they take.

Prompts are those that would be sent, but for the list of facts that must survive, counted with the tokenizer of the
run; the model's own may count a tenth more or less. Requests that the server fails at and that are sent again come on
top.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from trajcompress.settings import Settings
from trajcompress.summarize.answers.judge import first_room
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.endpoint.client import MAX_ROOM
from trajcompress.summarize.endpoint.priced import Price
from trajcompress.summarize.prompt import build_prompt
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX

TOKENS_PER_SECOND = 50
"""What a model is taken to write for one request, where a limit on concurrency decides on the time."""

BoundBy: TypeAlias = Literal["rpm", "tpm", "concurrency"]


@dataclass(frozen=True, slots=True)
class Span:
    """From the likely to the most: summaries at the first try and as long as asked, or at the last of several."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Requests and tokens per minute, None for no limit, and requests at once."""

    rpm: int | None = None
    tpm: int | None = None
    concurrent: int = 50


@dataclass(frozen=True, slots=True)
class Tries:
    """How often a summary may be asked for, and what prompts hold that a plan does not write: tokens of ``facts``.

    A model answers with something that is no summary, or that is too long or incomplete, and is asked again; where an
    answer was cut off, with twice the room.
    """

    most: int = 3
    facts_tokens: int = 0

    @classmethod
    def of(cls, settings: Settings) -> Tries:
        """Return those that settings allow; a model that needs more than three is none to go on with."""
        again = min(_TRIES, 1 + settings.summarization.max_retries) + (
            settings.summarization.fallback_model is not None
        )
        facts = _FACTS_TOKENS if settings.summarization.facts else 0
        return cls(max(again, settings.compression.max_passes), facts)


@dataclass(slots=True)
class Requests:
    """All requests of a run, added up.

    ``calls`` and ``prompt_tokens`` are for summaries that are had at the first try, ``asked`` the tokens that prompts
    ask for then. The ``most_`` of these are for summaries that all take every try, with as many tokens written as
    each try lets a model write, thinking included. ``largest`` is what the largest request may take.
    """

    calls: int = 0
    prompt_tokens: int = 0
    asked: int = 0
    most_calls: int = 0
    most_prompt_tokens: int = 0
    most_written: int = 0
    largest: int = 0

    def add(self, prompt_tokens: int, room: int, tries: Tries, row_tokens: int = 0) -> None:
        """Add one request, for a summary of up to ``room`` tokens, of a row of ``row_tokens``."""
        first = first_room(room)
        self.calls += 1
        self.prompt_tokens += prompt_tokens
        self.asked += room * 4 // 5
        self.most_calls += tries.most
        # A later try quotes the answer before it, or tells more of the row.
        later = max(prompt_tokens + first, row_tokens) + _NOTE_TOKENS
        self.most_prompt_tokens += prompt_tokens + (tries.most - 1) * later + tries.most * tries.facts_tokens
        self.most_written += sum(max(first, min(first << nth, MAX_ROOM)) for nth in range(tries.most))
        self.largest = max(self.largest, prompt_tokens + first)

    def join(self, others: Requests) -> None:
        """Add all of others."""
        for each in fields(self):
            one, other = getattr(self, each.name), getattr(others, each.name)
            setattr(self, each.name, max(one, other) if each.name == "largest" else one + other)

    def cost_usd(self, price: Price) -> Span:
        """Return what the tokens cost."""
        return Span(
            price.cost(self.prompt_tokens, self.asked), price.cost(self.most_prompt_tokens, self.most_written)
        )

    def minutes(self, limits: Limits) -> tuple[Span, BoundBy]:
        """Return the time that the strictest limit leaves, and which one that is in the likely case."""
        low = _minutes(self.calls, self.prompt_tokens, self.asked, limits)
        high = _minutes(self.most_calls, self.most_prompt_tokens, self.most_written, limits)
        return Span(max(low.values()), max(high.values())), max(low, key=low.__getitem__)


def _minutes(calls: int, prompt_tokens: int, written: int, limits: Limits) -> dict[BoundBy, float]:
    at_once = max(1, min(limits.concurrent, calls))
    minutes: dict[BoundBy, float] = {"concurrency": written / TOKENS_PER_SECOND / at_once / 60}
    if limits.rpm is not None:
        minutes["rpm"] = calls / limits.rpm
    if limits.tpm is not None:
        minutes["tpm"] = (prompt_tokens + written) / limits.tpm
    return minutes


_TRIES = 3
_FACTS_TOKENS = 1200  # of the list of what must survive: forty lines at most
_NOTE_TOKENS = 200  # of the words around an answer that is quoted, and what was wrong with it
_WORD = " a"  # one token to nearly every tokenizer, and no secret to anyone


class StandInSummarizer:
    """Writes nothing of the region, but as much as it may; keeps an account of what a model would be asked.

    A summary can be shorter, not longer; turns stay then in the room that it leaves, so what is expected after
    compression is close, and no bound.
    A plan works on a row beside the event loop, so no work is handed over from here. The texts that it writes are
    kept in ``fillings``, by their tokens.
    """

    def __init__(self, fillings: dict[int, str], tries: Tries = Tries(), row_tokens: int = 0) -> None:
        self.requests = Requests()
        self._fillings = fillings
        self._tries = tries
        self._row_tokens = row_tokens

    @property
    def name(self) -> str:
        """Named in the metrics, which a plan drops."""
        return "plan"

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:  # noqa: ARG002 - it costs nothing
        """Return a text that fills the room of the summary."""
        return Summary(self._answer(request), self.name)

    async def aclose(self) -> None:
        """Hold nothing, release nothing."""

    def _answer(self, request: SummaryRequest) -> str:
        prompt = build_prompt(request)
        self.requests.add(prompt.tokens(request.count), request.target_tokens, self._tries, self._row_tokens)
        text = self._fillings.get(request.target_tokens)
        if text is None:
            text = self._fillings[request.target_tokens] = filling(request)
        return text


def filling(request: SummaryRequest) -> str:
    """Return a text of about as many tokens as the summary may have, and not more."""
    least, beyond = 0, request.target_tokens + 1
    while least < beyond - 1:
        words = (least + beyond) // 2
        if request.count(SUMMARY_PREFIX + _WORD * words) <= request.target_tokens:
            least = words
        else:
            beyond = words
    return SUMMARY_PREFIX + _WORD * least
