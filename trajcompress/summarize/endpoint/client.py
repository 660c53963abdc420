"""Summaries by a model at an OpenAI-compatible endpoint, with retries where a failure may pass."""

from __future__ import annotations

import asyncio
import math
import random

from msgspec.structs import replace

from trajcompress.errors import NO_SUMMARY, SummarizerUnusableError, SummaryError
from trajcompress.redact.spans import MARK_START
from trajcompress.settings.credentials import PLACEHOLDER_KEY
from trajcompress.summarize.answer import Answer
from trajcompress.summarize.answers.judge import AT_ONCE, first_room, judge, note_for
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.endpoint.batch.connection import BatchConnection
from trajcompress.summarize.endpoint.batch.store import BatchStore
from trajcompress.summarize.endpoint.call_events import CallEvent
from trajcompress.summarize.endpoint.connection import Endpoint, ModelConnection
from trajcompress.summarize.endpoint.failures import Failures
from trajcompress.summarize.endpoint.limits import Limiter
from trajcompress.summarize.endpoint.outage import UNCLEAR
from trajcompress.summarize.endpoint.summary_prompt import PromptBuilder
from trajcompress.summarize.prompt import Prompt
from trajcompress.summarize.retry import (
    OF_THE_SERVER,
    Adapt,
    Decision,
    GiveUpRow,
    Retry,
    StopRun,
    backoff,
)

_NO_KEY = (
    f'no key is set, so "{PLACEHOLDER_KEY}" was sent in its place: set OPENAI_API_KEY, or name the variable that '
    "holds the key with --api-key-env"
)
MAX_ROOM = 32_768  # tokens; more than any thinking about a summary is worth
_ANSWERS = AT_ONCE - {"truncated_answer"}  # that had all the room they wanted


