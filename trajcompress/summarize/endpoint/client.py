"""Summaries from any OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import random
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from trajcompress.errors import SettingsError, SummarizerUnusableError, SummaryError
from trajcompress.redact import redact
from trajcompress.summarize.answers.judge import AT_ONCE, first_room, judge, note_for
from trajcompress.summarize.answers.phrases import prepare
from trajcompress.summarize.answers.reasons import NO_SUMMARY
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.endpoint.answer import Answer, read_answer
from trajcompress.summarize.endpoint.call_events import ToldCall
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.endpoint.masking import Masking
from trajcompress.summarize.endpoint.outage import UNCLEAR, Outage
from trajcompress.summarize.endpoint.retry import (
    MAX_READ,
    OF_THE_SERVER,
    Adapt,
    Decision,
    GiveUpRow,
    Retry,
    StopRun,
    backoff,
    classify,
    one_line,
)
from trajcompress.summarize.endpoint.wire import ask_for_completion, http_client, request_timeout, telling_when_sent
from trajcompress.summarize.prompt import PROMPT_VERSION, Prompt, build_prompt

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.resources.chat import AsyncCompletions

MAX_ROOM = 32_768  # tokens; more than any thinking about a summary is worth


class _Built(NamedTuple):
    """What is sent, and how many secrets were taken out of it."""

    prompt: Prompt
    redactions: int


class OpenAISummarizer:
    """Asks a model. One client, and so one pool of connections, for the whole run.

    Args:
        model: The model's name at the endpoint; also this summariser's name.
        base_url: The endpoint up to and with ``/v1``; None for OpenAI's own.
        api_key: Sent as a bearer token; None where the endpoint wants none.
        temperature: None leaves it to the server.
        max_retries: Failed attempts per summary that are tried again.
        retry_delay: Seconds before the first of these, doubled each time.
        timeout: Seconds for one request, from sending to the last byte.
        limiter: Shared with everything else that calls this endpoint.
        outage: Is told what calls come to; shared likewise.
        is_last: Whether nobody else is asked where this model fails.
        redact_secrets: Whether secrets in what is sent become marks.

    Raises:
        SettingsError: the key cannot be sent in an HTTP header.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None,
        api_key: str | None,
        temperature: float | None,
        max_retries: int,
        retry_delay: float,
        timeout: float,
        limiter: RateLimiter,
        outage: Outage | None = None,
        is_last: bool = True,
        redact_secrets: bool = True,
    ) -> None:
        self._model = model
        self._base_url = base_url
        self._api_key = (api_key or "").strip()
        if not (self._api_key.isascii() and self._api_key.isprintable()):
            raise SettingsError(
                "api_key_env: the API key holds characters that cannot be sent; set the variable again, without them"
            )
        self._clean = Masking(self._api_key)
        self._temperature = self._asked_temperature = temperature
        self._max_retries = max_retries
        self._retry_delay = retry_delay
        self._timeout = timeout
        self._limiter = limiter
        self._outage = outage
        self._is_last = is_last
        self._redact = redact_secrets
        self._client: AsyncOpenAI | None = None
        self._room_parameter = "max_tokens"
        self._token_ratio = 1.0  # the most that the server's count of a prompt has exceeded ours by
        self._built: tuple[SummaryRequest, _Built] | None = None  # asked for twice: for its key, and to be sent
        self._rng = random.Random()  # noqa: S311 - spreads retries, protects nothing

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    def request_key(self, request: SummaryRequest, *, anywhere: bool = False) -> str:
        """Return a digest of what shapes the answer to a request; ``anywhere``: but for the endpoint's URL."""
        built = self._prompt(request)
        shaping = (
            *(() if anywhere else (self._base_url,)),
            self._model,
            self._asked_temperature,  # whether or not the server takes it: a run that goes on does not know yet
            PROMPT_VERSION,
            request.target_tokens,
            built.prompt.system,
            built.prompt.user,
        )
        return hashlib.sha256(msgspec.json.encode(shaping)).hexdigest()

    def _prompt(self, request: SummaryRequest, note: str = "") -> _Built:
        if self._built is not None and self._built[0] is request and not note:
            return self._built[1]
        prompt, redactions = build_prompt(request, note=note), 0
        if self._redact:
            clean = redact(prompt.user)
            prompt, redactions = replace(prompt, user=clean.text), clean.count
        built = _Built(prompt, redactions)
        if not note:
            self._built = (request, built)
        return built

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Summarise ``request.region``, trying again after failures that may pass.

        Raises:
            SummaryError: the attempts are used up, or the server refuses this request.
            SummarizerUnusableError: the server refuses every request.
        """
        room, note, marked, attempt, again = first_room(request.target_tokens), "", False, 0, False
        while True:
            outcome, began = await self._attempt(request, room, note, usage, marked_before=marked)
            if isinstance(outcome, Summary):
                self._note(None, request, began)
                return outcome
            outcome = replace(outcome, detail=f"{self._model}: {self._clean(outcome.detail)}")
            if isinstance(outcome, StopRun):
                answered = self._outage is not None and self._outage.has_answered
                raise SummarizerUnusableError(outcome.reason, outcome.detail, has_answered=answered)
            usage.non_summaries += outcome.reason in NO_SUMMARY
            leave_it = self._note(outcome, request, began)
            if isinstance(outcome, GiveUpRow) or leave_it or attempt == self._max_retries or (outcome.once and again):
                raise SummaryError(outcome.reason, outcome.detail)
            again = again or outcome.once
            if outcome.reason == "truncated_answer":
                room = max(room, min(2 * room, MAX_ROOM))
            marked = marked or outcome.reason == "marked_answer"
            note = note_for(outcome) or note
            attempt += 1
            request.tell("retried", model=self._model, attempt=attempt, reason=outcome.reason)
            if not outcome.wait and outcome.reason not in AT_ONCE:
                with request.waiting():
                    await asyncio.sleep(backoff(attempt - 1, self._retry_delay, self._rng))

    def _note(self, outcome: Retry | GiveUpRow | None, request: SummaryRequest, began: float) -> bool:
        """Note what a call came to, None for a summary; return whether the row's other tries are to wait.

        Raises:
            SummarizerUnusableError: the server has failed for too long.
        """
        if self._outage is None or (outcome is not None and outcome.reason == "error_answer"):
            return False  # an error in place of an answer says as little for the server as against the row
        wait = outcome.wait if isinstance(outcome, Retry) else None
        is_unclear = outcome is not None and outcome.reason == UNCLEAR and not self._outage.has_answered
        if outcome is None or not (outcome.reason in OF_THE_SERVER or is_unclear):
            self._outage.answered(began, request.tell)
            return False
        return self._outage.failed(
            Retry(outcome.reason, outcome.detail, wait), request.row_id, began, request.tell, is_last=self._is_last
        )

    async def _attempt(
        self, request: SummaryRequest, room: int, note: str, usage: Usage, *, marked_before: bool
    ) -> tuple[Summary | Decision, float]:
        """Ask once; again at once without a parameter that the server will not have. Also return when it went out."""
        built = self._prompt(request, note)
        usage.redactions += built.redactions
        counted = await self._count(built.prompt, request)
        prompt_tokens = math.ceil(counted * self._token_ratio)
        if self._limiter.tpm is not None:  # growing room must not outgrow a minute's budget
            room = min(room, max(self._limiter.tpm - prompt_tokens, first_room(request.target_tokens)))
        while True:
            with ToldCall(request, usage, self._model) as call:
                answer = call.answer = await self._send(request, built, call, prompt_tokens=prompt_tokens, room=room)
            if not isinstance(answer, Adapt):
                break
            if answer.parameter not in call.parameters:
                return GiveUpRow("bad_request", answer.detail), call.began
            self._adapt(answer.parameter)
        if not isinstance(answer, Answer):
            return answer, call.began
        if counted and answer.prompt_tokens:
            self._token_ratio = max(self._token_ratio, answer.prompt_tokens / counted)
        verdict = judge(answer, request, asked_again=marked_before)
        if isinstance(verdict, Retry):
            return verdict, call.began
        usage.errors -= 1
        return Summary(verdict, self._model), call.began

    async def _send(
        self, request: SummaryRequest, built: _Built, call: ToldCall, *, prompt_tokens: int, room: int
    ) -> Answer | Decision | Adapt:
        """Send one request when its turn has come, and read the answer or decide what to do without one."""
        import aiohttp
        import httpx2
        import openai

        completions = self._connect()  # loads code: before a turn, not after it
        loop = asyncio.get_running_loop()
        async with contextlib.AsyncExitStack() as stack:
            with request.waiting():
                reservation = await stack.enter_async_context(self._limiter.slot(prompt_tokens + room))
            usage = call.usage
            usage.api_calls += 1
            usage.errors += 1  # until its answer proves usable: a cancelled call counts as well
            call.began = loop.time()
            call.parameters = self._parameters(room)  # as they are now: a call before may have found one refused
            if self._outage is not None:
                self._outage.sent(self._timeout, request.tell)
            try:
                with telling_when_sent(reservation.sent):
                    async with asyncio.timeout(self._timeout):
                        body = await ask_for_completion(completions, self._asked(built, call.parameters))
            except (
                openai.OpenAIError,
                httpx2.HTTPError,
                httpx2.InvalidURL,
                aiohttp.ClientError,
                OSError,
                UnicodeError,
            ) as error:
                if isinstance(error, openai.APIStatusError):
                    reservation.settle(prompt_tokens)  # refused, so nothing was written
                decision = classify(error, time.time(), self._clean)
                if isinstance(decision, Retry) and decision.wait:
                    self._limiter.pause_until(loop.time() + decision.wait)
                return decision
            finally:
                usage.latency_s += loop.time() - call.began
            try:
                answer = read_answer(body)
            except ValueError as error:
                words = one_line(body[: 2 * MAX_READ].decode(errors="replace"), self._clean)
                return Retry("bad_response", f"no chat completion ({error}): {words}")
            usage.prompt_tokens += answer.prompt_tokens or 0
            usage.completion_tokens += answer.completion_tokens or 0
            if answer.prompt_tokens is not None and answer.completion_tokens is not None:
                reservation.settle(answer.prompt_tokens + answer.completion_tokens)
            return answer

    def _asked(self, built: _Built, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a request."""
        messages = [
            {"role": "system", "content": built.prompt.system},
            {"role": "user", "content": built.prompt.user},
        ]
        return {"model": self._model, "messages": messages, **parameters}

    def _connect(self) -> AsyncCompletions:
        """Return the client's completions, made at the first call: it belongs to the event loop it is made in."""
        if self._client is None:
            import openai

            prepare()  # before the first answer, which would hold up the others
            self._client = openai.AsyncOpenAI(
                api_key=self._api_key
                or "none",  # the client insists on one, and would look for it in the environment
                base_url=self._base_url,
                max_retries=0,
                timeout=request_timeout(self._timeout),
                http_client=http_client(
                    self._limiter.max_concurrent,
                    telling=self._limiter.spaces,
                    secure=not (self._base_url or "").startswith("http://"),
                ),
            )
        return self._client.chat.completions  # loads code

    async def _count(self, prompt: Prompt, request: SummaryRequest) -> int:
        """Estimate the prompt's tokens; only a limit on tokens needs to know."""
        if self._limiter.tpm is None:
            return 0
        return await asyncio.to_thread(prompt.tokens, request.count)

    def _parameters(self, room: int) -> dict[str, Any]:
        parameters: dict[str, Any] = {self._room_parameter: room}
        if self._temperature is not None:
            parameters["temperature"] = self._temperature
        return parameters

    def _adapt(self, parameter: str) -> None:
        """Do without ``parameter`` for the rest of the run."""
        if parameter == "temperature":
            self._temperature = None
        else:
            self._room_parameter = "max_completion_tokens"
