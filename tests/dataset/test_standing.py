"""Whether an input still stands as it did: what is a change, what only growth, and what neither."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from reading import source_of

from trajcompress.dataset.standing import Change, Standing, Watch, fingerprint_of


def change_of(path: Path, happens) -> Change | None:
    source = source_of(path)
    standing = Standing(source)
    before = fingerprint_of(source)
    happens(path)
    return standing.change(before)


def write_in_place(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def keep_time(path: Path, happens) -> None:
    status = path.stat()
    happens()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    ("happens", "change"),
    [
        (Path.exists, None),
        (lambda path: path.chmod(0o600), None),
        (lambda path: path.with_name("link").hardlink_to(path), None),
        (lambda path: keep_time(path, lambda: path.rename(path.with_name("b")).rename(path)), None),
        (lambda path: os.truncate(path, 3), Change("was cut from 8 to 3 bytes")),
        (lambda path: write_in_place(path, 8, b"[]"), Change("grew from 8 to 10 bytes", only_grew=True)),
        (
            lambda path: write_in_place(path, 1, b"123456789"),
            Change("was written to, or replaced by another file,"),
        ),
        (
            lambda path: keep_time(path, lambda: write_in_place(path, 5, b"2")),
            Change("was written to, or replaced by another file,"),
        ),
        (lambda path: path.unlink(), Change("was removed")),
    ],
)
def test_what_becomes_of_a_file(tmp_path, happens, change):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}')
    os.utime(path, ns=(10**9, 10**9))
    assert change_of(path, happens) == change


def test_a_new_time_of_writing_is_a_change_as_it_may_have_held_something_else_meanwhile(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}")
    assert change_of(path, lambda path: os.utime(path, ns=(10**9, 10**9))) == Change("was written to")


def test_an_empty_file_that_grew_has_changed_as_its_end_was_not_known(tmp_path):
    path = tmp_path / "a.jsonl"
    path.touch()
    assert change_of(path, lambda path: path.write_bytes(b"{}")) == Change("grew from 0 to 2 bytes")


def test_growth_is_told_once_and_a_change_is_kept(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_bytes(b"{}\n")
    sources = [source_of(tmp_path / f"{name}.jsonl") for name in "ab"]
    said: list[str] = []
    watch = Watch(sources, said.append)
    (tmp_path / "a.jsonl").write_bytes(b"{}\n{}\n")
    (tmp_path / "b.jsonl").unlink()
    for source in [*sources, *sources]:
        watch.look(source)
    assert len(said) == 1
    assert "grew from 3 to 6 bytes while it was read; what was added is left out" in said[0]
    assert watch.changed == {sources[1].name: "was removed"}
