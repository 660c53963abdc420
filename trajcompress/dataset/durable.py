"""Files that appear whole or not at all, and stay after a crash: write, fsync, rename, fsync the folder."""

from __future__ import annotations

import os
from pathlib import Path

TEMPORARY = ".tmp"  # the suffix of what is still being written; safe to delete when nothing runs


def temporary(path: Path) -> Path:
    """Return the name under which ``path`` is written; in the same folder, so that renaming is atomic."""
    return path.with_name(path.name + TEMPORARY)


def publish(path: Path) -> None:
    """Make the complete ``temporary(path)`` durable under its own name, replacing an older file.

    Raises:
        OSError: the disk is full or the folder cannot be written; an older file is then still whole.
    """
    sync(temporary(path))
    temporary(path).replace(path)
    sync_folder(path.parent)


def sync(path: Path) -> None:
    """Make what was written to a file survive a crash."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def write_durably(path: Path, data: bytes) -> None:
    """Write a small file so that a reader sees the old content or the new one.

    Raises:
        OSError: the disk is full or the folder cannot be written; the old content is then still there.
    """
    temporary(path).write_bytes(data)
    publish(path)


def sync_folder(folder: Path) -> None:
    """Make renames and deletions in ``folder`` survive a crash."""
    if os.name == "nt":
        return  # Windows cannot open folders, and journals their entries itself
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
