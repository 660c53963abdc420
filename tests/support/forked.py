"""Commands in processes of their own that spare the imports: forks of a server that has imported what is heavy.

Each process of tests has one such server, which has started no thread of ours and read nothing that a command is run
with. It is the process of the tests that adopts a fork, as any child: a fork has its own folder, environment,
streams, process group and signals, can be killed, and ends as the interpreter ends.

What a fork cannot show is how the command starts: its entry point, its imports, what is read as they are made.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import gc
import importlib
import inspect
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

COMMAND = str(Path(sys.executable).with_name("trajcompress"))
"""The installed script."""
MAIN = "from trajcompress.cli import command\ncommand()\n"
"""What it does."""

_READ_LATE = ("TRAJCOMPRESS_", "AWS_", "PYTEST_", "OPENAI_API_KEY", "NO_COLOR", "COLUMNS", "TERM", "PAGER", "TMPDIR")
"""How variables begin that are read by what runs, and by nothing as it is imported."""
_LARGEST = 1 << 17
"""Bytes of a request."""
_ADOPT_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of Linux."""
_ENDS = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
_one_at_a_time = threading.Lock()


def start(
    arguments: Sequence[str | Path], *, env: Mapping[str, str], code: str = MAIN, fresh: bool = False, **options: Any
) -> subprocess.Popen[Any]:
    """Start a program, else the command; options are those of :class:`subprocess.Popen`.

    It is no fork if ``fresh``, and where imports would read another variable than those of the server have.
    """
    words = [str(argument) for argument in arguments]
    with _one_at_a_time:
        if not fresh and sys.platform == "linux" and _read_early(env) == _read_early(_server()[1]):
            return _Fork([code, *words], env=env, **options)
    program = [COMMAND] if code == MAIN else [sys.executable, "-c", code]
    return subprocess.Popen([*program, *words], env=env, **options)


def _read_early(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if not name.startswith(_READ_LATE)}


@functools.cache
def _server() -> tuple[socket.socket, Mapping[str, str]]:
    """Start the server; return the way to it, and its environment."""
    from commands import environment

    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command, env = [sys.executable, __file__, str(its.fileno())], _read_early(environment())
    nothing = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "cwd": "/"}
    process = subprocess.Popen(command, env=env, pass_fds=[its.fileno()], **nothing)
    its.close()
    atexit.register(process.wait)
    atexit.register(ours.close)  # which ends it, and comes first
    return ours, env


class _Fork(subprocess.Popen[Any]):
    """A fork of the server; its arguments are the program, and those of the program."""

    def _execute_child(self, *given: Any) -> None:
        of = inspect.signature(subprocess.Popen._execute_child).bind(self, *given).arguments
        ends = [of["p2cread"], of["c2pwrite"], of["errwrite"]]
        streams = [number if end == -1 else end for number, end in enumerate(ends)]
        request = [of["args"], str(of["cwd"] or Path.cwd()), of["env"], of["start_new_session"]]
        self.pid = _adopt_fork(json.dumps(request).encode(), streams)
        self._child_created = True
        self._close_pipe_fds(*(of[end] for end in _ENDS))


def _adopt_fork(request: bytes, streams: list[int]) -> int:
    channel, _ = _server()
    adopt_orphans = functools.partial(ctypes.CDLL(None).prctl, _ADOPT_ORPHANS)
    adopt_orphans(1, 0, 0, 0)
    try:
        socket.send_fds(channel, [request], streams)
        pid = channel.recv(_LARGEST)
        assert channel.recv(_LARGEST), "the server of forks has ended"  # else the parent of the fork has
    finally:
        adopt_orphans(0, 0, 0, 0)
    return int(pid)


def _serve(channel: socket.socket) -> tuple[list[Any], list[int]]:
    """Make an orphan for each request, in which this returns the request."""
    while True:
        request, streams, *_ = socket.recv_fds(channel, _LARGEST, 3)
        if not request:
            channel.close()
            sys.exit()
        parent = os.fork()
        if not parent:
            parent, child = os.getpid(), os.fork()
            if child:
                channel.send(str(child).encode())
                os._exit(0)
            channel.close()
            while os.getppid() == parent:
                time.sleep(0.001)
            return json.loads(request), streams
        os.waitpid(parent, 0)
        channel.send(b"it is an orphan")
        for stream in streams:
            os.close(stream)


def _import_all() -> None:
    """Import what most commands do, as they do it."""
    from trajcompress.processes.interpreter import prepare_interpreter
    from trajcompress.tokens.quick_import import import_transformers, torch_when_used

    prepare_interpreter()
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    with torch_when_used():
        _ = import_transformers().AutoTokenizer  # loads what is imported late
    ours = ("trajcompress.cli.progress", "trajcompress.dataset.arrow", "trajcompress.run.job")
    for module in ("openai", "pyarrow.dataset", "pyarrow.parquet", "rich.table", *ours):
        importlib.import_module(module)
    gc.freeze()


def _replace_stream(name: str, mode: str, number: int, stream: int) -> None:
    """Make ``stream`` that of a name, as the interpreter makes it at its start."""
    os.dup2(stream, number)
    os.close(stream)
    old = getattr(sys, name)
    unbuffered = old.write_through
    binary = open(number, mode, 0 if unbuffered and mode == "wb" else -1, closefd=False)  # noqa: SIM115
    by_line = not unbuffered and (binary.isatty() or name == "stderr")
    new = io.TextIOWrapper(binary, old.encoding, old.errors, "\n", by_line, write_through=unbuffered)
    setattr(sys, name, new)
    setattr(sys, f"__{name}__", new)


if __name__ == "__main__":
    del sys.path[0]
    _import_all()
    request, streams = _serve(socket.socket(fileno=int(sys.argv[1])))
    (code, *words), folder, env, has_own_session = request
    if has_own_session:
        os.setsid()
    for number, (name, mode) in enumerate([("stdin", "rb"), ("stdout", "wb"), ("stderr", "wb")]):
        _replace_stream(name, mode, number, streams[number])
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = [COMMAND, *words]
    exec(code, {"__name__": "__main__"})  # noqa: S102 - what a test wants run
