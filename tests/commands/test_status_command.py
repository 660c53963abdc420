"""``status``, and ``audit``, ``report`` and ``show`` of runs that go on, were interrupted or killed."""

from __future__ import annotations

import json
import signal
from contextlib import suppress

import commands
import pytest
import runs
from commands import run_here
from loopback import LoopbackServer
from loopback_replies import Reply, hang, server_error

from trajcompress.dataset.durable import temporary
from trajcompress.run.past import unfinished

KEY = {"OPENAI_API_KEY": "sk-test"}
FEW_BYTES = ("--part-size", "20KB")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return runs.Place(tmp_path, runs.small_tokenizer())


@pytest.fixture
def rows(place):
    return commands.write_rows(place.folder / "rows.jsonl", map(commands.conversation, range(20)))


def manifests(place):
    return list((place.folder / "out" / ".state" / "parts").glob("*.json"))


def status(place, *more):
    return run_here("status", "out", *more, cwd=place.folder)


def test_while_a_run_goes_on_everything_reads_what_is_committed(place, rows):
    with LoopbackServer(lambda _: hang() if len(server.seen) > 12 else None) as server:
        process = runs.start(*place.calling(server.base_url, [rows], "out", *FEW_BYTES), cwd=place.folder)
        try:
            runs.wait_for(lambda: len(server.seen) > 12 and len(manifests(place)) >= 2, process)
            runs.wait_for(lambda: (status(place, "--json").json["session"] or {}).get("calls"), process)
            told = status(place, "--json").json
            assert told["state"] == "running"
            committed = told["committed"]["rows"]
            assert 0 < committed < 20
            assert told["session"]["pid"] == process.pid
            assert told["session"]["calls"] > 0
            shown = status(place).stdout
            assert f"process {process.pid}" in shown
            audited = run_here("audit", "out", "--json", cwd=place.folder)
            assert audited.code == 0
            assert audited.json["totals"]["rows"] >= committed
            assert "the run is running; this is of the" in audited.stderr
            gated = run_here("audit", "out", "--max-failed", "0", cwd=place.folder)
            assert (gated.code, gated.stdout) == (2, "")
            assert "gates judge whole runs" in gated.stderr
            row = run_here("show", "out", "row-0", cwd=place.folder)
            assert "the run is running" in " ".join(row.stdout.split())
            assert "[CONTEXT SUMMARY]" in row.stdout
            page = run_here("report", "out", "-o", "-", cwd=place.folder)
            assert (page.code, "committed so far" in page.stderr) == (0, True)
            assert "the run is running" in page.stdout
            assert process.poll() is None, "and nothing disturbed it"
        finally:
            runs.kill(process)
    told = status(place, "--json").json
    assert told["state"] == "killed", "nobody holds it, whatever run.json says"
    assert "not counted     calls of the last seconds before the kill" in status(place).stdout
    assert json.loads((place.folder / "out" / "run.json").read_text())["state"] == "running"
    assert "the run was killed" in run_here("audit", "out", cwd=place.folder).stderr
    with LoopbackServer() as moved:
        command = place.calling(moved.base_url, [rows], "out", *FEW_BYTES)
        assert run_here(*command, cwd=place.folder, env=KEY).code == 0
    told = status(place, "--json").json
    assert (told["state"], told["committed"]["rows"]) == ("complete", 20)
    assert run_here("audit", "out", "--max-failed", "0", cwd=place.folder).code == 0


