"""``trajcompress compare``: two runs over rows they share, as a person and a program meet them."""

from __future__ import annotations

import json

import pytest
from audited import failed, good, over, write_metrics
from commands import conversation, make_desk, run_here
from loopback import LoopbackServer

from trajcompress.metrics.files import read_metrics


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Two runs: one by the built-in summariser over all rows, one by a model over the first file, otherwise named."""
    from runs import small_tokenizer

    desk = make_desk(tmp_path_factory.mktemp("compared"), small_tokenizer)
    rows = [conversation(number, 2 if number == 2 else 12) for number in range(5)]
    giant = conversation(5)
    giant["messages"][-1]["content"] *= 400  # protected, so it fits nowhere
    desk.write("rows.jsonl", [*rows, giant])
    desk.write("more.jsonl", [conversation(9)])
    desk.path("other").mkdir()
    desk.write("other/copy.jsonl", [*rows, giant])
    assert desk.compress("rows.jsonl", "more.jsonl", "-o", "offline", "--prune", "off", "--fit", "lenient").code == 0
    with LoopbackServer() as server:
        model = ["--model", "loopback", "--base-url", server.base_url, "--price-in", "1", "--price-out", "2"]
        small = ["--prune", "off", "--fit", "lenient", "--target-max-tokens", "1500"]
        key = {"OPENAI_API_KEY": "sk-test"}
        assert desk.compress("other/copy.jsonl", "-o", "model", *model, *small, env=key).code == 0
        assert server.seen
    return desk


def compare(desk, *arguments):
    return run_here("compare", *arguments, cwd=desk.folder)


def test_figures_of_all_rows_are_those_of_each_summary(desk):
    told = compare(desk, "offline", "model", "--json").json
    for run in told["runs"]:
        summary = json.loads((desk.path(run["path"]) / "summary.json").read_text())
        assert {name: value for name, value in run.items() if name in summary} == {
            name: value for name, value in summary.items() if name not in {"changed_inputs", "count_caveat"}
        }
    assert [run["target_max_tokens"] for run in told["runs"]] == [2000, 1500]


def test_rows_in_common_are_found_by_content_and_added_up_by_hand(desk):
    told = compare(desk, "offline", "model", "--json").json
    assert told["common"]["rows"] == 6
    for run in told["common"]["runs"]:
        rows = [
            row for row in read_metrics(desk.path(run["path"]) / "metrics.parquet") if row.source_file != "more.jsonl"
        ]
        assert len(rows) == run["rows"] == 6
        for name in ("compressed_tokens", "assistant_tokens_kept", "facts_kept", "summarization_api_calls"):
            assert run[name] == sum(getattr(row, name) or 0 for row in rows), name
        assert run["cost_usd"] == pytest.approx(sum(row.cost_usd for row in rows))
        assert run["still_over_limit"] == 1
    assert told["settings"]["compression.target_max_tokens"] == [2000, 1500]
    assert told["settings"]["summarization.model"] == [None, "loopback"]
    assert "output.dir" not in told["settings"]


def test_rows_that_differ_most_come_first(desk):
    told = compare(desk, "offline", "model", "--json").json
    rows = told["differing_rows"]
    assert told["common"]["differing"] == len(rows) == 5, "one fits already"
    spreads = [abs(row["runs"][0]["compressed_tokens"] - row["runs"][1]["compressed_tokens"]) for row in rows]
    assert spreads == sorted(spreads, reverse=True)
    assert {row["source_file"] for row in rows} == {"rows.jsonl"}
    few = compare(desk, "offline", "model", "--json", "--examples", "1").json
    assert few["differing_rows"] == rows[:1]


def test_the_table_for_people(desk):
    ran = compare(desk, "offline", "model")
    assert (ran.code, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert lines[0] == "All rows of each run"
    assert lines[1].split() == ["offline", "model"]
    assert "The 6 rows in common" in lines
    assert ["rows", "6", "6"] in [line.split() for line in lines]
    place = ["rows.jsonl:line", "1", "row-0", "offline"]
    assert any(line.split()[:4] == place for line in lines), "whole lines in a pipe"


def test_a_setting_that_one_run_has_and_another_leaves_to_its_default(desk):
    told = [line.split() for line in compare(desk, "offline", "model").stdout.splitlines()]
    assert ["summarization.model", "not", "set", "loopback"] in told
    defaults = desk.compress("rows.jsonl", "-o", "defaults")
    assert defaults.code == 0
    told = compare(desk, "offline", "defaults").stdout
    assert "compression.prune" in told
    assert ["compression.prune", "off", "default:", "all"] in [line.split() for line in told.splitlines()]
    assert "null" not in told


def test_rows_written_are_told_where_they_are_not_one_for_each(tmp_path):
    write_metrics(tmp_path / "a.parquet", [good(number, rows_written=1) for number in range(2)])
    write_metrics(tmp_path / "b.parquet", [good(0, rows_written=1), good(1, rows_written=3)])
    told = [line.split() for line in run_here("compare", "a.parquet", "b.parquet", cwd=tmp_path).stdout.splitlines()]
    assert ["rows", "written", "2", "4"] in told
    write_metrics(tmp_path / "old.parquet", [good(0), good(1)])
    assert "written" not in run_here("compare", "a.parquet", "old.parquet", cwd=tmp_path).stdout


def test_a_row_that_ended_otherwise_comes_before_larger_differences(tmp_path):
    write_metrics(tmp_path / "a.parquet", [good(0), good(1), good(2, compressed_tokens=100)])
    write_metrics(tmp_path / "b.parquet", [good(0), over(1, tokens=1001), good(2, compressed_tokens=900)])
    write_metrics(tmp_path / "c.parquet", [good(0), good(1), failed(2)])
    told = run_here("compare", "a.parquet", "b.parquet", "--json", cwd=tmp_path).json
    assert [row["source_row"] for row in told["differing_rows"]] == [1, 2]
    three = run_here("compare", "a.parquet", "b.parquet", "c.parquet", "--json", cwd=tmp_path).json
    assert three["common"]["differing"] == 2
    assert [len(row["runs"]) for row in three["differing_rows"]] == [3, 3]


def test_runs_that_share_nothing(tmp_path):
    write_metrics(tmp_path / "a.parquet", [good(0)])
    write_metrics(tmp_path / "b.parquet", [good(0, source_file="b.jsonl")])
    ran = run_here("compare", "a.parquet", "b.parquet", cwd=tmp_path)
    assert ran.code == 0
    assert "No row is in all of the runs" in ran.stdout


def test_a_run_from_standard_input_is_not_said_to_have_read_something_else(tmp_path):
    write_metrics(tmp_path / "a.parquet", [good(0)])
    write_metrics(tmp_path / "piped.parquet", [good(0, source_file="-")])
    ran = run_here("compare", "a.parquet", "piped.parquet", cwd=tmp_path)
    assert "No row is known to be in all of the runs: piped.parquet read standard input, whose rows" in ran.stdout
    assert "none read the same input" not in ran.stdout
    write_metrics(tmp_path / "again.parquet", [good(0, source_file="-")])
    both = run_here("compare", "piped.parquet", "again.parquet", cwd=tmp_path).stdout
    assert both.startswith("The same 1 row in each run")
    assert "standard input" not in both


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.parquet"], "a.parquet: one run alone; name another"),
        (["a.parquet", "./a.parquet"], "the same metrics as a.parquet"),
        (["a.parquet", "nowhere"], "nowhere: no such file or folder"),
        (["a.parquet", "text"], "cannot be read as Parquet"),
    ],
)
def test_what_cannot_be_compared(tmp_path, arguments, words):
    write_metrics(tmp_path / "a.parquet", [good(0)])
    (tmp_path / "text").write_text("no metrics")
    ran = run_here("compare", *arguments, cwd=tmp_path)
    assert (ran.code, ran.stdout) == (2, "")
    assert words in ran.stderr
    assert ran.stderr.count("\n") == 1
