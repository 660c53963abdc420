"""What says the same is read the same, whatever word its author took for it."""

from __future__ import annotations

import pytest
from told import read, said

from trajcompress.outcomes.action.actions import describe


@pytest.mark.parametrize("word", ["EOF", "PY", "END", "CODE"])
def test_a_script_runs_whatever_word_ends_it(word):
    action = describe("bash", {"command": f"python3 - <<'{word}'\nfor name in names:\n    print(name)\n{word}"})
    assert action.kind == "run"
    assert not read("widget 17: not found in cache\nwidget 18: 4 ms\n", action).failed


def test_a_first_sentence_goes_where_an_agent_says_that_it_has_looked_and_nowhere_else():
    assert said("Now I have a complete picture of it. The bug is in a.py, line 3.") == "The bug is in a.py, line 3."
    letter = "I have enough of this, and I quit on 2024-05-01.\nBest, Ann"
    assert "2024-05-01" in said(letter)
    assert "W4711" in said("I have a full refund for order W4711. It goes to your card by Friday.")


def test_an_edit_that_an_editor_reports_as_error_failed():
    why = '{"/data/a.csv": {"result": "error", "reason": "End line must be greater than start line", "hash": null}}'
    assert read(why).failed
    assert not read('{"/data/a.csv": {"result": "ok", "hash": "c2e55f32b1a2", "reason": null}}').failed
