"""A row that meets a mistake of the program pays for it alone: it comes out once, and the run goes on."""

from __future__ import annotations

import json

import pytest
from commands import TARGET, conversation, make_desk, mistakes_meant, read_metrics, read_rejected, read_rows, run_here
from runs import small_tokenizer

import trajcompress.api.opened_compressor
import trajcompress.compaction.ladder
import trajcompress.run.rows.row
import trajcompress.summarize.extractive
import trajcompress.tokens.counter
from trajcompress import Compressor

ROWS = [conversation(0), conversation(1), conversation(2, 1)]


@pytest.fixture
def desk(tmp_path):
    desk = make_desk(tmp_path, small_tokenizer)
    desk.write("in.jsonl", ROWS)
    with mistakes_meant("that is what is tried here"):
        yield desk


def wrong_for(number, function, monkeypatch, place, name):
    """Have a function of a module fail for one of the rows."""

    def broken(*arguments, **named):
        if f"build {number} " in str(arguments):
            raise IndexError("tuple index\nout of range")
        return function(*arguments, **named)

    monkeypatch.setattr(place, name, broken)


def test_a_row_that_cannot_be_compacted_is_kept_as_it_was(desk, monkeypatch):
    ladder = trajcompress.compaction.ladder
    with monkeypatch.context() as patched:
        wrong_for(1, ladder.measure, patched, ladder, "measure")
        ran = desk.compress("in.jsonl", "-o", "out")
    metrics = {row["source_row"]: row for row in read_metrics(desk.path("out"))}
    assert ran.code == 1
    assert [metrics[row]["outcome"] for row in range(3)] == ["compressed", "failed", "skipped_under_target"]
    assert metrics[1]["reason"] == "internal_error"
    assert metrics[1]["error"].startswith("IndexError: tuple index out of range (compaction/ladder.py:")
    assert read_rows(desk.path("out"))[1]["messages"] == ROWS[1]["messages"]
    assert "internal_error" in ran.stdout + ran.stderr
    again = desk.compress("in.jsonl", "-o", "out", "--retry-failed")
    assert again.code == 0
    assert [row["outcome"] for row in read_metrics(desk.path("out"))].count("compressed") == 2


def test_a_mistake_of_the_summariser_is_that_of_its_row_too(desk, monkeypatch):
    place = trajcompress.summarize.extractive
    wrong_for(1, place.extract, monkeypatch, place, "extract")
    ran = desk.compress("in.jsonl", "-o", "out", "--prune", "off", "--fit", "lenient")
    metrics = read_metrics(desk.path("out"))
    assert ran.code == 1
    assert [row["outcome"] for row in metrics] == ["compressed", "failed", "skipped_under_target"]
    assert metrics[1]["reason"] == "internal_error"


def test_a_row_that_cannot_be_counted_fails(desk, monkeypatch):
    place = trajcompress.tokens.counter.TokenCounter
    wrong_for(1, place.count, monkeypatch, place, "count")
    assert desk.compress("in.jsonl", "-o", "out").code == 1
    row = read_metrics(desk.path("out"))[1]
    assert (row["outcome"], row["reason"], row["original_tokens"]) == ("failed", "internal_error", None)
    assert read_rows(desk.path("out"))[1]["messages"] == ROWS[1]["messages"]


def test_a_row_that_fits_and_cannot_be_cleared_is_no_success(desk, monkeypatch):
    ladder = trajcompress.compaction.ladder
    wrong_for(2, ladder.measure, monkeypatch, ladder, "measure")
    desk.path("all.yaml").write_text("processing: {skip_under_target: false}\ncompression: {prune: all}\n")
    assert desk.compress("in.jsonl", "-o", "out", "-c", "all.yaml").code == 1
    row = read_metrics(desk.path("out"))[2]
    assert (row["outcome"], row["reason"], row["skipped_under_target"]) == ("failed", "internal_error", False)


def test_an_error_that_quotes_a_row_is_cut_and_holds_no_secret(desk, monkeypatch):
    def broken(*arguments, **named):
        raise ValueError("not to be read: sk-proj-" + "a1B2c3D4" * 6 + " " + "x" * 5_000)

    monkeypatch.setattr(trajcompress.compaction.ladder, "measure", broken)
    desk.compress("in.jsonl", "-o", "out")
    error = read_metrics(desk.path("out"))[0]["error"]
    assert error.startswith("ValueError: not to be read: ")
    assert "a1B2c3D4a1B2c3D4" not in error
    assert len(error) < 400


@pytest.mark.parametrize("name", ["read_trajectory", "row_to_write"])
def test_a_row_that_cannot_be_read_or_written_is_put_aside(desk, monkeypatch, name):
    place = trajcompress.run.rows.row
    wrong_for(1, getattr(place, name), monkeypatch, place, name)
    ran = desk.compress("in.jsonl", "-o", "out")
    assert ran.code == 1
    (rejected,) = read_rejected(desk.path("out"))
    assert (rejected["reason"], rejected["line"]) == ("internal_error", 2)
    assert json.loads(rejected["raw"])["messages"] == ROWS[1]["messages"]
    assert len(read_rows(desk.path("out"))) == 2
    assert len(read_metrics(desk.path("out"))) == 3


def test_of_a_row_that_changed_and_cannot_be_written_the_library_gives_back_the_original(desk, monkeypatch):
    place = trajcompress.api.opened_compressor
    wrong_for(1, place.replace_turns, monkeypatch, place, "replace_turns")
    with Compressor(tokenizer=desk.tokenizer, target_max_tokens=TARGET) as compressor:
        well, stays = compressor.compress(ROWS[0]), compressor.compress(ROWS[1])
    assert well.metrics.outcome == "compressed"
    assert stays.row == ROWS[1]
    assert (stays.metrics.outcome, stays.metrics.reason) == ("failed", "internal_error")
    assert stays.metrics.still_over_limit


@pytest.mark.parametrize(
    ("place", "name"),
    [(trajcompress.tokens.counter.TokenCounter, "count"), (trajcompress.compaction.ladder, "measure")],
)
def test_a_plan_goes_on_and_tells_of_the_row(desk, monkeypatch, place, name):
    wrong_for(1, getattr(place, name), monkeypatch, place, name)
    options = "in.jsonl", "--tokenizer", desk.tokenizer, "--target-max-tokens", str(TARGET)
    planned = run_here("plan", *options, "--json", cwd=desk.folder)
    assert planned.code == 0
    (target,) = planned.json["targets"]
    assert (target["compressed"], target["reasons"]) == (1, {"internal_error": 1})
    assert "would fail (internal_error)" in run_here("plan", *options, cwd=desk.folder).stdout
