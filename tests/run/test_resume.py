"""Killed at any moment and run again, a run ends as if nothing had happened, and pays for nothing twice."""

from __future__ import annotations

import itertools
import random
import shutil
import time
from collections import Counter

import commands
import pytest
import runs
from loopback import LoopbackServer

CONCURRENT = 4  # as in runs.Place.calling


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


@pytest.mark.parametrize(
    ("kills", "rows"), [pytest.param(5, 70), pytest.param(30, 420, marks=pytest.mark.slow, id="30-kills")]
)
def test_killed_at_random_moments(tmp_path, place, kills, rows):
    rng = random.Random(kills)  # noqa: S311 - repeatable on purpose
    inputs = runs.write_inputs(tmp_path, rows)
    with LoopbackServer(latency=0.1) as server:
        command = place.calling(server.base_url, inputs, "killed")
        paid: set[str] = set()
        for _ in range(kills):
            before = len(server.seen)
            wanted = rng.randint(0, rows // kills)
            process = runs.start(*command, cwd=tmp_path)
            runs.wait_for(lambda: len(server.seen) - before >= wanted, process)  # noqa: B023 - used at once
            time.sleep(rng.random() * 0.15)
            runs.kill(process)
            asked = {runs.prompt_digest(seen) for seen in server.seen[before:]}
            assert not asked & paid
            paid = runs.recorded(tmp_path / "killed")
        before = len(server.seen)
        runs.finish(place, command)
        assert not {runs.prompt_digest(seen) for seen in server.seen[before:]} & paid
        answered = Counter(runs.prompt_digest(seen) for seen in server.seen)
        # An answer that arrived in the instant before a kill, and those that were still being written, are asked
        # for again: at most as many as may be asked at once.
        assert sum(times - 1 for times in answered.values()) <= kills * CONCURRENT
        runs.assert_same_as_whole(place, command, "killed")


def test_many_small_files_become_few_and_go_on_after_a_kill(tmp_path, place):
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(40):
        commands.write_rows(folder / f"{number:02}.jsonl", [commands.conversation(number)])
    with LoopbackServer(latency=0.05) as server:
        more = ("--part-size", "40000", "--output-format", "jsonl")
        command = place.calling(server.base_url, [folder], "killed", *more)
        process = runs.start(*command, cwd=tmp_path)
        runs.wait_for(lambda: runs.committed_rows(tmp_path / "killed") >= 9, process)
        runs.kill(process)
        runs.finish(place, command)
        runs.assert_same_as_whole(place, command, "killed")
    assert [path.name for path in sorted((tmp_path / "killed/data").iterdir())] == [
        f"in-{number:05}.jsonl" for number in range(5)
    ]
    metrics = commands.read_metrics(tmp_path / "killed")
    assert [(row["source_file"], row["source_row"]) for row in metrics] == [
        (f"{folder}/{number:02}.jsonl", 0) for number in range(40)
    ]
    assert [row["id"] for row in commands.read_rows(tmp_path / "killed")] == [f"row-{number}" for number in range(40)]


def test_a_complete_run_is_left_as_it_is(tmp_path, place):
    inputs = runs.write_inputs(tmp_path, 20)
    with LoopbackServer() as server:
        command = place.calling(server.base_url, inputs, "out", "--json")
        first = commands.run_here(*command, cwd=tmp_path)
        before, files = len(server.seen), commands.files_of(tmp_path / "out")
        again = commands.run_here(*command, cwd=tmp_path)
        assert len(server.seen) == before
    assert commands.files_of(tmp_path / "out") == files
    assert again.json == first.json


def test_other_rows_or_settings_do_not_resume(tmp_path, place):
    inputs = runs.write_inputs(tmp_path, 8)
    command = place.offline(inputs, "out")
    assert commands.run_here(*command, cwd=tmp_path).code == 0
    files = commands.files_of(tmp_path / "out")
    with inputs[0].open("a") as file:
        file.write(inputs[0].read_text().splitlines()[0])
    for changed in ([], ["--min-tokens", "7"]):
        refused = commands.run_here(*command, *changed, cwd=tmp_path)
        assert (refused.code, refused.stderr.count("\n")) == (2, 1)
        assert "--overwrite" in refused.stderr
        assert commands.files_of(tmp_path / "out") == files
    assert commands.run_here(*command, "--overwrite", cwd=tmp_path).code == 0
    assert len(commands.read_metrics(tmp_path / "out")) == 11


def test_a_complete_run_without_its_state_is_complete(tmp_path, place):
    inputs = runs.write_inputs(tmp_path, 12)
    with LoopbackServer() as server:
        command = place.calling(server.base_url, inputs, "out", "--json")
        first = commands.run_here(*command, cwd=tmp_path)
        before, files = len(server.seen), commands.files_of(tmp_path / "out")
        shutil.rmtree(tmp_path / "out" / ".state")
        assert commands.run_here(*command, cwd=tmp_path).json == first.json
        assert len(server.seen) == before
    assert commands.files_of(tmp_path / "out") == files


@pytest.mark.parametrize("output_format", ["parquet", pytest.param("jsonl", marks=pytest.mark.slow)])
def test_killed_between_durable_steps_of_one_run(tmp_path, place, output_format):
    inputs = runs.write_inputs(tmp_path, 16)
    more = ("--output-format", output_format)
    command = place.offline(inputs, "killed", *more)
    killed = runs.killed_at_steps(tmp_path, *command, steps=[1, 3, 8, 13, 20, 27, 33, 38, runs.NEVER])
    assert killed == [True] * 8 + [False]
    runs.assert_same_as_whole(place, command, "killed")


def test_killed_while_an_earlier_run_is_cleared_away(tmp_path, place):
    inputs = runs.write_inputs(tmp_path, 8)
    command = place.offline(inputs, "out", "--output-format", "jsonl")
    for step in (3, 7):
        runs.finish(place, command)
        assert runs.killed_at_steps(tmp_path, *command, "--overwrite", steps=[step]) == [True]
        runs.finish(place, command)
    runs.assert_same_as_whole(place, command)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_at_each_durable_step(tmp_path, place):
    inputs = runs.write_inputs(tmp_path, 10)
    assert runs.killed_at_steps(tmp_path, *place.offline(inputs, "whole"), steps=[runs.NEVER]) == [False]
    whole = runs.outcome(tmp_path / "whole")
    for step in itertools.count(1):
        killed, again = runs.killed_at_steps(
            tmp_path, *place.offline(inputs, f"killed-{step}"), steps=[step, runs.NEVER]
        )
        assert not again
        assert runs.outcome(tmp_path / f"killed-{step}") == whole, f"killed at step {step}"
        if not killed:
            break
    assert step > 30
