"""What is said of an answer right behind it is what came of handing that in."""

from __future__ import annotations

import pytest
from summed_up import ask, call, result, say

from trajcompress.summarize.extractive import extract

INCORRECT = "\nYour submission was incorrect. Please proceed and attempt to find the correct answer.\n"
FLAG = "picoCTF{5olv3m3}"


@pytest.mark.parametrize(
    ("verdict", "came"),
    [
        (INCORRECT, "incorrect"),
        ("Your answer is wrong, as the flag has 12 letters.", "wrong"),
        ("Correct!", "correct"),
    ],
)
@pytest.mark.parametrize("echo", [True, False])
def test_a_verdict_right_behind_an_answer_is_what_came_of_it(verdict, came, echo):
    handed_in = (call(1, "submit", answer=FLAG), *((result(1, FLAG),) if echo else ()))
    record = extract(ask((*handed_in, say("user", verdict), call(2, "ls", path="."), result(2, "a.txt"))))
    assert f"- submit {FLAG} → {came}\n" in record


def test_what_another_call_came_to_is_no_verdict():
    turns = (call(1, "check", answer=FLAG), result(1, FLAG), say("user", "Correct! Now write it to a.txt."))
    record = extract(ask(turns))
    assert "→ correct" not in record
    assert '"Correct! Now write it to a.txt."' in record
