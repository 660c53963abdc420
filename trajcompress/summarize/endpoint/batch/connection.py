"""One model that is asked by batches: replies are looked up, and what has none is noted for the next batch."""

from __future__ import annotations

import asyncio

import msgspec

from trajcompress.errors import AwaitsBatchError
from trajcompress.summarize.answer import Answer
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.endpoint.batch.replies import decision_on
from trajcompress.summarize.endpoint.batch.store import Answered, BatchStore, Refused, request_id
from trajcompress.summarize.endpoint.call_events import CallEvent
from trajcompress.summarize.endpoint.connection import ModelConnection
from trajcompress.summarize.endpoint.summary_prompt import BuiltPrompt
from trajcompress.summarize.retry import Adapt, Decision, GiveUpRow

UNANSWERED = "batch_unanswered"


class BatchConnection:
    """Stands in for a :class:`ModelConnection`.

    The first request of all goes out by itself, so that a wrong key, a wrong name of the model, or a parameter that
    it refuses shows before hours have passed.

    Args:
        model: The name of the model.
        live: Sends single requests.
        store: Where requests and replies are kept.
        sends_single: Whether a request that no batch was answered for goes out by itself.
    """

    def __init__(self, model: str, live: ModelConnection, store: BatchStore, *, sends_single: bool) -> None:
        self._model = model
        self._live = live
        self._store = store
        self._sends_single = sends_single
        self.masking = live.masking
        self._first = asyncio.Lock()
        for parameter in ("temperature", "max_tokens"):
            if self._refuses(parameter) in store.settled():
                live.adapt(parameter)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._live.aclose()

    def adapt(self, parameter: str) -> None:
        """Do without a parameter that the server refuses, now and after a break."""
        self._store.settle(self._refuses(parameter))
        self._live.adapt(parameter)

    async def send(
        self, request: SummaryRequest, built: BuiltPrompt, call: CallEvent, *, prompt_tokens: int, room: int
    ) -> Answer | Decision | Adapt:
        """Return the reply to a request, or the decision on an error in its place.

        Raises:
            AwaitsBatchError: it is to be had with the next batch.
        """
        parameters = self._live.parameters(room)
        body = msgspec.json.encode(self._live.asked(built, parameters))
        name = request_id(body)
        reply = self._store.find(name)
        if reply is None and self._is_first:
            async with self._first:
                if self._is_first:
                    sent = await self._send_single(request, built, call, name, prompt_tokens=prompt_tokens, room=room)
                    if isinstance(sent, Answer):
                        self._store.settle(f"{self._model} answers")
                    return sent
        if reply is None:
            self._store.want(name, request.row_id, self._model, body)
            raise AwaitsBatchError("a summary is to be had with the next batch; run the same command again")
        if reply == "unanswered":
            if self._sends_single:
                return await self._send_single(request, built, call, name, prompt_tokens=prompt_tokens, room=room)
            return GiveUpRow(UNANSWERED, "no batch was answered; --batch-fallback asks by single calls")
        call.usage.api_calls += 1
        call.usage.errors += 1  # until its answer proves usable
        call.began, call.parameters = asyncio.get_running_loop().time(), parameters
        if isinstance(reply, Refused):
            return decision_on(reply)
        answer = reply.answer
        call.usage.add_tokens(
            answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens, batched=reply.batched
        )
        return answer

    async def _send_single(
        self,
        request: SummaryRequest,
        built: BuiltPrompt,
        call: CallEvent,
        name: str,
        *,
        prompt_tokens: int,
        room: int,
    ) -> Answer | Decision | Adapt:
        """Send a request by itself, and keep the answer: it is found again as those of batches are."""
        answer = await self._live.send(request, built, call, prompt_tokens=prompt_tokens, room=room)
        if isinstance(answer, Answer):
            self._store.answer(name, request.row_id, self._model, Answered(answer, batched=False))
        return answer

    @property
    def _is_first(self) -> bool:
        return f"{self._model} answers" not in self._store.settled()

    def _refuses(self, parameter: str) -> str:
        return f"{self._model} refuses {parameter}"
