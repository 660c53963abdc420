"""Parts worked on in several processes come out as in one, whatever happens on the way."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
from collections import Counter

import commands
import pytest
import runs
from in_workers import (
    assert_gone,
    die_as_it_widens,
    outcome_of_one,
    run_in_workers,
    start_in_workers,
    workers_in,
)
from loopback import LoopbackServer
from loopback_replies import empty, failed

from trajcompress.dataset.cutting import cut_into_parts
from trajcompress.dataset.rows import Source
from trajcompress.run.workers import work_in_workers
from trajcompress.run.workers.work_in_workers import useful_workers
from trajcompress.settings import resolve


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


def write_inputs(folder):
    """Write what is cut in each of the ways that there are."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    inputs = runs.write_inputs(folder, 40)
    rows = [{**commands.conversation(number, steps=3), "n": number} for number in range(12)]
    pq.write_table(pa.Table.from_pylist(rows), folder / "c.parquet", row_group_size=3)
    (folder / "many").mkdir()
    for number in range(36):
        row = commands.conversation(number, steps=1, sharegpt=True, of=str(number))
        commands.write_rows(folder / f"many/{number:02}.jsonl", [row])
    return [*inputs, folder / "c.parquet", folder / "many"]


@pytest.mark.parametrize(
    ("more", "workers"),
    [
        (["--prune", "all"], 3),
        (["--limit", "33"], 2),
        (["--sample-count", "29", "--output-format", "jsonl"], 2),
        (["--shard", "2/3"], 2),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, list) else None,
)
def test_the_bytes_and_the_notes_are_those_of_one_process(place, more, workers, monkeypatch):
    command = place.offline(write_inputs(place.folder), "out", *more)
    ran = run_in_workers(place, command, workers, "import trajcompress.run.finish as f; f._JOINED_PARTS = 2\n")
    assert ran.code == 0, ran.stderr
    assert len(workers_in(place)) == workers
    assert not list((place.folder / "out/.state/metrics").glob("joined*"))
    for worth in ("_WORTH_BYTES", "_WORTH_ROWS"):
        monkeypatch.setattr(work_in_workers, worth, 1)
    monkeypatch.delattr("trajcompress.engine.local._Process")  # no process is to be started for one
    one = ["whole" if word == "out" else word for word in command]
    whole = commands.run_here(*one, "--num-workers", "1", cwd=place.folder)
    assert runs.outcome(place.folder / "out") == runs.outcome(place.folder / "whole")
    said = [line for line in ran.stderr.splitlines() if not line.startswith("parts are worked on")]
    assert said == [re.sub(r"\bwhole\b", "out", line) for line in whole.stderr.splitlines()]


def test_a_summarizer_of_ones_own_is_found_in_each_worker(place):
    (place.folder / "own.py").write_text(
        "import asyncio, glob, os\n"
        "class Own:\n"
        "    async def summarize(self, request):\n"
        "        open(f'by-{os.getpid()}', 'a').close()\n"
        "        while len(glob.glob('by-*')) < 2:\n"  # or one does all before another is there
        "            await asyncio.sleep(0.01)\n"
        "        return f'{len(request.turns)} characters were said, of which this is a summary in some words.'\n"
    )
    command = place.offline(runs.write_inputs(place.folder, 40), "out", "--summarizer", "own:Own")
    ran = run_in_workers(place, command, fresh=True)
    assert ran.code == 0, ran.stderr
    assert {f"by-{process}" for process in workers_in(place)} == {path.name for path in place.folder.glob("by-*")}
    runs.assert_same_as_whole(place, command)


def test_with_calls_some_of_which_fail(place):
    def script(seen):
        if "build 2 " in seen.text:  # no first call of a worker's, which is made again where it fails
            return failed(400, "this one is refused")
        # No 500: how often a row is tried at which the server fails depends on how the others fare meanwhile.
        return empty() if "build 6 " in seen.text else None

    inputs = runs.write_inputs(place.folder, 20)
    with LoopbackServer(script) as server:
        logged = ["--log-file", "log.jsonl", "--summarizer-context", "12000"]
        command = place.calling(server.base_url, inputs, "out", *logged)
        ran = run_in_workers(place, command)
        assert ran.code == 0, ran.stderr
        calls = Counter(map(runs.prompt_digest, server.seen))
        log = place.folder / "log.jsonl"
        told = events_by_row(log)
        log.unlink()
        server.seen.clear()
        runs.finish(place, ["whole" if word == "out" else word for word in command])
        assert Counter(map(runs.prompt_digest, server.seen)) == calls
        assert events_by_row(log) == told
    assert runs.outcome(place.folder / "out") == runs.outcome(place.folder / "whole")
    assert {"bad_request", "empty_answer"} <= {row["reason"] for row in commands.read_metrics(place.folder / "out")}


