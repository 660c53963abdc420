"""The measure of observations: it reads rows by the command itself, and counts those that are recognised."""

from __future__ import annotations

import json
import subprocess
import sys

from measures import SCRIPTS

MEASURE = "eval_observations"


def test_what_is_missing_and_what_is_too_much_are_counted_apart(measure):
    row = {"observations": [2, 4]}
    assert [measure.judge(row, found) for found in (0, 1, 2, 3)] == [(0, 0), (1, 0), (2, 0), (2, 1)]


def test_observations_are_user_turns_behind_the_assistants_and_chats_have_none(measure):
    for row in measure.rows():
        roles = [message["role"] for message in row["messages"]]
        for index in row["observations"]:
            assert roles[index] == "user", row["id"]
            assert "assistant" in roles[:index], row["id"]
        assert not (row["set"].startswith("chats") and row["observations"]), row["id"]


def test_it_measures_rows_that_the_command_reads(tmp_path):
    command = [sys.executable, SCRIPTS / "eval_observations.py", "--list", "1", "--json", tmp_path / "rows.json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "seen    70 rows: recognised" in done.stdout
    rows = json.loads((tmp_path / "rows.json").read_text("utf-8"))
    there = sum(row["there"] for row in rows)
    assert sum(row["recognised"] for row in rows) >= 0.85 * there
    assert sum(row["too_many"] > 0 for row in rows if not row["there"]) <= 30
