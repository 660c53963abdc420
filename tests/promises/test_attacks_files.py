"""Files that are cut, packed, forged or endless: every row is kept, or rejected with a reason."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import shutil
import tracemalloc
from collections import Counter
from pathlib import Path

import commands
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inputs import GOOD, MESSAGES, PACKED, SMALL, command, content_of, parquet, rows_of, source_of, write

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row

WHOLE = parquet(messages=MESSAGES)
TWICE = gzip.compress(GOOD, mtime=0)  # without the time: one of its bytes may be the end of a line
FILES = [
    # name, content, rows in the dataset, reasons of those rejected
    ("utf16.jsonl", GOOD.decode().encode("utf-16"), 0, {"invalid_utf8": 1}),
    ("bom.json", b"\xef\xbb\xbf[" + GOOD + b"]", 1, {}),
    ("return.jsonl", GOOD + b"\r" + SMALL, 0, {"invalid_json": 1}),
    ("returns.jsonl", GOOD + b"\r\n\r\n" + SMALL + b"\r\n", 2, {}),
    ("nul.jsonl", b"\0\0\n" + GOOD + b"\n" + SMALL + b"\0", 1, {"invalid_json": 2}),
    ("infinite.jsonl", GOOD[:-1] + b',"x":1e400,"y":NaN,"z":-0,"w":-0.0}', 1, {}),
    ("digits.jsonl", GOOD[:-1] + b',"x":' + b"9" * 5000 + b"}\n" + SMALL, 1, {"number_too_long": 1}),
    ("number.jsonl", GOOD[:-1] + b',"x":' + b"9" * 400 + b"}\n" + SMALL, 2, {}),
    ("twice.jsonl", b'{"messages":[],' + GOOD[1:], 1, {}),
    ("keys.jsonl", GOOD[:-1] + b"".join(b',"k%d":1' % i for i in range(100_000)) + b"}\n" + SMALL, 2, {}),
    ("large.jsonl", GOOD[:-1] + b',"x":"' + b"x" * 50_000_000 + b'"}\n' + SMALL, 2, {}),
    ("deep.jsonl", b'{"messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n" + SMALL, 1, {"nested_too_deep": 1}),
    ("deep.json", b"[" * 1_000_000, 0, {"truncated_input": 1}),
    ("quotes.json", b'"' * 100_001, 0, {"truncated_input": 1}),
    ("page.json", b"<html>" * 1000, 0, {"invalid_json": 1}),
    ("surrogates.jsonl", b'{"messages":[{"role":"user","content":"\\ud800"}],"id":"\\udfff"}\n' + SMALL, 2, {}),
    ("garbage.jsonl.gz", gzip.compress(GOOD + b"\n" + SMALL) + b"garbage", 2, {"corrupt_input": 1}),
    ("plain.jsonl.gz", GOOD, 0, {"not_compressed": 1}),
    ("plain.jsonl.bz2", GOOD, 0, {"not_compressed": 1}),
    ("plain.jsonl.xz", GOOD, 0, {"not_compressed": 1}),
    ("plain.json.zst", GOOD, 0, {"not_compressed": 1}),
    ("cut.jsonl.gz", gzip.compress(GOOD + b"\n" + SMALL)[:-4], 2, {"truncated_input": 1}),
    ("cut.jsonl.bz2", bz2.compress(GOOD + b"\n") + bz2.compress(SMALL)[:-4], 2, {"truncated_input": 1}),
    ("cut.jsonl.xz", lzma.compress(GOOD + b"\n" + SMALL)[:-4], 2, {"truncated_input": 1}),
    ("streams.jsonl.bz2", bz2.compress(GOOD + b"\n") + bz2.compress(SMALL), 2, {}),
    ("streams.jsonl.xz", lzma.compress(GOOD + b"\n") + b"\0" * 8 + lzma.compress(SMALL), 2, {}),
    ("array.json.bz2", bz2.compress(b"[" + GOOD + b"," + SMALL + b"]"), 2, {}),
    ("array.json.xz", lzma.compress(b'{"data":[' + GOOD + b"," + SMALL + b"]}"), 2, {}),
    ("whole.parquet.xz", lzma.compress(WHOLE), 3, {}),
    ("dictionary.xz.jsonl.xz", b"\xfd7zXZ\0\0\4" + b"\xff" * 40, 0, {"corrupt_input": 1}),
    ("twice.jsonl.gz", gzip.compress(TWICE), 0, {"invalid_utf8": 1}),
    ("empty.jsonl", b"", 0, {}),
    ("empty.jsonl.xz", b"", 0, {}),
    ("blank.jsonl", b"\n \n\t\r\n" * 10, 0, {}),
    ("empty.parquet", b"", 0, {}),
    ("empty.parquet.gz", b"", 0, {}),
    ("none.parquet", parquet(messages=pa.array([], pa.list_(pa.struct([("role", pa.string())])))), 0, {}),
    ("cut.parquet", WHOLE[:-100], 0, {"unreadable_file": 1}),
    ("short.parquet", WHOLE[:3], 0, {"unreadable_file": 1}),
    ("encrypted.parquet", WHOLE[:-4] + b"PARE", 0, {"unreadable_file": 1}),
    ("footer.parquet", WHOLE[:-8] + b"\xff\xff\xff\x7fPAR1", 0, {"unreadable_file": 1}),
    ("lines.parquet", GOOD, 0, {"unreadable_file": 1}),
    ("nulls.parquet", parquet(messages=[MESSAGES[0], None, [None]]), 1, {"no_messages": 1, "turn_not_an_object": 1}),
    ("kinds.parquet", parquet(messages=MESSAGES, k=pa.array(["a"] * 3).dictionary_encode(), n=[None] * 3), 3, {}),
    (
        "fields.parquet",
        parquet(messages=MESSAGES, s=pa.StructArray.from_arrays([pa.array([1] * 3)] * 2, ["a", "a"])),
        0,
        {"unreadable_row": 3},
    ),
    ("a\x1b[31m\nb.jsonl", GOOD, 1, {}),
    ("\udcff\udcfe.jsonl", GOOD, 1, {}),
    ("l" * 249 + ".jsonl", GOOD, 1, {}),
]


@pytest.mark.parametrize(("name", "content", "kept", "reasons"), FILES, ids=[each[0][:30] for each in FILES])
def test_every_row_of_a_file_is_kept_or_rejected_with_a_reason(desk, name, content, kept, reasons):
    desk.path(name).write_bytes(content)
    for _ in range(2):  # and again, when there is nothing more to do
        ran = command(desk, desk.path(name), "-o", "out", "--json")
        assert ran.code == int(bool(reasons))
        assert "Traceback" not in ran.stderr
        assert "\x1b[31m" not in ran.stderr
        assert ran.json["rows"] - ran.json["rejected"] == kept
        assert ran.json["rejected"] == sum(reasons.values())
    metrics = commands.read_metrics(desk.path("out"))
    assert Counter(row["reason"] for row in metrics if row["outcome"] == "rejected") == reasons
    assert len(commands.read_lines(desk.path("out"))) == kept
    assert len(commands.read_rejected(desk.path("out"))) == sum(reasons.values())


def varint(number: int) -> bytes:
    """A number as the footer of a Parquet file has it."""
    number, made = number << 1 if number >= 0 else (-number << 1) - 1, bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


@pytest.mark.parametrize("forged", [2**40, -5, 0, 301, 299])
@pytest.mark.parametrize("place", [0, -1], ids=["of the file", "of the row group"])
def test_a_parquet_file_that_lies_about_its_rows(desk, forged, place):
    sink = io.BytesIO()
    pq.write_table(pa.table({"messages": [commands.conversation(0, 1)["messages"]] * 300}), sink, compression="none")
    data = sink.getvalue()
    length = int.from_bytes(data[-8:-4], "little")
    footer, true = data[-8 - length : -8], varint(300)
    at = [at for at in range(length) if footer.startswith(true, at)][place]
    footer = footer[:at] + varint(forged) + footer[at + len(true) :]
    desk.path("a.parquet").write_bytes(data[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    ran = command(desk, "a.parquet", "-o", "out", "--json")
    assert (ran.code, ran.json["rows"], ran.json["reasons"]) == (1, 1, {"unreadable_file": 1})
    assert "rows" in commands.read_rejected(desk.path("out"))[0]["detail"]


@pytest.mark.parametrize("seed", range(20))
def test_flipped_bytes_of_a_saved_dataset_bring_nothing_down(tmp_path, seed, saved):
    folder = tmp_path / "saved"
    shutil.copytree(saved, folder)
    (file,) = folder.glob("*.arrow")
    chance, data = random.Random(seed), bytearray(file.read_bytes())  # noqa: S311 - reproducible, not secret
    for _ in range(3):
        data[chance.randrange(4000)] = chance.randrange(256)
    file.write_bytes(data)
    reads = list(read_rows(source_of(folder)))
    assert all(isinstance(read, Row) or read.reason in {"unreadable_page", "unreadable_row"} for read in reads)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("saved") / "a.saved", rows_of("a", 20))


@pytest.mark.parametrize("name", ["twins.parquet", "twins.parquet.gz"])
@pytest.mark.parametrize("verb", ["compress", "plan"])
def test_two_columns_of_one_name_are_refused(desk, name, verb):
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array(MESSAGES)] * 2, ["messages", "messages"]), sink)
    desk.path(name).write_bytes(PACKED[".gz" if name.endswith("gz") else ""](sink.getvalue()))
    ran = command(desk, name, *(("-o", "out") if verb == "compress" else ()), verb=verb)
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    assert f"{name}: has more than one column 'messages'; rename or drop" in ran.stderr


@pytest.mark.parametrize("suffix", PACKED)
def test_what_expands_without_end_takes_little_memory(tmp_path, suffix):
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(PACKED[suffix]((b" " * 2**20 + b"\n") * 64 + SMALL))
    source = source_of(path)
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_rows(source)) == 1
        assert tracemalloc.get_traced_memory()[1] < 48 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.xz", "a.json", "a.json.zst"])
def test_a_row_that_is_too_large_takes_no_other_with_it(tmp_path, name, monkeypatch):
    monkeypatch.setattr("trajcompress.dataset.rows.MAX_ROW_BYTES", 2**20)
    monkeypatch.setattr("trajcompress.dataset.rows.MAX_RAW_BYTES", 2**10)
    path = tmp_path / name
    path.write_bytes(content_of(name, [{"a": 1}, {"a": "x" * 2**21}, {"a": 2}]))
    before, large, behind = read_rows(source_of(path))
    assert (before.value, behind.value) == ({"a": 1}, {"a": 2})
    assert (large.reason, len(large.raw)) == ("row_too_large", 2**10)
