"""Worker processes answer, say what went wrong, and never outlive the process that started them."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trajectories
from hypothesis import given
from worker_setups import Odd

from trajcompress.compaction.outcome import Compacted
from trajcompress.errors import SummarizerUnusableError, SummaryError, WorkerDiedError
from trajcompress.metrics.row import RowMetrics
from trajcompress.processes.command import WorkerProcess
from trajcompress.summarize.base import Summary
from trajcompress.workers.pool import WorkerPool, start_workers
from trajcompress.workers.wire import receive, send


@pytest.fixture(scope="module")
def pool():
    with contextlib.closing(WorkerPool(Odd(), 1)) as pool:
        yield pool


METRICS = RowMetrics("a.jsonl", 3, passes=2, cost_usd=None, error="no", still_over_limit=True)


def ask(pool, *arguments):
    return asyncio.run(pool.ask(*arguments))


@given(trajectories.examples())
def test_turns_of_the_row_come_back_as_themselves(example):
    turns = example.turns
    kept, new = turns[::2], trajectories.agent_run(1).turns[0]
    stream = io.BytesIO()
    send(stream, Compacted((*kept, new), METRICS), turns)
    stream.seek(0)
    received = receive(stream, turns)
    came = received.turns
    assert (came, received.metrics) == ((*kept, new), METRICS)
    assert all(one is other for one, other in zip(came, kept, strict=False))
    assert came[-1] is not new


def test_a_row_keeps_its_turns_on_the_way_through_a_worker(pool):
    trajectory = trajectories.agent_run(3)
    came, text = ask(pool, trajectory, trajectory.turns)
    assert text == trajectory.turns[0].text
    assert [*map(id, came)] == [*map(id, trajectory.turns[::-1])]


@pytest.mark.parametrize(
    "answer", [Summary("text", "model"), TimeoutError("late"), SummarizerUnusableError("bad_key", "no")]
)
def test_an_answer_of_any_kind_arrives_as_it_was(pool, answer):
    came = ask(pool, answer)
    assert type(came) is type(answer)
    assert str(came) == str(answer)
    assert getattr(came, "reason", None) == getattr(answer, "reason", None)


def test_an_error_is_raised_here_as_it_was_there(pool):
    with pytest.raises(SummaryError, match="overloaded: come back later") as caught:
        ask(pool, "fail")
    assert caught.value.reason == "overloaded"
    assert not hasattr(caught.value, "__notes__")


def test_an_error_that_nobody_expected_says_where_it_happened_and_the_worker_goes_on(pool):
    with pytest.raises(RuntimeError, match="Unsendable: nobody thought of this") as caught:
        ask(pool, "break")
    assert "worker_setups.py" in caught.value.__notes__[0]
    assert ask(pool, "still there") == "still there"


def test_what_a_library_prints_is_no_answer(pool):
    assert ask(pool, "print") == "done"


def test_what_happens_is_told_before_the_answer(pool):
    told = []
    answer = ask(pool, "tell", (), lambda event, **figures: told.append((event, figures)))
    assert (answer, told) == ("told", [("planned", {"tokens": 7}), ("retried", {"reason": "so"})])


def test_a_setup_that_fails_is_said_to_whoever_asks(capfd):
    with contextlib.closing(WorkerPool(Odd(broken="no such thing"), 1)) as pool:
        for _ in range(2):
            with pytest.raises(RuntimeError, match="ValueError: no such thing"):
                ask(pool, "who")
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(("number", "name"), [(signal.SIGKILL, "SIGKILL"), (40, "signal 40")])
def test_a_worker_that_dies_is_said_to_have_died(number, name):
    with contextlib.closing(WorkerPool(Odd(), 1)) as pool:
        for _ in range(2):
            with pytest.raises(WorkerDiedError, match=rf"has died \({name}\).*--num-workers"):
                ask(pool, int(number))


def test_nothing_is_taken_from_the_working_folder_or_the_environment(tmp_path, monkeypatch):
    for name in ("json", "signal", "enum", "pickle", "sitecustomize", "trajcompress"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", ["", *sys.path, tmp_path / "not text", b"nor this"])
    with contextlib.closing(WorkerPool(Odd(), 1)) as pool:
        assert ask(pool, "hello") == "hello"


def test_what_is_printed_before_a_worker_is_ready_is_no_answer(tmp_path, monkeypatch):
    (tmp_path / "noisy.py").write_text(
        "import sys\n"
        "from trajcompress.processes.command import open_answers\n"
        "def main():\n"
        "    print('some package says hello', end='\\0trajcompress wor', flush=True)\n"
        "    open_answers().write(b'first\\nsecond\\n')\n"
    )
    (tmp_path / "silent.py").write_text("def main():\n    print('nothing but this')\n")
    monkeypatch.syspath_prepend(tmp_path)
    noisy, silent = WorkerProcess("noisy"), WorkerProcess("silent")
    with noisy.process, silent.process:
        assert [noisy.answers().readline() for _ in range(2)] == [b"first\n", b"second\n"]
        with pytest.raises(EOFError):
            silent.answers()


def test_without_standard_error():
    code = (
        "import asyncio; from trajcompress.workers.pool import WorkerPool; from worker_setups import Odd\n"
        "pool = WorkerPool(Odd(), 1); print(asyncio.run(pool.ask('print'))); pool.close()"
    )
    command = ["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, code]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "support")}
    assert subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout == "done\n"


def test_without_an_interpreter_or_threads_one_process_works(monkeypatch):
    started, notes = [], []
    start = subprocess.Popen

    def noted(*arguments, **options):
        started.append(start(*arguments, **options))
        return started[-1]

    def no_thread(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(subprocess, "Popen", noted)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", no_thread)
    with start_workers(Odd(), 2, notes.append) as pool:
        assert pool is None
    assert [process.poll() for process in started] == [-signal.SIGKILL]
    monkeypatch.setattr(sys, "executable", None)
    with start_workers(Odd(), 2, notes.append) as pool:
        assert pool is None
    assert [note.split(": ")[0] for note in notes] == ["no processes to work in, so one works"] * 2


def test_many_questions_are_shared_among_the_workers():
    async def ask_all_at_once():
        return await asyncio.gather(*(pool.ask("who") for _ in range(9)))

    with contextlib.closing(WorkerPool(Odd(), 3)) as pool:
        processes = asyncio.run(ask_all_at_once())
    assert len(set(processes)) == 3
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_worker_leaves_a_stop_to_the_run_and_ends_with_it():
    code = (
        "import asyncio, sys; from trajcompress.workers.pool import WorkerPool; from worker_setups import Odd\n"
        "pool = WorkerPool(Odd(), 1)\n"
        "print(asyncio.run(pool.ask('who')), flush=True); sys.stdin.read()\n"
        "print(asyncio.run(pool.ask('who')), flush=True); asyncio.run(pool.ask('spin'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "support")}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as parent:
        worker = int(parent.stdout.readline())
        for stop in (signal.SIGINT, signal.SIGTERM):
            os.kill(worker, stop)
        parent.stdin.close()
        assert int(parent.stdout.readline()) == worker
        time.sleep(0.2)  # until it is busy
        parent.kill()
        assert parent.stderr.read() == b""  # which ends when the worker does, as it holds the other end, too
