"""What became of an input row, no, one or several rows of the dataset, is committed with what is known of it."""

from __future__ import annotations

import json
from dataclasses import replace

import commands
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from trajcompress.compaction.happened import BELOW_MIN_TOKENS
from trajcompress.dataset.cutting import cut_into_parts
from trajcompress.dataset.sources import find_sources
from trajcompress.formats.adapter import replace_turns
from trajcompress.metrics.files import read_metrics
from trajcompress.metrics.row import RowMetrics
from trajcompress.run.finish import finish_parts
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.loop.commit import PartCommitter
from trajcompress.run.loop.reading import Reading
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.parts.selection import Selection
from trajcompress.run.parts.store import PartStore
from trajcompress.run.parts.writer import DataFormat
from trajcompress.run.progress.progress import Progress
from trajcompress.run.rows.row import Finished, Parsed
from trajcompress.settings import resolve

PART_SIZE = 6_000
COUNTS = (1, 3, 0)
"""How many rows are written for the first row of a file, the second and the third, and so on."""


def count_of(metrics):
    return COUNTS[metrics.source_row % 3]


def as_several(finished):
    """The row as it is, three rows that begin as it does, or nothing."""
    trajectory, metrics = finished.parsed.made.trajectory, finished.metrics
    if count_of(metrics) == 1:
        return finished
    if count_of(metrics) == 0:
        left_out = replace(metrics, was_compressed=False, in_dataset=False, reason=BELOW_MIN_TOKENS)
        return structs.replace(finished, metrics=left_out, rows=())
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
    return structs.replace(finished, metrics=metrics, rows=rows)


@pytest.fixture
def inputs(tmp_path):
    first = commands.write_rows(tmp_path / "a.jsonl", [commands.conversation(i, steps=3) for i in range(13)])
    second = [commands.conversation(i, steps=2, sharegpt=True, score=i / 2) for i in range(13, 20)]
    return [first, commands.write_rows(tmp_path / "b.jsonl", second)]


def data_rows(folder):
    return [row for path in sorted((folder / "data").iterdir()) for row in pq.read_table(path).to_pylist()]


def lengths_of(rows):
    return [len(row["messages"]) for row in rows]


def committed(path, output_format="parquet", part_size=PART_SIZE, change=lambda finished: finished):
    """Write what becomes of the rows of a file; return the folder, its parts and the files that are left."""
    folder = RunFolder(path.parent / "out")
    folder.prepare()
    store = PartStore(folder)
    parts = cut_into_parts(find_sources([str(path)]), part_size)
    ledger = Ledger(parts, {})
    settings = resolve({"processing.part_size": part_size}, None, environ={}, dotenv=None).settings
    committer = PartCommitter(store, DataFormat(output_format), Progress(), ledger.commit)
    for item in Reading(settings, Selection()).all_of(ledger, lambda _: None):
        if isinstance(item, Parsed):
            metrics = RowMetrics(item.source.name, item.index)
            committer.add(change(as_several(Finished(item, metrics, (item.made.trajectory.row,)))))
        else:
            committer.add(item)
    return folder, ledger.in_order(), finish_parts(store, ledger.in_order())


def test_rows_are_committed_together_with_what_was_written_for_them(inputs):
    folder, parts, files = committed(inputs[0])
    assert [(part.data.name, part.progress.rows) for part in parts] == [
        ("data/a-00000.parquet", 5),
        ("data/a-00001.parquet", 4),
        ("data/a-00002.parquet", 4),
    ]
    written = {file.name: file.rows for file in files}
    of_parts = {"data/a-00000.parquet": 8, "data/a-00001.parquet": 4, "data/a-00002.parquet": 5}
    assert written == of_parts | {"metrics.parquet": 13, "rejected.jsonl": 0}
    assert {name: pq.read_metadata(folder.path / name).num_rows for name in of_parts} == of_parts
    metrics = list(read_metrics(folder.metrics))
    assert [row.source_row for row in metrics] == list(range(13))
    assert [row.in_dataset for row in metrics] == [count_of(row) > 0 for row in metrics]
    whole = len(commands.conversation(0, steps=3)["messages"])
    assert lengths_of(data_rows(folder.path)) == [whole, 2, 4, whole] * 4 + [whole]


def test_a_part_of_rows_that_became_none_has_no_file(tmp_path):
    source = commands.write_rows(tmp_path / "a.jsonl", [commands.conversation(i) for i in range(9)])
    lines = source.read_bytes().splitlines(keepends=True)
    assert len({len(line) for line in lines}) == 1
    folder, parts, _ = committed(source, "jsonl", len(lines[0]))
    names = [part.data and part.data.name for part in parts]
    assert names[:5] == ["data/a-00000.jsonl", "data/a-00001.jsonl", None, "data/a-00003.jsonl", "data/a-00004.jsonl"]
    assert [path.read_bytes().count(b"\n") for path in sorted(folder.data.iterdir())] == [1, 3] * 3
    assert (folder.data / "a-00000.jsonl").read_bytes() == lines[0]  # the row that was read, byte for byte


def test_a_row_is_rejected_whole_if_one_of_its_rows_cannot_be_written(inputs):
    def with_a_number(finished):
        odd = finished.parsed.index == 1
        return structs.replace(finished, rows=(*finished.rows, {"number": 2**64})) if odd else finished

    folder, _, _ = committed(inputs[0], change=with_a_number)
    assert [row.outcome for row in read_metrics(folder.metrics)][1] == "rejected"
    (rejected,) = map(json.loads, folder.rejected.read_text().splitlines())
    assert (rejected["reason"], rejected["line"]) == ("unrepresentable", 2)
    whole = len(commands.conversation(0, steps=3)["messages"])
    assert lengths_of(data_rows(folder.path))[:2] == [whole, whole]
