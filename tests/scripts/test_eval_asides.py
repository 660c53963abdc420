"""The measure of a person's words beside output: what the command line clears, and what stays of turns' ends."""

from __future__ import annotations

import re
import subprocess
import sys

from measures import SCRIPTS

MEASURE = "eval_asides"


def test_words_of_a_person_stand_in_the_turns_that_hold_observations(measure):
    for row in measure.rows():
        for index, said in row["said"].items():
            assert int(index) in row["observations"], row["id"]
            assert said in row["messages"][int(index)]["content"], row["id"]


def test_it_makes_outputs_long_and_changes_nothing_else(measure):
    for row in measure.rows():
        for message, long in zip(row["messages"], measure.lengthened(row), strict=True):
            assert long["content"].replace(f"{measure.FIGURES}\n", "") == message["content"]


def test_most_words_of_people_stay_and_few_of_nobody():
    done = subprocess.run([sys.executable, SCRIPTS / "eval_asides.py"], check=True, capture_output=True, text=True)
    found = re.findall(r"words stay (\d+)/(\d+) .*nobody's (\d+)/(\d+)", done.stdout)
    assert len(found) == 2
    stay, people, more, nobody = (sum(map(int, column)) for column in zip(*found, strict=True))
    assert people >= 60
    assert stay >= 0.75 * people
    assert nobody >= 90
    assert more <= 0.25 * nobody
