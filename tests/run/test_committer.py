"""An input row becomes no, one or several rows of the dataset, and every reader of a run finds them."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from unittest import mock

import commands
import pyarrow.parquet as pq
import pytest
import runs
from trajcompress.run.journal import Journal

from trajcompress.compaction.outcome import BELOW_MIN_TOKENS
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import InputError
from trajcompress.formats.adapter import replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.metrics.files import read_metrics
from trajcompress.metrics.row import RowMetrics
from trajcompress.results.report.excerpt import make_excerpt
from trajcompress.results.show.data import as_json
from trajcompress.results.show.html import page
from trajcompress.results.show.load import load_row
from trajcompress.results.show.terminal import render
from trajcompress.run.commit import PartCommitter
from trajcompress.run.folder import RunFolder
from trajcompress.run.merge import merge
from trajcompress.run.pairs import find_pairs
from trajcompress.run.progress import Progress
from trajcompress.run.row import Finished, finish_row, parse_rows
from trajcompress.run.selection import Selection, Start, select_rows

COUNTS = (1, 3, 0)
"""How many rows are written for the first row of a file, the second and the third, and so on."""


def count_of(metrics):
    return COUNTS[metrics.source_row % 3]


def counts_of(table):
    import pyarrow as pa

    return pa.chunked_array([[COUNTS[row % 3] for row in table["source_row"].to_pylist()]])


def as_several(finished):
    """The row as it is, three rows that begin as it does, or nothing."""
    trajectory, metrics = finished.parsed.made.trajectory, finished.metrics
    if count_of(metrics) == 1:
        return finished
    if count_of(metrics) == 0:
        left_out = replace(metrics, was_compressed=False, in_dataset=False, reason=BELOW_MIN_TOKENS)
        return replace(finished, metrics=left_out, rows=())
    lengths = (2, 4, len(trajectory.turns))
    metrics = replace(
        metrics,
        was_compressed=True,
        compressed_turns=sum(lengths),
        region_start_idx=None,
        region_end_idx=None,
        placement=None,
    )
    rows = tuple(replace_turns(trajectory, trajectory.turns[:most]) for most in lengths)
    return replace(finished, metrics=metrics, rows=rows)


@pytest.fixture
def several(monkeypatch):
    """Runs that write several rows for a row, and readers that know how many."""

    async def finish(*arguments):
        return as_several(await finish_row(*arguments))

    monkeypatch.setattr("trajcompress.run.row_loop.finish_row", finish)
    monkeypatch.setattr("trajcompress.run.parts.MAX_PART_ROWS", runs.PART_ROWS)
    for reader in ("lookup", "pairs", "merge"):
        monkeypatch.setattr(f"trajcompress.run.{reader}.rows_written", count_of)
    monkeypatch.setattr("trajcompress.run.lookup.rows_written_each", counts_of)


@pytest.fixture
def inputs(tmp_path):
    first = commands.write_rows(tmp_path / "a.jsonl", [commands.conversation(i, steps=3) for i in range(13)])
    second = [commands.conversation(i, steps=2, sharegpt=True, score=i / 2) for i in range(13, 20)]
    return [first, commands.write_rows(tmp_path / "b.jsonl", second)]


def run(inputs, output, **settings):
    return runs.run_here(*inputs, output=output, tokenizer__name=runs.small_tokenizer(), **settings)


def data_rows(folder):
    return [row for path in sorted((folder / "data").iterdir()) for row in pq.read_table(path).to_pylist()]


def lengths_of(rows):
    return [len(row["messages"]) for row in rows]


def finished_rows(path):
    sources = find_sources([str(path)])
    items = select_rows(sources, Selection(), Start(), lambda _: None)
    for parsed in parse_rows(items, FormatOptions()):
        metrics = RowMetrics(parsed.source.name, parsed.index)
        yield as_several(Finished(parsed, metrics, (parsed.made.trajectory.row,)))


def test_rows_are_committed_together_with_what_was_written_for_them(tmp_path, inputs):
    folder = RunFolder(tmp_path / "out")
    folder.prepare()
    with (
        contextlib.closing(Journal(folder.journal)) as journal,
        mock.patch("trajcompress.run.parts.MAX_PART_ROWS", runs.PART_ROWS),
    ):
        committer = PartCommitter(folder, "parquet", journal, Progress())
        for finished in finished_rows(inputs[0]):
            committer.add(finished)
        committer.finish()
        parts = [(part.data_file, part.rows) for part in journal.parts()]
    assert parts == [("a-00000.parquet", 5), ("a-00001.parquet", 5), ("a-00002.parquet", 3)]  # of the input
    written = {file.name: file.rows for file in committer.manifest()}
    of_parts = {"data/a-00000.parquet": 8, "data/a-00001.parquet": 5, "data/a-00002.parquet": 4}
    assert written == of_parts | {"metrics.parquet": 13, "rejected.jsonl": 0}
    assert {name: pq.read_metadata(folder.path / name).num_rows for name in of_parts} == of_parts
    metrics = list(read_metrics(folder.metrics))
    assert [row.source_row for row in metrics] == list(range(13))
    assert [row.in_dataset for row in metrics] == [count_of(row) > 0 for row in metrics]
    whole = len(commands.conversation(0, steps=3)["messages"])
    assert lengths_of(data_rows(folder.path)) == [whole, 2, 4, whole] * 4 + [whole]


def test_a_part_of_rows_that_became_none_has_no_file(tmp_path, inputs):
    folder = RunFolder(tmp_path / "out")
    folder.prepare()
    with (
        contextlib.closing(Journal(folder.journal)) as journal,
        mock.patch("trajcompress.run.parts.MAX_PART_ROWS", 1),
    ):
        committer = PartCommitter(folder, "jsonl", journal, Progress())
        for finished in finished_rows(inputs[0]):
            committer.add(finished)
        committer.finish()
        files = [part.data_file for part in journal.parts()]
    assert files[:5] == ["a-00000.jsonl", "a-00001.jsonl", None, "a-00002.jsonl", "a-00003.jsonl"]
    lines = [path.read_bytes().count(b"\n") for path in sorted(folder.data.iterdir())]
    assert lines == [1, 3] * 4 + [1]
    first = (folder.data / "a-00000.jsonl").read_bytes()
    assert first == inputs[0].read_bytes().splitlines(keepends=True)[0]  # the row that was read, byte for byte


def test_a_row_is_rejected_whole_if_one_of_its_rows_cannot_be_written(tmp_path, inputs):
    folder = RunFolder(tmp_path / "out")
    folder.prepare()
    with contextlib.closing(Journal(folder.journal)) as journal:
        committer = PartCommitter(folder, "parquet", journal, Progress())
        first, second, *_ = finished_rows(inputs[0])
        committer.add(first)
        committer.add(replace(second, rows=(*second.rows, {"number": 2**64})))
        committer.finish()
    assert len(data_rows(folder.path)) == 1
    assert [row.outcome for row in read_metrics(folder.metrics)][1:] == ["rejected"]
    (rejected,) = map(json.loads, folder.rejected.read_text().splitlines())
    assert rejected["reason"] == "unrepresentable"


@pytest.mark.parametrize("output_format", ["parquet", "jsonl"])
def test_a_run_that_goes_on_ends_as_one_that_was_not_stopped(tmp_path, inputs, several, monkeypatch, output_format):
    given = {"output__format": output_format}
    assert run(inputs, tmp_path / "whole", **given).state == "complete"

    class StoppedError(Exception):
        pass

    async def stop(parsed, *arguments):
        if parsed.position == 12:
            raise StoppedError
        return as_several(await finish_row(parsed, *arguments))

    with monkeypatch.context() as patched:
        patched.setattr("trajcompress.run.row_loop.finish_row", stop)
        patched.setattr("trajcompress.run.commit._COMMIT_AFTER_S", 0)
        with pytest.raises(StoppedError):
            run(inputs, tmp_path / "out", **given, processing__max_in_flight=1)
    assert 0 < runs.committed_rows(tmp_path / "out") < 12
    assert run(inputs, tmp_path / "out", **given).state == "complete"
    assert runs.outcome(tmp_path / "out") == runs.outcome(tmp_path / "whole")


@pytest.mark.parametrize("output_format", ["parquet", "jsonl"])
def test_merged_shards_are_what_one_run_writes(tmp_path, inputs, several, output_format):
    given = {"output__format": output_format}
    run(inputs, tmp_path / "whole", **given)
    for number in (1, 2):
        run(inputs, tmp_path / f"{number}", **given, input__shard=f"{number}/2")
    merge([tmp_path / "1", tmp_path / "2"], tmp_path / "merged", runs.Told(), overwrite=False)
    assert runs.outcome(tmp_path / "merged") == runs.outcome(tmp_path / "whole")


def test_a_shard_that_lacks_one_of_the_rows_written_for_a_row_is_refused(tmp_path, inputs, several, monkeypatch):
    for number in (1, 2):
        run(inputs, tmp_path / f"{number}", input__shard=f"{number}/2")
    monkeypatch.setattr("trajcompress.run.merge.rows_written", lambda metrics: count_of(metrics) + 1)
    with pytest.raises(InputError, match="a part is gone"):
        merge([tmp_path / "1", tmp_path / "2"], tmp_path / "merged", runs.Told(), overwrite=False)


def test_all_rows_that_were_written_for_a_row_are_found_and_shown(tmp_path, inputs, several):
    run(inputs, tmp_path / "out")
    places = [(row.source_file, row.source_row) for row in read_metrics(tmp_path / "out" / "metrics.parquet")]
    pairs = list(find_pairs(tmp_path / "out", places))
    assert len(pairs) == 20
    for pair in pairs:
        whole = len(pair.before.turns)
        lengths = {0: [], 1: [whole], 3: [2, 4, whole]}[count_of(pair.metrics)]
        assert [len(each.turns) for each in pair.after] == lengths
        assert {each.id for each in pair.after} <= {pair.before.id}
        assert pair.why is None

    shown = load_row(tmp_path / "out", "row-7")
    assert [section.number for section in shown.view.sections] == [None, 1, 2, 3]
    terminal = render(shown.view, width=150, full=False, color=False)
    assert "written as row 1 · 2 turns" in terminal
    assert "written as row 2 · 4 turns" in terminal
    assert "Written as row 3" in page(shown.view)
    value = json.loads(as_json(shown))
    assert value["after"] == [each.row for each in shown.pair.after]
    assert [turn["row_after"] for turn in value["turns"] if "row_after" in turn][:6] == [1, 1, 2, 2, 2, 2]
    assert json.loads(as_json(load_row(tmp_path / "out", "row-6")))["after"]["id"] == "row-6"
    assert json.loads(as_json(load_row(tmp_path / "out", "row-8")))["after"] is None
    assert [len(turns) for turns in make_excerpt(shown.pair, redacted=False).after][:2] == [2, 4]
