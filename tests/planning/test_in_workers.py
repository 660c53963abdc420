"""A plan that several processes make is that of one, whatever happens to them on the way."""

from __future__ import annotations

import json

import commands
import pytest
import runs
from in_workers import assert_gone, run_in_workers, workers_in

KILL_ONE = """
import os, pathlib, signal
import trajcompress.planning.in_workers as p
emitted = p.PlanCoordinator.emitted
def emitted_and_kill(self, worker, news):
    emitted(self, worker, news)
    if isinstance(news, p.PartPlanned):
        os.kill(int(pathlib.Path("workers").read_text().split()[worker]), signal.SIGKILL)
        p.PlanCoordinator.emitted = emitted
p.PlanCoordinator.emitted = emitted_and_kill
"""


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


def inputs_in(folder):
    """Write what runs are tested with, and rows that no summary makes fit, two of the same length."""
    inputs = runs.write_inputs(folder, 40)
    asked = {"role": "user", "content": "Say it."}
    giants = [
        {"messages": [asked, {"role": "assistant", "content": "word " * (4000 + number // 2)}]} for number in range(9)
    ]
    return [*inputs, commands.write_rows(folder / "c.jsonl", giants)]


def plan(place, *more):  # in parts of which some are left whenever a worker is killed
    options = ["--tokenizer", place.tokenizer, "--summary-target-tokens", "300", "--part-size", "4000"]
    return ["plan", *inputs_in(place.folder), *options, "--sweep", "1000,2000", "--json", *more]


@pytest.mark.parametrize(
    ("more", "workers", "code"),
    [([], 3, ""), (["--limit", "33"], 2, ""), ([], 2, KILL_ONE)],
    ids=["all", "limit", "killed"],
)
def test_the_figures_are_those_of_one_process(place, more, workers, code):
    command = plan(place, *more)
    ran = run_in_workers(place, command, workers, code)
    assert ran.code == 0, ran.stderr
    assert len(workers_in(place)) == workers + bool(code)
    assert_gone(workers_in(place))
    alone = runs.run(*command, "--num-workers", "1", cwd=place.folder)
    assert json.loads(ran.stdout) == json.loads(alone.stdout)
    assert more or [row["helps"] != [] for row in ran.json["targets"][1]["largest_over"]] == [True] * 5
    of_workers = ("parts are worked on", "a worker process has died")
    notes = ran.stderr.splitlines()
    assert [line.startswith(of_workers) for line in notes].count(True) == 1 + bool(code)
    assert [line for line in notes if not line.startswith(of_workers)] == alone.stderr.splitlines()


def test_a_wrong_tokenizer_is_said_once(place):
    ran = run_in_workers(place, [*plan(place), "--tokenizer", "not/there"])
    assert (ran.code, ran.stderr.count("not/there"), "Traceback" in ran.stderr) == (2, 1, False)
    assert_gone(workers_in(place))
