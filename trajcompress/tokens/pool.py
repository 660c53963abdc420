"""The tokenizer's own backend in worker processes, for tokenizers that no fast engine loads.

Workers are commands of their own, not forks and not ``multiprocessing``: that would start the caller's main module once
more in each, which a plain script or a notebook does not survive.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import weakref
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import IO

from trajcompress.tokens.engines import ReferenceEngine, uncountable

_WORKER = Path(__file__).with_name("worker.py")
_SMALL = 8192
"""Below so many characters the way to a worker and the wait for it cost more than counting."""


class PooledEngine:
    """Counts as :class:`ReferenceEngine` does, each call in one of several processes. Close it when done."""

    name = ReferenceEngine.name

    def __init__(self, definition: str, reference: ReferenceEngine, workers: int) -> None:
        """Start the workers.

        Args:
            definition: the JSON definition of the backend, after transformers may have changed it.
            reference: counts what is small, and everything where a worker has died.
            workers: how many processes to start.
        """
        self._reference = reference
        self._processes = [_start(definition) for _ in range(workers)]
        self._idle: SimpleQueue[subprocess.Popen[bytes] | None] = SimpleQueue()
        for process in self._processes:
            self._idle.put(process)
        self._stop = weakref.finalize(self, _stop, self._processes)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text.

        Raises:
            UncountableTextError: a text holds lone surrogates.
        """
        if sum(map(len, texts)) < _SMALL or not self._stop.alive:
            return self._reference.count(texts)
        try:
            request = json.dumps(list(texts), ensure_ascii=False).encode() + b"\n"
        except UnicodeEncodeError as error:
            raise uncountable(texts, error) from error
        process = self._idle.get()
        counts = _ask(process, request) if process else None
        self._idle.put(process if counts is not None else None)
        return self._reference.count(texts) if counts is None else counts

    def close(self) -> None:
        """Stop the workers; counting goes on without them."""
        self._stop()


def _start(definition: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(  # noqa: S603  our own file, by this very interpreter
        [sys.executable, "-P", str(_WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TOKENIZERS_PARALLELISM": "false"},
        start_new_session=True,  # Ctrl-C is for the run, which then stops its workers
    )
    _pipe(process.stdin).write(json.dumps(definition).encode() + b"\n")
    return process


def _ask(process: subprocess.Popen[bytes], request: bytes) -> list[int] | None:
    """Return a worker's answer, None where it has died."""
    try:
        _pipe(process.stdin).write(request)
        _pipe(process.stdin).flush()
        answer = _pipe(process.stdout).readline()
    except OSError:
        return None
    return [int(count) for count in json.loads(answer)] if answer.endswith(b"\n") else None


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.kill()
        process.communicate()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RuntimeError("a worker is started with pipes")  # pragma: no cover  for the type checker alone
    return stream
