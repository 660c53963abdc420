"""The way over the wire: aiohttp, one request and its answer, and the moment at which it goes out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies

import msgspec

from trajcompress.summarize.endpoint.answer import read_body
from trajcompress.summarize.endpoint.retry import CONNECT_S

if TYPE_CHECKING:
    import aiohttp

IDLE_S = 4  # uvicorn, which vLLM runs on, closes idle connections after 5 s; a request then must not be under way

_OPENAI = "https://api.openai.com/v1"
_OF_ENVIRONMENT = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""Headers that OpenAI's own clients take out of the environment, by the variable."""
_CUSTOM_HEADERS = "OPENAI_CUSTOM_HEADERS"
_CHUNK = 1 << 14

_when_sent: ContextVar[Callable[[], None] | None] = ContextVar("when_sent", default=None)


@contextmanager
def emitting_when_sent(emit: Callable[[], None]) -> Iterator[None]:
    """Call ``emit`` each time a piece of a request that is made within the block goes out."""
    token = _when_sent.set(emit)
    try:
        yield
    finally:
        _when_sent.reset(token)


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What a server sent: an HTTP status, headers (their names in any case), and a body, unpacked."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the request was answered with what was asked for."""
        return 200 <= self.status < 300  # noqa: PLR2004 - the class of HTTP's successes


class Wire:
    """Posts requests to one endpoint, over a pool of connections. Make it within the event loop it is to be used in.

    It is aiohttp by itself, as OpenAI's client takes as long to import as four hundred rows take to be counted, and
    retries, time-outs, limits and errors are dealt with here anyway. It follows no redirect: that would be a second
    request, past the limiter, and the key would go along.

    Args:
        base_url: Of the endpoint, up to and with /v1; None for that of the environment, or OpenAI's own.
        api_key: Sent as a bearer token; None where the endpoint wants none.
        connections: How many there are at most.
        timeout: Seconds for which the server may be silent; a connection is made sooner, or not at all.
        telling: Whether requests tell when they go out, which makes them dearer by a twelfth.
    """

    def __init__(
        self, base_url: str | None, api_key: str | None, *, connections: int, timeout: float, telling: bool
    ) -> None:
        import aiohttp

        base = (base_url or os.environ.get("OPENAI_BASE_URL") or _OPENAI).rstrip("/")
        self._url = f"{base}/chat/completions"
        trace = aiohttp.TraceConfig()
        trace.on_request_chunk_sent.append(_on_chunk_sent)
        trusting = bool(getproxies())  # asking for a proxy, and for the netrc, crosses threads twice a request
        self._session = aiohttp.ClientSession(
            headers=_headers(api_key),
            cookie_jar=aiohttp.CookieJar(unsafe=True),  # those of addresses, too: they tell a balancer who answers
            connector=aiohttp.TCPConnector(
                limit=connections,
                ssl=_trusted() if trusting or not base.startswith("http://") else True,
                keepalive_timeout=IDLE_S,
            ),
            timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_S, sock_read=timeout),
            trust_env=trusting,
            trace_configs=[trace] if telling else [],
        )

    async def post(self, asked: dict[str, Any]) -> HttpReply:
        """Send one request, and return the reply, but not much beyond what :func:`read_body` reads of its body.

        Raises:
            aiohttp.ClientError: nobody was reached, or the connection broke.
            OSError: likewise, or a time-out.
        """
        async with self._session.post(self._url, data=msgspec.json.encode(asked), allow_redirects=False) as response:
            body = await read_body(response.content.iter_chunked(_CHUNK))
            return HttpReply(response.status, response.headers, body)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()


def _headers(api_key: str | None) -> dict[str, str]:
    headers = {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "User-Agent": "trajcompress",
    }
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    headers |= {header: os.environ[name] for name, header in _OF_ENVIRONMENT.items() if os.environ.get(name)}
    for line in os.environ.get(_CUSTOM_HEADERS, "").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip()] = value.strip()
    return headers


def _trusted() -> Any:
    """Return the TLS context of the certificates that are trusted: those of SSL_CERT_FILE where that is set."""
    import httpx2

    return httpx2.create_ssl_context()


async def _on_chunk_sent(
    _session: aiohttp.ClientSession, _context: SimpleNamespace, _chunk: aiohttp.TraceRequestChunkSentParams
) -> None:
    emit = _when_sent.get()
    if emit is not None:
        emit()
