"""Shards, merged, are what one run would have written."""

import errno
import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from trajcompress.cli import app
from trajcompress.errors import InputError, OutputError

DATA = Path(__file__).resolve().parents[2] / "data"


@pytest.fixture
def inputs(tmp_path):
    """A file of OpenAI rows with a broken line, and a Parquet file with types of its own."""
    import pyarrow as pa

    lines = (DATA / "code-agent-openai.jsonl").read_text().splitlines()[:7]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines[:3], "{broken", *lines[3:]]) + "\n")
    rows = json.loads((DATA / "questions-sharegpt.json").read_text())
    table = pa.table(
        {
            "score": pa.array(range(len(rows)), pa.int32()),
            "conversations": [row["conversations"] for row in rows],
        }
    )
    pq.write_table(table, tmp_path / "b.parquet")
    return [str(tmp_path / "a.jsonl"), str(tmp_path / "b.parquet")]


def run(*args):
    result = CliRunner().invoke(app, list(map(str, args)))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code


def files_of(folder):
    files = [*sorted((folder / "data").iterdir()), *(folder / name for name in ("summary.json", "rejected.jsonl"))]
    metrics = pq.read_table(folder / "metrics.parquet").drop_columns(["latency_s"])
    return {file.name: file.read_bytes() for file in files}, metrics.to_pylist()


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--output-format", "jsonl", "--no-save-over-limit", "--min-tokens", "2500"],
        ["--sample-percent", "60", "--placement", "fold"],
        ["--for", "trl"],
        ["--for", "llama-factory", "--columns", "id,conversations"],
        ["--for", "verl"],
    ],
)
def test_merged_shards_are_the_bytes_of_one_run(inputs, tmp_path, options):
    common = ["compress", *inputs, "--target-max-tokens", "9000", "-q", *options]
    run(*common, "-o", tmp_path / "one")
    for number in (1, 2, 3):
        run(*common, "-o", tmp_path / f"shard{number}", "--shard", f"{number}/3")
    shards = [tmp_path / f"shard{number}" for number in (2, 3, 1)]
    assert run("merge", *shards, "-o", tmp_path / "merged", "-q") == 0
    assert files_of(tmp_path / "merged") == files_of(tmp_path / "one")


def test_a_missing_or_foreign_shard_is_named(inputs, tmp_path):
    common = ["compress", *inputs, "-q"]
    run(*common, "-o", tmp_path / "whole")
    run(*common, "-o", tmp_path / "first", "--shard", "1/2")
    run(*common, "-o", tmp_path / "other", "--shard", "2/2", "--target-max-tokens", "9000")
    with pytest.raises(InputError, match="shards 1/2 to 2/2"):
        run("merge", tmp_path / "first", "-o", tmp_path / "merged")
    with pytest.raises(InputError, match=r"whole: not the run of a shard"):
        run("merge", tmp_path / "first", tmp_path / "whole", "-o", tmp_path / "merged")
    with pytest.raises(InputError, match=r"other: other settings .*target_max_tokens"):
        run("merge", tmp_path / "first", tmp_path / "other", "-o", tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_a_changed_input_is_refused(inputs, tmp_path):
    for number in (1, 2):
        run("compress", *inputs, "-q", "-o", tmp_path / f"shard{number}", "--shard", f"{number}/2")
    with Path(inputs[0]).open("a") as file:
        file.write("{}\n")
    with pytest.raises(InputError, match="changed"):
        run("merge", tmp_path / "shard1", tmp_path / "shard2", "-o", tmp_path / "merged")


@pytest.fixture
def shards(inputs, tmp_path):
    common = ["compress", *inputs, "-q", "--max-failed", "9"]
    for number in (1, 2):
        assert run(*common, "-o", tmp_path / f"{number}", "--shard", f"{number}/2") == 0
    return [tmp_path / "1", tmp_path / "2"]


@pytest.mark.parametrize("gone", ["data/a-00000.parquet", "data/b-00000.parquet", "metrics.parquet"])
def test_what_is_gone_from_a_shard_is_named(shards, tmp_path, gone):
    (shards[1] / gone).unlink()
    named = shards[1] / gone.partition("/")[0]
    with pytest.raises(InputError, match=rf"{named}.*put it back, or make the shard again"):
        run("merge", *shards, "-o", tmp_path / "merged", "-q")
    if (tmp_path / "merged").exists():
        assert json.loads((tmp_path / "merged" / "run.json").read_text())["state"] == "interrupted"


def cut_off(shards, output, monkeypatch):
    """A merge that was killed before its results were written."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(output / "summary.json"))

    with monkeypatch.context() as patched:
        patched.setattr("trajcompress.run.merge.write_results", full)
        with pytest.raises(OutputError, match="run the same command again"):
            run("merge", *shards, "-o", output, "-q")
    changed(output, lambda run_json: run_json.update(state="running"))


def changed(folder, change):
    run_json = json.loads((folder / "run.json").read_text())
    change(run_json)
    (folder / "run.json").write_text(json.dumps(run_json))


def test_a_merge_that_was_killed_is_made_by_the_same_command(shards, inputs, tmp_path, monkeypatch):
    merged, one = tmp_path / "merged", tmp_path / "one"
    run("compress", *inputs, "-q", "--max-failed", "9", "-o", one)
    cut_off(shards, merged, monkeypatch)
    assert run("merge", *shards, "-o", merged, "-q") == 0
    assert files_of(merged) == files_of(one)
    with pytest.raises(OutputError, match=r"merged: holds a run; --overwrite replaces it"):
        run("merge", *shards, "-o", merged, "-q")


@pytest.mark.parametrize(
    "change",
    [
        lambda run_json: run_json["settings"].update({"compression.target_max_tokens": 9}),
        lambda run_json: run_json["inputs"].pop(),
        lambda run_json: run_json.update(merged_shards=3),
        lambda run_json: run_json.pop("merged_shards"),  # an unfinished run of compress
        lambda run_json: run_json.update(state="input_changed"),
    ],
)
def test_another_run_is_never_replaced_by_a_merge(shards, tmp_path, monkeypatch, change):
    merged = tmp_path / "merged"
    cut_off(shards, merged, monkeypatch)
    changed(merged, change)
    before = sorted(merged.rglob("*"))
    with pytest.raises(OutputError, match=r"merged: holds a run; --overwrite replaces it"):
        run("merge", *shards, "-o", merged, "-q")
    assert sorted(merged.rglob("*")) == before
    assert run("merge", *shards, "-o", merged, "-q", "--overwrite") == 0


def test_a_full_disk_is_named_and_the_merge_can_be_made_again(shards, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "merged" / "summary.json"))

    with monkeypatch.context() as patched:
        patched.setattr("trajcompress.run.merge.write_results", full)
        with pytest.raises(OutputError, match=r"summary\.json: No space left"):
            run("merge", *shards, "-o", tmp_path / "merged", "-q")
    assert json.loads((tmp_path / "merged" / "run.json").read_text())["state"] == "interrupted"
    assert run("merge", *shards, "-o", tmp_path / "merged", "-q") == 0
