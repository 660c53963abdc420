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
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

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
        if not fresh and sys.platform == "linux" and _read_early(env) == _start_server():
            return _Fork([code, *words], env=env, **options)
    program = [COMMAND] if code == MAIN else [sys.executable, "-c", code]
    return subprocess.Popen([*program, *words], env=env, **options)


def _read_early(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if not name.startswith(_READ_LATE)}


@functools.cache
def _start_server() -> Mapping[str, str]:
    """Start the server that makes forks; return its environment."""
    from commands import environment

    _Fork.channel, its = _channel()
    env = _read_early(environment())
    process = subprocess.Popen(
        [sys.executable, __file__, str(its.fileno())],
        env=env,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[its.fileno()],
    )
    its.close()
    atexit.register(process.wait)
    atexit.register(_Fork.channel.close)  # which ends it, and comes first
    return env


def _channel() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class _Fork(subprocess.Popen[Any]):
    """A fork of the server; its arguments are the program, and those of the program."""

    channel: ClassVar[socket.socket]

    def _execute_child(self, *given: Any) -> None:
        of = inspect.signature(subprocess.Popen._execute_child).bind(self, *given).arguments
        ends = [of["p2cread"], of["c2pwrite"], of["errwrite"]]
        streams = [number if end == -1 else end for number, end in enumerate(ends)]
        request = [of["args"], str(of["cwd"] or Path.cwd()), of["env"], of["start_new_session"]]
        self.pid = self._adopt(json.dumps(request).encode(), streams)
        self._child_created = True
        self._close_pipe_fds(*(of[end] for end in _ENDS))

    def _adopt(self, request: bytes, streams: list[int]) -> int:
        adopt_orphans = functools.partial(ctypes.CDLL(None).prctl, _ADOPT_ORPHANS)
        adopt_orphans(1, 0, 0, 0)
        try:
            socket.send_fds(self.channel, [request], streams)
            pid = self.channel.recv(_LARGEST)
            assert self.channel.recv(_LARGEST), "the server of forks has ended"  # else the parent of the fork has
        finally:
            adopt_orphans(0, 0, 0, 0)
        return int(pid)


def fork_workers() -> None:
    """Have a command, itself a fork, start its workers as forks of what it is now: it has to call this first."""
    from trajcompress.processes import command

    _Fork.channel, its = _channel()
    if not os.fork():
        _Fork.channel.close()
        for stop in (signal.SIGINT, signal.SIGTERM):  # as the command says when to stop
            signal.signal(stop, signal.SIG_IGN)
        with Path(os.devnull).open("r+b") as nothing:
            for number in range(3):
                os.dup2(nothing.fileno(), number)
        _serve(its)
        sys.exit()
    its.close()

    def start_worker(run: list[str], **options: Any) -> subprocess.Popen[Any]:
        return _Fork(run[run.index("-c") + 1 :], **options)

    command.subprocess = SimpleNamespace(Popen=start_worker, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL)


def _serve(channel: socket.socket) -> None:
    """Make an orphan for each request, and have it run what is requested."""
    while True:
        request, streams, *_ = socket.recv_fds(channel, _LARGEST, 3)
        if not request:
            channel.close()
            return
        parent = os.fork()
        if not parent:
            parent, child = os.getpid(), os.fork()
            if child:
                channel.send(str(child).encode())
                os._exit(0)
            channel.close()
            while os.getppid() == parent:
                time.sleep(0.001)
            _run(*json.loads(request), streams)
            return
        os.waitpid(parent, 0)
        channel.send(b"it is an orphan")
        for stream in streams:
            os.close(stream)


def _run(program: list[str], folder: str, env: dict[str, str], has_own_session: bool, streams: list[int]) -> None:
    """Run a program with all that is its own."""
    code, *words = program
    if has_own_session:
        os.setsid()
    for number, (name, mode) in enumerate([("stdin", "rb"), ("stdout", "wb"), ("stderr", "wb")]):
        _replace_stream(name, mode, number, streams[number])
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = [COMMAND, *words]
    exec(code, {"__name__": "__main__"})  # noqa: S102 - what a test wants run


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
    sys.modules["forked"] = sys.modules["__main__"]
    del sys.path[0]
    _import_all()
    _serve(socket.socket(fileno=int(sys.argv[1])))
