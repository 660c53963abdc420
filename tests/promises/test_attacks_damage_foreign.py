"""Files that are not of the run; and folders that are copied, linked or moved."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import commands
import damaging as do
import pytest
import runs

from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.parts.store import PartStore

KEPT = {
    "notes": (do.write("data/notes.txt", "mine"), "data/notes.txt"),
    "a_table": (do.write("data/other.parquet", "mine"), "data/other.parquet"),
    "a_part_by_its_name_that_nobody_wrote": (do.write("data/a-00042.jsonl", "{}\n"), "data/a-00042.jsonl"),
    "a_part_by_the_name_of_another_input": (do.write("data/c-00000.jsonl", "{}\n"), "data/c-00000.jsonl"),
    "a_folder": (do.folder_instead("data/mine"), "data/mine"),
    "several": (
        do.all_of(do.write("data/notes.txt", "mine"), do.write("data/more.txt", "mine")),
        "data/more.txt and 1 more",
    ),
    "without_its_state": (
        do.all_of(do.delete(".state"), do.write("data/a-00042.jsonl", "{}\n")),
        "data/a-00042.jsonl",
    ),
    "of_an_earlier_version": (do.all_of(do.forget_manifest, do.write("data/notes.txt", "mine")), "data/notes.txt"),
}


@pytest.mark.parametrize(("attack", "named"), [pytest.param(*line, id=name) for name, line in KEPT.items()])
def test_starting_again_deletes_no_foreign_file(jsonl, attack, named):
    folder = jsonl.attacked("whole", attack)
    before = do.files_and_folders(folder)
    do.assert_refused(jsonl.run(folder.name, "--overwrite"), named, "move it away")
    assert do.files_and_folders(folder) == before


CLEARED = {
    "whole": ("whole", do.NOTHING),
    "killed": ("killed", do.NOTHING),
    "killed_without_its_manifests": ("killed", do.delete(do.PARTS)),
    "killed_with_a_garbage_manifest": ("killed", do.garbage(do.of_part(0))),
    "without_its_state": ("whole", do.delete(".state")),
    "of_an_earlier_version": ("whole", do.forget_manifest),
    "with_files_of_others_beside_the_data": ("whole", do.write("mine.txt", "mine")),
}


@pytest.mark.parametrize(("kind", "attack"), [pytest.param(*line, id=name) for name, line in CLEARED.items()])
def test_starting_again_clears_all_that_is_our_own(jsonl, kind, attack):
    folder = jsonl.attacked(kind, attack)
    ran = jsonl.run(folder.name, "--overwrite")
    assert ran.code == 0, ran.stderr
    outcome, whole = (but_for_calls(runs.outcome(each)) for each in (folder, jsonl.place.folder / "whole"))
    assert outcome.pop("mine.txt", b"mine") == b"mine"
    assert outcome == whole


OF_CALLS = {"summarization_api_calls", "cache_hits", "prompt_tokens", "completion_tokens", "cost_usd"}


def but_for_calls(outcome):
    """Leave out what says whether summaries were bought, or had from the run that was replaced."""
    schema, rows = outcome["metrics.parquet"]
    rows = [{name: value for name, value in row.items() if name not in OF_CALLS} for row in rows]
    left = {name: content for name, content in outcome.items() if name not in {"README.md", "summary.json"}}
    return left | {"metrics.parquet": (schema, rows)}


def test_a_hard_linked_copy_is_not_changed_by_a_run_that_goes_on(parquet):
    folder = parquet.attacked("killed", do.NOTHING)
    linked = folder.with_name(f"{folder.name}-linked")
    for path in folder.rglob("*"):
        copy = linked / path.relative_to(folder)
        if path.is_dir():
            copy.mkdir(parents=True)
        elif path.suffix in {".parquet", ".jsonl", ".json"}:
            copy.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, copy)
    before = do.files_and_folders(linked)
    assert before
    runs.finish(parquet.place, parquet.command(folder.name))
    assert do.files_and_folders(linked) == before
    parquet.assert_as_whole(folder)


def test_a_copy_made_amid_a_run_goes_on_by_itself(jsonl):
    process = runs.start(*jsonl.command("copied"), cwd=jsonl.place.folder)
    data = jsonl.place.folder / "copied/data"
    runs.wait_for(lambda: data.exists() and len(list(data.iterdir())) >= 4, process)
    folder = jsonl.place.folder / "copied-amid"
    with contextlib.suppress(shutil.Error):  # what is renamed meanwhile
        shutil.copytree(jsonl.place.folder / "copied", folder)
    assert runs.ended(process).code == 0
    ran = jsonl.run(folder.name)
    assert ran.code == 0, ran.stderr
    jsonl.assert_as_whole(folder)


def test_a_folder_that_was_moved_goes_on_elsewhere(jsonl, tmp_path):
    moved = Path(shutil.copytree(jsonl.place.folder / "killed", tmp_path / "moved"))
    paid, before = runs.recorded(moved), len(jsonl.server.seen)
    assert jsonl.run(str(moved)).code == 0
    assert runs.outcome(moved) == runs.outcome(jsonl.place.folder / "whole")
    assert not {runs.prompt_digest(seen) for seen in jsonl.server.seen[before:]} & paid


def test_a_folder_that_is_a_link_goes_on_where_it_leads(jsonl):
    folder = jsonl.attacked("killed", do.NOTHING)
    link = folder.with_name(f"{folder.name}-link")
    link.symlink_to(folder)
    assert jsonl.run(link.name).code == 0
    jsonl.assert_as_whole(folder)


def test_metrics_of_another_run_are_not_taken_for_its_own(jsonl, parquet):
    def dropped_in(folder):
        shutil.copy(parquet.place.folder / "whole/metrics.parquet", folder / "metrics.parquet")

    jsonl.assert_mended("whole", dropped_in, "metrics.parquet: h")
    folder = jsonl.attacked("whole", dropped_in)
    do.assert_refused(commands.run_here("audit", folder, cwd=folder.parent), "metrics.parquet: h", "put it back")


def test_a_run_that_is_killed_while_it_is_mended_is_mended_again(jsonl):
    paid = runs.recorded(jsonl.place.folder / "whole")
    folder = jsonl.attacked("whole", do.flip("data/a-00001.jsonl"))
    before = len(jsonl.server.seen)
    killed = runs.killed_at_steps(jsonl.place.folder, *jsonl.command(folder.name), steps=[3, 6, 10, 15, runs.NEVER])
    assert killed == [True] * 4 + [False]
    jsonl.assert_as_whole(folder)
    assert not {runs.prompt_digest(seen) for seen in jsonl.server.seen[before:]} & paid


AMID = {
    "data": do.cut("data/a-00000.jsonl"),
    "metrics": do.cut(do.of_part(0, ".state/metrics")),
    "rejects": do.delete(do.of_part(0, ".state/rejected")),
}


@pytest.mark.parametrize("damage", [pytest.param(damage, id=name) for name, damage in AMID.items()])
def test_damage_amid_a_run_stops_it_before_its_end(jsonl, damage, monkeypatch):
    folder, commit, done = jsonl.attacked("killed", do.NOTHING), PartStore.commit, []

    def committed(*given):
        commit(*given)
        if not done:
            done.append(damage(folder))

    monkeypatch.setattr(PartStore, "commit", committed)
    do.assert_refused(jsonl.run(folder.name), "run the same command again")
    assert jsonl.run(folder.name).code == 0
    jsonl.assert_as_whole(folder)


def test_of_two_runs_in_one_folder_the_second_is_refused_and_harms_nothing(jsonl):
    folder = jsonl.attacked("killed", do.NOTHING)
    with RunFolder(folder).held():
        before = do.files_and_folders(folder)
        for more in ([], ["--overwrite"]):
            do.assert_refused(jsonl.run(folder.name, *more), "is writing here", "wait for it")
        assert do.files_and_folders(folder) == before
    assert jsonl.run(folder.name).code == 0
    jsonl.assert_as_whole(folder)


@pytest.mark.parametrize("kind", ["killed", "whole"])
def test_a_folder_on_a_disk_that_may_not_be_written(jsonl, disk, kind):
    folder = Path(shutil.copytree(jsonl.place.folder / kind, disk / "out"))
    before = do.files_and_folders(folder)
    remount(disk, "ro")
    do.assert_refused(jsonl.run(folder), "out", "Read-only file system")
    do.assert_refused(jsonl.run(folder, "--overwrite"), "out", "Read-only file system")
    if kind == "whole":
        assert commands.run_here("audit", folder, cwd=folder.parent).code == 0
        do.assert_refused(commands.run_here("report", folder, cwd=folder.parent), "report.html", "Read-only")
    assert do.files_and_folders(folder) == before
    remount(disk, "rw")
    assert jsonl.run(folder).code == 0
    jsonl.assert_as_whole(folder)


def remount(disk, how):
    subprocess.run([shutil.which("mount"), "-o", f"remount,{how}", str(disk)], check=True)
