"""Hostile and changing input: whatever is in a file, and whatever is done to it meanwhile, nothing is lost unsaid."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import shutil
import socket
import tracemalloc
from collections import Counter
from pathlib import Path
from unittest import mock

import commands
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import runs
import zstandard

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import InputError
from trajcompress.summarize.base import SUMMARY_PREFIX

PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard.compress}
ROWS = 400
AT = 40
"""The row at which an input is changed, while it is read; most of the file is not read yet."""


def rows_of(name: str, count: int = ROWS) -> list[dict]:
    # What does not compress away, so that much of a packed file is still to be read.
    return [commands.conversation(i, 1, noise=os.urandom(600).hex(), of=name) for i in range(count)]


def content_of(name: str, rows: list[dict]) -> bytes:
    """What a file of that name holds, by its suffixes."""
    if ".parquet" in name:
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), sink, row_group_size=20, compression="none")
        data = sink.getvalue()
    elif ".jsonl" in name:
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    else:
        data = json.dumps(rows).encode()
    return PACKED[Path(name).suffix if Path(name).suffix in PACKED else ""](data)


def write(path: Path, rows: list[dict]) -> Path:
    if path.suffix == ".saved":
        import datasets

        datasets.disable_progress_bars()
        datasets.Dataset.from_list(rows).save_to_disk(path)
    else:
        path.write_bytes(content_of(path.name, rows))
    return path


def part_of(path: Path) -> Path:
    """The file with the rows."""
    return next(path.glob("*.arrow")) if path.is_dir() else path


def command(desk: commands.Desk, *arguments: str | Path, verb: str = "compress") -> commands.Ran:
    options = desk.options if verb == "compress" else desk.options[:4]
    return commands.run_here(verb, *options, *arguments, cwd=desk.folder)


def source_of(path: Path) -> Source:
    (source,) = find_sources([str(path)])
    return source


def amid(name: str, happens, at: int = AT):
    """Have something happen while row ``at`` of an input is handed over."""

    def reading(source, **arguments):
        for read in read_rows(source, **arguments):
            if source.name == name and read.index == at:
                happens()
            yield read

    return mock.patch.multiple("trajcompress.run.selection", read_rows=reading)


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def empty(path):
    os.truncate(path, 0)


def rewrite(path):
    with path.open("r+b") as file:
        file.seek(path.stat().st_size * 3 // 4)
        file.write(b"x" * 500)


def rewrite_and_set_the_time_back(path):
    status = path.stat()
    rewrite(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def rewrite_and_undo(path):
    data = path.read_bytes()
    rewrite(path)
    path.write_bytes(data)


def replace(path):
    other = path.with_name("other")
    other.write_bytes(path.read_bytes()[::-1])
    other.replace(path)


def replace_and_set_the_time_back(path):
    status = path.stat()
    replace(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def remove(path):
    path.unlink()


def append_and_rewrite(path):
    rewrite(path)
    append(path)


def append(path):
    with path.open("ab") as file:
        file.write(b"\n" + json.dumps(commands.conversation(9999, 1)).encode() + b"\n")


def touch_otherwise(path):
    path.chmod(0o600)
    path.with_name("link").hardlink_to(path)


CHANGES = [
    ("a.jsonl", cut, "was cut from "),
    ("a.jsonl", empty, "to 0 bytes"),
    ("a.jsonl", rewrite, "was written to"),
    ("a.jsonl", rewrite_and_set_the_time_back, "was written to"),
    ("a.jsonl", rewrite_and_undo, "was written to"),
    ("a.jsonl", replace, "was replaced"),
    ("a.jsonl", replace_and_set_the_time_back, "replaced"),
    ("a.jsonl", remove, "was removed"),
    ("a.jsonl", append_and_rewrite, "was written to"),
    ("a.json", cut, "was cut from "),
    ("a.json", rewrite, "was written to"),
    ("a.jsonl.gz", cut, "was cut from "),
    ("a.jsonl.bz2", rewrite, "was written to"),
    ("a.jsonl.xz", replace, "was replaced"),
    ("a.jsonl.zst", cut, "was cut from "),
    ("a.parquet", cut, "was cut from "),
    ("a.parquet", rewrite, "was written to"),
    ("a.parquet.gz", replace, "was replaced"),
    ("a.saved", cut, "was cut from "),
    ("a.saved", rewrite, "was written to"),
]


@pytest.mark.parametrize(("name", "change", "says"), CHANGES)
def test_an_input_that_changes_is_named_and_its_rows_are_marked(desk, name, change, says):
    path = write(desk.path(name), rows_of(name))
    write(desk.path("b.jsonl"), rows_of("b", 20))
    with amid(name, lambda: change(part_of(path))):
        ran = command(desk, name, "b.jsonl", "-o", "out")
    assert ran.code == 1
    assert f"error: {name} " in ran.stderr
    assert says in ran.stderr
    assert "--overwrite" in ran.stderr
    record, summary = (json.loads(desk.path(f"out/{file}.json").read_text()) for file in ("run", "summary"))
    assert record["state"] == "input_changed"
    assert record["changed_inputs"].keys() == summary["changed_inputs"].keys() == {name}
    marks = {(row["source_file"], row["input_changed"]) for row in commands.read_metrics(desk.path("out"))}
    assert marks == {(name, True), ("b.jsonl", False)}


MODES = [
    ("--limit", "300"),
    ("--sample-percent", "50"),
    ("--sample-count", "50"),
    ("--shard", "1/2"),
    ("--max-in-flight", "2"),
    ("--max-failed", "50%"),
    ("--output-format", "parquet"),
    ("--num-workers", "2"),
]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode[0])
def test_however_it_is_read(desk, mode, monkeypatch):
    monkeypatch.setattr("trajcompress.workers.start._WORTH_BYTES", 1000)
    path = write(desk.path("a.jsonl"), rows_of("a"))
    with amid("a.jsonl", lambda: cut(path)):
        ran = command(desk, "a.jsonl", "-o", "out", *mode)
    assert ran.code == 1
    assert "error: a.jsonl was cut from " in ran.stderr
    assert all(row["input_changed"] for row in commands.read_metrics(desk.path("out")))
    if mode[0] == "--num-workers":
        assert "in 2 processes" in ran.stderr


def test_what_changes_behind_the_last_row_that_is_wanted_is_no_matter(desk):
    path = write(desk.path("a.jsonl"), rows_of("a"))
    write(desk.path("b.jsonl"), rows_of("b"))
    with amid("b.jsonl", lambda: cut(path)):  # it has been read by then
        assert command(desk, "a.jsonl", "b.jsonl", "-o", "out", "--limit", "500").code == 0


@pytest.mark.parametrize("verb", ["plan", "check"])
def test_plan_and_check_say_so_too(desk, verb):
    path = write(desk.path("a.jsonl"), rows_of("a"))
    if verb == "plan":
        with amid("a.jsonl", lambda: cut(path)):
            ran = command(desk, "a.jsonl", verb="plan")
    else:

        def reading(source):
            for read in read_rows(source):
                if read.index == AT:
                    cut(path)
                yield read

        with mock.patch("trajcompress.results.check.read_rows", reading):
            ran = commands.run_here("check", "a.jsonl", cwd=desk.folder)
    assert ran.code == 1
    assert "error: a.jsonl was cut from " in ran.stderr


@pytest.mark.parametrize("change", [cut, rewrite, remove])
def test_merge_refuses_an_input_that_changes(desk, change):
    path = write(desk.path("a.jsonl"), rows_of("a"))
    for shard in (1, 2):
        assert command(desk, "a.jsonl", "-o", f"shard-{shard}", "--shard", f"{shard}/2").code == 0
    with amid("a.jsonl", lambda: change(path)):
        ran = commands.run_here("merge", "shard-1", "shard-2", "-o", "out", cwd=desk.folder)
    assert (ran.code, "error: a.jsonl was " in ran.stderr) == (2, True)
    assert json.loads(desk.path("out/run.json").read_text())["state"] == "interrupted"
    path.with_name("other.jsonl").write_bytes(b"{}")
    again = commands.run_here("merge", "shard-1", "shard-2", "-o", "out", "--overwrite", cwd=desk.folder)
    assert (again.code, "a.jsonl" in again.stderr) == (2, True)


def test_who_goes_on_with_such_a_run_is_told(desk):
    path = write(desk.path("a.jsonl"), rows_of("a"))
    before = path.read_bytes()
    with amid("a.jsonl", lambda: cut(path)):
        command(desk, "a.jsonl", "-o", "out")
    path.write_bytes(before)  # as it was, but not all of it was read
    again = command(desk, "a.jsonl", "-o", "out")
    assert (again.code, again.stderr.count("\n")) == (2, 1)
    assert "a.jsonl was cut from " in again.stderr
    audit = commands.run_here("audit", "out", cwd=desk.folder)
    assert (audit.code, "--overwrite" in audit.stderr) == (2, True)
    marked = commands.run_here("audit", "out/metrics.parquet", "--where", "input_changed", cwd=desk.folder)
    assert (marked.code, marked.stdout.split()[0]) == (0, str(len(commands.read_metrics(desk.path("out")))))
    assert "its file changed while it was read" in commands.run_here("show", "out", "0", cwd=desk.folder).stdout
    assert commands.run_here("report", "out", cwd=desk.folder).code == 0
    assert "Inputs that changed while they were read" in desk.path("out/report.html").read_text()
    assert command(desk, "a.jsonl", "-o", "out", "--overwrite").code == 0
    assert len(commands.read_metrics(desk.path("out"))) == ROWS


@pytest.mark.parametrize("change", [cut, rewrite, replace, append, remove])
def test_a_run_that_goes_on_after_a_change_names_the_file(desk, change, monkeypatch):
    monkeypatch.setattr("trajcompress.run.parts.MAX_PART_ROWS", 10)
    monkeypatch.setattr("trajcompress.run.commit._COMMIT_AFTER_S", 0)
    write(desk.path("a.jsonl"), rows_of("a"))
    write(desk.path("b.jsonl"), rows_of("b", 20))

    def stop():
        raise InputError("a.jsonl: cannot be read")

    with amid("a.jsonl", stop, at=200):
        assert command(desk, "b.jsonl", "a.jsonl", "-o", "out", "--max-in-flight", "4").code == 2
    assert any(desk.path("out/.state/metrics").iterdir())
    change(desk.path("a.jsonl"))
    ran = command(desk, "b.jsonl", "a.jsonl", "-o", "out")
    assert ran.code == 2
    assert "a.jsonl" in ran.stderr
    assert "b.jsonl has" not in ran.stderr


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.json"])
def test_of_what_only_grew_what_stood_there_at_first_is_read(desk, name):
    path = write(desk.path(name), rows_of(name))
    size = path.stat().st_size
    with amid(name, lambda: append(path)):
        ran = command(desk, name, "-o", "out")
    assert ran.code == 0
    assert ran.stderr.count(f"{name}: grew from {size:,} to ") == 1
    assert len(commands.read_metrics(desk.path("out"))) == ROWS
    record = json.loads(desk.path("out/run.json").read_text())
    assert (record["state"], *record["grown_inputs"]) == ("complete", name)


def test_another_link_or_other_permissions_are_no_change(desk):
    path = write(desk.path("a.jsonl"), rows_of("a"))
    with amid("a.jsonl", lambda: touch_otherwise(path)):
        ran = command(desk, "a.jsonl", "-o", "out", "--json")
    assert (ran.code, ran.json["state"], ran.json["changed_inputs"]) == (0, "complete", {})


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


LEFT_OUT = [
    (".hidden.jsonl", Path.touch, "1 hidden file"),
    (".git", Path.mkdir, "1 hidden folder"),
    ("a.txt", Path.touch, "1 file with another suffix (.txt)"),
    ("README", Path.touch, "1 file with another suffix"),
    ("bad.\x1b[31m", Path.touch, "1 file with another suffix (.\\x1b[31m)"),
    ("f.jsonl", os.mkfifo, "1 pipe (FIFO)"),
    ("pipe", os.mkfifo, "1 pipe (FIFO)"),
    ("s.jsonl", a_socket, "1 socket"),
    ("null.json", lambda path: path.symlink_to("/dev/null"), "1 device"),
    ("gone", lambda path: path.symlink_to("nowhere"), "1 link that leads nowhere"),
    ("up", lambda path: path.symlink_to(".."), "1 further name of what is read already"),
    ("again.jsonl", lambda path: path.symlink_to("ok.jsonl"), "1 further name of what is read already"),
    ("dataset_infos.json", Path.touch, "1 file that describes a dataset"),
    ("zero.jsonl", Path.touch, "1 empty file"),
]


@pytest.mark.parametrize(("name", "make", "says"), LEFT_OUT, ids=[name for name, _, _ in LEFT_OUT])
def test_what_a_folder_holds_besides_is_named(desk, name, make, says):
    desk.path("in").mkdir()
    desk.write("in/ok.jsonl", [commands.conversation(0, 1)])
    make(desk.path("in") / name)
    ran = command(desk, "in", "-o", "out", "--json")
    assert (ran.code, ran.json["rows"]) == (0, 1)
    assert f"left out of in: {says}\n" in ran.stderr
    (left,) = ran.json["left_out"]
    assert left["place"] == "in"
    assert json.loads(desk.path("out/run.json").read_text())["left_out"] == [left]


REFUSED_INPUTS = [
    ("x.jsonl", lambda path: path.symlink_to("nowhere"), "x.jsonl: No such file"),
    ("x.jsonl", lambda path: path.symlink_to("x.jsonl"), "x.jsonl: Too many levels of symbolic links"),
    ("x.txt", Path.touch, "no readable file in this folder"),
    ("x", Path.mkdir, "no readable file in this folder"),
]


@pytest.mark.parametrize(("name", "make", "says"), REFUSED_INPUTS)
def test_what_should_be_read_and_cannot_be_is_an_error(desk, name, make, says):
    desk.path("in").mkdir()
    make(desk.path("in") / name)
    ran = command(desk, "in", "-o", "out")
    assert (ran.code, says in ran.stderr) == (2, True)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("", "an input without a name"),
        ("x" * 5000 + ".jsonl", "File name too long"),
        ("a\0b.jsonl", "no such file"),
        ("*.nothing", "matches nothing"),
        ("/dev/null", "a device, and no file"),
        ("pipe.json", "a pipe can be read once"),
        ("pipe.parquet.gz", "a pipe can be read once"),
        ("s.jsonl", "a socket, and no file"),
    ],
)
def test_odd_names_are_errors_of_one_line(desk, given, says):
    a_socket(desk.path("s.jsonl"))
    for name in ("pipe.json", "pipe.parquet.gz"):
        os.mkfifo(desk.path(name))
    ran = command(desk, given, "-o", "out")
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    assert says in ran.stderr


def test_a_named_pipe_is_read_once_as_lines(desk):
    os.mkfifo(desk.path("rows"))
    writer = os.open(desk.path("rows"), os.O_RDWR)  # opens without a reader
    os.write(writer, content_of("a.jsonl", rows_of("a", 10)))

    def reading(source, **arguments):
        for read in read_rows(source, **arguments):
            if read.index == 0:
                os.close(writer)
            yield read

    with mock.patch("trajcompress.run.selection.read_rows", reading):
        ran = command(desk, "rows", "-o", "out", "--json")
    assert (ran.code, ran.json["rows"]) == (0, 10)
    assert "rows: a pipe, read once" in ran.stderr
    assert "--sample-percent" in command(desk, "rows", "-o", "other", "--sample-count", "3").stderr
    assert "rows may hold something else now" in command(desk, "rows", "-o", "out").stderr


GOOD = json.dumps(commands.conversation(0)).encode()
SMALL = json.dumps(commands.conversation(1, 1)).encode()
MESSAGES = [commands.conversation(i)["messages"] for i in range(3)]


def parquet(**columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


WHOLE = parquet(messages=MESSAGES)
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
    ("plain.jsonl.gz", GOOD, 0, {"corrupt_input": 1}),
    ("plain.jsonl.bz2", GOOD, 0, {"corrupt_input": 1}),
    ("plain.jsonl.xz", GOOD, 0, {"corrupt_input": 1}),
    ("plain.json.zst", GOOD, 0, {"corrupt_input": 1}),
    ("cut.jsonl.gz", gzip.compress(GOOD + b"\n" + SMALL)[:-4], 2, {"truncated_input": 1}),
    ("cut.jsonl.bz2", bz2.compress(GOOD + b"\n") + bz2.compress(SMALL)[:-4], 2, {"truncated_input": 1}),
    ("cut.jsonl.xz", lzma.compress(GOOD + b"\n" + SMALL)[:-4], 2, {"truncated_input": 1}),
    ("streams.jsonl.bz2", bz2.compress(GOOD + b"\n") + bz2.compress(SMALL), 2, {}),
    ("streams.jsonl.xz", lzma.compress(GOOD + b"\n") + b"\0" * 8 + lzma.compress(SMALL), 2, {}),
    ("array.json.bz2", bz2.compress(b"[" + GOOD + b"," + SMALL + b"]"), 2, {}),
    ("array.json.xz", lzma.compress(b'{"data":[' + GOOD + b"," + SMALL + b"]}"), 2, {}),
    ("whole.parquet.xz", lzma.compress(WHOLE), 3, {}),
    ("dictionary.xz.jsonl.xz", b"\xfd7zXZ\0\0\4" + b"\xff" * 40, 0, {"corrupt_input": 1}),
    ("twice.jsonl.gz", gzip.compress(gzip.compress(GOOD)), 0, {"invalid_utf8": 1}),
    ("empty.jsonl", b"", 0, {}),
    ("empty.jsonl.xz", b"", 0, {}),
    ("blank.jsonl", b"\n \n\t\r\n" * 10, 0, {}),
    ("empty.parquet", b"", 0, {"unreadable_file": 1}),
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


def test_one_file_under_two_names_and_one_copied_by_a_hard_link(desk):
    desk.write("one.jsonl", [commands.conversation(0, 1)])
    desk.path("soft.jsonl").symlink_to("one.jsonl")
    desk.path("hard.jsonl").hardlink_to(desk.path("one.jsonl"))
    ran = command(desk, "one.jsonl", "soft.jsonl", "hard.jsonl", "-o", "out", "--json")
    assert (ran.code, ran.json["rows"]) == (0, 2)
    assert "left out of soft.jsonl: 1 further name of what is read already" in ran.stderr


@pytest.mark.parametrize("output", [".", "in", "in/out"])
def test_an_output_within_the_input_is_refused(desk, output):
    desk.path("in").mkdir()
    desk.write("in/a.jsonl", [commands.conversation(0, 1)])
    before = commands.files_of(desk.folder)
    ran = command(desk, "in", "-o", output)
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    assert commands.files_of(desk.folder) == before


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


def aliases(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    return "\n".join(lines)


CONFIGS = [
    ("[" * 20_000, "nested deeper than"),
    ("a: {" * 20_000, "nested deeper than"),
    ("- " * 20_000 + "a", "nested deeper than"),
    ("".join(" " * i + f"a{i}:\n" for i in range(1_000)), "nested deeper than"),
    (aliases(12), "with all that aliases stand for"),
    (aliases(12) + "\ncompression: *a11", "with all that aliases stand for"),
    ("compression: &a [*a]", "aliases"),
    ("compression: &a {target_max_tokens: *a}", "aliases"),
    ("a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 5000)), "aliases"),
    ("".join(f"k{i}: 1\n" for i in range(50_000)), "holds more than"),
    ("x" * 2_000_000, "larger than any config"),
    ("- a\n- b", "should be a mapping"),
    ("hello", "should be a mapping"),
    ("compression: {target_max_tokens: %s}" % ("9" * 5000), "too large"),
    ("compression: {target_max_tokens: %s}" % ("9" * 400), "too large"),
    ("compression: {target_max_tokens: " + ":".join(["1"] * 100_000) + "}", "too large"),
    ("compression: {target_max_tokens: .inf}", "valid integer"),
    ("compression: {target_max_tokens: 2001-99-99}", "month"),
    ("a: !!python/object/apply:os.system ['touch hacked']", "constructor"),
    ("? [a, b]\n: c", "unhashable"),
    ("a: 1\n---\nb: 2", "another document"),
    ('"a\\e[31mred": 1', "a\\x1b[31mred"),
    (b"\x80\x81\x82", "not UTF-8"),
    (bytes(range(256)), "not UTF-8"),
    (b"\0" * 100, "not valid YAML"),
    ("a: 1".encode("utf-16"), "not UTF-8"),
]


@pytest.mark.parametrize(("text", "says"), CONFIGS, ids=[str(each[0])[:20] for each in CONFIGS])
def test_a_hostile_config_is_an_error_of_one_line(desk, text, says):
    desk.path("c.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = commands.run_here("config", "show", "--config", "c.yaml", cwd=desk.folder)
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    assert ran.stderr.startswith("error: c.yaml")
    assert says in ran.stderr
    assert not desk.path("hacked").exists()


RECORD = {
    "turn": 4,
    "start": 4,
    "end": 9,
    "digest": "0" * 32,
    "placement": "human",
    "summarizer": "extractive",
    "prompt": "",
    "updates": 7,
}
FORGED = [
    RECORD,
    RECORD | {"turn": 1},
    RECORD | {"turn": 10**6},
    RECORD | {"turn": -1},
    RECORD | {"turn": 2**63 - 1, "start": 2**63 - 1},
    RECORD | {"updates": 2**63 - 1},
    RECORD | {"end": 2**62, "start": 0},
    RECORD | {"start": 9, "end": 4},
    RECORD | {"turn": "4"},
    RECORD | {"turn": True},
    RECORD | {"turn": 4.0},
    RECORD | {"turn": None},
    RECORD | {"placement": "fold"},
    RECORD | {"summarizer": "\x1b[31mred\n\0\u202e"},
    RECORD | {"digest": "x" * 1_000_000},
    RECORD | {"digest": "\ud800"},
    RECORD | {"more": 1},
    {},
    {"original_tokens": 1, "compressed": True},
    [],
    "compressed",
    7,
    True,
    1e308,
    [[[[1]]]],
    RECORD | {"updates": 2**200},
]


@pytest.mark.parametrize("output_format", ["parquet", "jsonl"])
def test_a_forged_record_changes_nothing(desk, output_format):
    """Of rows that say they were compressed before, each comes out as the same row that says nothing."""
    claims = FORGED if output_format == "jsonl" else FORGED[:-1]  # Parquet has no such number
    plain = [commands.conversation(i) for i in range(len(claims))]
    forged = [row | {"trajcompress": value} for row, value in zip(plain, claims, strict=True)]
    desk.write("plain.jsonl", plain)
    desk.write("forged.jsonl", forged)
    for name in ("plain", "forged"):
        ran = command(desk, f"{name}.jsonl", "-o", name, "--output-format", output_format, "--record")
        assert ran.code == 0, ran.stderr
    told, claimed = (commands.read_metrics(desk.path(name)) for name in ("plain", "forged"))
    for one, other in zip(told, claimed, strict=True):
        same = one.keys() - {"source_file", "latency_s"}
        assert {key: other[key] for key in same} == {key: one[key] for key in same}
    before, after = (written(desk.path(name)) for name in ("plain", "forged"))
    for one, other, value in zip(before, after, claims, strict=True):
        assert other["messages"] == one["messages"]
        records = [other.get(name) for name in ("trajcompress", "trajcompress_2")]
        assert one["trajcompress"] in records
        assert other["trajcompress"] in (one["trajcompress"], value)


def test_a_column_of_that_name_and_another_type_costs_no_row(desk):
    when = pa.array([None, 0, None], pa.timestamp("us"))
    desk.path("a.parquet").write_bytes(parquet(messages=MESSAGES, trajcompress=when))
    ran = command(desk, "a.parquet", "-o", "out", "--output-format", "parquet", "--json")
    assert (ran.code, ran.json["compressed"]) == (0, 3)
    rows = written(desk.path("out"))
    assert [row["trajcompress"] is None for row in rows] == [True, False, True]
    assert all(row["trajcompress_2"]["placement"] for row in rows)


def written(folder: Path) -> list[dict]:
    from trajcompress.dataset.writers import read_part_rows

    return [row for part in sorted((folder / "data").iterdir()) for row in read_part_rows(part)]


@pytest.mark.parametrize("turn", [1, -1], ids=["the request", "the last turn"])
def test_a_turn_of_a_person_is_no_summary_whatever_is_recorded(desk, turn):
    row = commands.conversation(0)
    turn %= len(row["messages"])
    said = f"{SUMMARY_PREFIX} is what I saw in a log. Say what it is."
    row["messages"][turn]["content"] = said
    claims = RECORD | {"turn": turn, "start": turn, "end": turn + 3}
    desk.write("a.jsonl", [row | {"trajcompress": claims}])
    assert command(desk, "a.jsonl", "-o", "out").code == 0
    (after,) = commands.read_rows(desk.path("out"))
    (metrics,) = commands.read_metrics(desk.path("out"))
    assert metrics["was_compressed"]
    assert sum(said == message["content"] for message in after["messages"]) == 1


def test_a_file_that_grows_while_it_is_found(desk):
    """Between its size and the first look at it there is a moment."""
    path = write(desk.path("a.jsonl"), rows_of("a", 20))
    from trajcompress.dataset import standing

    first = standing.Standing

    def later(source):
        append(path)
        return first(source)

    with mock.patch("trajcompress.dataset.standing.Standing", later):
        ran = command(desk, "a.jsonl", "-o", "out", "--json")
    assert (ran.code, ran.json["rows"], ran.json["state"]) == (0, 20, "complete")
    assert "a.jsonl: grew from " in ran.stderr


def test_summaries_that_were_paid_for_are_kept_where_the_input_changed(desk, tmp_path):
    place = runs.Place(tmp_path, desk.tokenizer)
    from loopback import LoopbackServer

    source = commands.write_rows(tmp_path / "a.jsonl", [commands.conversation(i) for i in range(8)])
    before = source.read_bytes()
    with LoopbackServer() as server:
        order = place.calling(server.base_url, [source], "out")
        with amid(str(source), lambda: append_and_rewrite(source), at=7):
            assert commands.run_here(*order, cwd=tmp_path).code == 1
        paid = len(server.seen)
        source.write_bytes(before)
        assert commands.run_here(*order, "--overwrite", cwd=tmp_path).code == 0
        assert len(server.seen) - paid <= 2  # those of rows that are others now
    shutil.rmtree(tmp_path / "out")
