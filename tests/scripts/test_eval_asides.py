"""The measure of a person's words beside output: what the command line clears, and what stays of turns' ends."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(scope="module")
def measure():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        yield importlib.import_module("eval_asides")


def test_words_of_a_person_stand_in_the_turns_that_hold_observations(measure):
    for row in measure.rows():
        for index, said in row["said"].items():
            assert int(index) in row["observations"], row["id"]
            assert said in row["messages"][int(index)]["content"], row["id"]


def test_it_makes_outputs_long_and_changes_nothing_else(measure):
    for row in measure.rows():
        for message, long in zip(row["messages"], measure.lengthened(row), strict=True):
            assert long["content"].replace(f"{measure.FIGURES}\n", "") == message["content"]


def test_it_imports_nothing_of_what_it_measures():
    for node in ast.walk(ast.parse((SCRIPTS / "eval_asides.py").read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not [name for name in names if name.split(".")[0] == "trajcompress"]


def test_most_words_of_people_stay_and_few_of_nobody():
    done = subprocess.run([sys.executable, SCRIPTS / "eval_asides.py"], check=True, capture_output=True, text=True)
    found = re.findall(r"words stay (\d+)/(\d+) .*nobody's (\d+)/(\d+)", done.stdout)
    assert len(found) == 2
    stay, people, more, nobody = (sum(map(int, column)) for column in zip(*found, strict=True))
    assert people >= 60
    assert stay >= 0.75 * people
    assert nobody >= 90
    assert more <= 0.25 * nobody
