"""Runs whose output is on a real S3 server: the same bytes as here, killed or not, and nothing is paid for twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from collections import Counter
from pathlib import Path

import commands
import pytest
import runs
from batch_server import BatchServer
from commands import run_here
from in_workers import die_as_it_widens, outcome_of_one, run_in_workers, start_in_workers, workers_in
from loopback import LoopbackServer
from loopback_replies import hang
from s3_server import BUCKET, KEY_ID, SECRET

from trajcompress.dataset.storage import asking

ROOT = f"s3://{BUCKET}"
OUT = f"{ROOT}/runs/out"


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(asking, "_PAUSES_S", (0.01,) * 5)


def same_as_here(s3, place, command):
    """Check that the run in the store left what one here leaves, and return the keys of its objects."""
    here = [str(place.folder / "whole") if argument == OUT else argument for argument in command]
    runs.finish(place, here)
    there = s3.fetch("runs/out", place.folder / "fetched")
    assert runs.outcome(there) == runs.outcome(place.folder / "whole")
    assert SECRET not in (there / "run.json").read_text() + (there / "README.md").read_text()
    return {path.relative_to(there).as_posix() for path in there.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_what_a_run_leaves_is_what_it_leaves_here(s3, place, kind):
    inputs = runs.write_inputs(place.folder, 20)
    command = place.offline(inputs, OUT, "--output-format", kind)
    runs.finish(place, command)
    keys = same_as_here(s3, place, command)
    assert {key for key in keys if key.startswith(".state/") and not key.startswith(".state/parts/")} == {
        key.replace("/parts/", f"/{folder}/").replace(".json", suffix)
        for key in keys
        if key.startswith(".state/parts/")
        for folder, suffix in (("metrics", ".parquet"), ("rejected", ".jsonl"))
        if key.replace("/parts/", f"/{folder}/").replace(".json", suffix) in keys
    }
    assert not list(Path(tempfile.gettempdir()).rglob("*.tmp"))
    s3.asked.clear()
    again = run_here(*command, cwd=place.folder)
    assert again.code == 0
    assert "this run is complete already" in again.stderr
    assert not [each for each in s3.asked if each.method == "PUT" and "/data/" in each.path]
    refused = run_here(*command, "--target-max-tokens", "1900", cwd=place.folder)
    assert refused.code == 2
    assert refused.stderr.startswith(f"error: {OUT}: holds a run with other settings")
    assert run_here(*command, "--target-max-tokens", "1900", "--overwrite", cwd=place.folder).code == 0


def test_commands_read_a_run_there_as_they_read_one_here(s3, place):
    inputs = runs.write_inputs(place.folder, 12)
    runs.finish(place, place.offline(inputs, OUT))
    runs.finish(place, place.offline(inputs, "runs/out"))
    for command in (
        ["audit", "RUN", "--json"],
        ["show", "RUN", "3", "--json"],
        ["report", "RUN", "-o", "-"],
        ["check", "RUN", "--for", "openai"],
        ["plan", "RUN", "--tokenizer", place.tokenizer, "--target-max-tokens", "900", "--json"],
    ):
        there, here = (
            run_here(*(run if part == "RUN" else part for part in command), cwd=place.folder)
            for run in (OUT, "runs/out")
        )
        assert there.code == here.code, there.stderr
        assert there.stdout.replace(OUT, "runs/out") == here.stdout
    compared = run_here("compare", OUT, "runs/out", "--json", cwd=place.folder)
    assert compared.json["differing_rows"] == []
    page = run_here("report", OUT, cwd=place.folder)
    assert page.code == 0, page.stderr
    assert b"<html" in s3.get("runs/out/report.html")


@pytest.mark.parametrize("elsewhere", [False, True])
def test_killed_and_gone_on_with_here_or_on_another_machine(s3, place, elsewhere):
    inputs = runs.write_inputs(place.folder, 20)
    with LoopbackServer(latency=0.05) as server:
        command = place.calling(server.base_url, inputs, OUT)
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(
            lambda: any("/.state/parts/" in each.path for each in s3.asked if each.method == "PUT"), process
        )
        before = len(server.seen)
        runs.wait_for(lambda: len(server.seen) >= before + 3, process)
        runs.kill(process)
        kept = [key for key in s3.objects() if "/.state/summaries/" in key]
        assert kept
        if elsewhere:
            shutil.rmtree(tempfile.gettempdir())
            Path(tempfile.gettempdir()).mkdir()
            lease = json.loads(s3.get("runs/out/.state/lock"))
            s3.put("runs/out/.state/lock", json.dumps({**lease, "machine": "node7", "until": 0}).encode())
        runs.finish(place, command)
        asked = Counter(runs.prompt_digest(seen) for seen in server.seen)
        # Of each of four calls at once, what was answered may be on its way to the store while the next is asked.
        assert sum(times - 1 for times in asked.values()) <= 2 * 4
        same_as_here(s3, place, command)


def test_a_run_that_goes_on_there_is_looked_at_as_far_as_it_is_committed(s3, place):
    inputs = runs.write_inputs(place.folder, 20)

    def look(*command):
        return run_here(*command, cwd=place.folder)

    def committed():
        return sum("/.state/parts/" in key for key in s3.objects())

    with LoopbackServer(lambda _: hang() if committed() >= 2 else None, latency=0.02) as server:
        command = place.calling(server.base_url, inputs, OUT)
        process = runs.start(*command, cwd=place.folder)
        try:
            runs.wait_for(lambda: committed() >= 2, process)
            runs.wait_for(lambda: (look("status", OUT, "--json").json["session"] or {}).get("calls"), process)
            told = look("status", OUT, "--json").json
            assert (told["path"], told["state"], told["session"]["pid"]) == (OUT, "running", process.pid)
            rows = told["committed"]["rows"]
            assert 0 < rows < 40
            audited = look("audit", OUT, "--json")
            assert (audited.code, audited.json["totals"]["rows"] >= rows) == (0, True), audited.stderr
            assert f"{OUT}: the run is running; this is of the" in audited.stderr
            shown = look("show", OUT, "0", "--json")
            assert shown.code == 0, shown.stderr
            assert process.poll() is None, "and nothing disturbed it"
        finally:
            runs.kill(process)
    assert look("status", OUT, "--json").json["state"] == "killed"
    nothing = look("status", f"{ROOT}/runs/other")
    assert (nothing.code, nothing.stdout) == (2, "")
    assert f"{ROOT}/runs/other: no such folder" in nothing.stderr


def test_a_run_that_replaces_another_pays_for_no_summary_again(s3, place):
    inputs = runs.write_inputs(place.folder, 12)
    with LoopbackServer() as server:
        runs.finish(place, place.calling(server.base_url, inputs, OUT))
        paid = len(server.seen)
        assert paid
        assert not list(Path(tempfile.gettempdir()).rglob("*.sqlite*"))  # what there is to go on with is in the store
        again = place.calling(server.base_url, inputs, OUT, "--output-format", "jsonl")
        refused = run_here(*again, cwd=place.folder)
        assert (
            f"reuses what it can of the {len([key for key in s3.objects() if '/summaries/' in key])}"
            in refused.stderr
        )
        runs.finish(place, [*again, "--overwrite"])
        assert len(server.seen) == paid


def test_a_store_that_fails_ends_the_run_in_a_line_and_it_goes_on_later(s3, place, quick):
    inputs = runs.write_inputs(place.folder, 20)
    command = place.offline(inputs, OUT)
    s3.faults = lambda asked: 503 if asked.method == "PUT" and "/data/b-00001" in asked.path else None
    failed = run_here(*command, cwd=place.folder)
    assert failed.code == 2
    assert failed.stderr.splitlines()[-1].startswith(
        f"error: {OUT}/data/b-00001.parquet: the store failed again and again (SlowDown: on purpose)"
    )
    assert SECRET not in failed.stderr
    s3.faults = lambda asked: 500 if asked.number == 1 and asked.method in {"PUT", "GET"} else None
    runs.finish(place, command)
    same_as_here(s3, place, command)


@pytest.mark.parametrize(
    ("output", "fault", "says"),
    [
        (f"{ROOT}/runs/out", 403, "cannot be written: the store refuses it (AccessDenied"),
        ("s3://nowhere/out", None, "cannot be written: there is no such bucket"),
        (ROOT, None, "name a folder in it"),
        ("hf://datasets/ann/rows", None, "the hub is written to by a push"),
    ],
)
def test_where_nothing_can_be_written_is_found_before_anything_is_paid_for(s3, place, output, fault, says):
    inputs = runs.write_inputs(place.folder, 8)
    s3.faults = lambda asked: fault if asked.method == "PUT" else None
    with LoopbackServer() as server:
        ran = run_here(*place.calling(server.base_url, inputs, output), cwd=place.folder)
        assert not server.seen
    assert ran.code == 2
    (line,) = (line for line in ran.stderr.splitlines() if line.startswith("error:"))
    assert line.startswith(f"error: {output}: {says}")
    assert SECRET not in ran.stderr
    assert KEY_ID not in ran.stderr


def test_shards_in_a_store_are_merged_there(s3, place):
    inputs = runs.write_inputs(place.folder, 12)
    for number in (1, 2):
        runs.finish(place, place.offline(inputs, f"{ROOT}/shards/{number}", "--shard", f"{number}/2"))
    merged = run_here("merge", f"{ROOT}/shards/1", f"{ROOT}/shards/2", "-o", OUT, cwd=place.folder)
    assert merged.code == 0, merged.stderr
    same_as_here(s3, place, place.offline(inputs, OUT))


def test_worker_processes_write_there_what_one_does_and_a_killed_one_costs_no_summary(s3, place):
    inputs = runs.write_inputs(place.folder, 120)  # so that neither worker is at its end when one is killed
    with LoopbackServer(latency=0.1) as server:
        command = place.calling(server.base_url, inputs, OUT)
        process = start_in_workers(place, command)
        runs.wait_for(lambda: len(server.seen) >= 24, process)
        os.kill(workers_in(place)[0], signal.SIGKILL)
        ran = runs.ended(process)
        assert ran.code == 0, ran.stderr
        assert "a worker process has died (SIGKILL)" in ran.stderr
        calls = Counter(map(runs.prompt_digest, server.seen))
        # Four were under way, and as many were answered and on their way into the store; a dozen were there.
        assert calls.total() <= len(calls) + 8
        same_as_here(s3, place, command)


def test_batches_of_a_run_there_are_gone_on_with_from_another_machine_and_one_process_asks(s3, place, monkeypatch):
    inputs = runs.write_inputs(place.folder, 24)
    for machine in ("one", "other"):
        (place.folder / machine).mkdir()
    monkeypatch.setenv("TMPDIR", str(place.folder / "one"))
    status = None
    with BatchServer(ends=lambda _batch, _number: status) as server:
        command = place.calling(server.base_url, inputs, OUT, "--batch")
        ran = run_in_workers(place, command)
        assert ran.code == 75, ran.stderr
        assert not (place.folder / "workers").exists()
        monkeypatch.setenv("TMPDIR", str(place.folder / "other"))
        status = "completed"
        ran = run_in_workers(place, [*command, "--batch-wait"])
        assert ran.code == 0, ran.stderr
        lines = Counter(runs.prompt_digest(seen) for seen in server.lines)
        assert lines
        assert set(lines.values()) == {1}
        same_as_here(s3, place, [*command, "--batch-wait"])


@pytest.fixture(scope="module")
def widened(tmp_path_factory):
    """A place, the command of a run that widens objects, and what one process makes of it here without dying."""
    place = runs.Place(tmp_path_factory.mktemp("widened"), runs.small_tokenizer())
    rows = [{**commands.conversation(number, steps=3), "n": number} for number in range(12)]
    wider = commands.write_rows(place.folder / "wider.jsonl", rows)
    inputs = [*runs.write_inputs(place.folder, 12), wider]
    command = place.offline(inputs, OUT, "--summarizer", "deadly:summarize")
    return place, command, outcome_of_one(place, command, OUT)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["publish", "write_durably"])
def test_a_worker_that_dies_as_it_widens_an_object_costs_nothing(s3, widened, tmp_path, name, when):
    place, command, whole = widened
    once = tmp_path / "killed"
    path = die_as_it_widens(tmp_path, once, "trajcompress.run.parts.store", name, when)
    ran = run_in_workers(place, command, 2, path)
    assert (ran.code, once.exists()) == (0, True), ran.stderr
    assert runs.outcome(s3.fetch("runs/out", tmp_path / "fetched")) == whole
