"""Those who read a finished run, audit, report and merge, trust nothing that is damaged."""

from __future__ import annotations

import json
import shutil

import commands
import damaging as do
import pytest
import runs

READ = {
    "metrics_cut": (do.cut("metrics.parquet"), "metrics.parquet: has"),
    "metrics_flipped": (do.flip("metrics.parquet"), "metrics.parquet: holds other bytes"),
    "metrics_deleted": (do.delete("metrics.parquet"), "metrics.parquet"),
    "metrics_emptied": (do.empty("metrics.parquet"), "metrics.parquet: has 0 bytes"),
    "data_lost_a_line": (do.lose_line("data/a-00000.jsonl"), "a-00000.jsonl: has"),
    "data_deleted": (do.delete("data/a-00000.jsonl"), "a-00000.jsonl: is gone"),
    "data_is_a_folder": (do.folder_instead("data/a-00000.jsonl"), "a-00000.jsonl: is no file"),
    "rejects_cut": (do.cut("rejected.jsonl"), "rejected.jsonl: has"),
    "run_json_cut": (do.cut("run.json"), "run.json: cannot be read"),
    "run_json_that_names_files_elsewhere": (do.in_run_json('"data/a-', '"data/../../a-'), "not in the folder"),
    "run_json_with_odd_files": (
        lambda folder: (folder / "run.json").write_text(
            json.dumps(json.loads((folder / "run.json").read_text()) | {"files": [{"name": 1}]})
        ),
        "run.json: ",
    ),
}


@pytest.mark.parametrize("command", ["audit", "report"])
@pytest.mark.parametrize(("attack", "word"), [pytest.param(*line, id=name) for name, line in READ.items()])
def test_readers_refuse_what_is_damaged(jsonl, command, attack, word):
    folder = jsonl.attacked("whole", do.all_of(do.delete(".state"), attack))
    do.assert_refused(commands.run_here(command, folder, cwd=folder.parent), word)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize("command", ["audit", "report"])
def test_readers_take_a_folder_of_an_earlier_version_with_a_note(jsonl, command):
    folder = jsonl.attacked("whole", do.forget_manifest)
    ran = commands.run_here(command, folder, cwd=folder.parent)
    assert (ran.code, ran.stderr.count("earlier version")) == (0, 1)
    again = jsonl.run(folder.name)
    assert (again.code, "earlier version" in again.stderr, "complete already" in again.stderr) == (0, True, True)


@pytest.fixture(scope="module")
def shards(jsonl):
    """Two shards of a run, and the whole, all without calls."""
    place = jsonl.place
    for output, more in (("shard-1", ["--shard", "1/2"]), ("shard-2", ["--shard", "2/2"]), ("unsharded", [])):
        runs.finish(place, place.offline(jsonl.inputs, output, "--output-format", "jsonl", *more))
    return place.folder


def merge(folder, *shards):
    name = f"merged-{len(list(folder.iterdir()))}"
    return commands.run_here("merge", *shards, "-o", name, cwd=folder), folder / name


MERGED = {
    "a_line_lost": (do.lose_line("data/a-00000.jsonl"), "a-00000.jsonl: has"),
    "a_line_doubled": (do.double_line("data/a-00000.jsonl"), "a-00000.jsonl: has"),
    "lines_swapped": (do.swap_lines("data/a-00000.jsonl"), "a-00000.jsonl: holds other bytes"),
    "cut": (do.cut("data/a-00000.jsonl"), "a-00000.jsonl: has"),
    "parts_swapped": (do.swap("data/a-00000.jsonl", "data/a-00001.jsonl"), "a-00000.jsonl: "),
    "deleted": (do.delete("data/a-00000.jsonl"), "a-00000.jsonl: is gone"),
    "metrics_cut": (do.cut("metrics.parquet"), "metrics.parquet: has"),
    "metrics_of_the_other_shard": (
        lambda folder: shutil.copy(folder.parent / "shard-1/metrics.parquet", folder / "metrics.parquet"),
        "metrics.parquet: h",
    ),
    "run_json_cut": (do.cut("run.json"), "run.json: cannot be read"),
    "run_json_of_odd_shards": (
        lambda folder: (folder / "run.json").write_text((folder / "run.json").read_text().replace("2/2", "2/x")),
        "run.json: ",
    ),
    "not_complete": (
        lambda folder: (folder / "run.json").write_text(
            (folder / "run.json").read_text().replace('"complete"', '"interrupted"')
        ),
        "the run is interrupted",
    ),
}


@pytest.mark.parametrize(("attack", "word"), [pytest.param(*line, id=name) for name, line in MERGED.items()])
def test_merge_refuses_what_is_damaged(shards, attack, word):
    second = do.attacked(shards / "shard-2", do.NOTHING)
    attack(second)
    ran, merged = merge(shards, "shard-1", second.name)
    do.assert_refused(ran, word)
    assert not merged.exists()


def test_merge_takes_no_foreign_part_and_each_shard_once(shards):
    second = do.attacked(shards / "shard-2", do.NOTHING)
    (second / "data/a-00099.jsonl").write_text('{"messages": []}\n')
    shutil.rmtree(second / ".state")
    ran, merged = merge(shards, second.name, "shard-1")
    assert ran.code == 0, ran.stderr
    assert runs.outcome(merged) == runs.outcome(shards / "unsharded")
    audited = commands.run_here("audit", merged, cwd=shards)
    assert (audited.code, audited.stderr) == (0, "")
    do.assert_refused(merge(shards, "shard-2", second.name)[0], "shards 1/2 to 2/2")
    do.assert_refused(merge(shards, "shard-1", "shard-1", second.name)[0], "1/2 (shard-1), 1/2 (shard-1), 2/2 (")


EARLIER = {
    "whole": (do.NOTHING, None),
    "a_line_doubled": (do.double_line("data/b-00001.jsonl"), "holds more rows"),
    "cut": (do.cut("data/a-00000.jsonl"), "a-00000.jsonl: cannot be read"),
    "a_line_lost": (do.lose_line("data/b-00001.jsonl"), "a part is gone"),
    "metrics_cut": (do.cut("metrics.parquet"), "metrics.parquet: cannot be read"),
}


@pytest.mark.parametrize(("attack", "word"), [pytest.param(*line, id=name) for name, line in EARLIER.items()])
def test_merge_takes_shards_of_an_earlier_version_with_a_note(shards, attack, word):
    first, second = (do.attacked(shards / name, do.forget_manifest) for name in ("shard-1", "shard-2"))
    attack(second)
    ran, merged = merge(shards, first.name, second.name)
    assert ran.stderr.count("earlier version") == 2  # a line for each
    if word:
        do.assert_refused(ran, word)
    else:
        assert ran.code == 0, ran.stderr
        assert runs.outcome(merged) == runs.outcome(shards / "unsharded")


def test_merge_over_a_foreign_file_is_refused(shards):
    target = do.attacked(shards / "unsharded", do.NOTHING)
    (target / "data/mine.parquet").write_text("mine")
    before = do.files_and_folders(target)
    ran = commands.run_here("merge", "shard-1", "shard-2", "-o", target.name, "--overwrite", cwd=shards)
    do.assert_refused(ran, "mine.parquet", "move it away")
    assert do.files_and_folders(target) == before
