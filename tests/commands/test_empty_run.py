"""The folder of a run that ended without a row in its dataset, read as any other run's."""

from __future__ import annotations

import shutil

import pytest
from commands import conversation, run_here

from trajcompress.dataset.sources import find_inputs
from trajcompress.errors import InputError


@pytest.fixture(params=["no input", "all rejected"])
def run(desk, request):
    desk.write("a.jsonl", [] if request.param == "no input" else [{"x": 1}])
    desk.compress("a.jsonl", "-o", "out")
    return desk.path("out")


def test_nothing_of_it_is_checked_and_nothing_is_wrong(desk, run):
    for options in ((), ("--new-only",)):
        ran = run_here("check", "out", *options, cwd=desk.folder)
        assert (ran.code, ran.stdout.split(" with ")[0]) == (0, "0 rows checked for template, 0")
        assert "left out of out: 1 run with no row in its dataset" in ran.stderr
    assert run_here("check", "out", "--json", cwd=desk.folder).json["rows"] == 0


def test_beside_other_inputs_it_adds_nothing(desk, run):
    desk.write("b.jsonl", [conversation(1, 2)])
    planned = run_here("plan", "out", "b.jsonl", "--json", *desk.options[:4], cwd=desk.folder)
    assert planned.json["targets"][0]["rows"] == 1


def test_as_a_store_holds_it_its_metrics_are_no_rows(run):
    shutil.rmtree(run / "data")  # a store has no empty folders
    found = find_inputs([str(run)])
    assert (found.sources, [left.kinds["empty_runs"] for left in found.left_out]) == ([], [1])


def test_a_run_whose_data_is_gone_is_none_of_them(desk):
    desk.write("a.jsonl", [conversation(1, 2)])
    desk.compress("a.jsonl", "-o", "out")
    for data in desk.path("out/data").iterdir():
        data.unlink()
    with pytest.raises(InputError, match="no readable file in this folder"):
        find_inputs([str(desk.path("out"))])