@pytest.mark.parametrize("command", ["status", "audit", "report", "show"])
def test_a_commit_that_names_its_files_meanwhile_does_not_disturb_who_reads(place, rows, monkeypatch, command):
    with LoopbackServer(lambda _: hang() if len(server.seen) > 12 else None) as server:
        process = runs.start(*place.calling(server.base_url, [rows], "out", *FEW_BYTES), cwd=place.folder)
        try:
            runs.wait_for(lambda: len(server.seen) > 12 and len(manifests(place)) >= 2, process)
        finally:
            runs.kill(process)
    folder = place.folder / "out" / ".state"
    named = sorted(path for path in folder.rglob("*.parquet") if "metrics" in str(path))
    assert named
    for path in named:
        path.rename(temporary(path))

    def then_commit(path):
        with suppress(FileNotFoundError):
            temporary(path).rename(path)
        return temporary(path)

    monkeypatch.setattr(unfinished, "temporary", then_commit)
    more = {"show": ["row-0"], "report": ["-o", "-"]}.get(command, [])
    ran = run_here(command, "out", *more, cwd=place.folder)
    assert (ran.code, "Traceback" in ran.stderr) == (0, False), ran.stderr


def test_an_interrupted_run_says_what_was_paid_and_its_last_errors(place, rows):
    with LoopbackServer(lambda _: server_error() if len(server.seen) == 3 else Reply(delay=0.3)) as server:
        prices = ("--price-in", "1", "--price-out", "2")
        command = place.calling(server.base_url, [rows], "out", *FEW_BYTES, *prices)
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: len(manifests(place)) >= 1, process)
        process.send_signal(signal.SIGINT)
        ended = runs.ended(process)
    assert ended.code == 130
    assert " made for $0.0" in ended.stderr
    told = status(place, "--json").json
    assert told["state"] == "interrupted"
    assert told["session"]["cost_usd"] > 0
    assert [each["what"] for each in told["session"]["last_errors"]][:1] == ["call: server_error"]
    shown = status(place).stdout
    assert "interrupted; the same command goes on" in shown
    assert "call: server_error" in shown


def test_failed_calls_are_as_many_in_status_as_in_the_totals_and_rows_go_by_their_lines(place):
    lines = [json.dumps(commands.conversation(number)) for number in range(6)]
    path = place.folder / "rows.jsonl"
    path.write_text("\n\n" + "\n".join(lines) + "\n")
    replies = [server_error(), Reply(text="I'm sorry, but I can't help with that."), None]
    with LoopbackServer(replies) as server:
        command = place.calling(server.base_url, [path], "out", "--max-concurrent-requests", "1")
        ran = run_here(*command, cwd=place.folder, env=KEY)
    assert ran.code == 0, ran.stderr
    calls = len(server.seen)
    assert f"{calls} (2 failed)" in " ".join(ran.stderr.split())
    shown = status(place).stdout
    assert f"calls           {calls}, 2 failed" in shown, "of a run that has ended, as in its totals"
    listed, _, look = shown.partition("last errors\n")[2].partition("to look at one: ")
    told = [line.split("  ")[-2:] for line in listed.splitlines()]
    assert look.startswith("trajcompress show out ")
    assert [what for what, _ in told] == ["call: server_error", "call: refused_answer"]
    assert {where for _, where in told} <= {f"{path}:line {line}" for line in range(3, 9)}


def test_watching_ends_with_the_run(place, rows):
    runs.finish(place, place.offline([rows], "out"))
    ran = status(place, "--watch")
    assert (ran.code, ran.stdout.count("complete")) == (0, 1)


@pytest.mark.parametrize(("given", "words"), [("nowhere", "no such folder"), (".", "no run folder")])
def test_what_is_no_run(tmp_path, given, words):
    ran = run_here("status", given, cwd=tmp_path)
    assert (ran.code, ran.stdout) == (2, "")
    assert words in ran.stderr


def test_a_run_of_which_nothing_is_committed_says_so(place, rows):
    with LoopbackServer(lambda _: hang()) as server:
        process = runs.start(*place.calling(server.base_url, [rows], "out"), cwd=place.folder)
        try:
            runs.wait_for(lambda: server.seen, process)
            ran = run_here("audit", "out", cwd=place.folder)
        finally:
            runs.kill(process)
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    assert "nothing of it is committed yet; it goes on: `trajcompress status out`" in ran.stderr