def events_by_row(log):
    """Return what was told of each row, but for times: rows go on side by side."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return Counter(
        json.dumps({name: value for name, value in line.items() if name not in {"time", "latency_s", "seconds"}})
        for line in lines
        if "source_row" in line
    )


@pytest.mark.parametrize("victim", ["worker", "driver"])
def test_a_kill_costs_no_summary_and_leaves_no_process(place, victim):
    inputs = runs.write_inputs(place.folder, 40)
    with LoopbackServer(latency=0.1) as server:
        command = place.calling(server.base_url, inputs, "out")
        process = start_in_workers(place, command, fresh=victim == "driver")
        runs.wait_for(lambda: len(server.seen) >= 12, process)
        if victim == "worker":
            paid = runs.recorded(place.folder / "out")
            os.kill(workers_in(place)[0], signal.SIGKILL)
            ran = runs.ended(process)
            asked = Counter(map(runs.prompt_digest, server.seen))
            assert paid
            assert {asked[digest] for digest in paid} == {1}
            assert asked.total() - len(asked) <= 4, "what may be under way at once"
            assert ran.code == 0, ran.stderr
            assert "a worker process has died (SIGKILL); its parts are worked on again" in ran.stderr
            assert len(workers_in(place)) == 3
        else:
            runs.kill(process)
            assert_gone(workers_in(place))
            paid = runs.recorded(place.folder / "out")
            before = len(server.seen)
            assert run_in_workers(place, command).code == 0
            assert paid
            assert not paid & {runs.prompt_digest(seen) for seen in server.seen[before:]}
        runs.assert_same_as_whole(place, command)
        assert_gone(workers_in(place))


def test_a_part_that_ends_its_process_twice_is_named_and_the_others_are_done(place):
    inputs = runs.write_inputs(place.folder, 40)
    (place.folder / "deadly.py").write_text(
        "import os, signal\n"
        "def summarize(request):\n"
        "    if 'build 9 ' in repr(request):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return 'What was done is told here in enough words that it is a summary of the steps.'\n"
    )
    deadly = f"import sys; sys.path.append({str(place.folder)!r})\n"
    command = place.offline(inputs, "out", "--summarizer", "deadly:summarize")
    ran = run_in_workers(place, command, code=deadly)
    assert (ran.code, "Traceback" in ran.stderr) == (1, False)
    assert "a.jsonl, bytes " in ran.stderr
    assert "two worker processes died at it, the last by SIGKILL; its rows are not done. " in ran.stderr
    assert shlex.join(map(str, ["trajcompress", *command])) in ran.stderr
    assert len(workers_in(place)) >= 4 - 1
    parts = len(cut_into_parts(find(inputs), runs.PART_SIZE))
    assert len({name[:6] for name in os.listdir(place.folder / "out/.state/parts")}) == parts - 1  # noqa: PTH208
    assert_gone(workers_in(place))


@pytest.fixture(scope="module")
def widened(tmp_path_factory):
    """A place, the command of a run that widens files, and what one process makes of it without dying."""
    place = runs.Place(tmp_path_factory.mktemp("widened"), runs.small_tokenizer())
    command = place.offline(write_inputs(place.folder), "out", "--summarizer", "deadly:summarize")
    return place, command, outcome_of_one(place, command)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("module", "name"), [("trajcompress.run.finish", "widen_file"), ("trajcompress.run.parts.store", "publish")]
)
def test_a_worker_that_dies_as_it_widens_a_file_costs_nothing(widened, tmp_path, module, name, when):
    place, command, whole = widened
    once = tmp_path / "killed"
    path = die_as_it_widens(tmp_path, once, module, name, when)
    shutil.rmtree(place.folder / "out", ignore_errors=True)
    ran = run_in_workers(place, command, 2, path)
    assert (ran.code, once.exists()) == (0, True), ran.stderr
    assert runs.outcome(place.folder / "out") == whole


def find(inputs):
    from trajcompress.dataset.sources import find_sources

    return find_sources([str(path) for path in inputs])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_stop_ends_all_and_keeps_what_is_done(place, number):
    inputs = runs.write_inputs(place.folder, 40)
    with LoopbackServer(latency=0.2) as server:
        command = place.calling(server.base_url, inputs, "out")
        process = start_in_workers(place, command, start_new_session=True)
        runs.wait_for(lambda: len(server.seen) >= 12, process)
        workers = workers_in(place)
        os.killpg(process.pid, number)
        stopped = runs.ended(process)
        assert stopped.code == 130, stopped.stderr
        assert stopped.stderr.count("stopping: ") == 1
        assert shlex.join(map(str, ["trajcompress", *command])) in stopped.stderr
        assert "Traceback" not in stopped.stderr
        (title,) = [line for line in stopped.stderr.splitlines() if " so far: interrupted" in line]
        status = json.loads(commands.run_here("status", "out", "--json", cwd=place.folder).stdout)
        assert status["session"]["rows"] == int(title.split()[0])
        assert len(workers) == 2
        assert_gone(workers)
        recorded = runs.recorded(place.folder / "out")
        assert recorded == {runs.prompt_digest(seen) for seen in server.seen}
        assert run_in_workers(place, command, 3).code == 0
        assert set(Counter(map(runs.prompt_digest, server.seen)).values()) == {1}
        runs.assert_same_as_whole(place, command)


def test_an_input_that_changes_while_workers_read_it_is_named(place):
    inputs = runs.write_inputs(place.folder, 60)
    with LoopbackServer(latency=0.2) as server:
        process = start_in_workers(place, place.calling(server.base_url, inputs, "out"))
        runs.wait_for(lambda: len(server.seen) >= 8, process)
        os.truncate(inputs[1], inputs[1].stat().st_size // 2)
        ran = runs.ended(process)
    assert ran.code == 1
    assert "b.jsonl.gz was cut from " in ran.stderr
    assert json.loads((place.folder / "out/run.json").read_text())["state"] == "input_changed"
    marks = {(row["source_file"][-10:], row["input_changed"]) for row in commands.read_metrics(place.folder / "out")}
    assert {mark for name, mark in marks if name == "b.jsonl.gz"} == {True}


def test_an_endpoint_that_is_unusable_for_one_stops_all(place):
    inputs = runs.write_inputs(place.folder, 40)
    with LoopbackServer(lambda _: failed(401, "no such key") if len(server.seen) > 6 else None) as server:
        command = place.calling(server.base_url, inputs, "out")
        ran = run_in_workers(place, command)
        assert (ran.code, ran.stderr.count("no such key")) == (1, 1)
        assert len(server.seen) < 30
        assert_gone(workers_in(place))
    with LoopbackServer() as server:
        command = place.calling(server.base_url, inputs, "out")
        assert run_in_workers(place, command).code == 0
        runs.assert_same_as_whole(place, command)


def test_too_many_failures_of_all_together_stop_the_run(place):
    source = place.folder / "a.jsonl"
    good = json.dumps(commands.conversation(0, steps=1))
    source.write_text("\n".join([good, "broken"] * 60))
    command = place.offline([source], "out", "--part-size", "2000")
    command[command.index("90%")] = "5"
    ran = run_in_workers(place, command)
    assert (ran.code, "which is more than --max-failed 5 allows" in ran.stderr) == (1, True)
    command[command.index("5")] = "60"
    assert run_in_workers(place, command).code == 0
    assert len(commands.read_rejected(place.folder / "out")) == 60


def test_settings_that_do_not_go_with_the_tokenizer_are_said_once(place):
    inputs = runs.write_inputs(place.folder, 20)
    command = place.offline(inputs, "out")
    command[command.index("--tokenizer") + 1] = "no-such-tokenizer"
    ran = run_in_workers(place, command)
    assert (ran.code, ran.stderr.count("no-such-tokenizer")) == (2, 1), ran.stderr
    assert not (place.folder / "out").exists()


@pytest.mark.parametrize(
    ("wanted", "sizes", "part", "useful"),
    [
        (1, [10**12], {}, 1),
        (8, [10**12], {}, 8),
        (8, [10**6, 10**6], {}, 1),
        (8, [10**8, 10**6], {}, 3),
        (8, [10**9, None], {}, 1),
        (8, [10**9], {"input.sample_percent": 10}, 2),
        (8, [10**9], {"input.shard": "2/5"}, 5),
        (8, [10**12], {"input.limit": 1000}, 2),
        (8, [10**12], {"input.limit": 100}, 1),
    ],
)
def test_as_many_as_are_wanted_and_worth_their_start(wanted, sizes, part, useful):
    given = {"processing.num_workers": wanted, "processing.part_size": 2**24, **part}
    settings = resolve(given, None, environ={}, dotenv=None).settings
    sources = [Source(f"{size}", f"{size}", "jsonl", None, size) for size in sizes]
    assert useful_workers(settings, cut_into_parts(sources, 2**24)) == useful
