"""Kills its process with SIGKILL before its nth durable step: read as code that runs before a command.

A durable step is a file flushed to disk, a file renamed or deleted, a folder made, a database changed.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import sqlite3
from collections.abc import Callable
from functools import wraps
from typing import Any


def kill_before(step: int) -> None:
    """Kill this process where it is about to take its ``step``-th durable step."""
    left = step

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapper(*args: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **options)

        return wrapper

    os.fsync = counted(os.fsync)
    shutil.rmtree = counted(shutil.rmtree)
    for name in ("replace", "unlink", "mkdir"):
        setattr(pathlib.Path, name, counted(getattr(pathlib.Path, name)))

    class Connection(sqlite3.Connection):
        execute = counted(sqlite3.Connection.execute)
        executescript = counted(sqlite3.Connection.executescript)

    connect = sqlite3.connect
    sqlite3.connect = lambda *args, **options: connect(*args, factory=Connection, **options)
