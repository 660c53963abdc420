"""Keeping other runs out of a run folder: a lock here, a lease in a store."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from trajcompress.dataset.storage.lease import Held, held_lease
from trajcompress.dataset.storage.location import remove_tree
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.errors import OutputError


@contextmanager
def hold_here(folder: Path, lock_file: Path, owner_file: Path) -> Iterator[None]:
    """Create a folder of this machine, and hold it; ``owner_file`` tells others who does.

    Raises:
        OutputError: it cannot be written, or another run works in it.
    """
    from filelock import FileLock, Timeout

    try:
        lock_file.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(lock_file, timeout=0)
        lock.acquire()
    except Timeout:
        raise OutputError(
            f"{folder}: {_owner(owner_file)} is writing here; wait for it, or choose another -o"
        ) from None
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror}; choose another -o") from error
    try:
        with suppress(OSError):  # only a name for others to see; what cannot be done without comes next
            owner_file.write_text(f"process {os.getpid()} on {platform.node()}", encoding="utf-8")
        yield
    finally:
        owner_file.unlink(missing_ok=True)
        lock.release()


@contextmanager
def hold_stored(lease: StorePath, scratch: Path, databases: Mapping[str, StorePath]) -> Iterator[Held]:
    """Hold a folder in a store by a lease.

    Args:
        lease: Where the lease lies.
        scratch: The folder of this machine for what is not in the store yet; what a kill left there is kept, and
            nothing is left there at the end.
        databases: Files in it that another session may go on with, by name, and where they lie meanwhile.

    Raises:
        OutputError: it cannot be written, or another run works in it.
        OSError: a database cannot be fetched.
    """
    with held_lease(lease) as held:
        scratch.mkdir(parents=True, exist_ok=True)
        for name, stored in databases.items():
            if not (scratch / name).exists():
                with suppress(FileNotFoundError):
                    (scratch / name).write_bytes(stored.read_bytes())
        try:
            yield held
        finally:
            with suppress(OSError):  # then they stay here, for who goes on here
                for name, stored in databases.items():
                    if (scratch / name).exists():
                        stored.upload(scratch / name)
                remove_tree(scratch)


def _owner(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return "another run"
