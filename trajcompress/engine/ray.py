"""The Ray engine: workers are actors of a cluster, whose nodes share with each other what the work reads and writes.

The driver asks each actor for what it has to say, and is answered when there is something; so no actor needs to reach
the driver, and a lost node shows at once.
"""

from __future__ import annotations

import os
import socket
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias

from trajcompress.engine.messages import Ended, Raised, Setup
from trajcompress.engine.pool import WORKER_BYTES, Gone, Messages, Worker, WorkerPool
from trajcompress.engine.ray_worker import PACKAGE, RayWorker
from trajcompress.errors import SettingsError, WorkerDiedError
from trajcompress.processes.interpreter import FRUGAL

_AT_ONCE = 4
"""Methods of an actor that may run at once: one that waits for messages, and some that bring some."""
_REACH_S = 10.0
_HERE = "local"  # Ray's name for a cluster that is started


def has_ray() -> bool:
    """Tell whether Ray is installed."""
    return find_spec("ray") is not None


def _check_reachable(address: str | None) -> None:
    """Raise OSError where nobody listens at ``host:port``: Ray would try for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        with socket.create_connection((host, int(port)), _REACH_S):
            pass


def _token() -> str:
    """Return what helps where the cluster asks for a token: to an address it is given, Ray shows none by itself."""
    if os.environ.get("RAY_AUTH_MODE") == "token":
        return ""
    return " (if it asks for a token: export RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN where ~/.ray/auth_token is none)"


class RayCluster:
    """A connection to a cluster, or one of this machine alone that is started. Close it when done.

    Raises:
        SettingsError: Ray is not installed, or there is no cluster at the address.
    """

    def __init__(self, address: str | None) -> None:
        if not has_ray():
            raise SettingsError(
                "processing.engine: --engine ray takes the extra: pip install 'trajcompress-cli[ray]', in the "
                "environment of the nodes as well"
            )
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        import ray

        self._ray = ray
        self._is_ours = not ray.is_initialized()
        if not self._is_ours:
            return
        address = address or os.environ.get("RAY_ADDRESS") or _HERE
        own: dict[str, Any] = {"include_dashboard": False} if address == _HERE else {}
        try:
            _check_reachable(address)
            with warnings.catch_warnings(action="ignore"):
                ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)
        except Exception as error:  # Ray raises errors of many libraries; all of it is told
            words = " ".join(str(error).split())[:300]
            raise SettingsError(f"processing.ray_address: no Ray cluster at {address}: {words}{_token()}") from error

    def cpus(self) -> int:
        """Return how many CPUs all its nodes have."""
        return int(self._ray.cluster_resources().get("CPU", 1))

    def free_cpus(self) -> int:
        """Return how many of them nobody uses."""
        return int(self._ray.available_resources().get("CPU", 0))

    def close(self) -> None:
        """Leave it, and end it where it was started here."""
        if self._is_ours:
            self._ray.shutdown()


_Heard: TypeAlias = "tuple[_Actor, Future[list[Any]]] | None"


class RayEngine(WorkerPool):
    """A pool of actors.

    Args:
        setup_of: the work of each.
        workers: how many.
        environ: variables that the work needs, which stay out of what Ray shows.
    """

    def __init__(self, setup_of: Callable[[int], Setup], workers: int, environ: Mapping[str, str]) -> None:
        import ray

        self._actor = ray.remote(
            num_cpus=1,
            memory=WORKER_BYTES,
            max_concurrency=_AT_ONCE,
            max_restarts=0,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": {**FRUGAL, "TOKENIZERS_PARALLELISM": "false"}},
        )(RayWorker)
        self._environ = environ
        self._heard: SimpleQueue[_Heard] = SimpleQueue()
        threading.Thread(target=self._listen, name="ray", daemon=True).start()
        super().__init__(setup_of, workers)

    def _listen(self) -> None:
        """Pass on what actors say: not in the thread that brings it, as Ray waits for that."""
        while (heard := self._heard.get()) is not None:
            actor, future = heard
            actor.hear(future)

    def close(self) -> None:
        """End the workers."""
        super().close()
        self._heard.put(None)

    def start_worker(self, place: int, setup: Setup, messages: Messages) -> Worker:
        """Have an actor made, as soon as some node has room."""
        handle = self._actor.remote(setup, str(Path.cwd()), dict(self._environ), version(PACKAGE))
        return _Actor(place, handle, messages, self._heard)


class _Actor(Worker):
    """An actor, and what it says."""

    def __init__(self, place: int, handle: Any, messages: Messages, heard: SimpleQueue[_Heard]) -> None:
        super().__init__(place)
        self._heard = heard
        self._handle = handle
        self._messages = messages
        self._is_gone = False
        self._listen()

    def send(self, message: Any) -> None:
        """Send a message, to nobody if it is gone."""
        if not self._is_gone:
            self._handle.give.remote([message])

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self._end("killed")
        import ray

        with suppress(Exception):  # it is gone, or the cluster is
            ray.kill(self._handle)

    def wait(self) -> None:
        """Wait for nothing: an actor that was killed says nothing more."""

    def _listen(self) -> None:
        future = self._handle.take.remote().future()
        future.add_done_callback(lambda done: self._heard.put((self, done)))

    def hear(self, future: Future[list[Any]]) -> None:
        """Pass on what it has said, and listen on."""
        if self._is_gone:
            return
        try:
            said = future.result()
        except Exception as error:  # noqa: BLE001 - of Ray: whatever it is, nothing more comes
            self._lost(error)
            return
        for message in said:
            self._messages.put((self, message))
        if said and isinstance(said[-1], Ended | Raised):
            self.kill()
        else:
            self._listen()

    def _lost(self, error: Exception) -> None:
        words = " ".join(str(error).split())
        if "creation task" in words or "ModuleNotFoundError" in words:
            failed = WorkerDiedError(
                f"a node of the cluster cannot work: …{words[-280:]}; install there what is here"
            )
            self._messages.put((self, Raised(failed)))
        self._end("its process, or its node, is lost")
        self.kill()

    def _end(self, how: str) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._messages.put((self, Gone(how)))
