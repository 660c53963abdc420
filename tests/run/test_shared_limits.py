"""Workers that call an endpoint keep its limits together, as one process does: seen by a server that logs."""

from __future__ import annotations

import json
import os
import signal
import statistics
import threading
import time
from contextlib import contextmanager

import commands
import pytest
import runs
from in_workers import run_in_workers, start_in_workers, workers_in
from loopback import LoopbackServer, most_in_window
from loopback_replies import Reply, failed, rate_limited, server_error

LATE_S = 0.1
"""How late a machine may take the time of a request, unless it is busier than that."""

RPM = 420

LARGER = ("--part-size", "50000")
"""Parts of so many rows that there are always some to be asked for."""


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


def write_rows(place, rows):
    """Write rows each of which takes a call."""
    source = place.folder / "rows.jsonl"
    source.write_text("".join(json.dumps(commands.conversation(number, steps=12)) + "\n" for number in range(rows)))
    return source


@contextmanager
def lateness():
    """Yield how late this machine wakes who sleeps for a moment, each time in the block."""
    late, done = [LATE_S], threading.Event()

    def sleep_on():
        before = time.monotonic()
        while not done.wait(0.01):
            late.append(time.monotonic() - before - 0.01)
            before = time.monotonic()

    sleeper = threading.Thread(target=sleep_on)
    sleeper.start()
    try:
        yield late
    finally:
        done.set()
        sleeper.join()


def worst(late):
    return min(max(late), 0.9)


def seen_of_a_run(place, workers, victims=0):
    """Return the server's log of a run of rows that take a call each, after it kept to all limits."""
    with LoopbackServer(latency=0.05) as server, lateness() as late:
        limits = ("--rpm", str(RPM), "--max-concurrent-requests", "8")  # enough where a busy machine is slow to ask
        command = place.calling(server.base_url, [write_rows(place, 50 + 30 * victims)], "out", *limits, *LARGER)
        process = start_in_workers(place, command, workers)
        if victims:
            runs.wait_for(lambda: len(server.seen) >= 20, process)
            os.kill(workers_in(place)[0], signal.SIGKILL)
        ran = runs.ended(process)
        assert ran.code == 0, ran.stderr
        assert ran.stderr.count("has died (SIGKILL)") == victims
    assert len(server.seen) >= 50
    assert server.most_at_once <= 8
    ordered = sorted(server.seen, key=lambda each: each.time)
    for seconds in (1, 3):
        assert most_in_window(ordered, seconds - worst(late)) <= RPM / 60 * seconds
    return ordered, late


@pytest.mark.parametrize(("workers", "victims"), [(2, 0), (3, 1)])
def test_requests_never_exceed_the_limit(place, workers, victims):
    seen_of_a_run(place, workers, victims)


@pytest.mark.slow  # by the clock, so for a machine that has nothing else to do; test_leases.py has a clock of its own
@pytest.mark.parametrize(("workers", "victims"), [(1, 0), (2, 0), (4, 0), (3, 1)])
def test_requests_use_the_limit(place, workers, victims):
    ordered, late = seen_of_a_run(place, workers, victims)
    amid = ordered[3:-4]  # from when workers are there, to when some have ended
    calls, lost = len(amid) - 1, statistics.mean(late)  # as each waits for the one before
    assert calls >= 0.9 * RPM / 60 * (amid[-1].time - amid[0].time - calls * lost)


def test_tokens_never_exceed_the_limit(place):
    with LoopbackServer(latency=0.05) as server, lateness() as late:
        command = place.calling(server.base_url, [write_rows(place, 60)], "out", "--tpm", "1500000", *LARGER)
        ran = run_in_workers(place, command, 2)
        assert ran.code == 0, ran.stderr
    for seconds in (1, 3):
        spent = most_in_window(
            server.seen, seconds - worst(late), lambda seen: seen.prompt_tokens + seen.completion_tokens
        )
        assert spent <= 25_000 * seconds


def test_the_first_call_goes_out_alone_and_all_wait_where_the_server_asks_one_to(place):
    def script(_):
        return {1: slow, 30: rate_limited("1.5")}.get(len(server.seen))

    slow = Reply(delay=1.5)
    with LoopbackServer(script, latency=0.02) as server:
        command = place.calling(server.base_url, [write_rows(place, 60)], "out", "--max-concurrent-requests", "3")
        ran = run_in_workers(place, command, 2)
        assert ran.code == 0, ran.stderr
    times = [each.time for each in server.seen]
    assert times[1] - times[0] >= 1.5
    asked = next(each.time for each in server.seen if each.outcome.startswith("rate"))
    after = [time - asked for time in times if time > asked]
    assert not [each for each in after if LATE_S < each < 1.5]
    assert len(after) > 20
    assert server.most_at_once == 3


def test_an_outage_is_shown_and_ends_the_run_once_with_the_words_of_the_server(place):
    down = True

    def script(_):
        return failed(503, "the GPU has left") if down and len(server.seen) > 12 else None

    with LoopbackServer(script, latency=0.02) as server:
        rows = write_rows(place, 40)
        command = place.calling(server.base_url, [rows], "out", "--log-file", "log.jsonl")
        ran = run_in_workers(place, command, 2)
        assert (ran.code, ran.stderr.count("error: stopped early")) == (1, 1), ran.stderr
        assert ran.stderr.count("the last one with: server_error: loopback: HTTP 503: the GPU has left") == 1
        assert "Traceback" not in ran.stderr
        assert len(server.seen) < 60
        log = [json.loads(line) for line in (place.folder / "log.jsonl").read_text().splitlines()]
        paused = [line for line in log if line["event"] == "paused"]
        assert paused
        assert all("the GPU has left" in line["detail"] for line in paused)
        down = False
        assert run_in_workers(place, command, 2).code == 0
        runs.assert_same_as_whole(place, command)
    assert {row["outcome"] for row in commands.read_metrics(place.folder / "out")} <= {"compressed"}


def test_an_outage_that_passes_costs_no_row_of_any_worker(place):
    def script(_):
        return server_error(503) if 12 < len(server.seen) <= 20 else None

    with LoopbackServer(script, latency=0.02) as server:
        command = place.calling(server.base_url, [write_rows(place, 40)], "out", "--max-outage", "60")
        ran = run_in_workers(place, command, 2)
        assert ran.code == 0, ran.stderr
    rows = commands.read_metrics(place.folder / "out")
    assert {row["outcome"] for row in rows} == {"compressed"}


def test_an_endpoint_that_never_answers_is_asked_by_one_call_at_a_time(place):
    with LoopbackServer(lambda _: failed(503, "not yet")) as server:
        ran = run_in_workers(place, place.calling(server.base_url, [write_rows(place, 60)], "out"), 4)
        assert (ran.code, ran.stderr.count("error: stopped early")) == (2, 1), ran.stderr
        assert server.most_at_once == 1
        assert len(server.seen) < 20
