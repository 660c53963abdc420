"""What lies in a folder besides rows, and inputs by odd names."""

from __future__ import annotations

import json
import os
from pathlib import Path

import commands
import pytest
from inputs import a_socket, amid, command, content_of, rows_of

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
    with amid("rows", lambda: os.close(writer), at=0):
        ran = command(desk, "rows", "-o", "out", "--json")
    assert (ran.code, ran.json["rows"]) == (0, 10)
    assert "rows: a pipe, read once" in ran.stderr
    assert "--sample-percent" in command(desk, "rows", "-o", "other", "--sample-count", "3").stderr
    assert "rows may hold something else now" in command(desk, "rows", "-o", "out").stderr


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
