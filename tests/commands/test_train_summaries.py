"""``compress --mode segments --train-summaries``: turns that would be trained twice, and what says so."""

from __future__ import annotations

import pytest
from commands import Desk, conversation, read_rows

WANTED = ("--mode", "segments", "--train-summaries")
TWICE = "train the assistant's turns before their summary once more"
TWICE_IN_CARD = "trained together, they are trained twice"


def trained(row: dict) -> list[str]:
    """What an assistant says in a row that no mark leaves out of the loss."""
    turns = (turn for turn in row["messages"] if turn["role"] == "assistant")
    return [turn["content"] for turn in turns if turn.get("weight") != 0 and turn.get("train") is not False]


@pytest.mark.parametrize(
    ("options", "twice"),
    [
        ((), True),
        (("--marks", "train"), False),
        (("--for", "axolotl"), True),
        (("--for", "axolotl", "--marks", "auto"), False),
        (("--for", "openai", "--marks", "auto"), False),
    ],
)
def test_turns_that_are_trained_twice_are_told(desk: Desk, options, twice):
    desk.write("a.jsonl", [conversation(0, 30), conversation(1, 24)])
    ran = desk.compress("a.jsonl", "-o", "out", *WANTED, *options)
    assert ran.code == 0
    written = read_rows(desk.path("out"))
    once, again = (
        {said for row in written if row["kind"] == kind for said in trained(row)} for kind in ("stretch", "summary")
    )
    assert bool(once & again) == twice
    assert (TWICE in ran.stderr) == twice
    card = " ".join(desk.path("out/README.md").read_text().split())
    assert (TWICE_IN_CARD in card) == twice


def test_a_mark_that_the_target_does_not_read_changes_nothing(desk: Desk):
    desk.write("a.jsonl", [conversation(0, 30)])
    assert TWICE in desk.compress("a.jsonl", "-o", "out", *WANTED, "--for", "trl", "--marks", "train").stderr


def test_without_such_rows_there_is_nothing_to_tell(desk: Desk):
    desk.write("a.jsonl", [conversation(0, 30)])
    ran = desk.compress("a.jsonl", "-o", "out", "--mode", "segments")
    assert TWICE not in ran.stderr
    assert "twice" not in desk.path("out/README.md").read_text()
