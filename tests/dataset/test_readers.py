from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import subprocess
import sys
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import lines, noise, read, source_of, values
from shared import SOURCES, files_of, rows_of

from trajcompress.dataset.readers import arrow_schema, read_rows
from trajcompress.dataset.rows import Row
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import InputError


def test_line_endings_blank_lines_and_a_byte_order_mark(tmp_path):
    rows = read(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"a":1}\r\n\r\n  \n{"a":2} \n{"a":"\\u2028\xe2\x80\xa8"}')
    assert [(row.line, row.raw) for row in rows] == [
        (1, b'{"a":1}'),
        (4, b'{"a":2} '),
        (5, b'{"a":"\\u2028\xe2\x80\xa8"}'),
    ]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_empty_files_have_no_rows(tmp_path, name, content):
    assert read(tmp_path / name, content) == []


@given(
    st.lists(
        st.binary(max_size=20)
        | st.sampled_from([b'{"a":1}', b'{"a":"\xff"}', b"[]", b"\x00", b"\r", b'{"a":"\\ud800"}', b"NaN", b'{"a":']),
        max_size=12,
    )
)
@settings(deadline=None)
def test_every_line_that_is_not_blank_comes_out_once(tmp_path_factory, pieces):
    content = b"\n".join(pieces)
    results = read(tmp_path_factory.mktemp("lines") / "a.jsonl", content)
    expected = [line for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    got = [
        result.raw if isinstance(result, Row) else result.raw.encode("utf-8", "surrogateescape") for result in results
    ]
    assert got == [line.removesuffix(b"\r") for line in expected]


def test_a_line_of_50_megabytes(tmp_path):
    text = "x\\n" * (25 * 2**20)
    results = read(tmp_path / "a.jsonl", b'{"a":1}\n{"text":"%b"}\n{"a":2}' % text.encode())
    assert [len(row.raw) for row in results] == [7, len(text) + 11, 7]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a":1}\n{"a":2}')))
    results = [row for source in find_sources(["-"]) for row in read_rows(source)]
    assert values(results) == [{"a": 1}, {"a": 2}]
    assert results[0].source == "-"


def test_a_vanished_file_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "gone.jsonl"
    path.write_bytes(b"{}")
    source = source_of(path)
    path.unlink()
    with pytest.raises(InputError, match=r"gone\.jsonl: No such file"):
        list(read_rows(source))


def test_progress_ends_at_the_size_on_disk(tmp_path):
    for name, content in [("a.jsonl", lines(noise(500))), ("b.jsonl.gz", gzip.compress(lines(noise(500))))]:
        (tmp_path / name).write_bytes(content)
    pq.write_table(pa.Table.from_pylist(noise(500)), tmp_path / "c.parquet")
    for source in find_sources([str(tmp_path)]):
        seen: list[int] = []
        assert sum(1 for _ in read_rows(source, progress=seen.append)) == 500
        assert seen == sorted(seen)
        assert seen[-1] == source.size
        assert len(seen) > 2


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".zst", zstandard.compress)])
class TestCompressed:
    def test_members_and_frames_are_read_one_after_the_other(self, tmp_path, suffix, compress):
        rows = noise(100)
        content = compress(lines(rows[:60])) + compress(b"") + compress(lines(rows[60:]))
        assert values(read(tmp_path / f"a.jsonl{suffix}", content)) == rows

    @pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
    def test_rows_before_a_cut_come_out(self, tmp_path, name, suffix, compress):
        rows = noise(400)
        text = lines(rows) if name == "a.jsonl" else json.dumps(rows).encode()
        content = compress(text)
        *before, last = read(tmp_path / (name + suffix), content[: len(content) // 2])
        assert 50 < len(before) < 400
        assert values(before) == rows[: len(before)]
        assert last.reason == "truncated_input"

    def test_rows_before_damage_come_out(self, tmp_path, suffix, compress):
        rows = noise(400)
        if suffix == ".zst":
            compress = zstandard.ZstdCompressor(write_checksum=True).compress  # as the zstd command does
        whole = bytearray(compress(lines(rows)))
        middle = len(whole) // 2
        whole[middle : middle + 4000] = random.Random(1).randbytes(4000)  # noqa: S311 - reproducible, not secret
        *before, last = read(tmp_path / f"a.jsonl{suffix}", bytes(whole))
        good = [row.value for row in before if isinstance(row, Row)]
        assert len(good) > 50
        assert all(value == rows[value["id"]] for value in good if value["id"] < 50)
        assert last.reason == "corrupt_input"

    def test_parquet_compressed_as_a_whole(self, tmp_path, suffix, compress):
        pq.write_table(pa.Table.from_pylist(noise(30)), tmp_path / "plain")
        path = tmp_path / f"a.parquet{suffix}"
        content = compress((tmp_path / "plain").read_bytes())
        assert values(read(path, content)) == noise(30)
        assert arrow_schema(source_of(path)).names == ["id", "text"]
        assert values(read(path, content[:-100])) == ["truncated_input"]


@pytest.mark.parametrize(("suffix", "compress"), [(".bz2", bz2.compress), (".xz", partial(lzma.compress, preset=0))])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_bz2_and_xz(tmp_path, suffix, compress, name):
    rows = noise(600)
    text = lines(rows) if name == "a.jsonl" else json.dumps(rows).encode()
    parts = compress(text[: len(text) // 3]) + compress(text[len(text) // 3 :])
    assert values(read(tmp_path / (name + suffix), parts)) == rows
    *before, last = read(tmp_path / (name + suffix), parts[: len(parts) // 2])
    assert 50 < len(before) < 600
    assert values(before) == rows[: len(before)]
    assert last.reason == "truncated_input"
    *before, last = read(tmp_path / (name + suffix), parts[: len(parts) // 2] + b"damaged" * 1000)
    assert values(before)[:50] == rows[:50]
    assert last.reason in {"corrupt_input", "truncated_input"}  # bz2 finds it at the end of a block only


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.bz2", "a.parquet"])
def test_what_was_read_of_a_damaged_file_is_not_read_again(tmp_path, name):
    pack = {"gz": gzip.compress, "bz2": bz2.compress, "parquet": bytes}[name.rpartition(".")[2]]
    path = tmp_path / name
    path.write_bytes(pack(lines(noise(3)))[:-20])
    results = list(read_rows(source_of(path)))
    for first in range(len(results) + 1):
        assert list(read_rows(source_of(path), first=first)) == results[first:]


def test_a_whole_last_row_before_the_damage_is_a_row(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    assert values(read(path, gzip.compress(b'{"a":1}\n{"a":2}') + b"garbage")) == [
        {"a": 1},
        {"a": 2},
        "corrupt_input",
    ]


def test_of_a_file_that_has_grown_what_stood_there_is_read(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n')
    source = source_of(path)
    path.write_bytes(b'{"a":1}\n{"a":2}\n')
    assert values(list(read_rows(source))) == [{"a": 1}]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_what_is_not_compressed_at_all(tmp_path, suffix):
    assert values(read(tmp_path / f"a.jsonl{suffix}", b'{"a":1}\n')) == ["not_compressed"]


def test_gzip_padded_with_zeros(tmp_path):
    assert values(read(tmp_path / "a.jsonl.gz", gzip.compress(b'{"a":1}') + b"\0" * 512)) == [{"a": 1}]


@pytest.mark.parametrize("source", SOURCES)
def test_every_row_of_the_real_files_is_read(source):
    counts = {
        "llm-agents-study": 28, "livemcpbench": 95, "swe-smith": 6, "swe-agent-demos": 22, "tau-bench-airline": 90,
        "who-and-when": 40, "pydantic-ai-cassettes": 119, "webdancer": 50, "toolbench": 73,
        "llamafactory-toolcall": 240, "functionchat-ko": 45,
        "intercode": 50, "openmanus-rl-sciworld__val": 20, "openmanus-rl-webshop__val": 20,
    }  # fmt: skip
    if source == "made":
        counts = dict.fromkeys((name.partition(".")[0] for name in files_of("made")), 6) | {"content-parts": 7}
    found = {}
    for file in find_sources([str(rows_of(source))]):
        rows = list(read_rows(file))
        assert all(isinstance(row, Row) for row in rows)
        found[file.stem] = len(rows)
    assert found == counts


def test_reading_lines_imports_nothing_heavy():
    code = (
        "import sys, trajcompress.dataset.sources, trajcompress.dataset.readers;"
        "print([m for m in ('pyarrow', 'datasets', 'numpy', 'zstandard') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
