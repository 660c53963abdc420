"""``trajcompress audit --export``: which rows, and no file that is not its own is written over."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from commands import run_here


def test_exported_ids_and_rows(audit, tmp_path):
    ran = audit("good.parquet", "faulty.parquet", "--where", "outcome <> 'compressed'", "--export", "ids.txt")
    assert (ran.code, ran.stderr) == (0, "3 rows written to ids.txt\n")
    assert (tmp_path / "ids.txt").read_text().splitlines() == ["row-93", "a.jsonl:94", "row-99"]
    audit("faulty.parquet", "--export", "rows.jsonl")
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == pq.read_table(tmp_path / "faulty.parquet").to_pylist()
    assert not list(tmp_path.glob("*.tmp"))


EXISTING = {
    "ids.txt": ["buy milk\n", "row-93\nbuy milk\n", "no line end", "\n"],
    "rows.jsonl": ['{"id": 1}\n', "[1]\n", "no json\n", '{"cut": ', "\0\n"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in EXISTING.items() for text in texts])
def test_an_export_takes_the_place_of_an_earlier_one_and_of_no_other_file(audit, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    ran = audit("faulty.parquet", "--export", name)
    assert (ran.code, ran.stdout, path.read_text()) == (2, "", text)
    assert "is no earlier export" in ran.stderr
    for earlier in ("", None):  # an empty file, and what was exported then
        if earlier is not None:
            path.write_text(earlier)
        assert audit("faulty.parquet", "--export", name).code == 0
        assert path.stat().st_size


def test_an_export_harms_no_file_beside_it(audit, tmp_path):
    beside = tmp_path / "ids.txt.tmp"
    beside.write_text("mine")
    assert audit("faulty.parquet", "--export", "ids.txt").code == 2
    assert beside.read_text() == "mine"
    (tmp_path / "rows.jsonl").mkdir()
    assert "is no earlier export" in audit("faulty.parquet", "--export", "rows.jsonl").stderr


def test_a_run_folder_is_not_written_into(run_folder):
    before = (run_folder / "rejected.jsonl").read_bytes()
    ran = run_here("audit", run_folder, "--export", run_folder / "rejected.jsonl", cwd=run_folder.parent)
    assert (ran.code, ran.stdout) == (2, "")
    assert (run_folder / "rejected.jsonl").read_bytes() == before


@pytest.mark.parametrize("named", ["out", "out/metrics.parquet"])
def test_an_input_of_the_run_is_not_written_over(run_folder, tmp_path, named):
    rows = run_folder.parent / "in.jsonl"
    before = rows.read_bytes()
    ran = run_here("audit", run_folder.parent / named, "--export", rows, cwd=tmp_path)
    assert (ran.code, ran.stdout) == (2, "")
    assert f"--export {rows}: may be an input of " in ran.stderr
    assert rows.read_bytes() == before
