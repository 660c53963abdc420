"""Of a turn in which a harness read no action nothing ran, whatever code it shows."""

from __future__ import annotations

import pytest
from summed_up import ask, section
from trajectories import read

from trajcompress.summarize.extractive import extract

SHOWN = "Here is the corrected code:\n\n```python\ndef remaining(given):\n    return given['load'] * 2\n```"
SYSTEM = (
    "Use the tools.\n\nThought: what to do\nAction: one of [predict]\n"
    "Action Input: the input\nObservation: the result"
)


def told(shown, answer, times=1):
    act = ("assistant", 'Thought: predict.\nAction: predict\nAction Input: {"load": 85}')
    found = ("user", "Observation: 120 hours")
    turns = [("system", SYSTEM), ("user", "How long does it last?"), act, found]
    turns += [("assistant", shown), ("user", answer)] * times
    read_turns = read([{"role": role, "content": text} for role, text in [*turns, act, found]]).turns
    return section(extract(ask(read_turns[4:-2])), "Steps").strip()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("Observation: Invalid Format: Missing 'Action:' after 'Thought:'", "Missing 'Action:' after 'Thought:'"),
        ("Observation: Invalid or incomplete response\nThought:", "Invalid or incomplete response"),
        ("Could not parse LLM output: `Here is the code`", "Could not parse LLM output: `Here is the code`"),
        (
            "[ERROR] You did not use a tool in your previous response! Please retry with a tool use.\n\n# Reminder",
            "[ERROR] You did not use a tool in your previous response! Please retry with a tool use.",
        ),
        (
            "Your output was not formatted correctly. You must always include one discussion and one command.",
            "Your output was not formatted correctly. You must always include one discussion and one command.",
        ),
    ],
)
def test_code_in_a_reply_that_was_refused_did_not_run(answer, why):
    assert told(SHOWN, answer) == f"- reply refused → {why}"


def test_an_action_that_was_not_read_did_not_run_either():
    shown = "Action: Use the model to predict how long it lasts.\n\nInput: the load"
    answer = "Observation: Invalid Format: Missing 'Action Input:' after 'Action:'"
    assert told(shown, answer) == "- reply refused → Missing 'Action Input:' after 'Action:'"


def test_replies_that_are_refused_again_and_again_are_one_step():
    answer = "Observation: Invalid Format: Missing 'Action:' after 'Thought:'"
    assert told(SHOWN, answer, 3) == "- reply refused ×3 → Missing 'Action:' after 'Thought:'"


def test_what_a_tool_refuses_did_run():
    shown = 'Thought: again.\nAction: predict\nAction Input: {"load": "x"}'
    answer = "Observation: Invalid or incomplete response: the load is no number"
    assert "reply refused" not in told(shown, answer)
