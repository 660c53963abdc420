"""Asked to stop, or with its server gone, a run keeps what is done, says how to go on, and goes on."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import signal
import subprocess
import threading
import time
from collections import Counter
from itertools import count
from urllib.parse import urlsplit

import commands
import pytest
import runs
from loopback import LoopbackServer
from loopback_replies import hang, rate_limited

from trajcompress.run.interrupt import stop_signals

BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


def state_of(folder):
    return json.loads((folder / "run.json").read_text())["state"]


def port_of(server):
    return urlsplit(server.base_url).port


def assert_resumable(ran, command, folder):
    """Check what an interrupted run says and leaves."""
    assert ran.code == 130, ran.stderr
    assert shlex.join(map(str, ["trajcompress", *command])) in ran.stderr
    assert "Traceback" not in ran.stderr
    assert state_of(folder) == "interrupted"
    assert not list((folder / "data").glob("*.tmp"))
    assert not (folder / "metrics.parquet").exists()


@BOTH
def test_the_first_signal_lets_the_calls_under_way_end(place, number):
    inputs = runs.write_inputs(place.folder, 100)
    folder = place.folder / "out"
    with LoopbackServer(latency=0.3) as server:
        command = place.calling(server.base_url, inputs, "out")
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: len(server.seen) >= 18, process)
        process.send_signal(number)
        sent = len(server.seen)
        ran = runs.ended(process)
        assert_resumable(ran, command, folder)
        assert len(server.seen) <= sent + 4, "no call begins once a stop is asked for"
        written = runs.committed_rows(folder)
        assert re.search(rf"what is (?:done|written) is kept: {written} rows; ", ran.stderr), ran.stderr
        assert f"{written} of " not in ran.stderr, "how many rows there are is not known yet"
        assert written > 0
        assert len(server.seen) < 80  # of the 88 that a whole run takes
        assert runs.recorded(folder) == {runs.prompt_digest(seen) for seen in server.seen}

        server.latency = 0
        runs.finish(place, command)
        assert set(Counter(map(runs.prompt_digest, server.seen)).values()) == {1}
        runs.assert_same_as_whole(place, command)


def test_what_figures_are_of_is_said_of_a_part_and_of_the_whole(place):
    inputs = runs.write_inputs(place.folder, 100)
    folder = place.folder / "out"
    with LoopbackServer(latency=0.3) as server:
        command = place.calling(server.base_url, inputs, "out")
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: len(server.seen) >= 30, process)
        process.send_signal(signal.SIGINT)
        ran = runs.ended(process)
        paid, written = len(server.seen), runs.committed_rows(folder)
        (title,) = [line for line in ran.stderr.splitlines() if " so far: interrupted" in line]
        rows = int(title.split()[0])
        counted = f"; these figures count {rows - written} not yet written, done again by the run that goes on"
        assert (counted in title) == (rows > written), ran.stderr
        assert " calls made in this session" in ran.stderr

        server.latency = 0
        again = commands.run_here(*command, cwd=place.folder)
        assert f"going on after {written} finished rows; the figures at the end are of all sessions" in again.stderr
        told = {line.rpartition("  ")[0].strip(): line.rpartition("  ")[2] for line in again.stderr.splitlines()}
        totals = json.loads((folder / "summary.json").read_text())
        calls = totals["summarization_api_calls"]
        assert told["compressed"] == str(totals["compressed"])
        assert told["API calls"] == f"{calls} (0 failed)"
        assert calls == len(server.seen) > paid, "those of either session"
        status = commands.run_here("status", "out", cwd=place.folder).stdout
        assert f"calls           {calls}, 0 failed" in status


def test_rows_that_are_done_out_of_order_are_in_the_table_as_in_the_status(place):
    inputs = runs.write_inputs(place.folder, 12)
    calls = count()
    with LoopbackServer(lambda _: hang() if next(calls) == 1 else None) as server:  # the first goes out alone
        command = place.calling(server.base_url, inputs, "out")
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: len(server.seen) >= 8, process)
        process.send_signal(signal.SIGINT)
        ran = runs.ended(process, seconds=30)
    (title,) = [line for line in ran.stderr.splitlines() if " so far: interrupted" in line]
    status = commands.run_here("status", "out", cwd=place.folder).stdout
    assert f"rows done       {title.split()[0]} in this session" in status, ran.stderr
    assert int(title.split()[0]) > runs.committed_rows(place.folder / "out")


def test_the_second_signal_ends_the_run_at_once(place):
    inputs = runs.write_inputs(place.folder, 20)
    stuck, calls = True, count()
    with LoopbackServer(lambda _: hang() if stuck and next(calls) else None) as server:  # the first goes out alone
        command = place.calling(server.base_url, inputs, "out")
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: len(server.seen) >= 4, process)
        process.send_signal(signal.SIGINT)
        line = ""
        while "stopping" not in line:
            line = process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        assert runs.ended(process).code == 130
        assert state_of(place.folder / "out") == "running"  # it had no time to say otherwise
        stuck = False
        runs.finish(place, command)
        runs.assert_same_as_whole(place, command)


def test_calls_that_do_not_end_are_cancelled(place):
    inputs = runs.write_inputs(place.folder, 20)
    calls = count()
    with LoopbackServer(lambda _: hang() if next(calls) else None) as server:
        command = place.calling(server.base_url, inputs, "out")
        short = "import trajcompress.run.loop.row_loop as loop; loop.GRACE_S = 1.0\n"
        process = runs.start(*command, cwd=place.folder, code=short)
        runs.wait_for(lambda: len(server.seen) >= 4, process)
        process.send_signal(signal.SIGTERM)
        assert_resumable(runs.ended(process), command, place.folder / "out")


@BOTH
def test_a_signal_while_results_are_put_together(place, number):
    inputs = runs.write_inputs(place.folder, 8)
    command = place.offline(inputs, "out")
    signal_at_finish = (
        "import os, trajcompress.run.finish as c; join = c.join_metrics\n"
        f"c.join_metrics = lambda *paths: (os.kill(os.getpid(), {number:d}), join(*paths))\n"
    )
    assert_resumable(
        runs.ended(runs.start(*command, cwd=place.folder, code=signal_at_finish)), command, place.folder / "out"
    )
    runs.finish(place, command)
    runs.assert_same_as_whole(place, command)


@BOTH
def test_a_signal_before_the_first_row(place, number):
    inputs = runs.write_inputs(place.folder, 8)
    command = place.offline(inputs, "out")
    at_loading = (
        "import os, trajcompress.run.build.components as build\n"
        f"build.load_tokenizer = lambda *given, **options: os.kill(os.getpid(), {number:d})\n"
    )
    stopped = runs.ended(runs.start(*command, cwd=place.folder, code=at_loading))
    assert stopped.code == 130
    assert "Traceback" not in stopped.stderr
    runs.finish(place, command)


@BOTH
def test_a_signal_wakes_a_loop_that_sleeps_on(number):
    """The kernel hands it to another thread, as it may when the main thread is just about to sleep."""
    asked, heard = threading.Event(), []

    async def sleep_on():
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def elsewhere():
            time.sleep(0.2)  # until the loop sleeps
            signal.pthread_kill(threading.get_ident(), number)
            heard.append(asked.wait(20))
            loop.call_soon_threadsafe(done.set)

        with stop_on(asked.set):
            threading.Thread(target=elsewhere).start()
            await done.wait()

    before = signal.getsignal(number)
    with stop_signals() as stop_on:
        asyncio.run(sleep_on())
    assert heard == [True]
    assert signal.getsignal(number) is before


def test_files_of_one_row_that_are_done_are_kept(place):
    inputs = place.folder / "in"
    inputs.mkdir()
    for row in range(30):
        commands.write_rows(inputs / f"{row:02}.jsonl", [commands.conversation(row)])
    with LoopbackServer(latency=0.3) as server:
        command = place.calling(server.base_url, [inputs], "out")
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: len(server.seen) >= 18, process)
        process.send_signal(signal.SIGINT)
        ran = runs.ended(process)
        assert_resumable(ran, command, place.folder / "out")
        assert runs.committed_rows(place.folder / "out") > 10


def test_what_is_rejected_in_a_part_that_is_cut_off_is_named_once(place):
    first = commands.write_rows(place.folder / "a.jsonl", [commands.conversation(0)])
    second = commands.write_rows(place.folder / "b.jsonl", map(commands.conversation, range(1, 40)))
    second.write_text("{broken\n" + second.read_text())
    with LoopbackServer(latency=0.3) as server:
        command = place.calling(server.base_url, [first, second], "out", "--part-size", "1MB")
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: len(server.seen) >= 18, process)
        process.send_signal(signal.SIGINT)
        assert_resumable(runs.ended(process), command, place.folder / "out")
        assert runs.committed_rows(place.folder / "out") == 1
        runs.finish(place, command)
        runs.assert_same_as_whole(place, command)


@BOTH
def test_a_signal_that_python_drops_at_the_start_is_heard_later(place, number):
    inputs = runs.write_inputs(place.folder, 8)
    dropped = (
        "import os, trajcompress.run.workforce as force; build = force.build_counter\n"
        "class Deleted:\n"
        "    def __del__(self):\n"
        f"        os.kill(os.getpid(), {number:d})\n"
        "force.build_counter = lambda *given, **more: (Deleted(), build(*given, **more))[1]\n"
    )
    ran = runs.run(*place.offline(inputs, "out"), cwd=place.folder, code=dropped)
    assert "Exception ignored" in ran.stderr, "Python has dropped it"
    assert ran.code == 130
    assert "interrupted" in ran.stderr
    assert not (place.folder / "out/metrics.parquet").exists()


@BOTH
def test_the_second_signal_ends_the_process_while_a_long_row_is_worked_on(place, number):
    inputs = runs.write_inputs(place.folder, 8)
    begun = place.folder / "begun"
    long_rows = (
        "import pathlib, time, trajcompress.compaction.driver as work, trajcompress.run.loop.row_loop as loop\n"
        "loop.GRACE_S = 0.5\n"
        f"work.RowWork.step = lambda *_: (pathlib.Path({str(begun)!r}).touch(), time.sleep(300))\n"
    )
    process = runs.start(*place.offline(inputs, "out"), cwd=place.folder, code=long_rows)
    runs.wait_for(begun.exists, process)
    process.send_signal(number)
    line = ""
    while "stopping" not in line:
        line = process.stderr.readline()
    time.sleep(2)  # until the run has given up on the row, and waits for its thread
    process.send_signal(number)
    assert runs.ended(process, seconds=20).code == 130


def test_standard_input_that_never_ends_does_not_keep_a_run_from_stopping(place):
    rows = "".join(json.dumps(commands.conversation(number)) + "\n" for number in range(3))
    process = runs.start(*place.offline(["-"], "out"), cwd=place.folder, stdin=subprocess.PIPE)
    process.stdin.write(rows)
    process.stdin.flush()
    runs.wait_for((place.folder / "out/.state/parts").exists, process)  # rows are read from here on
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 130
    process.communicate()


def test_a_server_that_is_gone_for_a_while(place):
    inputs = runs.write_inputs(place.folder, 40)
    folder = place.folder / "out"
    with LoopbackServer(lambda _: hang() if len(server.seen) > 14 else None) as server:
        command = place.calling(server.base_url, inputs, "out")
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: len(server.seen) > 14, process)
    stopped = runs.ended(process)
    assert stopped.code == 1
    assert "error: stopped early: every_call_fails: " in stopped.stderr
    assert "Connect" in stopped.stderr
    assert shlex.join(map(str, ["trajcompress", *command])) in stopped.stderr
    assert state_of(folder) == "stopped"
    assert 0 < runs.committed_rows(folder) < 40

    paid = runs.recorded(folder)
    still_gone = commands.run_here(*command, cwd=place.folder)
    assert still_gone.code == 2, still_gone
    with LoopbackServer(port=port_of(server)) as back:
        assert back.base_url == server.base_url
        runs.finish(place, command)
        assert not paid & set(map(runs.prompt_digest, back.seen))
        runs.assert_same_as_whole(place, command)


def test_a_server_that_comes_back_in_time_costs_no_row(place):
    inputs = runs.write_inputs(place.folder, 40)
    with LoopbackServer(latency=0.1) as server:
        patience = place.folder / "patience.yaml"
        patience.write_text("summarization: {retry_delay: 0.4, max_retries: 1, max_failures_in_a_row: 2}\n")
        command = place.calling(server.base_url, inputs, "out")
        command[command.index("-c") + 1] = str(patience)
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: len(server.seen) >= 14, process)
    with LoopbackServer(port=port_of(server)):
        ran = runs.ended(process)
        assert ran.code == 0, ran.stderr
        rows = commands.read_metrics(place.folder / "out")
        assert {row["outcome"] for row in rows} == {"compressed", "skipped_under_target", "rejected"}


def test_two_runs_in_one_folder(place):
    inputs = runs.write_inputs(place.folder, 20)
    stuck = True
    with LoopbackServer(lambda _: rate_limited("0.1") if stuck else None) as server:
        command = place.calling(server.base_url, inputs, "out", "--max-retries", "1000", "--max-outage", "600")
        first = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: server.seen, first)
        second = runs.run(*command, cwd=place.folder)
        assert (second.code, second.stderr.count("\n")) == (2, 1)
        assert f"process {first.pid} on " in second.stderr
        overwriting = runs.run(*command, "--overwrite", cwd=place.folder)
        assert (overwriting.code, overwriting.stderr.count("\n")) == (2, 1)
        stuck = False
        assert runs.ended(first).code == 0
