"""Input files for attacks: written in every format, and changed while they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import socket
from pathlib import Path
from unittest import mock

import commands
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from trajcompress.dataset.rows import Source
from trajcompress.dataset.sources import find_sources
from trajcompress.run.parts.rows import PartRows

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

    rows = PartRows.__iter__

    def reading(part):
        for source, read in rows(part):
            if source.name == name and read.index == at:
                happens()
            yield source, read

    return mock.patch.object(PartRows, "__iter__", reading)


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


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


GOOD = json.dumps(commands.conversation(0)).encode()
SMALL = json.dumps(commands.conversation(1, 1)).encode()
MESSAGES = [commands.conversation(i)["messages"] for i in range(3)]


def parquet(**columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()
