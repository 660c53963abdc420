"""Places that people and editors read: ``file:line N``, from the file itself."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
from commands import read_metrics, read_rejected, run_here

TURNS = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y " * 9000}]
FITS = {"id": "fits", "messages": TURNS[:1]}
LONG = {"id": "long", "messages": TURNS}


def lines_of(desk, name, *more):
    desk.compress(name, "-o", "out", *more)
    rejected = [row["line"] for row in read_rejected(desk.path("out"))]
    return [row["source_line"] for row in read_metrics(desk.path("out"))], rejected


def test_a_line_is_that_of_the_file(desk):
    text = "\n".join([json.dumps(FITS), "", "{broken", "", "", json.dumps(LONG)])
    desk.path("a.jsonl").write_text(text)
    assert lines_of(desk, "a.jsonl") == ([1, 3, 6], [3])
    audited = run_here("audit", "out", cwd=desk.folder).stdout
    assert "a.jsonl:line 6" in audited
    github = run_here("audit", "out", "--format", "github", cwd=desk.folder).stdout
    assert "::warning file=a.jsonl,line=6,title=" in github
    figures = run_here("audit", "out", "--json", cwd=desk.folder).json
    assert figures["over_limit"]["groups"][0]["examples"][0]["source_line"] == 6
    for name in ("a.jsonl:2", "a.jsonl:line 6", "long"):
        assert "long (a.jsonl:line 6)" in run_here("show", "out", name, cwd=desk.folder).stdout
    assert run_here("show", "out", "a.jsonl:line 2", cwd=desk.folder).code == 2
    assert "a.jsonl:line 3: " in run_here("check", "a.jsonl", "--for", "openai", cwd=desk.folder).stdout


def test_there_is_none_without_lines(desk):
    pq.write_table(pa.Table.from_pylist([FITS, LONG]), desk.path("a.parquet"))
    assert lines_of(desk, "a.parquet")[0] == [None, None]
    assert "a.parquet:1" in run_here("audit", "out", cwd=desk.folder).stdout
    desk.path("a.json").write_text(json.dumps([FITS, {"id": "x"}]))
    assert lines_of(desk, "a.json", "--overwrite") == ([None, None], [None])
