"""Runs the command again and again, each time killed with SIGKILL before its nth durable step.

``python tests/support/killed.py 1,2,1000 compress …``: a line for each run says ``killed`` or ``ended``. A durable
step is a file flushed to disk, a file renamed or deleted, a folder made, a database changed.

Each run is a fork of one process that has imported everything and started no thread, which saves its start-up.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import openai  # noqa: F401 - imported once, for all forks
import transformers

from trajcompress.cli import main

_ = transformers.AutoTokenizer  # loads what is imported late


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


def run(step: int) -> bool:
    """Run the command, to be killed at ``step``; tell whether it was."""
    child = os.fork()
    if child == 0:
        kill_before(step)
        try:
            main()
        except SystemExit as end:
            os._exit(int(end.code or 0))
        except BaseException:  # noqa: BLE001 - nothing may get out of the fork
            sys.excepthook(*sys.exc_info())
            os._exit(70)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status):
        sys.exit(f"the run that should be killed at step {step} ended with {os.WEXITSTATUS(status)}")
    return os.WIFSIGNALED(status)


if __name__ == "__main__":
    steps = [int(step) for step in sys.argv.pop(1).split(",")]
    for step in steps:
        print("killed" if run(step) else "ended", flush=True)  # noqa: T201 - what it is for
