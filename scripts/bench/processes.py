"""Processes and what they cost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

COMMAND = [sys.executable, "-m", "trajcompress"]
LOOPBACK = Path(__file__).resolve().parents[2] / "tests" / "support" / "loopback.py"
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes in a unit of ru_maxrss


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process and its children cost: seconds of CPU and of time, bytes resident at most."""

    cpu: float
    wall: float
    peak: int


def measure(command: Sequence[str | Path]) -> Cost:
    """Run a command to its end.

    Raises:
        SystemExit: it failed; its words are those of the exception.
    """
    began = time.monotonic()
    # The loopback server answers to any key. Modules are compiled once, as where they are installed.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env = kept | {"OPENAI_API_KEY": "sk-none", "HF_HUB_OFFLINE": "1", "PYTHONHASHSEED": "0"}
    process = subprocess.Popen(list(map(str, command)), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    words = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\nended with {process.returncode}: {words.decode()}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * _RSS_UNIT)


@contextmanager
def loopback(latency: float = 0.0) -> Iterator[str]:
    """Serve an OpenAI-compatible server in a process of its own; yield its base URL.

    Its summaries hold what was asked for, so nothing is asked for once more.

    Raises:
        SystemExit: it does not start.
    """
    command = [sys.executable, str(LOOPBACK), "--obedient", "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = process.stdout.readline().strip() if process.stdout else ""
            if not url:
                raise SystemExit("the loopback server does not start")
            Thread(target=deque, args=(process.stdout, 0), daemon=True).start()  # a line a request, read by nobody
            yield url
        finally:
            process.kill()
