"""An input is cut into parts by itself, and any cut gives each row once."""

from __future__ import annotations

import gzip
import json
import math
import os
import tempfile
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajcompress.dataset import streams
from trajcompress.dataset.cutting import cut_into_parts
from trajcompress.dataset.json_rows import LineRange, read_jsonl
from trajcompress.dataset.parquet_rows import read_parquet
from trajcompress.dataset.rows import total_size
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import SettingsError

LINE = st.sampled_from(
    [b'{"a": 1}', b"", b"  \t", b"\r", b"broken", b'{"x": "%s"}' % (b"x" * 40), b'{"e": "\xc3\xa9"}']
)


@st.composite
def texts(draw):
    """The bytes of a file of JSON lines, as odd as they come."""
    end = draw(st.sampled_from([b"\n", b"\r\n"]))
    text = end.join(draw(st.lists(LINE, min_size=1)))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text + draw(st.sampled_from([b"", end]))


@given(texts(), st.lists(st.floats(0, 1), max_size=6), st.sampled_from([3, 5, 64]))
@settings(deadline=None, max_examples=150)
def test_ranges_of_bytes_give_each_row_once_wherever_they_are_cut(data, cuts, chunk):
    if not data:
        return
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "_CHUNK", chunk)
        Path(folder, "a.jsonl").write_bytes(data)
        (source,) = find_sources([f"{folder}/a.jsonl"])
        bounds = [0, *sorted(int(cut * len(data)) for cut in cuts), len(data)]
        rows, index, line = [], 0, 0
        for begin, stop in pairwise(bounds):
            part = LineRange(source, begin, stop)
            read = list(part.rows(index=index, line=line))
            assert part.count() == (len(read), part.lines)
            rows += read
            index, line = index + len(read), line + part.lines
        assert rows == list(read_jsonl(source))


@given(st.integers(1, 400), st.integers(1, 60))
@settings(deadline=None, max_examples=40)
def test_a_file_of_lines_is_cut_into_even_parts(rows, part_size):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.jsonl").write_bytes(b'{"a": 1}\n' * rows)
        parts = cut_into_parts(find_sources([folder]), part_size)
    spans = [part.spans[0] for part in parts]
    assert (spans[0].begin, spans[-1].end) == (0, 9 * rows)
    assert all(one.end == other.begin for one, other in pairwise(spans))
    sizes = {span.end - span.begin for span in spans}
    assert max(sizes) - min(sizes) <= 1
    assert len(parts) == max(1, round(9 * rows / part_size))
    assert [part.first_file for part in parts] == list(range(len(parts)))
    assert sum(part.size for part in parts) == 9 * rows
    assert [part.offset for part in parts] == [span.begin for span in spans]


@pytest.mark.parametrize("part_size", [1, 900, 10**6])
def test_parquet_is_cut_between_row_groups(tmp_path, part_size):
    table = pa.table({"n": list(range(95)), "text": ["x" * 20] * 95})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=10)
    sources = find_sources([str(tmp_path)])
    parts = cut_into_parts(sources, part_size)
    assert len(parts) == {1: 10, 10**6: 1}.get(part_size, len(parts))
    assert sum(part.size for part in parts) == pytest.approx(total_size(sources), abs=len(parts))
    spans = [part.spans[0] for part in parts]
    read = [row for span in spans for row in read_parquet(span.source, groups=(span.begin, span.end))]
    assert [(row.index, row.value["n"]) for row in read] == [(n, n) for n in range(95)]


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.json", "a.parquet"])
def test_what_cannot_be_cut_is_one_part_that_is_cut_as_it_is_read(tmp_path, name):
    (tmp_path / name).write_bytes(b"no parquet, and no gzip either" * 100)
    (part,) = cut_into_parts(find_sources([str(tmp_path / name)]), 10)
    assert part.open_ended
    assert part.spans[0].end is None


def written(folder, names, row=lambda _: {"messages": [], "id": 1}, text=""):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(json.dumps(row(name)) + text + "\n")
    return find_sources([str(folder)])


