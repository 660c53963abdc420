"""The HTTP client below the model's: requests that are alike but for their bodies are made from one another.

Imports what is heavy, so it is imported where a client is made.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import httpx2
import openai
from httpx_aiohttp.httpx2.transport import map_aiohttp_exceptions


class AlikeClient(openai.DefaultAioHttpClient):
    """Makes a request from the one before where only its body differs: nothing is parsed or merged again.

    Such a request goes into ``transport`` at once. What a client does between is for requests that log in, are
    redirected, or are watched by hooks.
    """

    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        super().__init__(transport=transport, follow_redirects=False)
        self._to = transport
        self._before: tuple[object, httpx2.Request] | None = None

    def build_request(
        self, method: str, url: httpx2.URL | str, *, content: Any = None, **more: Any
    ) -> httpx2.Request:
        """Return a request to be sent by this client."""
        if not isinstance(content, bytes) or self.cookies:
            return super().build_request(method, url, content=content, **more)
        asked = (method, url, more)
        if self._before is None or self._before[0] != asked:
            self._before = (asked, super().build_request(method, url, content=content, **more))
        like, body = self._before[1], httpx2.ByteStream(content)
        request = _Alike(like.method, like.url, headers=like.headers, stream=body, extensions=like.extensions)
        request.headers["Content-Length"] = str(len(content))
        request.headers.encoding = like.headers.encoding  # else it is looked for once more
        request.read()  # as where a request is made of its content: it is sent in one piece
        return request

    async def send(self, request: httpx2.Request, *, stream: bool = False, **more: Any) -> httpx2.Response:
        """Send a request."""
        if not (stream and isinstance(request, _Alike)) or self.is_closed:
            return await super().send(request, stream=stream, **more)
        response = await self._to.handle_async_request(request)
        if "set-cookie" in response.headers:
            self.cookies.extract_cookies(response)
        return response


class SessionTransport(httpx2.AsyncBaseTransport):
    """Sends requests by a session of aiohttp that leaves bodies encoded; it knows no time-outs."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request whose body was read. Raises httpx2.RequestError where no answer comes."""
        with map_aiohttp_exceptions():
            response = await self._session.request(
                request.method,
                str(request.url),
                headers=request.headers.multi_items(),
                data=request.content or None,
                allow_redirects=False,
            )
        return httpx2.Response(response.status, headers=response.raw_headers, stream=_Body(response), request=request)

    async def aclose(self) -> None:
        """Close the session."""
        await self._session.close()


class _Alike(httpx2.Request):
    """A request that was made from the one before."""


class _Body(httpx2.AsyncByteStream):
    """The body of a response, in the pieces that it comes in."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with map_aiohttp_exceptions():
            async for chunk in self._response.content.iter_any():
                yield chunk

    async def aclose(self) -> None:
        self._response.release()
        await self._response.wait_for_close()
