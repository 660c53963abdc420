"""A worker of the Ray engine: an actor, anywhere in a cluster, that does the work in a thread of its own."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from queue import Empty, SimpleQueue
from typing import Any

from trajcompress.engine.channel import WorkerChannel
from trajcompress.engine.messages import Setup
from trajcompress.processes.interpreter import prepare_interpreter

PACKAGE = "trajcompress-cli"
_LISTEN_S = 20.0
"""How long the driver waits for messages before it asks again."""


class RayWorker:
    """The actor. Its methods are called by the driver, several at once.

    Args:
        setup: the work.
        folder: the driver's working folder, which paths are relative to; where it is not shared they have to be
            addresses, or whole.
        environ: variables that the work needs.
        wanted: the driver's version of this package.

    Raises:
        RuntimeError: the node has another version, which may write other bytes.
    """

    def __init__(self, setup: Setup, folder: str, environ: Mapping[str, str], wanted: str) -> None:
        if (here := version(PACKAGE)) != wanted:
            raise RuntimeError(f"{PACKAGE} {here} is installed there, and {wanted} here")
        prepare_interpreter()
        os.environ.update(environ)
        with suppress(OSError):
            os.chdir(folder)
        self._said: SimpleQueue[Any] = SimpleQueue()
        self._channel = WorkerChannel(self._said.put)
        threading.Thread(target=self._work, args=(setup,), name="work", daemon=True).start()

    def _work(self, setup: Setup) -> None:
        try:
            self._channel.work(setup)
        except BaseException:  # noqa: BLE001 - nobody else would see it
            traceback.print_exc()
            os._exit(1)

    def take(self) -> list[Any]:
        """Return what the worker has to say, as soon as there is anything; nothing, where that takes long."""
        try:
            said = [self._said.get(timeout=_LISTEN_S)]
        except Empty:
            return []
        with suppress(Empty):
            while True:
                said.append(self._said.get_nowait())
        return said

    def give(self, messages: Sequence[Any]) -> None:
        """Take messages of the driver."""
        for message in messages:
            self._channel.arrived(message)
