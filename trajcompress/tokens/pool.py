"""The tokenizer's own backend in worker processes, for tokenizers that no fast engine loads."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from itertools import chain
from queue import SimpleQueue

from trajcompress.processes.command import WorkerProcess
from trajcompress.tokens.engines import PROBE, ReferenceEngine, uncountable

_SMALL = 8192
"""Below so many characters the way to a worker and the wait for it cost more than counting."""
_BATCH = 16384
"""About so many characters go to a worker at once, so that a giant trajectory keeps all of them busy."""

_REMEMBERED = 100_000
"""Counts that are remembered, some 20 MB of them."""
_KEY_CHARS = 64
"""Longer texts are remembered by their digest."""


def lines_add_up(definition: str, reference: ReferenceEngine) -> bool:
    """Tell whether the tokens of a text are those of its lines: nothing reaches across their ends.

    So it is with tokenizers such as BERT's, which take text apart at white space first. The probe has a veto.
    """
    parts = json.loads(definition)
    added = [token["content"] for token in parts.get("added_tokens") or []]
    if (parts.get("pre_tokenizer") or {}).get("type") != "BertPreTokenizer" or any("\n" in text for text in added):
        return False
    return all(
        whole == sum(reference.count(text.split("\n")))
        for text, whole in zip(PROBE, reference.count(PROBE), strict=True)
    )


class PooledEngine:
    """Counts as :class:`ReferenceEngine` does, in several processes at once. Close it when done."""

    name = ReferenceEngine.name

    def __init__(self, definition: str, reference: ReferenceEngine, workers: int) -> None:
        """Start the workers; ``reference`` counts what is small, and everything where a worker has died.

        Raises:
            OSError: no process can be started.
        """
        self._reference = reference
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._workers: list[_Worker] = []
        self._stop = weakref.finalize(self, _stop, self._workers)
        while len(self._workers) < workers:
            self._workers.append(_Worker())
        for worker in self._workers:
            worker.send(json.dumps(definition).encode() + b"\n")
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(workers, "tokenize")
        self._by_line = lines_add_up(definition, reference)
        self._known: dict[str | bytes, int] = {}  # counts of what was seen: a fifth of what agents say comes again

    @property
    def workers(self) -> list[int]:
        """The process ids of the workers."""
        return [worker.pid for worker in self._workers]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text.

        Raises:
            UncountableTextError: a text holds lone surrogates.
        """
        if sum(map(len, texts)) < _SMALL:
            return self._reference.count(texts)
        try:
            for text in texts:
                text.encode()
        except UnicodeEncodeError as error:
            raise uncountable(texts, error) from error
        known = self._known
        pieces = [text.split("\n") if self._by_line else [text] for text in texts]
        keys = [[_key(piece) for piece in of_text] for of_text in pieces]
        everything = zip(chain.from_iterable(keys), chain.from_iterable(pieces), strict=True)
        new = {key: piece for key, piece in everything if key not in known}
        batches = self._threads.map(self._count_batch, _batches(new.values()))
        counted = dict(zip(new, chain.from_iterable(batches), strict=True))
        if len(known) > _REMEMBERED:
            self._known = counted
        else:
            known.update(counted)
        return [sum(counted[key] if key in counted else known[key] for key in of_text) for of_text in keys]

    def close(self) -> None:
        """Stop the workers; counting goes on without them."""
        self._stop()

    def _count_batch(self, texts: list[str]) -> list[int]:
        worker = self._idle.get()
        try:
            counts = worker.count(texts)
        finally:
            self._idle.put(worker)
        return self._reference.count(texts) if counts is None else counts


class _Worker:
    """One process and the way to it. Once it has died it stays so, and answers None."""

    def __init__(self) -> None:
        self._worker = WorkerProcess("trajcompress.tokens.worker")
        self._alive = True

    @property
    def pid(self) -> int:
        return self._worker.process.pid

    def send(self, message: bytes) -> None:
        try:
            self._worker.input.write(message)
            self._worker.input.flush()
        except (OSError, ValueError):  # ValueError: closed meanwhile
            self._alive = False

    def count(self, texts: list[str]) -> list[int] | None:
        if self._alive:
            whole = "".join(texts).encode()  # a third of the cost of JSON, here and there
            self.send(json.dumps([len(whole), *map(len, texts)]).encode() + b"\n" + whole)
        answer = self._receive() if self._alive else b""
        self._alive = answer.endswith(b"\n")
        return [int(count) for count in json.loads(answer)] if self._alive else None

    def stop(self) -> None:
        self._worker.process.kill()
        self._worker.process.communicate()

    def _receive(self) -> bytes:
        try:
            return self._worker.answers().readline()
        except (OSError, EOFError, ValueError):
            return b""


def _key(text: str) -> str | bytes:
    return text if len(text) <= _KEY_CHARS else blake2b(text.encode(), digest_size=16).digest()


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _stop(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.stop()
