"""``trajcompress audit`` on the faults of rows: those that came with the run, and those that the input had."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from audited import good, write_metrics
from commands import run_here


def test_what_the_input_had_is_said(tmp_path):
    rows = [good(row, input_invalid=row < 3) for row in range(10)]
    write_metrics(tmp_path / "some.parquet", rows)
    write_metrics(tmp_path / "none.parquet", [good(row, input_invalid=False) for row in range(10)])
    some = run_here("audit", "some.parquet", cwd=tmp_path).stdout.splitlines()
    (line,) = [line for line in some if "in the input already" in line]
    assert line.split() == [*["invalid", "for", "the", "target", "in", "the", "input", "already"], "3", "(30.0%)"]
    assert "in the input already" not in run_here("audit", "none.parquet", cwd=tmp_path).stdout
    assert run_here("audit", "some.parquet", "--json", cwd=tmp_path).json["input_invalid"] == 3


@pytest.fixture
def with_faults(tmp_path):
    rows = [
        *(good(row, input_invalid=True, input_faults="parity", output_faults="parity") for row in range(3)),
        good(3, input_invalid=True, input_faults="parity, unknown_role"),
        good(4, input_invalid=False, output_faults="parity, unknown_role", new_faults="parity"),
        *(good(row, input_invalid=False) for row in range(5, 10)),
    ]
    write_metrics(tmp_path / "some.parquet", rows)
    return lambda *more: run_here("audit", "some.parquet", *more, cwd=tmp_path)


def test_faults_of_the_input_are_told_from_those_that_came_with_the_run(with_faults):
    lines = [line.split() for line in with_faults().stdout.splitlines()]
    at = lines.index(["Rows", "that", "are", "invalid", "for", "the", "target,", "by", "fault"])
    assert lines[at + 1] == ["fault", "as", "read", "as", "written", "new"]
    assert lines[at + 2 : at + 4] == [["parity", "4", "4", "1"], ["unknown_role", "1", "1", "0"]]
    assert ["invalid", "by", "what", "the", "run", "did", "1", "(10.0%)"] in lines
    told = with_faults("--json").json["faults"]
    assert (told["output_invalid"], told["newly_invalid"]) == (4, 1)
    assert told["kinds"]["parity"] == {"read": 4, "written": 4, "new": 1}
    (group,) = told["new"]["groups"]
    assert (group["cause"], [row["source_row"] for row in group["examples"]]) == ("parity", [4])


def test_new_only_leaves_out_what_the_input_had(with_faults, tmp_path):
    shown = with_faults("--new-only").stdout
    assert "unknown_role" not in shown
    assert "as read" not in shown
    assert "in the input already" not in shown
    assert ["parity", "1"] in [line.split() for line in shown.splitlines()]
    assert list(with_faults("--new-only", "--json").json["faults"]["kinds"]) == ["parity"]
    write_metrics(tmp_path / "sound.parquet", [good(row) for row in range(3)])
    sound = run_here("audit", "sound.parquet", "--new-only", cwd=tmp_path)
    assert (sound.code, "by fault" in sound.stdout) == (0, False)
    assert ["invalid", "by", "what", "the", "run", "did", "0", "(0.0%)"] in [
        line.split() for line in sound.stdout.splitlines()
    ]


def test_new_only_wants_metrics_that_name_faults(tmp_path):
    write_metrics(tmp_path / "new.parquet", [good(0)])
    old = pq.read_table(tmp_path / "new.parquet").drop_columns(["input_faults", "output_faults", "new_faults"])
    pq.write_table(old, tmp_path / "old.parquet")
    assert run_here("audit", "old.parquet", "--json", cwd=tmp_path).json["faults"] is None
    ran = run_here("audit", "old.parquet", "--new-only", cwd=tmp_path)
    assert (ran.code, ran.stdout) == (2, "")
    assert "trajcompress check --new-only" in ran.stderr
