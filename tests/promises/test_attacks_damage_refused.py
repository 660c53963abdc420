"""Damage to a run folder that cannot be repaired: named with its remedy, and nothing is changed."""

from __future__ import annotations

import damaging as do
import pytest

REFUSED = {
    "manifests_deleted": (do.delete(do.PARTS), "a-00000.jsonl", "no part of this run has it", "move it"),
    "a_manifest_deleted": (do.delete(do.of_part(1)), "a-00001.jsonl", "no part of this run has it", "move it"),
    "a_manifest_is_a_folder": (do.folder_instead(do.of_part(0)), "000000-00000.json: is a folder", "move it away"),
    "manifests_are_a_file": (do.file_instead(do.PARTS), "parts: is a file", "move it away"),
    "manifests_are_a_link": (do.link_instead(do.PARTS), "parts: is a link", "move it away"),
    "begun_by_an_earlier_version": (do.in_run_json('"format": ', '"format": 9'), "earlier version", "--overwrite"),
    "run_json_cut": (do.cut("run.json"), "run.json: cannot be read", "put back"),
    "run_json_emptied": (do.empty("run.json"), "run.json: cannot be read", "put back"),
    "run_json_garbage": (do.garbage("run.json"), "run.json: cannot be read", "put back"),
    "run_json_of_something_else": (do.write("run.json", '{"state": 1}'), "run.json: is no trajcompress run's"),
    "run_json_of_odd_types": (
        do.write("run.json", '{"state": "running", "settings": [], "inputs": [1]}'),
        "run.json: is no trajcompress run's",
    ),
    "run_json_of_another_version": (
        lambda folder: (folder / "run.json").write_text(
            (folder / "run.json").read_text().replace('"trajcompress-cli": "', '"trajcompress-cli": "9.')
        ),
        "trajcompress is another version",
        "--overwrite",
    ),
    "run_json_deleted": (do.delete("run.json"), "no trajcompress run"),
    "a_foreign_part": (do.write("data/a-00077.jsonl", "{}\n"), "a-00077.jsonl", "move it away"),
    "a_foreign_part_where_the_next_goes": (do.write("data/b-00003.jsonl", "{}\n"), "b-00003.jsonl", "move it away"),
    "a_foreign_file_of_another_name": (do.write("data/extra.jsonl", "{}\n"), "extra.jsonl", "move it away"),
    "a_part_is_a_folder": (do.folder_instead("data/a-00001.jsonl"), "a-00001.jsonl", "folder", "move it away"),
    "a_metrics_part_is_a_folder": (
        do.folder_instead(do.of_part(0, ".state/metrics")),
        "000000-00000.parquet",
        "move it",
    ),
    "data_is_a_file": (do.file_instead("data"), "data: is a file", "move it away"),
    "data_is_a_link": (do.link_instead("data"), "data: is a link", "move it away"),
    "state_is_a_file": (do.file_instead(".state"), ".state: is a file", "move it away"),
    "state_is_a_link": (do.link_instead(".state"), ".state: is a link", "move it away"),
    "metrics_is_a_folder": (do.folder_instead("metrics.parquet"), "metrics.parquet: is a folder", "move it away"),
    "summary_is_a_folder": (do.folder_instead("summary.json"), "summary.json: is a folder", "move it away"),
    "metrics_is_a_link": (
        lambda folder: (folder / "metrics.parquet").symlink_to(folder.parent / "elsewhere.parquet"),
        "metrics.parquet: is a link",
    ),
    "a_folder_is_in_the_way_of_metrics": (do.folder_instead("metrics.parquet.tmp"), "metrics.parquet.tmp"),
    "the_lock_is_a_link": (
        lambda folder: ((folder / ".state/lock").unlink(), (folder / ".state/lock").symlink_to(folder / "run.json")),
        "lock: is a link",
    ),
    "the_owner_is_a_link": (
        do.all_of(
            lambda folder: (folder / ".state/owner").unlink(missing_ok=True),
            lambda folder: (folder / ".state/owner").symlink_to(folder / "run.json"),
        ),
        "owner: is a link",
    ),
    "paid_summaries_are_gone_with_a_manifest": (
        do.all_of(do.cut(do.of_part(1)), *(do.delete(do.SUMMARIES + end) for end in ("", "-wal", "-shm"))),
        "000001-00000.json: is no manifest",
        "paid",
    ),
    "paid_summaries_are_gone_with_a_part": (
        do.all_of(do.delete("data/a-00001.jsonl"), *(do.delete(do.SUMMARIES + end) for end in ("", "-wal", "-shm"))),
        "a-00001.jsonl: is gone",
        "paid",
    ),
}


@pytest.mark.parametrize(("attack", "words"), do.table(REFUSED))
def test_what_cannot_be_mended_is_named_with_its_remedy_and_left_as_it_is(jsonl, attack, words):
    folder = jsonl.attacked("killed", attack)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".state" not in path.parts}
    asked = len(jsonl.server.seen)
    do.assert_refused(jsonl.run(folder.name), *words)
    assert len(jsonl.server.seen) == asked
    assert before == {
        path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".state" not in path.parts
    }


def test_without_manifests_all_is_done_again_once_data_is_away_and_nothing_is_paid_for_twice(jsonl):
    attack = do.all_of(do.delete(do.PARTS), do.delete("data"))
    jsonl.assert_mended("killed", attack)
