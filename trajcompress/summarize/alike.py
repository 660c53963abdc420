"""The HTTP client below the model's: requests that are alike but for their bodies are made from one another.

Imports what is heavy, so it is imported where a client is made.
"""

from __future__ import annotations

from typing import Any

import httpx2
import openai


class AlikeClient(openai.DefaultAioHttpClient):
    """Makes a request from the one before where only its body differs: nothing is parsed or merged again."""

    _before: tuple[object, httpx2.Request] | None = None

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
        request = httpx2.Request(like.method, like.url, headers=like.headers, stream=body, extensions=like.extensions)
        request.headers["Content-Length"] = str(len(content))
        request.read()  # as where a request is made of its content: it is sent in one piece
        return request
