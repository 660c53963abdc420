"""The way over the wire: aiohttp below, one request and its answer, and the moment at which it goes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies

import msgspec

from trajcompress.summarize.endpoint.answer import read_body
from trajcompress.summarize.endpoint.retry import CONNECT_S

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
def telling_when_sent(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` each time a piece of a request that is made within the block goes out."""
    token = _when_sent.set(tell)
    try:
        yield
    finally:
        _when_sent.reset(token)


def http_client(connections: int, *, telling: bool, secure: bool = True) -> httpx2.AsyncClient:
    """Return a client that follows no redirect: that would be a second request, past the limiter.

    It knows no time-out but that of a connection; whoever calls has one. Make it within the event loop that it is to
    be used in.

    Args:
        connections: How many it has at most.
        telling: Whether its requests tell when they go out, which makes them dearer by a twelfth.
        secure: Whether any of its requests may go to ``https``: certificates take a while to load.
    """
    import aiohttp
    import httpx2

    from trajcompress.summarize.endpoint.alike import AlikeClient, SessionTransport

    trace = aiohttp.TraceConfig()
    trace.on_request_chunk_sent.append(_on_chunk_sent)
    trusting = bool(getproxies())  # asking for a proxy, and for the netrc, crosses threads twice a request
    tls = httpx2.create_ssl_context() if secure or trusting else True
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections, ssl=tls, keepalive_timeout=IDLE_S),
        trust_env=trusting,
        trace_configs=[trace] if telling else [],
        timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_S),
        auto_decompress=False,
    )
    return AlikeClient(SessionTransport(session))


def completions_url(client: AsyncOpenAI) -> str:
    """Return where a client asks for chat completions: whole, so that it is not joined anew for each request."""
    base = client.base_url
    if base.is_relative_url:
        return "/chat/completions"  # the client joins it, and says that it leads nowhere
    return str(base.copy_with(raw_path=base.raw_path + b"chat/completions"))


async def ask_for_completion(client: AsyncOpenAI, url: str, asked: dict[str, Any]) -> bytes:
    """Return the body of the answer to one request, but not much beyond what :func:`read_body` reads of it.

    By ``post``, as ``create`` walks through the types of all that could be asked: a third of the cost of a call. And
    of bytes, as the client's own JSON takes seven times as long.

    Args:
        client: By whom.
        url: As of :func:`completions_url`.
        asked: The body of the request.

    Raises:
        openai.OpenAIError: nobody was reached, or the answer is an error.
        httpx2.HTTPError: the connection broke.
    """
    import httpx2

    response = await client.post(url, cast_to=httpx2.Response, content=msgspec.json.encode(asked), options=_OPTIONS)
    try:
        return await read_body(response.aiter_bytes())
    finally:
        await response.aclose()


async def _on_chunk_sent(
    _session: aiohttp.ClientSession, _context: SimpleNamespace, _chunk: aiohttp.TraceRequestChunkSentParams
) -> None:
    tell = _when_sent.get()
    if tell is not None:
        tell()
