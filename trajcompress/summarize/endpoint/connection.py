"""One model at an OpenAI-compatible endpoint: a request goes out in its turn, and its answer or failure is read."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trajcompress.errors import SettingsError
from trajcompress.summarize.answer import Answer, read_answer
from trajcompress.summarize.answers.phrases import prepare
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.endpoint.call_events import CallEvent
from trajcompress.summarize.endpoint.failures import Failures
from trajcompress.summarize.endpoint.limits import Limiter
from trajcompress.summarize.endpoint.masking import Masking
from trajcompress.summarize.endpoint.openai_client import import_openai
from trajcompress.summarize.endpoint.summary_prompt import BuiltPrompt
from trajcompress.summarize.endpoint.wire import ask_for_completion, emitting_when_sent, http_client, request_timeout
from trajcompress.summarize.retry import MAX_READ, Adapt, Decision, Retry, classify, one_line

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class Endpoint(Struct, frozen=True, kw_only=True):
    """A model at an endpoint, and how it is asked."""

    model: str
    base_url: str | None  # up to and with /v1; None for OpenAI's own
    api_key: str | None  # sent as a bearer token; None where the endpoint wants none
    has_key: bool = True  # whether somebody gave it, else it stands for none
    temperature: float | None  # None leaves it to the server
    timeout: float  # seconds for one request, from sending to the last byte


class ModelConnection:
    """Sends requests to one model, over one pool of connections. It makes no decision to send one again.

    The ``limiter`` admits requests, the ``outage`` gets notice of those that go out; ``masking`` takes the key out of
    texts, and other secrets out of answers where ``redact_secrets`` says so.

    Raises:
        SettingsError: the key cannot be sent in an HTTP header.
    """

    def __init__(
        self, endpoint: Endpoint, limiter: Limiter, outage: Failures | None, *, redact_secrets: bool = True
    ) -> None:
        self._endpoint = endpoint
        self._api_key = (endpoint.api_key or "").strip()
        if not (self._api_key.isascii() and self._api_key.isprintable()):
            raise SettingsError(
                "api_key_env: the API key holds characters that cannot be sent; set the variable again, without them"
            )
        self.masking = Masking(self._api_key, redact_secrets=redact_secrets)
        self._temperature = endpoint.temperature
        self._limiter = limiter
        self._outage = outage
        self._client: AsyncOpenAI | None = None
        self._room_parameter = "max_tokens"

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()

    async def send(
        self, request: SummaryRequest, built: BuiltPrompt, call: CallEvent, *, prompt_tokens: int, room: int
    ) -> Answer | Decision | Adapt:
        """Send one request when its turn has come, and read the answer or decide what to do without one.

        The limiter gets ``prompt_tokens`` and the ``room`` for the answer.
        """
        client = self._connect()  # loads code: before a turn, not after it
        import aiohttp
        import httpx2
        import openai

        loop = asyncio.get_running_loop()
        async with contextlib.AsyncExitStack() as stack:
            with request.waiting():
                turn = await stack.enter_async_context(self._limiter.slot(prompt_tokens + room))
            usage = call.usage
            usage.api_calls += 1
            usage.errors += 1  # until its answer proves usable: a cancelled call counts as well
            call.began = loop.time()
            request.emit("sent")
            call.parameters = self.parameters(room)  # as they are now: a call before may have found one refused
            if self._outage is not None:
                self._outage.sent(self._endpoint.timeout, request.emit)
            try:
                with emitting_when_sent(turn.sent):
                    async with asyncio.timeout(self._endpoint.timeout):
                        body = await ask_for_completion(client, self.asked(built, call.parameters))
            except (
                openai.OpenAIError,
                httpx2.HTTPError,
                httpx2.InvalidURL,
                aiohttp.ClientError,
                OSError,
                UnicodeError,
            ) as error:
                if isinstance(error, openai.APIStatusError):
                    turn.settle(prompt_tokens)  # refused, so nothing was written
                decision = classify(error, time.time(), self.masking)
                if isinstance(decision, Retry) and decision.wait:
                    self._limiter.pause(decision.wait)
                return decision
            finally:
                usage.latency_s += loop.time() - call.began
            try:
                answer = self.masking.answer(read_answer(body))
            except ValueError as error:
                words = one_line(body[: 2 * MAX_READ].decode(errors="replace"), self.masking)
                return Retry("bad_response", f"no chat completion ({error}): {words}")
            usage.add_tokens(answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens)
            if answer.prompt_tokens is not None and answer.completion_tokens is not None:
                turn.settle(answer.prompt_tokens + answer.completion_tokens)
            return answer

    def asked(self, built: BuiltPrompt, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a request."""
        messages = [
            {"role": "system", "content": built.prompt.system},
            {"role": "user", "content": built.prompt.user},
        ]
        return {"model": self._endpoint.model, "messages": messages, **parameters}

    def _connect(self) -> AsyncOpenAI:
        """Return the client, made at the first call: it belongs to the event loop it is made in."""
        if self._client is None:
            import_openai()
            import openai

            prepare()  # before the first answer, which would hold up the others
            self._client = openai.AsyncOpenAI(
                api_key=self._api_key
                or "none",  # the client insists on one, and would look for it in the environment
                base_url=self._endpoint.base_url,
                max_retries=0,
                timeout=request_timeout(self._endpoint.timeout),
                http_client=http_client(
                    self._limiter.max_concurrent,
                    telling=self._limiter.spaces,
                    secure=not (self._endpoint.base_url or "").startswith("http://"),
                ),
            )
        return self._client

    def parameters(self, room: int) -> dict[str, Any]:
        """Return what is asked for besides the messages, as the server takes it; ``room`` is for the answer."""
        parameters: dict[str, Any] = {self._room_parameter: room}
        if self._temperature is not None:
            parameters["temperature"] = self._temperature
        return parameters

    def adapt(self, parameter: str) -> None:
        """Do without a parameter that the server refuses, for the rest of the run."""
        if parameter == "temperature":
            self._temperature = None
        else:
            self._room_parameter = "max_completion_tokens"
