"""A lease on a folder in a store: one run writes there at a time, and one that died keeps nobody out for long."""

from __future__ import annotations

import json
import os
import platform
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass

from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.errors import OutputError

LEASE_S = 120.0
_RENEW_S = 20.0
_SETTLE_S = 1.0


@dataclass(frozen=True, slots=True)
class Lease:
    """Who writes, and until when at least, in seconds since 1970."""

    token: str
    machine: str
    process: int
    until: float

    def is_over(self) -> bool:
        """Tell whether nobody holds it any more: its time is up, or its process, of this machine, is gone."""
        return time.time() > self.until or (self.machine == platform.node() and not _is_alive(self.process))

    def __str__(self) -> str:
        return f"process {self.process} on {self.machine}"


class Held:
    """A lease that is held; ``lost_to`` says who has taken it over since, where this process slept too long."""

    def __init__(self, path: StorePath, token: str) -> None:
        self.lost_to: str | None = None
        self._path = path
        self._token = token
        self._ended = threading.Event()
        self._renewing = threading.Thread(target=self._renew, name="lease", daemon=True)
        self._renewing.start()

    def _renew(self) -> None:
        while not self._ended.wait(_RENEW_S):
            with suppress(OSError):  # there is time to try again
                holder = _read(self._path)
                if holder is None or holder.token != self._token:
                    self.lost_to = str(holder or "another run")
                    return
                self._path.write_bytes(_lease(self._token))

    def release(self) -> None:
        """Give it back."""
        self._ended.set()
        self._renewing.join()
        with suppress(OSError):
            holder = _read(self._path)
            if holder is not None and holder.token == self._token:
                self._path.unlink()


@contextmanager
def held_lease(path: StorePath) -> Iterator[Held]:
    """Hold the lease at ``path``, and renew it meanwhile.

    Raises:
        OutputError: another run holds it, or the store cannot be written.
    """
    token = uuid.uuid4().hex
    _take(path, token)
    lease = Held(path, token)
    try:
        yield lease
    finally:
        lease.release()


def is_leased(path: StorePath) -> bool:
    """Tell whether somebody holds the lease at ``path``."""
    holder = _read(path)
    return holder is not None and not holder.is_over()


def _take(path: StorePath, token: str) -> None:
    try:
        holder = _read(path)
        if holder is not None and not holder.is_over():
            left = max(0, holder.until - time.time())
            raise OutputError(
                f"{path.parent.parent}: {holder} is writing here; wait for it, or choose another -o (if it was "
                f"killed, go on in {left:.0f} s)"
            )
        if path.exists():
            path.unlink()
        path.create(_lease(token))
        if holder is not None:  # somebody else may have found it over at the same time
            time.sleep(_SETTLE_S)
            holder = _read(path)
            if holder is None or holder.token != token:
                raise OutputError(f"{path.parent.parent}: {holder or 'another run'} was faster; wait for it")
    except FileExistsError:
        raise OutputError(f"{path.parent.parent}: another run has just begun here; wait for it") from None
    except OSError as error:
        raise OutputError(f"{path.parent.parent}: cannot be written: {error.strerror}") from error


def _lease(token: str) -> bytes:
    return json.dumps(asdict(Lease(token, platform.node(), os.getpid(), time.time() + LEASE_S))).encode()


def _read(path: StorePath) -> Lease | None:
    """Return the lease that lies there; None where there is none, or it cannot be understood."""
    with suppress(FileNotFoundError, ValueError, TypeError):
        return Lease(**json.loads(path.read_bytes()))
    return None


def _is_alive(process: int) -> bool:
    if os.name == "nt":
        return True  # Windows would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
