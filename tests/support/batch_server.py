"""A loopback server that speaks the Files and Batches APIs, too: batches end when they are told to."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web
from loopback import LoopbackServer
from loopback_replies import Reply, Seen, completion, tokens_of

Status = Literal["in_progress", "completed", "expired", "cancelled", "failed"]


@dataclass(slots=True)
class MadeBatch:
    """A batch at the server: ``asked`` are the lines of its file."""

    id: str
    file: str
    asked: list[dict[str, Any]]
    status: Status = "in_progress"
    output: str | None = None
    errors: str | None = None
    looks: int = 0
    words: list[dict[str, Any]] = field(default_factory=list)


class BatchServer(LoopbackServer):
    """Answers the requests of a batch as single ones, by the ``script``, when it ends.

    Args:
        ends: How a batch ends once it is looked at, by its number from 0; None: it goes on.
        answered: The share of requests that are answered in a batch that does not complete.
        script: As :class:`LoopbackServer` has it; it is asked for single calls and for lines of batches.
    """

    def __init__(
        self,
        script: Callable[[Seen], Reply | None] = lambda _: None,
        *,
        ends: Callable[[MadeBatch, int], Status | None] = lambda _batch, _number: "completed",
        answered: float = 0.5,
        **more: Any,
    ) -> None:
        super().__init__(script, **more)
        self.files: dict[str, bytes] = {}
        self.batches: list[MadeBatch] = []
        self.lines: list[Seen] = []
        self.ends = ends
        self._answered = answered

    def routes(self, app: web.Application) -> None:
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files/{file}/content", self._content)
        app.router.add_post("/v1/batches", self._create)
        app.router.add_get("/v1/batches", self._list)
        app.router.add_get("/v1/batches/{batch}", self._look)

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        name = f"file-{len(self.files)}"
        self.files[name] = form["file"].file.read()  # type: ignore[union-attr]  # a field with a file
        return web.json_response(
            {
                "id": name,
                "object": "file",
                "bytes": len(self.files[name]),
                "created_at": 0,
                "filename": "b.jsonl",
                "purpose": str(form["purpose"]),
                "status": "processed",
            }
        )

    async def _content(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["file"]])

    async def _create(self, request: web.Request) -> web.Response:
        body = await request.json()
        assert body["endpoint"] == "/v1/chat/completions"
        assert body["completion_window"] == "24h"
        asked = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert len({each["custom_id"] for each in asked}) == len(asked)
        assert len({each["body"]["model"] for each in asked}) == 1
        batch = MadeBatch(f"batch_{len(self.batches)}", body["input_file_id"], asked)
        self.batches.append(batch)
        return web.json_response(self._described(batch))

    async def _list(self, _: web.Request) -> web.Response:
        data = [self._described(batch) for batch in reversed(self.batches)]
        return web.json_response({"object": "list", "data": data, "has_more": False})

    async def _look(self, request: web.Request) -> web.Response:
        number = int(request.match_info["batch"].removeprefix("batch_"))
        batch = self.batches[number]
        batch.looks += 1
        if batch.status == "in_progress" and (status := self.ends(batch, number)):
            self._end(batch, status)
        return web.json_response(self._described(batch))

    def _end(self, batch: MadeBatch, status: Status) -> None:
        batch.status = status
        if status == "failed":
            batch.words = batch.words or [
                {
                    "code": "token_limit_exceeded",
                    "message": "Enqueued token limit reached.",
                }
            ]
            return
        lines = list(batch.asked)
        random.Random(0).shuffle(lines)  # noqa: S311 - in another order than asked
        cut = len(lines) if status == "completed" else int(len(lines) * self._answered)
        good, bad = [], []
        for place, asked in enumerate(lines):
            if place >= cut:
                error = {"code": f"batch_{status}", "message": "This request could not be executed in time."}
                bad.append({"id": f"r{place}", "custom_id": asked["custom_id"], "response": None, "error": error})
                continue
            code, body = self._reply(asked["body"])
            line = {
                "id": f"r{place}",
                "custom_id": asked["custom_id"],
                "response": {"status_code": code, "request_id": "x", "body": body},
                "error": None,
            }
            (good if code == 200 else bad).append(line)
        batch.output, batch.errors = self._kept(good), self._kept(bad)

    def _reply(self, body: dict[str, Any]) -> tuple[int, Any]:
        seen = Seen(0.0, ("", 0), body["model"], body["messages"], body, {}, 0)
        seen.prompt_tokens = tokens_of(seen.text)
        self.lines.append(seen)
        reply = self._choose(seen) or Reply()
        seen.outcome = reply.name
        return (reply.status, reply.body) if reply.body is not None else (200, completion(seen, reply))

    def _kept(self, lines: list[dict[str, Any]]) -> str | None:
        if not lines:
            return None
        name = f"file-{len(self.files)}"
        self.files[name] = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        return name

    def _described(self, batch: MadeBatch) -> dict[str, Any]:
        done = len(batch.asked) if batch.status == "completed" else 0
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "created_at": 0,
            "input_file_id": batch.file,
            "status": batch.status,
            "output_file_id": batch.output,
            "error_file_id": batch.errors,
            "errors": {"object": "list", "data": batch.words} if batch.words else None,
            "request_counts": {"total": len(batch.asked), "completed": done, "failed": 0},
        }
