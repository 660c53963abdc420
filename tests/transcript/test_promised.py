"""Prompts that promise an answer: of a program to an agent, and of a person to an assistant."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from observing import observed

from trajcompress.transcript import text_protocols
from trajcompress.transcript.text_protocols.prompts import is_relayed, sets_up

PHRASES = Path(text_protocols.__file__).with_name("prompts.toml")


@pytest.mark.parametrize(
    "system",
    [
        "You bisect a regression. The harness checks out what you name.",
        "Write ABC. A checker plays it back and lists the faults.",
        "Whatever you answer is piped into psql.",
        "Each script is executed and you get the time and stdout.",
        "ASK is answered by the simulated patient.",
        "Results arrive as <macro-result>.",
        "Verbs: ASK name topic, SEARCH place, ACCUSE name. The game narrates.",
        "Server operator over RCON. Send a console command without slash.",
        "Escribe una orden. El sistema te devuelve lo que pasó.",
        "Você escreve um comando. O servidor devolve a saída.",
        "主持人只会回答“是”或“不是”。",
        "함수를 호출하세요. 호출 결과가 다음 메시지로 옵니다.",
    ],
)
def test_a_system_turn_promises_that_a_program_answers(system):
    assert sets_up(system, system)


@pytest.mark.parametrize(
    "request_",
    [
        "Mein Programm gibt einen Fehler aus.",
        "le programme affiche une erreur",
        "el programa muestra esto",
        "program zwraca błąd przy kompilacji",
        "the validator reports this for my page",
        "our linter shows E501 everywhere",
        "when I enter a command it says not found",
        "the game tells me that my save is broken",
        "the test suite reports 3 failures",
    ],
)
def test_who_asks_for_help_tells_what_programs_do_and_promises_nothing(request_):
    assert not sets_up(request_)


def test_what_a_person_promises_to_you_counts_where_no_system_turn_does():
    assert sets_up("Write one statement a message; the program runs it and you wait for the rows.")
    assert not sets_up("My program runs it and waits for rows.")


BISECT = "You bisect a regression. The harness checks out what you name and runs the benchmark."


def test_bare_commands_of_an_agent_with_such_a_prompt_are_answered():
    row = ["good: a1f0, bad: f9c3", "c3d2", "c3d2: 12.3 ms", "e5b4", "e5b4: 30.8 ms", "d4c3", "d4c3: build failed"]
    assert observed(BISECT, *row, "It is d4c3.") == [2, 4, 6]


def test_labels_that_replies_do_not_speak_of_are_those_of_a_chat():
    system = "The scheduler sends patients' messages to you. Classify: BOOK, CANCEL or OTHER."
    row = ["Hi, can I come on Monday?", "BOOK", "Appointment 17 no longer needed.", "CANCEL", "tomorrow 10:00 Meier"]
    assert observed(system, *row, "BOOK") == []


def test_who_is_told_again_what_was_said_is_a_person():
    system = "You turn wishes into lines: LIGHT room state, HEAT room degrees, MUSIC title. The bridge shows them."
    row = ["kitchen light on", "LIGHT kitchen on", "kitchen 21 degrees", "HEAT kitchen 21", "jazz in the kitchen"]
    assert observed(system, *row, "MUSIC jazz", "good night", "Good night!") == []


def test_who_gives_one_after_the_other_to_work_on_is_a_person_though_a_program_checks_what_comes_out():
    system = "Commit bot. Input: a diff. Output: a message as type: text. The linter checks the form."
    row = ["diff --git a/x.py b/x.py\n-import os", "chore: drop unused import", "diff --git a/y.py b/y.py\n+pass"]
    assert observed(system, *row, "fix: do nothing", "diff --git a/z.py b/z.py\n-print(x)", "chore: no print") == []


RELAYED = [
    "Give one instruction. The user is in the kitchen and writes back what they see.",
    "Put a command into <cmd></cmd>. The person will copy the result to you.",
    "The user will tell you what appears.",
    "He runs it, then he will paste what he sees.",
    "You are not connected to any database; the user runs the statements.",
]


@pytest.mark.parametrize("system", RELAYED)
def test_a_person_who_carries_out_commands_says_what_came_of_them(system):
    assert is_relayed(system)
    row = ["my pc is slow", "<cmd>df -h /</cmd>", "/dev/sda1 20G 20G 0 100% /", "<cmd>du -sh ~</cmd>", "18G\t/root"]
    assert observed(system, *row, "Your own files fill it.") == []


@pytest.mark.parametrize(
    "system",
    [
        "When you need to act, suggest code for the user to execute.",
        "You will receive the result of that tool use in the user's response.",
        "Assistant can ask the user to use tools to look up information.",
        "The user cannot see what you write. The shell prints its output.",
        "The user sends the text of an issue; fix it using bash.",
        "After the user reads the answer the session ends.",
    ],
)
def test_the_prompts_of_agents_speak_of_users_too(system):
    assert not is_relayed(system)


@pytest.mark.cpu_seconds(10)
def test_promises_are_looked_for_in_linear_time():
    for part in ("the ", "your ", "das ", "your line is ", "the user ", "du bekommst ", "whatever you ", "harness "):
        sets_up(part * 20_000, part * 20_000)
        is_relayed(part * 20_000)
        sets_up("the " + "a" * 100_000, "das " + "a" * 100_000)


@pytest.mark.parametrize(
    "prompt",
    [
        "Every submission goes through the judge.",
        "The errors of the build log are your feedback.",
        "每次只写一个调用，等待返回。",
        "Your messages are passed to sqlite3.",
        "Whatever you write is typed on its console.",
        "An iex session is attached, answer in Elixir only.",
        "実行したいコマンドを一行で書いてください。結果はそのまま返されます。",
        "命令的输出会原样返回。",
        "결과는 그대로 반환됩니다.",
    ],
)
def test_what_is_written_goes_to_a_program(prompt):
    assert sets_up(prompt)


def test_where_a_prompt_says_what_answers_sentences_are_commands():
    system = "Coq session. Output a single vernacular sentence; the response of coqtop follows."
    goal = "1 goal\n  ============================\n  l ++ [] = l"
    row = ["Theorem app_nil_r.", "Proof.", goal, "- reflexivity.", goal, "- simpl. rewrite IH.", goal]
    row += ["Qed.", "app_nil_r is defined", "Done."]
    assert observed(system, *row) == [2, 4, 6, 8]
    chess = "Play black. Each turn the user gives you a move; reply with a move per turn."
    assert observed(chess, "1. d4", "1... Nf6. Open.", "2. c4", "2... e6. A Nimzo.", "3. Nc3", "3... Bb4. Yes.") == []


def test_each_message_may_be_a_state():
    system = 'You control CartPole. Each message is its state as JSON. Answer {"action": 0} or {"action": 1}.'
    row = [
        '{"t": 0, "obs": [0.1]}',
        '{"action": 1}',
        '{"t": 1, "obs": [0.2]}',
        '{"action": 0}',
        '{"t": 2, "obs": [0]}',
    ]
    assert observed(system, *row, '{"action": 1}') == [2, 4]


def test_all_phrases_can_be_read():
    tables = tomllib.loads(PHRASES.read_text("utf-8"))
    tables.pop("names")
    for entry in (entry for entries in tables.values() for entry in entries):
        assert {"any"} <= entry.keys() <= {"hints", "begins", "any"}
        assert re.compile(f"{entry.get('begins', '')}(?:{'|'.join(entry['any'])})").groups == 0