def names_of(parts):
    return [[Path(span.source.name).name for span in part.spans] for part in parts]


def test_many_small_files_are_packed_in_order_and_named_after_their_folder(tmp_path):
    names = [f"{number:04}.jsonl" for number in range(100)]
    sources = written(tmp_path / "trajs", names, text=" " * 966)
    parts = cut_into_parts(sources, 20_000)
    assert [name for pack in names_of(parts) for name in pack] == names
    assert {len(part.spans) for part in parts} == {20}
    assert [(part.stem, part.first_file, part.open_ended) for part in parts] == [
        ("trajs", number, False) for number in range(5)
    ]
    assert sum(part.size for part in parts) == total_size(sources)


def test_few_files_stay_apart(tmp_path):
    sources = written(tmp_path / "in", [f"{number:02}.jsonl" for number in range(31)])
    parts = cut_into_parts(sources, 2**20)
    assert [(part.stem, len(part.spans)) for part in parts] == [(source.stem, 1) for source in sources]


def test_large_files_splits_and_other_columns_stay_apart(tmp_path):
    folder = tmp_path / "in"
    written(folder, [f"test-{number:02}.jsonl" for number in range(40)])
    written(folder, [f"train-{number:02}.jsonl" for number in range(40)])
    written(folder, [f"train-{number}.jsonl" for number in range(40, 60)], lambda _: {"conversations": [], "id": 1})
    written(folder, ["train-60.jsonl", "train-61.jsonl"], lambda _: {"conversations": [], "id": 1, "score": 1})
    (folder / "train-19-large.jsonl").write_text('{"messages": []}\n' * 1000)
    sources = find_sources([str(folder)])
    parts = cut_into_parts(sources, 64_000)
    assert [(pack[0], len(pack)) for pack in names_of(parts)] == [
        ("test-00.jsonl", 40),
        *((f"train-{number:02}.jsonl", 1) for number in range(19)),
        ("train-19-large.jsonl", 1),
        ("train-19.jsonl", 21),
        ("train-40.jsonl", 22),
    ]
    stems = [part.stem for part in parts]
    assert (stems[0], stems[-1]) == ("in", "in")
    assert [part.first_file for part in parts if part.stem == "in"] == [0, 1, 2]


def test_the_name_of_a_pack_is_that_of_no_other_source(tmp_path):
    folder = tmp_path / "in"
    written(folder, [f"{number:02}.jsonl" for number in range(40)])
    (folder / "in.jsonl").write_text('{"messages": []}\n' * 9000)
    parts = cut_into_parts(find_sources([str(folder)]), 10_000)
    assert {part.stem for part in parts} == {"in", "in-2"}


def test_a_compressed_file_counts_for_what_it_holds(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(64):
        (tmp_path / f"in/{number:02}.jsonl.gz").write_bytes(b"x" * 1000)
    parts = cut_into_parts(find_sources([str(tmp_path / "in")]), 64_000, columns=lambda _: frozenset())
    assert len(parts) == math.ceil(64 * 8 * 1000 / 64_000)


def test_one_file_in_each_folder_is_packed_too(tmp_path):
    for number in range(40):
        written(tmp_path / "runs" / f"task-{number:02}", ["trajectory.jsonl"])
    (part,) = cut_into_parts(find_sources([str(tmp_path / "runs")]), 2**20)
    assert (part.stem, len(part.spans)) == ("runs", 40)


def test_a_size_that_makes_more_parts_than_anybody_wants_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 200_000)
    with pytest.raises(SettingsError, match=r"part_size: 1 byte a part make 200,000 parts of .*a\.jsonl"):
        cut_into_parts(find_sources([str(path)]), 1)


def test_what_is_compressed_without_its_ending_is_not_cut(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(gzip.compress(os.urandom(5000)))
    (part,) = cut_into_parts(find_sources([str(path)]), 1000)
    assert part.spans[0].end is None
