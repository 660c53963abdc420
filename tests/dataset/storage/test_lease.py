"""One run at a time in a folder of a real S3 server."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time

import pytest
from s3_server import BUCKET

from trajcompress.dataset.storage import lease
from trajcompress.dataset.storage.location import location_of
from trajcompress.errors import OutputError

KEY = "out/.state/lock"


@pytest.fixture
def path(s3, monkeypatch):
    monkeypatch.setattr(lease, "_RENEW_S", 0.05)
    monkeypatch.setattr(lease, "_SETTLE_S", 0.1)
    return location_of(f"s3://{BUCKET}/{KEY}")


def left_behind(s3, *, process, machine="", until=None):
    value = {
        "token": "x",
        "machine": machine or platform.node(),
        "process": process,
        "until": until or time.time() + 99,
    }
    s3.put(KEY, json.dumps(value).encode())


def gone():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_it_is_held_by_one_renewed_and_given_back(path, s3):
    with lease.held_lease(path) as held:
        first = json.loads(s3.get(KEY))
        assert first["process"] == os.getpid()
        with pytest.raises(OutputError, match=rf"^s3://{BUCKET}/out: process {os.getpid()} on .* is writing here"):
            lease.held_lease(path).__enter__()
        while (until := json.loads(s3.get(KEY))["until"]) == first["until"]:
            time.sleep(0.02)
        assert until > first["until"]
        assert held.lost_to is None
    assert s3.objects() == {}


@pytest.mark.parametrize("who", ["dead here", "over elsewhere", "unreadable"])
def test_what_a_killed_run_left_is_taken_over(path, s3, who):
    if who == "dead here":
        left_behind(s3, process=gone())
    elif who == "over elsewhere":
        left_behind(s3, process=1, machine="node7", until=time.time() - 1)
    else:
        s3.put(KEY, b"{")
    with lease.held_lease(path):
        assert json.loads(s3.get(KEY))["process"] == os.getpid()


def test_who_may_live_elsewhere_is_waited_for(path, s3):
    left_behind(s3, process=1, machine="node7")
    with pytest.raises(OutputError, match=r"process 1 on node7 is writing here.*if it was killed, go on in 9\d s"):
        lease.held_lease(path).__enter__()


def test_a_process_that_slept_too_long_learns_who_has_taken_over(path, s3):
    with lease.held_lease(path) as held:
        left_behind(s3, process=1, machine="node7")
        while held.lost_to is None:
            time.sleep(0.02)
        assert held.lost_to == "process 1 on node7"
    assert json.loads(s3.get(KEY))["machine"] == "node7"


def test_where_nothing_may_be_written_is_found_by_writing(path, s3):
    s3.faults = lambda asked: 403 if asked.method == "PUT" else None
    with pytest.raises(
        OutputError, match=rf"^s3://{BUCKET}/out: cannot be written: the store refuses it .*AccessDenied"
    ):
        lease.held_lease(path).__enter__()
