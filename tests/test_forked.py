"""Commands that are forks of a server look, to themselves and to whoever starts them, as those that are not."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import commands
import forked
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are adopted on Linux alone")
LOOK = """
import gc, json, locale, os, pathlib, signal, sys, threading
streams = [sys.stdin, sys.stdout, sys.stderr]
print(json.dumps({
    "environment": dict(os.environ), "folder": os.getcwd(), "arguments": sys.argv[1:], "flags": repr(sys.flags),
    "streams": [[s.fileno(), s.encoding, s.errors, s.isatty(), s.seekable()] for s in streams],
    "buffers": [[s.line_buffering, s.write_through, type(s.buffer).__name__] for s in streams],
    "same": [sys.__stdin__ is sys.stdin, sys.__stdout__ is sys.stdout, sys.__stderr__ is sys.stderr],
    "open": sorted(os.readlink(f"/proc/self/fd/{n}").partition(":")[0] for n in os.listdir("/proc/self/fd")[:-1]),
    "parent": os.getppid(), "leads": [os.getpgrp() == os.getpid(), os.getsid(0) == os.getpid()],
    "signals": [repr(signal.getsignal(each)) for each in signal.valid_signals()],
    "blocked": repr(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "umask": os.umask(0o22),
    "threads": threading.active_count(), "locale": locale.getlocale(),
    "main": __name__, "text": sys.stdin.read() if not sys.stdin.isatty() else None,
}), flush=True)
sys.exit(7)
"""


def look(folder, *, fresh, terminal=False, **options):
    """Start what says how it is run; return that."""
    given = {"cwd": folder, "env": commands.environment({"TRAJCOMPRESS_MODEL": "m", "TERM": "xterm"}), **options}
    if terminal:
        ours, theirs = pty.openpty()
        with forked.start(["a", "b c"], code=LOOK, fresh=fresh, stdin=theirs, stdout=theirs, stderr=theirs, **given):
            os.close(theirs)
            with os.fdopen(ours) as shown:
                return json.loads(shown.readline())
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with forked.start(["a", "b c"], code=LOOK, fresh=fresh, **piped, **given) as process:
        said, complained = process.communicate("d\r\nù\n")
    assert (process.returncode, complained) == (7, "")
    return json.loads(said)


@pytest.mark.parametrize(
    "how", [{}, {"terminal": True}, {"start_new_session": True}], ids=["pipes", "terminal", "session"]
)
def test_a_fork_sees_what_a_fresh_process_sees(tmp_path, how):
    seen = look(tmp_path, fresh=False, **how)
    assert seen == look(tmp_path, fresh=True, **how)
    assert (seen["parent"], seen["folder"]) == (os.getpid(), str(tmp_path))


def test_forks_end_one_by_one_and_as_they_are_made_to(tmp_path):
    code = "import sys, time\nprint(flush=True)\nsys.stdin.read()\n1 / 0\n"
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    given = {"cwd": tmp_path, "env": commands.environment(), **piped}
    killed, asked, failed = (forked.start([], code=code, **given) for _ in range(3))
    for process, number in ((killed, signal.SIGKILL), (asked, signal.SIGTERM)):
        process.stdout.readline()
        process.send_signal(number)
        process.communicate()
        assert process.returncode == -number
        assert not Path(f"/proc/{process.pid}").exists()
    assert failed.poll() is None
    assert "ZeroDivisionError" in failed.communicate()[1]
    assert failed.returncode == 1


@pytest.mark.parametrize(("variable", "is_fork"), [("TRAJCOMPRESS_MODEL", True), ("HF_HOME", False)])
def test_where_imports_would_read_another_variable_there_is_no_fork(tmp_path, variable, is_fork):
    has_imported = "import sys; sys.exit('transformers' in sys.modules)\n"
    with forked.start([], code=has_imported, cwd=tmp_path, env=commands.environment({variable: "other"})) as process:
        assert process.wait() == is_fork


def test_imports_read_no_variable_that_forks_may_differ_in(tmp_path):
    noting = (
        "import os, sys; sys.path.append(sys.argv[1]); read, get = [], os._Environ.__getitem__\n"
        "os._Environ.__getitem__ = lambda *given: (read.append(given[1]), get(*given))[1]\n"
        "import forked; forked._import_all()\n"
        "print(*(name for name in read if name.startswith(forked._READ_LATE)), len(read) > 50)\n"
        "import threading; assert threading.active_count() == 1\n"
    )
    command = [sys.executable, "-c", noting, str(Path(forked.__file__).parent)]
    env = forked._read_early(commands.environment())
    assert subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout == "True\n"
