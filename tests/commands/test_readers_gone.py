"""Commands whose reader goes away before they have printed all, as ``2>&1 | head -1`` does."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import forked
import pytest
import runs
from commands import Desk, conversation, environment, make_desk, read_rows, write_rows
from loopback import LoopbackServer
from loopback_replies import hang

ROWS = [conversation(number) for number in range(4)]


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    desk = make_desk(tmp_path, make_tokenizer)
    desk.write("a.jsonl", ROWS)
    return desk


def code_without_reader(desk: Desk, *arguments: str | Path, lines: int = 0, env=(), both: bool = True) -> int:
    """Run a command; read so many lines of what it prints, close the pipe, and return its exit code."""
    ours, theirs = os.pipe()
    streams = {"stdin": subprocess.DEVNULL, "stdout": theirs, "stderr": theirs if both else subprocess.DEVNULL}
    with forked.start(arguments, cwd=desk.folder, env=environment(dict(env)), fresh=bool(env), **streams) as process:
        os.close(theirs)
        with os.fdopen(ours, "rb") as pipe:
            assert all(pipe.readline() for _ in range(lines))
        return process.wait(120)


@pytest.mark.parametrize("lines", [0, 1])
@pytest.mark.parametrize("more", [("--num-workers", "1"), ("--num-workers", "2"), ("--progress", "lines")])
def test_a_run_goes_on_to_its_end(desk, lines, more):
    assert code_without_reader(desk, "compress", *desk.options, "a.jsonl", "-o", "out", *more, lines=lines) == 0
    assert len(read_rows(desk.path("out"))) == len(ROWS)
    assert json.loads(desk.path("out/run.json").read_text())["state"] == "complete"


def test_the_exit_code_still_says_that_rows_were_rejected(desk):
    desk.write("a.jsonl", [*ROWS, {"x": 1}])
    assert code_without_reader(desk, "compress", *desk.options, "a.jsonl", "-o", "out") == 1
    assert len(read_rows(desk.path("out"))) == len(ROWS)


@pytest.mark.parametrize(
    "env", [{}, {"PYTHONUNBUFFERED": "1"}, {"PYTHONUNBUFFERED": "", "PYTHONIOENCODING": "ascii"}]
)
def test_a_gate_passes_or_fails_as_it_would(desk, env):
    assert desk.compress("a.jsonl", "-o", "out").code == 0
    assert code_without_reader(desk, "audit", "out", "--max-failed", "0", env=env) == 0
    assert code_without_reader(desk, "audit", "out", "--max-ratio", "0.01", env=env, both=False) == 1
    assert code_without_reader(desk, "check", "out", "--json", env=env) == 0


@pytest.mark.parametrize("read", [0, 20])
def test_a_run_outlasts_its_terminal(desk, read):
    """Under ``nohup`` nothing tells it that the terminal is gone, but that it cannot be written to."""
    ours, theirs = pty.openpty()
    command = ["compress", *desk.options, "a.jsonl", "-o", "out"]
    named = environment({"TERM": "xterm"})
    with forked.start(command, cwd=desk.folder, env=named, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        assert not read or os.read(ours, read)
        os.close(ours)
        assert process.wait(120) == 0
    assert len(read_rows(desk.path("out"))) == len(ROWS)


def test_nobody_watches_on_when_nobody_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    place = runs.Place(tmp_path, runs.small_tokenizer())
    rows = write_rows(place.folder / "rows.jsonl", ROWS)
    with LoopbackServer(lambda _: hang()) as server:
        process = runs.start(*place.calling(server.base_url, [rows], "out"), cwd=place.folder)
        try:
            runs.wait_for(lambda: server.seen, process)
            desk = Desk(place.folder, "")
            assert code_without_reader(desk, "status", "out", "--watch", lines=1) == 0
        finally:
            runs.kill(process)
