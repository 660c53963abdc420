"""Terminals and pipes whose encoding lacks characters of the rows: commands print what there is, pages are UTF-8."""

from __future__ import annotations

import pytest
from commands import conversation, make_desk, run_command
from runs import small_tokenizer

NARROW = {"PYTHONIOENCODING": "cp1252"}
NAME = "日本"
WORDS = "日本語 ≤ 🚀"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    desk = make_desk(tmp_path_factory.mktemp("narrow"), small_tokenizer)
    rows = [conversation(number, 12) for number in range(3)]
    rows[0]["messages"][1]["content"] = WORDS
    for number, row in enumerate(rows):
        row["id"] = f"{NAME}{number}"
    desk.write("in.jsonl", rows)
    assert desk.compress("in.jsonl", "-o", "out").code == 0
    return desk.folder


def test_characters_that_are_not_to_be_had_are_escaped(folder):
    ran = run_command("show", "out", "0", "--full", cwd=folder, env=NARROW, encoding="cp1252")
    assert (ran.code, ran.stderr) == (0, "")
    assert r"\u65e5\u672c\u8a9e \u2264 \U0001f680" in ran.stdout


def test_errors_name_the_file(folder):
    ran = run_command("check", "日本.jsonl", cwd=folder, env=NARROW, encoding="cp1252")
    assert ran.code == 2
    assert r"\u65e5\u672c.jsonl" in ran.stderr


@pytest.mark.parametrize("arguments", [["show", "out", "0", "--web", "-"], ["report", "out", "-o", "-"]])
def test_pages_on_standard_output_are_utf_8_as_they_say(folder, arguments):
    ran = run_command(*arguments, cwd=folder, env=NARROW)
    assert ran.code == 0
    assert '<meta charset="utf-8">' in ran.stdout
    assert not ran.stdout.isascii()


def test_an_audit_for_machines_is_utf_8_as_it_says(folder):
    ran = run_command("audit", "out", "--format", "junit", cwd=folder, env=NARROW)
    assert ran.code == 0
    assert ran.stdout.startswith('<?xml version="1.0" encoding="UTF-8"?>')
    assert NAME in ran.stdout
