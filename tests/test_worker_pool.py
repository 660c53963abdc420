"""Worker processes answer, say what went wrong, and never outlive the process that started them."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trajectories
from hypothesis import given
from worker_setups import Odd

from trajcompress.errors import SummarizerUnusableError, SummaryError, WorkerDiedError
from trajcompress.metrics import RowMetrics
from trajcompress.row_work import Done
from trajcompress.summarize.base import Summary
from trajcompress.workers.pool import WorkerPool
from trajcompress.workers.wire import receive, send


@pytest.fixture(scope="module")
def pool():
    with contextlib.closing(WorkerPool(Odd(), 1)) as pool:
        yield pool


def ask(pool, *arguments):
    return asyncio.run(pool.ask(*arguments))


@given(trajectories.examples())
def test_turns_of_the_row_come_back_as_themselves(example):
    turns = example.turns
    kept, new = turns[::2], trajectories.agent_run(1).turns[0]
    stream = io.BytesIO()
    send(stream, Done((*kept, new)), turns)
    stream.seek(0)
    came = receive(stream, turns).turns
    assert came == (*kept, new)
    assert all(one is other for one, other in zip(came, kept, strict=False))
    assert came[-1] is not new


def test_a_row_keeps_its_turns_on_the_way_through_a_worker(pool):
    trajectory = trajectories.agent_run(3)
    came, text = ask(pool, trajectory, trajectory.turns)
    assert text == trajectory.turns[0].text
    assert [*map(id, came)] == [*map(id, trajectory.turns[::-1])]


def test_metrics_are_taken_over_whole():
    metrics = RowMetrics("a.jsonl", 3, passes=2, cost_usd=None, error="no", still_over_limit=True)
    other = RowMetrics("b.jsonl", 4)
    other.take_over(metrics)
    assert other == metrics


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
    with pytest.raises(ZeroDivisionError, match="nobody thought of this") as caught:
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
            with pytest.raises(ValueError, match="no such thing"):
                ask(pool, "who")
    assert "Traceback" not in capfd.readouterr().err


def test_a_worker_that_dies_is_said_to_have_died():
    with contextlib.closing(WorkerPool(Odd(), 1)) as pool:
        for _ in range(2):
            with pytest.raises(WorkerDiedError, match=r"has died \(SIGKILL\).*--num-workers"):
                ask(pool, "die")


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
        "import asyncio, sys, time; from trajcompress.workers.pool import WorkerPool; from worker_setups import Odd\n"
        "pool = WorkerPool(Odd(), 1)\n"
        "print(asyncio.run(pool.ask('who')), flush=True); sys.stdin.read()\n"
        "print(asyncio.run(pool.ask('who')), flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as parent:
        worker = int(parent.stdout.readline())
        os.kill(worker, signal.SIGTERM)
        parent.stdin.close()
        assert int(parent.stdout.readline()) == worker
        parent.kill()
        assert parent.stderr.read() == b""  # which ends when the worker does, as it holds the other end, too
