"""Folders of version 0.1 stay readable; ``support/data/run-0.1`` is one that it wrote."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import commands
import pytest

OLD = Path(__file__).resolve().parents[1] / "support/data/run-0.1"


@pytest.fixture
def old(tmp_path):
    shutil.copytree(OLD, tmp_path / "old")
    return tmp_path / "old"


def ran(*arguments, cwd):
    done = commands.run_here(*arguments, cwd=cwd)
    assert done.code == 0, done.stderr
    return done


def test_audit_says_what_the_run_said_then(old):
    summary = json.loads((old / "run/summary.json").read_text())
    totals = ran("audit", "run", "--json", cwd=old).json["totals"]
    assert totals == {name: summary[name] for name in totals}
    assert (totals["rows"], totals["compressed"], totals["rejected"]) == (4, 2, 1)


def test_report_and_show_read_it(old):
    page = ran("report", "run", "-o", "-", cwd=old).stdout
    assert "trajcompress 0.1.0" in page
    shown = ran("show", "run", "row-0", "--json", cwd=old).json
    replaced = [turn for turn in shown["turns"] if turn["index_before"] is not None and turn["index_after"] is None]
    assert len(replaced) == shown["metrics"]["region_turns"] == 11


def test_merge_takes_its_shards_and_leaves_its_columns_as_they_are_and_those_that_came_since_null(old):
    merged = ran("merge", "run", "-o", "merged", "--json", cwd=old).json
    before = json.loads((old / "run/summary.json").read_text())
    assert {name: merged[name] for name in before} == before
    unknown = dict.fromkeys(
        (
            "observations",
            "text_protocol",
            "form_changes",
            "summary_in_loss",
            "largest_turn",
            "largest_turn_role",
            "largest_turn_tokens",
            "source_line",
            "input_faults",
            "output_faults",
            "new_faults",
            "rows_written",
            "max_row_tokens",
            "rows_over_limit",
        )
    )
    nothing = {
        "formed": False,
        "turns_trimmed": 0,
        "requests_truncated": 0,
        "cached_tokens": 0,
    }  # was done or noted then
    since = unknown | nothing
    assert commands.read_metrics(old / "merged") == [row | since for row in commands.read_metrics(old / "run")]
    first = commands.read_metrics(old / "merged")[0]
    assert first["turns_removed"] == first["region_turns"], "as that version meant it"
    assert first["original_turns"] - first["compressed_turns"] == first["turns_removed"] - 1
    assert json.loads((old / "merged/run.json").read_text())["versions"]["trajcompress-cli"] == "0.1.0"
    data = [folder / "data/rows-00000.jsonl" for folder in (old / "run", old / "merged")]
    assert data[0].read_bytes() == data[1].read_bytes()


def test_columns_that_it_does_not_have_are_named_where_they_are_asked_for(old):
    done = commands.run_here("audit", "run", "--where", "text_protocol", cwd=old)
    assert done.code == 2
    assert "has no column `text_protocol`" in done.stderr
    assert ran("show", "run", "row-0", "--json", cwd=old).json["metrics"]["observations"] is None
