"""The tokenizer's own backend in worker processes, for tokenizers that no fast engine loads.

Workers are commands of their own, neither forks nor ``multiprocessing``: that would start the caller's main module
once more in each, which a plain script or a notebook does not survive.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import weakref
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from typing import IO, cast

from trajcompress.tokens.engines import ReferenceEngine, uncountable

_WORKER = Path(__file__).with_name("worker.py")
_SMALL = 8192
"""Below so many characters the way to a worker and the wait for it cost more than counting."""
_BATCH = 16384
"""About so many characters go to a worker at once, so that a giant trajectory keeps all of them busy."""

_REMEMBERED = 100_000
"""Counts that are remembered, 16 MB of them."""


class PooledEngine:
    """Counts as :class:`ReferenceEngine` does, in several processes at once. Close it when done."""

    name = ReferenceEngine.name

    def __init__(self, definition: str, reference: ReferenceEngine, workers: int) -> None:
        """Start the workers.

        Args:
            definition: the JSON definition of the backend, after transformers may have changed it.
            reference: counts what is small, and everything where a worker has died.
            workers: how many processes to start.

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
            worker.send(definition)
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(workers, "tokenize")
        self._known: dict[bytes, int] = {}  # counts by the digest of the text: a fifth of agents' turns come again

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
            digests = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
        except UnicodeEncodeError as error:
            raise uncountable(texts, error) from error
        known = self._known
        new = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        batches = self._threads.map(self._count_batch, _batches(new.values()))
        counted = dict(zip(new, chain.from_iterable(batches), strict=True))
        if len(known) > _REMEMBERED:
            self._known = counted
        else:
            known.update(counted)
        return [counted[digest] if digest in counted else known[digest] for digest in digests]

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
        self._process = subprocess.Popen(  # noqa: S603  our own file, by this very interpreter
            [sys.executable, "-P", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TOKENIZERS_PARALLELISM": "false"},  # the processes are the parallelism
            start_new_session=True,  # Ctrl-C is for the run, which then stops its workers
        )
        self._input = cast("IO[bytes]", self._process.stdin)
        self._output = cast("IO[bytes]", self._process.stdout)
        self._alive = True

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: object) -> None:
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        try:
            self._input.write(line)
            self._input.flush()
        except (OSError, ValueError):  # ValueError: closed meanwhile
            self._alive = False

    def count(self, texts: list[str]) -> list[int] | None:
        if self._alive:
            self.send(texts)
        answer = self._receive() if self._alive else b""
        self._alive = answer.endswith(b"\n")
        return [int(count) for count in json.loads(answer)] if self._alive else None

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _receive(self) -> bytes:
        try:
            return self._output.readline()
        except (OSError, ValueError):
            return b""


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
