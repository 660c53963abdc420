from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajcompress.dataset.durable import publish
from trajcompress.metrics.files import MetricsWriter, join_metrics
from trajcompress.metrics.row import COLUMNS, RowMetrics, metrics_schema
from trajcompress.run.folder.card import read_lengths

PROMISED = """
source_file, source_row, trajectory_id, outcome, reason, input_format, count_method, original_tokens,
compressed_tokens, tokens_saved, compression_ratio, original_turns, compressed_turns, turns_removed,
region_start_idx, region_end_idx, region_turns, head_tokens, tail_tokens, assistant_tokens_original,
assistant_tokens_kept, was_compressed, skipped_under_target, still_over_limit, placement, passes, summarizer,
summary_tokens, summarization_api_calls, summarization_errors, non_summaries, cache_hits, prompt_tokens,
completion_tokens, cost_usd, latency_s, facts_needed, facts_kept, redactions, error, observations, text_protocol
""".replace(",", " ").split()

TEXTS = {"source_file", "trajectory_id", "outcome", "reason", "input_format", "count_method", "placement"}
TEXTS |= {"summarizer", "error"}
FLAGS = {"was_compressed", "skipped_under_target", "still_over_limit", "text_protocol"}
FRACTIONS = {"compression_ratio", "cost_usd", "latency_s"}


def test_every_promised_column_is_there_in_order():
    assert [name for name in metrics_schema().names if name in PROMISED] == PROMISED


@pytest.mark.parametrize("name", PROMISED)
def test_columns_have_the_type_of_what_they_say(name: str):
    expected = pa.string() if name in TEXTS else pa.bool_() if name in FLAGS else None
    expected = expected or (pa.float64() if name in FRACTIONS else pa.int64())
    assert metrics_schema().field(name).type == expected


def test_a_row_fits_the_schema_and_unknowns_are_null():
    row = RowMetrics("a.jsonl", 3).as_dict()
    assert tuple(row) == COLUMNS
    table = pa.Table.from_pylist([row], schema=metrics_schema())
    assert table.to_pylist() == [row]
    assert row["original_tokens"] is None
    assert row["summarization_api_calls"] == 0


VALUES = {
    pa.string(): st.text(),
    pa.bool_(): st.booleans(),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.floats() | st.integers(-3, 3),
}
ROWS = st.builds(
    lambda values: RowMetrics(**values),
    st.fixed_dictionaries({field.name: st.none() | VALUES[field.type] for field in metrics_schema()}),
)


def write(path, rows):
    writer = MetricsWriter(path)
    for row in rows:
        writer.add(row)
    assert writer.close()
    publish(path)


@settings(deadline=None, max_examples=25)
@given(st.lists(ROWS, min_size=1, max_size=9))
def test_files_are_what_pyarrow_makes_of_the_rows(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("metrics")
    write(folder / "ours.parquet", rows)
    expected = pa.Table.from_pylist([row.as_dict() for row in rows], schema=metrics_schema())
    pq.write_table(expected, folder / "expected.parquet", compression="zstd")
    assert (folder / "ours.parquet").read_bytes() == (folder / "expected.parquet").read_bytes()


def test_lone_surrogates_are_escaped(tmp_path):
    write(tmp_path / "a.parquet", [RowMetrics("é\ud800.jsonl", 0)])
    assert pq.read_table(tmp_path / "a.parquet")["source_file"].to_pylist() == ["é\\ud800.jsonl"]


def test_lengths_are_those_of_all_rows_and_of_the_dataset(tmp_path):
    rows = [RowMetrics("a", index, original_tokens=9, compressed_tokens=index) for index in range(3)]
    rows += [RowMetrics("a", 3, original_tokens=7, compressed_tokens=7, in_dataset=False), RowMetrics("a", 4)]
    write(tmp_path / "a.parquet", rows[:2])
    write(tmp_path / "b.parquet", rows[2:])
    join_metrics(tmp_path / "all.parquet", [tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert read_lengths(tmp_path / "all.parquet") == ({9: 3, 7: 1}, {0: 1, 1: 1, 2: 1})
    assert pq.ParquetFile(tmp_path / "all.parquet").num_row_groups == 1, "small ones are joined"


def test_what_is_joined_step_by_step_has_the_bytes_of_what_is_joined_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("trajcompress.metrics.files._JOINED_GROUP_ROWS", 50)
    parts = [tmp_path / f"{number}.parquet" for number in range(6)]
    for number, path in enumerate(parts):
        write(path, [RowMetrics("a", row, reason="so" if row % 3 else None) for row in range(7 + 20 * number)])
    first, second, stepwise, whole = (tmp_path / name for name in ("f", "s", "stepwise", "whole"))
    join_metrics(first, parts[:4])
    join_metrics(second, parts[4:])
    join_metrics(stepwise, [first, second])
    join_metrics(whole, parts)
    assert stepwise.read_bytes() == whole.read_bytes()
    groups = pq.ParquetFile(whole).metadata
    assert {groups.row_group(index).num_rows for index in range(groups.num_row_groups - 1)} == {50}


def test_joined_metrics_mark_inputs_that_changed(tmp_path):
    write(tmp_path / "part.parquet", [RowMetrics("a", 0), RowMetrics("b", 0)])
    join_metrics(tmp_path / "all.parquet", [tmp_path / "part.parquet"], {"b"})
    joined = pq.read_table(tmp_path / "all.parquet")
    assert joined.schema == metrics_schema()
    assert joined["input_changed"].to_pylist() == [False, True]


def test_metrics_import_no_pandas(tmp_path):
    script = """
import sys
from pathlib import Path
from trajcompress.metrics.row import RowMetrics
from trajcompress.metrics.files import MetricsWriter, join_metrics
from trajcompress.dataset.durable import publish
from trajcompress.run.folder.card import read_lengths
writer = MetricsWriter(Path("part"))
writer.add(RowMetrics("a", 0))
writer.close()
publish(Path("part"))
join_metrics(Path("all"), [Path("part")])
read_lengths(Path("all"))
print("pandas" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "False"


def test_metrics_are_written_once():
    with pytest.raises(FrozenInstanceError):
        RowMetrics("a.jsonl", 0).outcome = "compressed"
