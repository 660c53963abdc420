"""Worker processes do what they are set up for, say what went wrong, and never outlive the one that started them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from engine_setups import Keeping, Odd
from in_workers import assert_gone

from trajcompress.engine.local import LocalEngine
from trajcompress.errors import SummarizerUnusableError, SummaryError
from trajcompress.processes.command import WorkerProcess


class Answering:
    """A coordinator that hands out what there is to be done, and takes note of what comes."""

    def __init__(self, todo=(), grace=0.0):
        self.todo, self.news, self.deaths, self.grace_s = list(todo), [], [], grace

    async def answer(self, _worker, question):
        if question == "wait":
            await asyncio.sleep(60)
        return self.todo.pop(0) if self.todo else None

    def emitted(self, _worker, news):
        self.news.append(news)

    def grace(self, _error):
        return self.grace_s

    def has_work(self):
        return bool(self.todo)

    def died(self, _worker, how):
        self.deaths.append(how)
        return bool(self.todo)


def work(todo, workers=1, setup=Odd, **options):
    """Have things done; return who has coordinated that."""
    coordinator = Answering(todo, **options)
    with contextlib.closing(LocalEngine(lambda _: setup(), workers)) as engine:
        asyncio.run(asyncio.wait_for(engine.run(coordinator), 60))
    return coordinator


def is_there(process):
    return os.path.exists(f"/proc/{process}")  # noqa: PTH110 - a number


def test_what_is_to_be_done_is_done_by_several_and_told():
    done = work(["who"] * 12, workers=3)
    assert len(done.news) == 12
    assert 1 <= len(set(done.news)) <= 3
    assert os.getpid() not in done.news
    assert not done.deaths
    assert not any(map(is_there, done.news))


def test_what_a_library_prints_is_no_answer():
    assert work(["print"]).news == ["done"]


def test_an_error_is_raised_here_as_it_was_there():
    with pytest.raises(SummaryError, match="overloaded: come back later") as caught:
        work(["fail"])
    assert caught.value.reason == "overloaded"
    with pytest.raises(SummarizerUnusableError) as caught:
        work(["unusable"])
    assert (caught.value.has_answered, caught.value.exit_code) == (True, 1)


def test_an_error_that_nobody_expected_says_where_it_happened():
    with pytest.raises(RuntimeError, match="Unsendable: nobody thought of this") as caught:
        work(["break"])
    assert "engine_setups.py" in caught.value.__notes__[0]


def test_a_setup_that_fails_is_said(capfd):
    with pytest.raises(RuntimeError, match="ValueError: no such thing"):
        work([], setup=lambda: Odd(broken="no such thing"))
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(("number", "name"), [(signal.SIGKILL, "SIGKILL"), (40, "signal 40")])
def test_a_worker_that_dies_is_replaced_while_there_is_something_to_do(number, name):
    done = work([int(number), "who", int(number), "who"])
    assert done.deaths == [name, name]
    assert len(set(done.news)) == 2


def test_the_first_news_come_before_anything_is_answered():
    with contextlib.closing(LocalEngine(lambda _: Odd(greeting="hello"), 2)) as engine:
        assert engine.first_news() == "hello"
        coordinator = Answering(["who"])
        asyncio.run(asyncio.wait_for(engine.run(coordinator), 60))
    assert [news for news in coordinator.news if news != "hello"]


def test_workers_that_all_die_before_their_first_news_are_said_to_have():
    with (
        contextlib.closing(LocalEngine(lambda _: Odd(greeting=int(signal.SIGKILL)), 2)) as engine,
        pytest.raises(OSError, match=r"all worker processes have died \(SIGKILL\)"),
    ):
        engine.first_news()


def test_who_is_asked_to_stop_hears_it_and_others_get_their_time_where_one_fails():
    with pytest.raises(SummaryError):  # and no TimeoutError, as there would be if all that time went by
        work(["until stopped", "fail"], workers=2, grace=120)


def test_nothing_is_taken_from_the_working_folder_or_the_environment(tmp_path, monkeypatch):
    for name in ("json", "signal", "enum", "pickle", "sitecustomize", "trajcompress"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", ["", *sys.path, tmp_path / "not text", b"nor this"])
    assert len(work(["who"]).news) == 1


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


def test_news_that_nobody_hears_any_more_break_off_nothing_that_is_to_be_kept(tmp_path):
    worker = WorkerProcess("trajcompress.engine.worker")
    worker.process.stdout.close()
    with worker.process:
        pickle.dump(Keeping(tmp_path / "kept"), worker.input)
        worker.input.flush()
        assert worker.process.wait(60) == 0
    assert (tmp_path / "kept").read_text() == "what was paid for"


@pytest.mark.parametrize("todo", ["spin", "ask and wait"])
def test_a_worker_ends_with_whoever_started_it_whatever_it_does(tmp_path, todo):
    here = Path(__file__).parent
    script = (
        f"import asyncio, os, sys; sys.path[:0] = {[str(here), str(here.parent / 'support')]!r}\n"
        "from engine_setups import Odd; from test_local_engine import Answering; "
        "from trajcompress.engine.local import LocalEngine\n"
        "class Telling(Answering):\n"
        "    def emitted(self, worker, news): print(news, flush=True)\n"
        f"asyncio.run(LocalEngine(lambda _: Odd(), 1).run(Telling(['who', {todo!r}])))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    worker = int(process.stdout.readline())
    assert is_there(worker)
    process.kill()
    process.communicate()
    assert_gone([worker])
