"""The Files and Batches API of an endpoint: requests go up as a file, replies come down as one or two.

Facts about it: https://platform.openai.com/docs/guides/batch (files for one model, of 50,000 requests and 200 MB at
most; replies in any order, told apart by ``custom_id``; what an expired batch has answered can be had).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from trajcompress.errors import SummarizerUnusableError
from trajcompress.summarize.endpoint.batch.replies import MAX_LINE_BYTES, decision_on, read_reply
from trajcompress.summarize.endpoint.batch.store import Answered, Batch, BatchStore, Refused, Reply
from trajcompress.summarize.endpoint.masking import Masking
from trajcompress.summarize.endpoint.openai_client import import_openai
from trajcompress.summarize.retry import GiveUpRow, Retry, StopRun, classify, one_line

if TYPE_CHECKING:
    import openai

MOST_REQUESTS = 50_000
MOST_BYTES = 190 * 10**6
_ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
_UPLOAD_S = 1_800.0
_RETRIES = 5
_LOOKED_THROUGH = 1_000  # batches of an account, for one that was made just before a kill
_ENDED = {"completed", "expired", "cancelled", "failed"}
_LINE_OVERHEAD = 200  # bytes around the body of a request


class Ending(Struct, frozen=True):
    """How a batch ended: its ``status``, how many of its requests have no reply, and what was said of the first."""

    status: str
    missing: int
    words: str


class _Said(Struct):
    """What is said in place of replies: the first words, and the first refusal of whatever is asked."""

    words: str = ""
    stop: StopRun | None = None

    def add(self, decision: StopRun | Retry | GiveUpRow) -> None:
        self.words = self.words or decision.detail
        if isinstance(decision, StopRun):
            self.stop = self.stop or decision


class BatchApi:
    """Sends batches, and fetches the replies to them.

    Every method raises :class:`~trajcompress.errors.SummarizerUnusableError` where the endpoint refuses it, or cannot
    be reached.

    Args:
        base_url: The endpoint, None for OpenAI's own.
        api_key: Sent as a bearer token.
        store: Where requests and replies are kept.
        redact_secrets: Whether secrets in replies become marks.
    """

    def __init__(self, base_url: str | None, api_key: str, store: BatchStore, *, redact_secrets: bool = True) -> None:
        import_openai()
        import openai

        self._masking = Masking(api_key, redact_secrets=redact_secrets)
        self._store = store
        self._client: openai.OpenAI = openai.OpenAI(api_key=api_key, base_url=base_url, max_retries=_RETRIES)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def form_batches(self) -> list[Batch]:
        """Put all that is wanted into batches that the endpoint takes."""
        return self._store.form_batches(MOST_REQUESTS, MOST_BYTES, overhead=_LINE_OVERHEAD)

    def submit(self, batch: Batch, folder: Path) -> str:
        """Send a batch, unless it was sent just before a kill; return the endpoint's name for it.

        Its file is put together in the ``folder``.
        """
        with self._talking("send a batch"):
            name = self._made_before(batch.file) if batch.file else None
            if name is None:
                file = batch.file or self._upload(batch, folder / f"batch-{batch.number:05d}.jsonl")
                made = self._client.batches.create(input_file_id=file, endpoint=_ENDPOINT, completion_window="24h")
                name = made.id
            self._store.note_created(batch, name)
            return name

    def fetch(self, batch: Batch) -> Ending | str:
        """Keep the replies of a batch that has ended, in whole or in part; return how far it is where it goes on.

        Raises:
            SummarizerUnusableError: besides, where the endpoint refused not a request, but any; replies are kept.
        """
        said = _Said()
        with self._talking("fetch a batch"):
            found = self._client.batches.retrieve(batch.id or "")
            if found.status not in _ENDED:
                counts = found.request_counts
                done = f", {counts.completed + counts.failed:,} of {counts.total:,} requests" if counts else ""
                return f"{found.status}{done}"
            for error in (found.errors.data if found.errors else None) or ():
                words = one_line(error.message or error.code or "", self._masking)
                decision = decision_on(Refused(400, (error.code or "",), None, words))
                said.add(GiveUpRow("", words) if not isinstance(decision, StopRun) else decision)
            files = [file for file in (found.output_file_id, found.error_file_id) if file]
            missing = self._store.end(batch, (reply for file in files for reply in self._replies(file, said)))
        if said.stop:
            self._store.give_back(batch)
            raise SummarizerUnusableError(said.stop.reason, said.stop.detail, has_answered=True)
        return Ending(found.status, missing, said.words)

    def _upload(self, batch: Batch, path: Path) -> str:
        with path.open("wb") as file:
            for name, body in self._store.requests_of(batch):
                asked = {"custom_id": name, "method": "POST", "url": _ENDPOINT, "body": msgspec.Raw(body)}
                file.write(msgspec.json.encode(asked) + b"\n")
        try:
            with path.open("rb") as file:
                sent = self._client.files.create(file=(path.name, file), purpose="batch", timeout=_UPLOAD_S)
        finally:
            path.unlink()
        self._store.note_upload(batch, sent.id)  # before a batch is made of it: one that was made is found by it
        return sent.id

    def _made_before(self, file: str) -> str | None:
        for place, made in enumerate(self._client.batches.list(limit=100)):
            if made.input_file_id == file:
                return made.id
            if place == _LOOKED_THROUGH:
                break
        return None

    def _replies(self, file: str, said: _Said) -> Iterator[tuple[str, Reply]]:
        with self._client.files.with_streaming_response.content(file) as response:
            for line in response.iter_lines():
                read = read_reply(line.encode(), self._masking) if len(line) <= MAX_LINE_BYTES else None
                if read is None:
                    continue  # its request has no reply, and is sent again
                name, reply = read
                if isinstance(reply, StopRun | Retry):
                    said.add(reply)
                elif isinstance(reply, Answered):
                    yield name, Answered(self._masking.answer(reply.answer))
                else:
                    yield name, reply

    @contextmanager
    def _talking(self, what: str) -> Iterator[None]:
        import httpx2
        import openai

        try:
            yield
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError) as error:
            decision = classify(error, time.time(), self._masking)
            reason = decision.reason if isinstance(decision, StopRun) else "batch_refused"
            raise SummarizerUnusableError(
                reason,
                f"cannot {what} at the endpoint: {decision.detail}; --batch takes an endpoint that has OpenAI's "
                "Files and Batches APIs",
            ) from error
