"""Damage that is done to what a run has written: between a kill and the next try, or after its end."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import damaging as do
import pytest
import runs

LINES = {
    "data_lost_a_line": (do.lose_line("data/a-00001.jsonl"), "a-00001.jsonl: has", "whole rows of"),
    "data_cut_within_a_line": (do.cut("data/a-00001.jsonl"), "a-00001.jsonl: has"),
    "a_bit_of_data_flipped": (do.flip("data/a-00000.jsonl"), "a-00000.jsonl: holds other bytes"),
    "data_emptied": (do.empty("data/a-00002.jsonl"), "a-00002.jsonl: has 0 bytes"),
    "data_deleted": (do.delete("data/a-00002.jsonl"), "a-00002.jsonl: is gone"),
    "the_whole_data_folder_deleted": (do.delete("data"), "a-00000.jsonl: is gone"),
    "data_replaced_by_another_part": (do.put("data/a-00001.jsonl", "data/a-00000.jsonl"), "a-00000.jsonl: "),
    "two_parts_swapped": (do.swap("data/a-00001.jsonl", "data/a-00000.jsonl"), "a-00000.jsonl: "),
    "a_line_doubled": (do.double_line("data/a-00001.jsonl"), "a-00001.jsonl: has"),
    "lines_swapped": (do.swap_lines("data/a-00001.jsonl"), "a-00001.jsonl: holds other bytes"),
    "a_metrics_part_cut": (do.cut(do.of_part(1, ".state/metrics")), "000001-00000.parquet: has"),
    "a_metrics_part_deleted": (do.delete(do.of_part(0, ".state/metrics")), "000000-00000.parquet: is gone"),
    "all_metrics_parts_deleted": (do.delete(".state/metrics"), "000000-00000.parquet: is gone"),
    "a_rejects_part_cut": (do.cut(do.of_part(0, ".state/rejected")), "000000-00000.jsonl: has"),
    "debris_of_metrics": (do.put(do.of_part(0, ".state/metrics"), do.of_part(99, ".state/metrics")),),
    "a_manifest_cut": (do.cut(do.of_part(1)), "000001-00000.json: is no manifest"),
    "a_manifest_garbage": (do.garbage(do.of_part(0)), "000000-00000.json: "),
    "a_manifest_emptied": (do.empty(do.of_part(1)), "000001-00000.json: "),
    "a_manifest_of_another_part": (do.put(do.of_part(1), do.of_part(0)), "is the manifest of another part"),
    "a_manifest_of_no_part": (do.put(do.of_part(1), do.of_part(77)), "000077-00000.json: "),
    "a_manifest_with_odd_counts": (do.in_manifest(1, read={"rows": -1}), "is no number of anything"),
    "a_manifest_with_odd_files": (do.in_manifest(1, files=[{"name": 1}]), "000001-00000.json: "),
    "a_manifest_that_names_files_elsewhere": (
        do.in_manifest(0, files=[{"name": "../x", "rows": 1, "bytes": 1, "sha256": ""}]),
        "not in the folder",
    ),
    "a_piece_of_a_source_that_cannot_be_cut": (do.cut(do.of_part(3, piece=0)), "000003-00000.json: "),
}


@pytest.mark.parametrize(("attack", "words"), do.table(LINES))
def test_damaged_lines_are_made_again(jsonl, attack, words):
    jsonl.assert_mended("killed", attack, *words)


TABLES = {
    "data_cut": (do.cut("data/a-00001.parquet"), "a-00001.parquet: has"),
    "the_first_part_flipped": (do.flip("data/a-00000.parquet"), "a-00000.parquet: holds other bytes"),
    "the_last_part_flipped": (do.flip("data/b-00001.parquet"), "b-00001.parquet: holds other bytes"),
    "data_replaced_by_another_part": (do.put("data/a-00001.parquet", "data/a-00000.parquet"), "a-00000.parquet: "),
    "data_deleted": (do.delete("data/a-00002.parquet"), "a-00002.parquet: is gone"),
    "a_metrics_part_replaced": (do.put(do.of_part(1, ".state/metrics"), do.of_part(0, ".state/metrics")),),
}


@pytest.mark.parametrize("kind", ["killed", "whole"])
@pytest.mark.parametrize(("attack", "words"), do.table(TABLES))
def test_damaged_tables_are_made_again(parquet, kind, attack, words):
    parquet.assert_mended(kind, attack, *words)


def with_summaries(attack):
    """The attack, and a part of the data gone, so that summaries are asked for wherever the kill fell."""
    return do.all_of(attack, do.delete("data/a-00000.jsonl"))


GOES_ON = {
    "summaries_garbage": (
        do.all_of(do.fold_in(do.SUMMARIES), do.garbage(do.SUMMARIES)),
        "summaries.sqlite: is damaged",
    ),
    "summaries_cut": (do.all_of(do.fold_in(do.SUMMARIES), do.cut(do.SUMMARIES)), "summaries.sqlite: is damaged"),
    "summaries_of_another_schema": (
        with_summaries(do.sql(do.SUMMARIES, "ALTER TABLE summaries DROP COLUMN usage")),
        "summaries.sqlite: is damaged",
    ),
    "summaries_of_no_json": (
        with_summaries(do.sql(do.SUMMARIES, "UPDATE summaries SET summary = 'x'")),
        "a summary in it cannot be read",
    ),
    "summaries_of_wrong_types": (
        with_summaries(do.sql(do.SUMMARIES, """UPDATE summaries SET summary = '{"text": 1, "summarizer": []}'""")),
        "a summary in it cannot be read",
    ),
    "summaries_are_numbers": (
        with_summaries(do.sql(do.SUMMARIES, "UPDATE summaries SET summary = 7")),
        "a summary in it cannot be read",
    ),
    "summaries_of_bytes": (
        with_summaries(do.sql(do.SUMMARIES, "UPDATE summaries SET summary = CAST(x'7bff00' AS TEXT)")),
        "a summary in it cannot be read",
    ),
    "summaries_that_cost_no_number": (
        with_summaries(
            do.sql(do.SUMMARIES, """UPDATE summaries SET usage = '{"api_calls": -1, "cost_usd": 1e999}'""")
        ),
        "a summary in it cannot be read",
    ),
    "a_huge_summary": (
        with_summaries(
            do.sql(do.SUMMARIES, "UPDATE summaries SET summary = hex(zeroblob(9000000)) WHERE rowid IN (1, 2)"),
        ),
        "a summary in it cannot be read",
    ),
    "notes_beside_the_data": (do.write("data/notes.txt", "mine"),),
    "clocks_went_back": (lambda folder: [os.utime(path, (0, 0)) for path in folder.rglob("*")],),
    "debris_under_temporary_names": (
        do.all_of(do.write("data/a-00009.jsonl.tmp", "{"), do.write("metrics.parquet.tmp", "x")),
    ),
}


@pytest.mark.parametrize(("attack", "words"), do.table(GOES_ON))
def test_goes_on_with_at_most_one_warning(jsonl, attack, words):
    folder = jsonl.attacked("killed", attack)
    ran = jsonl.run(folder.name)
    assert ran.code == 0, ran.stderr
    for word in words:
        assert ran.stderr.count(word) == 1
    outcome = runs.outcome(folder)
    outcome.pop("data/notes.txt", None)
    assert outcome == runs.outcome(jsonl.place.folder / "whole")


def failing_from(step, code, monkeypatch):
    """Have this durable step and all after it fail."""
    left = step

    def counted(function):
        def wrapper(*args, **options):
            nonlocal left
            left -= 1
            if left <= 0:
                raise OSError(code, os.strerror(code), str(args[0]))
            return function(*args, **options)

        return wrapper

    monkeypatch.setattr(os, "fsync", counted(os.fsync))
    for name in ("replace", "mkdir", "write_bytes"):
        monkeypatch.setattr(Path, name, counted(getattr(Path, name)))


@pytest.mark.parametrize(("code", "first"), [(errno.ENOSPC, 1), (errno.EIO, 2), (errno.EROFS, 3)])
def test_a_disk_that_fails_from_some_step_on(parquet, monkeypatch, code, first):
    steps = range(first, 200, 26)
    for step in steps:
        folder = parquet.attacked("killed", do.NOTHING)
        with monkeypatch.context() as patched:
            failing_from(step, code, patched)
            ran = parquet.run(folder.name)
        assert "Traceback" not in ran.stderr
        if ran.code == 0:
            break
        do.assert_refused(ran, os.strerror(code))
        runs.finish(parquet.place, parquet.command(folder.name))
        parquet.assert_as_whole(folder)
    assert step > first


FINISHED = {
    "data_cut": (do.cut("data/a-00000.jsonl"), "a-00000.jsonl: has"),
    "data_flipped": (do.flip("data/a-00000.jsonl"), "a-00000.jsonl: holds other bytes"),
    "data_deleted": (do.delete("data/b-00001.jsonl"), "b-00001.jsonl: is gone"),
    "two_parts_swapped": (do.swap("data/a-00001.jsonl", "data/a-00000.jsonl"), "a-00000.jsonl: "),
    "metrics_cut": (do.cut("metrics.parquet"), "metrics.parquet: has"),
    "metrics_garbage": (do.garbage("metrics.parquet"), "metrics.parquet: has"),
    "metrics_deleted": (do.delete("metrics.parquet"), "metrics.parquet: is gone"),
    "rejects_cut": (do.cut("rejected.jsonl"), "rejected.jsonl: has"),
}


@pytest.mark.parametrize(("attack", "words"), do.table(FINISHED))
def test_damage_to_a_finished_run_is_named_and_mended_by_its_state_only(jsonl, attack, words):
    jsonl.assert_mended("whole", attack, *words)
    folder = jsonl.attacked("whole", do.all_of(do.delete(".state"), attack))
    do.assert_refused(jsonl.run(folder.name), *words, "put it back", "--overwrite")


def test_totals_that_are_gone_are_written_again(jsonl):
    for more in ([], [do.delete(".state")]):
        attack = do.all_of(do.delete("summary.json"), do.garbage("README.md"), *more)
        folder = jsonl.attacked("whole", attack)
        assert jsonl.run(folder.name).code == 0
        jsonl.assert_as_whole(folder)
