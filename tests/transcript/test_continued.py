"""Observations by what is around them: a form that a row keeps to, the prompt of one program, words of a prompt."""

from __future__ import annotations

import pytest

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions


def observed(system, *turns):
    """Return which of the turns behind a system turn are observations, counted from 0."""
    messages = [{"role": "system", "content": system}] if system else []
    for number, text in enumerate(turns):
        messages.append({"role": "assistant" if number % 2 else "user", "content": text})
    read = read_trajectory({"messages": messages}, "row", FormatOptions()).turns
    return [index for index, turn in enumerate(read[1:] if system else read) if turn.answers]


LISTING = "total 8\n-rw-r--r-- 1 root root 20 Mar  1 10:00 a.py"


def test_a_turn_that_opens_as_the_actions_around_it_acts():
    row = ["Repair a.py, you have a shell.", "Next command: ls -la", LISTING, "Next command: python3 -m a"]
    row += ["Traceback (most recent call last):\nKeyError: 'a'", "Next command: grep -n a a.py", "1:a = {}['a']"]
    row += ["Next command: git log --oneline", "1d5bfe9 notes"]
    row += ["Next command: flake8 a.py", "a.py is clean", "Done, it was a key.", "thanks, and the docs"]
    assert observed("", *row) == [2, 4, 6, 8, 10]


def test_what_begins_or_ends_as_the_others_is_an_observation_though_it_speaks():
    prompt = "You play. Give exactly one command per turn, the game answers."
    row = [
        "Start.\n[moves left 9]",
        "look",
        "A hall, a door.\n[moves left 8]",
        "open door",
        "It is open.\n[moves left 7]",
    ]
    row += ["go north", "A tower.\n[moves left 6]", "ring bell", "Would you please be more specific?\n[moves left 5]"]
    row += ["ring brass bell", "Could you please wait until nine?"]
    assert observed(prompt, *row) == [2, 4, 6, 8]


def test_what_stands_before_the_first_action_is_the_task_whatever_it_ends_with():
    row = ["You act between <action> tags.", "Understood.", "State: a hall", "<action>look</action>", "State: a door"]
    row += [
        "<action>open</action>",
        "State: open",
        "<action>go north</action>",
        "State: a tower",
        "<action>up</action>",
    ]
    assert observed("", *row) == [4, 6, 8]


@pytest.mark.parametrize(
    ("prompt", "commands"),
    [
        ("(gdb) ", ["break sum", "run", "p s"]),
        (">>> ", ["import re", "len(P)", "P[0]"]),
        ("edge-1# ", ["show ip route", "ping 10.0.0.2", "show log"]),
        ("?- ", ["parent(X, eve).", "parent(X, carl).", "listing(p/2)."]),
        ("ada@shop-3:~/src$ ", ["make", "make test", "nm a.out"]),
    ],
)
def test_what_stands_behind_the_prompt_of_a_program_is_executed(prompt, commands):
    row = ["Find out why the sum is wrong."]
    for command in commands:
        row += [f"{prompt}{command}", f"No symbol in the current context of {command[:3]}"]
    assert observed("", *row, "Found.") == [2, 4, 6]


def test_who_shows_a_command_at_a_prompt_now_and_then_is_no_agent():
    row = ["It crashes.", "(gdb) run", "Program received signal SIGSEGV", "Which line did it name?", "line 3 of a.c"]
    row += ["Then look at p there.", "it is null", "Check that it is set."]
    assert observed("", *row) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "You talk to a UCI engine process. Every message you send goes to the engine.",
        "You share a console. Lines that start with # are run.",
        "You prove theorems. Send one step, you get the goals that are left.",
        "Escribe la orden. El sistema contestará con la salida.",
    ],
)
def test_a_prompt_may_say_that_what_is_written_is_executed(prompt):
    row = [
        "Prove n + m = m + n",
        "intros n m.",
        "1 subgoal: n + m = m + n",
        "simpl.",
        "2 subgoals",
        "auto.",
        "no subgoal",
    ]
    assert observed(prompt, *row) == [2, 4, 6]
