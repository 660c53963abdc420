"""HTTP transport over aiohttp: one request and its answer, and the moment at which it goes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies

import msgspec

from trajcompress.summarize.answer import read_body
from trajcompress.summarize.retry import CONNECT_S

if TYPE_CHECKING:
    import aiohttp
    import httpx2
    from openai import AsyncOpenAI, RequestOptions

IDLE_S = 4  # uvicorn, which vLLM runs on, closes idle connections after 5 s; a request then must not be under way

_OPTIONS: RequestOptions = {
    "headers": {"X-Stainless-Raw-Response": "stream"},  # the body is read here, as far as it may be
    "security": {"bearer_auth": True},
    "max_retries": 0,  # what is not given, the client copies with care
    "idempotency_key": "",  # not sent: else the client makes one up
}

_when_sent: ContextVar[Callable[[], None] | None] = ContextVar("when_sent", default=None)


@contextmanager
def emitting_when_sent(emit: Callable[[], None]) -> Iterator[None]:
    """Call ``emit`` each time a piece of a request that is made within the block goes out."""
    token = _when_sent.set(emit)
    try:
        yield
    finally:
        _when_sent.reset(token)


def http_client(connections: int, *, telling: bool, secure: bool = True) -> httpx2.AsyncClient:
    """Return a client that follows no redirect: that would be a second request, past the limiter.

    Make it within the event loop that it is to be used in.

    Args:
        connections: How many it has at most.
        telling: Whether its requests tell when they go out, which makes them dearer by a twelfth.
        secure: Whether any of its requests may go to ``https``: certificates take a while to load.
    """
    import aiohttp
    import httpx2
    import openai
    from httpx_aiohttp.httpx2 import AiohttpTransport

    trace = aiohttp.TraceConfig()
    trace.on_request_chunk_sent.append(_on_chunk_sent)
    trusting = bool(getproxies())  # asking for a proxy, and for the netrc, crosses threads twice a request
    tls = httpx2.create_ssl_context() if secure or trusting else True
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections, ssl=tls, keepalive_timeout=IDLE_S),
        trust_env=trusting,
        trace_configs=[trace] if telling else [],
    )
    transport = AiohttpTransport(verify=False, client=session)  # the session verifies; no certificates for nothing
    return openai.DefaultAioHttpClient(transport=transport, follow_redirects=False)


def request_timeout(seconds: float) -> httpx2.Timeout:
    """Return the time-outs of a request that may take so many seconds: a connection is made sooner, or not at all."""
    import httpx2

    return httpx2.Timeout(seconds, connect=CONNECT_S, pool=None)


async def ask_for_completion(client: AsyncOpenAI, asked: dict[str, Any]) -> bytes:
    """Return the body of the answer to one request, but not much beyond what :func:`read_body` reads of it.

    By ``post``, as ``create`` walks through the types of all that could be asked: a third of the cost of a call. And
    of bytes, as the client's own JSON takes seven times as long.

    Args:
        client: By whom.
        asked: The body of the request.

    Raises:
        openai.OpenAIError: nobody was reached, or the answer is an error.
        httpx2.HTTPError: the connection broke.
    """
    import httpx2

    body = msgspec.json.encode(asked)
    response = await client.post("/chat/completions", cast_to=httpx2.Response, content=body, options=_OPTIONS)
    try:
        return await read_body(response.aiter_bytes())
    finally:
        await response.aclose()


async def _on_chunk_sent(
    _session: aiohttp.ClientSession, _context: SimpleNamespace, _chunk: aiohttp.TraceRequestChunkSentParams
) -> None:
    emit = _when_sent.get()
    if emit is not None:
        emit()
