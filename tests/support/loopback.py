"""A scriptable OpenAI-compatible server on 127.0.0.1. It records every request, and can fail on demand.

    with LoopbackServer(script=[rate_limited("1"), None]) as server:
        ...  # server.base_url, server.seen

By hand: ``python tests/support/loopback.py --port 8080 --fault-rate 0.3``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import threading
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Self

from aiohttp import web
from loopback_replies import Reply, Seen, completion, obedient, tokens_of, usual_faults

Script = Callable[[Seen], Reply | None] | Iterable[Reply | None]


class LoopbackServer:
    """Serves in a thread of its own, from ``with`` to its end.

    Args:
        script: What to do with each request: a callable, or replies to be used up one by one; None means answer.
        fault_rate: The share of requests, after the script, that fail with one of ``faults`` at random.
        faults: By default :func:`usual_faults`.
        seed: Of the faults.
        latency: Seconds before each answer.
        port: 0 for a free one.
        on_seen: Called with each request after it was dealt with.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        fault_rate: float = 0.0,
        faults: Sequence[Reply] | None = None,
        seed: int = 0,
        latency: float = 0.0,
        port: int = 0,
        on_seen: Callable[[Seen], None] | None = None,
    ) -> None:
        self.seen: list[Seen] = []
        self.most_at_once = 0
        self._at_once = 0
        self._choose = script if callable(script) else _one_by_one(script)
        self._fault_rate = fault_rate
        self._faults = list(faults) if faults is not None else usual_faults()
        self._rng = random.Random(seed)  # noqa: S311 - repeatable on purpose
        self.latency = latency
        self._port = port
        self._on_seen = on_seen
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="loopback", daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def connections(self) -> int:
        """Connections that requests came by."""
        return len({seen.peer for seen in self.seen})

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise RuntimeError("the loopback server did not start") from self._failure
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits for the start
            self._failure = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        app = web.Application(client_max_size=1 << 28)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._chat)
        self.routes(app)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", self._port, backlog=1024)
            await site.start()
            self._port = runner.addresses[0][1]
            self._ready.set()
            await self._closing.wait()
        finally:
            await runner.cleanup()

    def routes(self, app: web.Application) -> None:
        """Add what else the server speaks."""

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "loopback", "object": "model"}]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        arrived = time.monotonic()
        body = await request.json()
        seen = Seen(
            time=arrived,
            peer=request.transport.get_extra_info("peername") if request.transport else ("", 0),
            model=body.get("model", ""),
            messages=body["messages"],
            body=body,
            headers={name.lower(): value for name, value in request.headers.items()},
            prompt_tokens=0,
        )
        seen.prompt_tokens = tokens_of(seen.text)
        self.seen.append(seen)
        reply = self._choose(seen) or self._fault() or Reply()
        seen.outcome = reply.name
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await self._answer(request, seen, reply)
        finally:
            self._at_once -= 1
            if self._on_seen:
                self._on_seen(seen)

    def _fault(self) -> Reply | None:
        return self._rng.choice(self._faults) if self._rng.random() < self._fault_rate else None

    async def _answer(self, request: web.Request, seen: Seen, reply: Reply) -> web.StreamResponse:
        if self.latency or reply.delay:
            await asyncio.sleep(self.latency + reply.delay)
        if reply.ending == "hang":
            await self._closing.wait()
        if reply.ending in {"closed", "hang"}:
            _abort(request)
            return web.Response()
        if reply.raw is not None:
            return await _drip(request, reply)
        if isinstance(reply.body, str):
            return web.Response(text=reply.body, status=reply.status, headers=reply.headers, content_type="text/html")
        if reply.body is not None:
            return web.json_response(reply.body, status=reply.status, headers=reply.headers)
        whole = web.json_response(completion(seen, reply), headers=reply.headers)
        if reply.ending == "whole":
            return whole
        part = web.StreamResponse(headers={"Content-Type": "application/json"})
        part.content_length = len(whole.body)  # type: ignore[arg-type]  # json_response makes bytes
        await part.prepare(request)
        await part.write(bytes(whole.body)[:20])  # type: ignore[arg-type]  # json_response makes bytes
        _abort(request)
        return part


async def _drip(request: web.Request, reply: Reply) -> web.StreamResponse:
    raw = reply.raw or b""
    response = web.StreamResponse(headers={"Content-Type": "application/json", **reply.headers})
    if reply.pieces == 1:
        response.content_length = len(raw)
    await response.prepare(request)
    size = -(-len(raw) // reply.pieces) or 1
    with contextlib.suppress(ConnectionError):  # nobody listens any more
        for at in range(0, len(raw), size):
            await response.write(raw[at : at + size])
            await asyncio.sleep(reply.delay if reply.pieces > 1 else 0)
        await response.write_eof()
    return response


def most_in_window(seen: Iterable[Seen], seconds: float, weight: Callable[[Seen], int] = lambda _: 1) -> int:
    """Return the largest sum of ``weight`` over the requests of any ``seconds``, the end of them not included."""
    ordered = sorted(seen, key=lambda one: one.time)
    times = [one.time for one in ordered]
    return max(
        (sum(map(weight, ordered[start : bisect_left(times, begin + seconds)])) for start, begin in enumerate(times)),
        default=0,
    )


def _one_by_one(replies: Iterable[Reply | None]) -> Callable[[Seen], Reply | None]:
    left = deque(replies)
    return lambda _: left.popleft() if left else None


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def main() -> None:
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server for trying things out.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--fault-rate", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--obedient", action="store_true", help="summaries hold the strings that must survive")
    options = parser.parse_args()

    def show(seen: Seen) -> None:
        tokens = f"{seen.prompt_tokens}+{seen.completion_tokens}"
        print(f"{seen.time:.3f} {seen.model} {tokens} {seen.outcome}", flush=True)  # noqa: T201 - a command

    server = LoopbackServer(
        obedient if options.obedient else (),
        fault_rate=options.fault_rate,
        seed=options.seed,
        latency=options.latency,
        port=options.port,
        on_seen=show,
    )
    with server:
        print(server.base_url, flush=True)  # noqa: T201 - a command
        threading.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