class OpenAISummarizer:
    """A :class:`~trajcompress.summarize.base.Summarizer` that asks a model; one for the whole run.

    Args:
        endpoint: The model; its name is also this summariser's.
        max_retries: Failed attempts per summary that are tried again.
        retry_delay: Seconds before the first of these, doubled each time.
        limiter: Shared with everything else that calls this endpoint.
        outage: Gets the result of each call; shared likewise.
        is_last: Whether nobody else is asked where this model fails.
        batches: Where requests are noted for batches, and their replies found; None to send each by itself.
        sends_single: Whether a request that no batch was answered for is sent by itself.
        redact_secrets: Whether secrets in what is sent, and in answers, become marks.

    Raises:
        SettingsError: the key cannot be sent in an HTTP header.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        max_retries: int,
        retry_delay: float,
        limiter: Limiter,
        outage: Failures | None = None,
        is_last: bool = True,
        batches: BatchStore | None = None,
        sends_single: bool = False,
        redact_secrets: bool = True,
    ) -> None:
        self._model = endpoint.model
        self._has_key = endpoint.has_key
        live = ModelConnection(endpoint, limiter, outage, redact_secrets=redact_secrets)
        self._connection = (
            BatchConnection(endpoint.model, live, batches, sends_single=sends_single) if batches else live
        )
        self._room_is_bounded = batches is None and limiter.tpm is not None
        self._prompts = PromptBuilder(
            endpoint.model, endpoint.base_url, endpoint.temperature, redact_secrets=redact_secrets
        )
        self._max_retries = max_retries
        self._retry_delay = retry_delay
        self._limiter = limiter
        self._outage = outage
        self._is_last = is_last
        self._token_ratio = 1.0  # the most that the server's count of a prompt has exceeded ours by
        self._rng = random.Random()  # noqa: S311 - spreads retries, protects nothing

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    def request_key(self, request: SummaryRequest, *, anywhere: bool = False) -> str:
        """Return a digest of what shapes the answer to a request; ``anywhere``: but for the endpoint's URL."""
        return self._prompts.key(request, anywhere=anywhere)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connection.aclose()

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Summarise ``request.region``, trying again after failures that may pass.

        Raises:
            SummaryError: the attempts are used up, or the server refuses this request.
            SummarizerUnusableError: the server refuses every request.
            AwaitsBatchError: the summary is to be had with the next batch.
        """
        room, note, marked, attempt, useless = first_room(request.target_tokens), "", False, 0, _Useless()
        while True:
            outcome, began = await self._attempt(request, room, note, usage, marked_before=marked)
            if isinstance(outcome, Summary):
                await self._note(None, request, began)
                return outcome
            outcome = replace(outcome, detail=f"{self._model}: {self._connection.masking(outcome.detail)}")
            if isinstance(outcome, StopRun):
                answered = self._outage is not None and self._outage.has_answered
                no_key = outcome.reason == "unauthorized" and not self._has_key
                detail = f"{outcome.detail}; {_NO_KEY}" if no_key else outcome.detail
                raise SummarizerUnusableError(outcome.reason, detail, has_answered=answered)
            usage.non_summaries += outcome.reason in NO_SUMMARY
            leave_it = await self._note(outcome, request, began)
            is_last = leave_it or attempt == self._max_retries
            if isinstance(outcome, GiveUpRow) or useless.are_enough(outcome, room) or is_last:
                raise SummaryError(outcome.reason, outcome.detail)
            if outcome.reason == "truncated_answer":
                room = max(room, min(2 * room, MAX_ROOM))
            marked = marked or outcome.reason == "marked_answer"
            note = note_for(outcome) or note
            attempt += 1
            request.emit("retried", model=self._model, attempt=attempt, reason=outcome.reason)
            if not outcome.wait and outcome.reason not in AT_ONCE:
                with request.waiting():
                    await asyncio.sleep(backoff(attempt - 1, self._retry_delay, self._rng))

    async def _note(self, outcome: Retry | GiveUpRow | None, request: SummaryRequest, began: float) -> bool:
        """Note what a call came to, None for a summary; return whether the row's other tries are to wait.

        Raises:
            SummarizerUnusableError: the server has failed for too long.
        """
        if self._outage is None or (outcome is not None and outcome.reason == "error_answer"):
            return False  # an error in place of an answer says as little for the server as against the row
        wait = outcome.wait if isinstance(outcome, Retry) else None
        has_answered = self._outage.has_answered or self._outage.is_known
        is_unclear = outcome is not None and outcome.reason == UNCLEAR and not has_answered
        if outcome is None or not (outcome.reason in OF_THE_SERVER or is_unclear):
            self._outage.answered(began, request.emit)
            return False
        return await self._outage.failed(
            Retry(outcome.reason, outcome.detail, wait), request.row_id, began, request.emit, is_last=self._is_last
        )

    async def _attempt(
        self, request: SummaryRequest, room: int, note: str, usage: Usage, *, marked_before: bool
    ) -> tuple[Summary | Decision, float]:
        """Ask once; again at once without a parameter that the server will not have. Also return when it went out."""
        built = self._prompts.build(request, note)
        usage.redactions += built.redactions
        counted = await self._count(built.prompt, request)
        prompt_tokens = math.ceil(counted * self._token_ratio)
        if self._room_is_bounded and self._limiter.tpm:  # growing room must not outgrow a minute's budget
            room = min(room, max(self._limiter.tpm - prompt_tokens, first_room(request.target_tokens)))
        while True:
            with CallEvent(request, usage, self._model) as call:
                answer = call.answer = await self._connection.send(
                    request, built, call, prompt_tokens=prompt_tokens, room=room
                )
                if isinstance(answer, Answer):
                    call.verdict = verdict = judge(answer, request, asked_again=marked_before)
            if not isinstance(answer, Adapt):
                break
            if answer.parameter not in call.parameters:
                return GiveUpRow("bad_request", answer.detail), call.began
            self._connection.adapt(answer.parameter)
        if not isinstance(answer, Answer):
            return answer, call.began
        if counted and answer.prompt_tokens:
            self._token_ratio = max(self._token_ratio, answer.prompt_tokens / counted)
        if isinstance(verdict, Retry):
            return verdict, call.began
        usage.errors -= 1
        return Summary(verdict, self._model, min(answer.redactions, verdict.count(MARK_START))), call.began

    async def _count(self, prompt: Prompt, request: SummaryRequest) -> int:
        """Estimate the prompt's tokens; only a limit on tokens needs to know."""
        if self._limiter.tpm is None:
            return 0
        return await asyncio.to_thread(prompt.tokens, request.count)


class _Useless:
    """Answers to a request that could not be used: each is paid for, and seldom helps more than the one before."""

    _MOST = 3

    def __init__(self) -> None:
        self._number = 0
        self._had_once = False

    def are_enough(self, failure: Retry, room: int) -> bool:
        """Note a failure, with what room there was for an answer; return whether to leave it at that."""
        once = failure.once or (failure.reason == "truncated_answer" and room >= MAX_ROOM)
        if not once and failure.reason not in _ANSWERS:
            return False
        self._number += 1
        enough = self._number == self._MOST or (once and self._had_once)
        self._had_once = self._had_once or once
        return enough
