"""The HTTP client for the endpoint: aiohttp below, and the moment at which each request goes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import SimpleNamespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import aiohttp
    import httpx2

IDLE_S = 4  # uvicorn, which vLLM runs on, closes idle connections after 5 s; a request then must not be under way

_when_sent: ContextVar[Callable[[], None] | None] = ContextVar("when_sent", default=None)


@contextmanager
def telling_when_sent(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` each time a piece of a request that is made within the block goes out."""
    token = _when_sent.set(tell)
    try:
        yield
    finally:
        _when_sent.reset(token)


def http_client(connections: int) -> httpx2.AsyncClient:
    """Return a client with at most so many connections. Its requests tell when they go out.

    It follows no redirect: that would be a second request, past the limiter.
    """
    import aiohttp
    import httpx2
    import openai
    from httpx_aiohttp.httpx2 import AiohttpTransport

    tls = httpx2.create_ssl_context()

    def session() -> aiohttp.ClientSession:
        trace = aiohttp.TraceConfig()
        trace.on_request_chunk_sent.append(_on_chunk_sent)
        connector = aiohttp.TCPConnector(limit=connections, ssl=tls, keepalive_timeout=IDLE_S)
        return aiohttp.ClientSession(connector=connector, trust_env=True, trace_configs=[trace])  # proxies

    return openai.DefaultAioHttpClient(transport=AiohttpTransport(client=session), follow_redirects=False)


async def _on_chunk_sent(
    _session: aiohttp.ClientSession, _context: SimpleNamespace, _chunk: aiohttp.TraceRequestChunkSentParams
) -> None:
    tell = _when_sent.get()
    if tell is not None:
        tell()
