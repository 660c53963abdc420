"""An endpoint on loopback that answers with whatever bytes it is told: no client would get these from a framework."""

from __future__ import annotations

import json
import re
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

COMPLETION = {
    "choices": [{"message": {"content": "## Goal\n- mend the parser"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 9},
}
_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its place among all, what it asks for, and its headers by lower-case name."""

    number: int
    target: str
    headers: dict[str, str]
    body: bytes


def answer(
    status: int = 200, body: bytes | dict[str, object] | str = b"", *, declared: int | None = None, **headers: str
) -> bytes:
    """Return the bytes of an answer; ``declared`` is its length where that is a lie."""
    kind = "application/json" if isinstance(body, dict) else "text/html"
    content = (
        json.dumps(body).encode() if isinstance(body, dict) else body.encode() if isinstance(body, str) else body
    )
    length = len(content) if declared is None else declared
    named = {"Content-Type": kind, "Content-Length": str(length)}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} As Told", *(f"{name}: {value}" for name, value in named.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + content


def refusal(status: int, message: str, code: str | None = None, **headers: str) -> bytes:
    return answer(status, {"error": {"message": message, "code": code}}, **headers)


OK = answer(200, COMPLETION)


class RawEndpoint:
    """Serves in threads of its own, from ``with`` to its end.

    Args:
        reply: what to send to a request; None for nothing at all.
        host: where to listen.
        port: 0 for a free one.
        tls: speaks TLS by it.
        closing: whether each connection is closed after its first answer, without a word of that.
    """

    def __init__(
        self,
        reply: Callable[[Asked], bytes | None],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        closing: bool = False,
    ) -> None:
        self.asked: list[Asked] = []
        self._reply = reply
        self._tls = tls
        self._closing = closing
        self._lock = threading.Lock()
        self._ended = threading.Event()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, backlog=100)
        self.port = self._socket.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self.base_url = f"{'https' if tls else 'http'}://{shown}:{self.port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._socket.close()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(_SECONDS)
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as stream:
                while (asked := self._read(stream)) is not None:
                    sent = self._reply(asked)
                    if sent is None:
                        self._ended.wait(_SECONDS)
                        return
                    connection.sendall(sent)
                    if self._closing or not _is_whole(sent):
                        return
        except (OSError, ValueError):
            return

    def _read(self, stream) -> Asked | None:
        first = stream.readline()
        if not first.strip():
            return None
        headers = {}
        while (line := stream.readline().decode("latin-1").strip()) != "":
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", 0)))
        with self._lock:
            asked = Asked(len(self.asked) + 1, first.split()[1].decode(), headers, body)
            self.asked.append(asked)
        return asked


def _is_whole(sent: bytes) -> bool:
    """Tell whether more may follow on the connection."""
    head, _, body = sent.partition(b"\r\n\r\n")
    declared = re.search(rb"content-length: (\d+)", head.lower())
    return declared is not None and len(body) >= int(declared[1])
