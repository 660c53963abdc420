"""The measure of segments: it imports nothing of the package, and sees turns that are lost, doubled or over."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path

import commands
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import Desk, conversation

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def measure(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield importlib.import_module("eval_segments").measure
    sys.modules.pop("eval_segments")


class Sizes:
    """Counts words."""

    def text(self, text: str) -> int:
        return len(text.split())

    def row(self, row: dict) -> int:
        return sum(self.text(str(turn["content"])) for turn in row["messages"])


@pytest.fixture
def run(desk: Desk) -> Path:
    desk.write("a.jsonl", [conversation(0, 30), conversation(1, 2)])
    assert desk.compress(desk.path("a.jsonl"), "-o", "out", "--mode", "segments").code == 0
    return desk.path("out")


def test_a_run_as_it_is_has_every_turn_once(measure, run):
    found = measure(run, 400, Sizes())
    assert found.rows == 1
    assert found.segments > 2
    assert found.once == found.assistant > 0
    assert (found.repeated, found.disordered, found.over, found.blind) == (0, 0, [], [])
    assert found.sees == found.begins == found.segments - 1
    assert found.summaries == {"none": 1, "later": found.segments - 1}


def test_what_is_lost_doubled_or_over_is_seen(measure, run, tmp_path):
    (data,) = (run / "data").glob("*.jsonl")
    rows = commands.read_rows(run)
    lost = shutil.copytree(run, tmp_path / "lost")
    rows[1]["messages"] = [turn for turn in rows[1]["messages"] if turn["role"] != "assistant"][:2]
    (lost / "data" / data.name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = measure(lost, 400, Sizes())
    assert found.once < found.assistant
    assert found.missing
    doubled = shutil.copytree(run, tmp_path / "doubled")
    rows = commands.read_rows(run)
    rows[1]["messages"] += rows[0]["messages"]
    (doubled / "data" / data.name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = measure(doubled, 400, Sizes())
    assert found.repeated > 0
    assert measure(doubled, 100, Sizes()).over


def test_rows_are_taken_by_how_many_were_written(measure, run):
    table = pq.read_table(run / "metrics.parquet")
    assert table["rows_written"].type == pa.int64()
    assert sum(table["rows_written"].to_pylist()) == len(commands.read_rows(run))
