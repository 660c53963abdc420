"""Commands whose parts are worked on in processes, however little there is to do."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import commands
import runs

_FORKED = """
import sys
if "forked" in sys.modules:  # as it is where this is a fork itself
    sys.modules["forked"].fork_workers()
"""
_WORTH_IT = """
import trajcompress.run.workers.work_in_workers as w, trajcompress.engine.local as e
w._WORTH_BYTES = w._WORTH_ROWS = 1
start = e._Process.__init__
def start_noted(self, *given):
    start(self, *given)
    with open("workers", "a") as file:
        print(self._process.process.pid, file=file)
e._Process.__init__ = start_noted
"""
"""Workers however little there is to do, and a file that says which processes they are."""


def start_in_workers(
    place: runs.Place,
    command: Iterable[str | Path],
    workers: int = 2,
    code: str = "",
    *,
    fresh: bool = False,
    **options: Any,
) -> subprocess.Popen[str]:
    """Start a command; ``code`` runs before it, and its workers are forks unless ``fresh``."""
    before = ("" if fresh else _FORKED) + _WORTH_IT + code
    return runs.start(*command, "--num-workers", str(workers), cwd=place.folder, code=before, **options)


def run_in_workers(place: runs.Place, command: Iterable[str | Path], *given: Any, **options: Any) -> commands.Ran:
    """Run a command to its end."""
    return runs.ended(start_in_workers(place, command, *given, **options))


def die_as_it_widens(folder: Path, once: Path, module: str, name: str, when: str) -> str:
    """Return code by which the first worker that widens a file dies there, in a summariser's module ``deadly``.

    It dies ``before`` or ``after`` the function of the ``module`` that has the ``name``.
    """
    (folder / "deadly.py").write_text(
        "import os, signal\n"
        "from pathlib import Path\n"
        "from importlib import import_module\n"
        "import trajcompress.run.workers.worker as work\n"
        f"once = Path({str(once)!r})\n"
        f"module = import_module({module!r})\n"
        f"def die(*given, of=module.{name}):\n"
        f"    if {when == 'after'}:\n"
        "        of(*given)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "def widen(*given, widen=work.widen_part):\n"
        "    if not once.exists():\n"
        "        once.touch()\n"
        f"        module.{name} = die\n"
        "    return widen(*given)\n"
        "work.widen_part = widen\n"
        "def summarize(request):\n"
        "    return 'What was done is told here in enough words that it is a summary of the steps.'\n"
    )
    return f"import sys; sys.path.append({str(folder)!r})\n"


def outcome_of_one(place: runs.Place, command: Iterable[str | Path], output: str = "out") -> dict[str, Any]:
    """Return what the command leaves of a single process, which the summariser's module ``deadly`` lets live."""
    once = place.folder / "nobody-dies"
    once.touch()
    path = die_as_it_widens(place.folder, once, "trajcompress.run.finish", "widen_file", "before")
    one = ["whole" if word == output else word for word in command]
    ran = runs.run(*one, "--num-workers", "1", cwd=place.folder, code=path)
    assert ran.code == 0, ran.stderr
    (place.folder / "deadly.py").unlink()
    return runs.outcome(place.folder / "whole")


def workers_in(place: runs.Place) -> list[int]:
    """Return which processes have been workers."""
    return [int(line) for line in (place.folder / "workers").read_text().split()]


def assert_gone(processes: Iterable[int], seconds: float = 30.0) -> None:
    """Wait until none of the processes is there any more."""
    until = time.monotonic() + seconds
    left = set(processes)
    while left and time.monotonic() < until:
        left = {process for process in left if os.path.exists(f"/proc/{process}")}  # noqa: PTH110 - a number
        time.sleep(0.02)
    assert not left
