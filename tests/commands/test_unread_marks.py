"""Marks of the loss that rows have already, and that the trainer does not read: the run and ``check`` say so."""

from __future__ import annotations

import pytest
from commands import Desk, conversation, run_here

TOLD = "assistant turns are marked to be left out of the loss ({}), which {} does not read: it trains them"


def marked(key: str, value: object) -> dict:
    row = conversation(0)
    row["messages"][2] |= {key: value}
    assert row["messages"][2]["role"] == "assistant"
    return row


@pytest.mark.parametrize(
    ("key", "value", "target", "read"),
    [
        ("weight", 0, "openai", True),
        ("weight", 0, "mistral", True),
        ("weight", 0, "axolotl", False),
        ("weight", 0, "trl", False),
        ("weight", 0, "llama-factory", False),
        ("weight", 0, "verl", False),
        ("train", False, "axolotl", True),
        ("train", False, "openai", False),
        ("loss_mask", 0, "verl", False),
    ],
)
def test_the_run_and_check_say_what_is_trained_all_the_same(desk: Desk, key, value, target, read):
    desk.write("a.jsonl", [marked(key, value), conversation(1), marked(key, value)])
    told = TOLD.format(f"{key}: {'false' if value is False else value}", target)
    ran = desk.compress("a.jsonl", "-o", "out", "--for", target)
    assert (told in ran.stderr) == (not read)
    checked = run_here("check", "a.jsonl", "--for", target, cwd=desk.folder)
    assert (f"note: 2 rows: {told}" in checked.stdout) == (not read)


def test_what_is_marked_to_be_trained_and_what_nobody_reads_are_told_nothing(desk: Desk):
    learnt = [marked("weight", 1), marked("train", True), marked("weight", None)]
    asked = conversation(0)
    asked["messages"][1] |= {"weight": 0}
    desk.write("a.jsonl", [*learnt, asked])
    desk.write("marked.jsonl", [marked("weight", 0)])
    assert "left out of the loss" not in desk.compress("a.jsonl", "-o", "out", "--for", "trl").stderr
    assert "left out of the loss" not in desk.compress("marked.jsonl", "-o", "plain").stderr, "no trainer is named"


def test_marks_are_counted_for_programs_and_fail_nothing(desk: Desk):
    desk.write("a.jsonl", [marked("weight", 0), conversation(1)])
    ran = run_here("check", "a.jsonl", "--for", "trl", "--json", cwd=desk.folder)
    assert ran.code == 0
    assert ran.json["unread_marks"] == {"weight: 0": 1}
