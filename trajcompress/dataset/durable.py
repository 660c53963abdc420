"""Files that appear whole or not at all, and stay after a crash: write, fsync, rename, fsync the folder.

What is to lie in a store is written in a scratch folder of this machine, and put there when it is complete.
"""

from __future__ import annotations

import os
from pathlib import Path

from trajcompress.dataset.storage.location import Location
from trajcompress.dataset.storage.scratch import scratch_of
from trajcompress.dataset.storage.store_path import StorePath

TEMPORARY = ".tmp"  # the suffix of what is still being written; safe to delete when nothing runs


def temporary(path: Location) -> Path:
    """Return the name under which ``path`` is written; in the same folder, so that renaming is atomic."""
    if isinstance(path, StorePath):
        path = scratch_of(path)
        path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(path.name + TEMPORARY)


def publish(path: Location) -> None:
    """Make the complete ``temporary(path)`` durable under its own name, replacing an older file.

    Raises:
        OSError: the disk is full or the folder cannot be written; an older file is then still whole.
    """
    if isinstance(path, StorePath):
        path.upload(temporary(path))
        temporary(path).unlink()
        return
    sync(temporary(path))
    temporary(path).replace(path)
    sync_folder(path.parent)


def rename_into_place(path: Location) -> None:
    """Give the complete and synced ``temporary(path)`` its own name, which :func:`sync_folder` makes durable."""
    if isinstance(path, StorePath):
        publish(path)
    else:
        temporary(path).replace(path)


def sync(path: Path) -> None:
    """Make what was written to a file survive a crash."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def write_durably(path: Location, data: bytes) -> None:
    """Write a small file so that a reader sees the old content or the new one.

    Raises:
        OSError: the disk is full or the folder cannot be written; the old content is then still there.
    """
    if isinstance(path, StorePath):
        path.write_bytes(data)
        return
    temporary(path).write_bytes(data)
    publish(path)


def sync_folder(folder: Location) -> None:
    """Make renames and deletions in ``folder`` survive a crash."""
    if os.name == "nt" or isinstance(folder, StorePath):
        return  # Windows cannot open folders, and journals their entries itself
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
