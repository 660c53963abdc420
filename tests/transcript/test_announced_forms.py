"""Actions by what a prompt shows or says: the prompt of a program, signs, and that what is written is executed."""

from __future__ import annotations

import pytest
from observing import LISTING, observed

from trajcompress.transcript.text_protocols.actions import find_actions


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


def test_who_is_asked_for_commands_alone_need_not_execute_them():
    prompt = "Answer with one shell command only, no explanation."
    row = [
        "files bigger than 1G",
        "find / -size +1G",
        "same but only in home",
        "find ~ -size +1G",
        "delete core dumps",
    ]
    assert observed(prompt, *row, "find . -name core -delete", "count lines of all py files", "wc -l *.py") == []
    row = ["Why is the disk full?", "df -h /", "/dev/vda 252G 252G 0G 100% /", "du -sh /var/log", "38G\t/var/log"]
    assert observed(prompt, *row, "ls -S /var/log", LISTING, "rm /var/log/a.py", "", "The log was it.") == [
        2,
        4,
        6,
        8,
    ]


@pytest.mark.parametrize(
    ("prompt", "begin", "end"),
    [
        ("Code between lines of $$ is run with python3.", "$$\n", "\n$$"),
        ("Schreibe Befehle zwischen <<< und >>>. Das System antwortet.", "Weiter.\n<<<", ">>>"),
        ("把命令写在 [[ 和 ]] 之间，系统会返回结果。", "[[", "]]"),
    ],
)
def test_a_prompt_may_name_the_signs_that_stand_around_an_action(prompt, begin, end):
    row = ["How many?"]
    for number in range(3):
        row += [f"{begin}print(len(open('a{number}').read().split()), 'words of the file'){end}", f"n = {number}"]
    assert observed(prompt, *row, "Three.") == [2, 4, 6]


def test_between_signs_a_chat_writes_what_its_prompt_asks_for():
    prompt = "Put the translation between <<< and >>>."
    row = ["The pump is on.", "<<<Die Pumpe ist an.>>>", "File not found", "<<<Datei nicht gefunden>>>", "Open it."]
    assert observed(prompt, *row, "<<<Öffne sie.>>>", "Done: 3 files", "<<<Fertig: 3 Dateien>>>") == []


def test_a_field_of_the_form_that_is_filled_in_answers_nothing():
    row = [
        "two coffees",
        '{"item": "coffee", "qty": 2}',
        "item: tea\nqty: 3",
        '{"item": "tea", "qty": 3}',
        "item: cake",
    ]
    assert (
        observed('Fill {"item": …, "qty": …} from what I say.', *row, '{"item": "cake", "qty": 1}', "ORDER 17: juice")
        == []
    )


def test_a_prompt_may_show_the_sign_before_an_action():
    row = ["Pon la taza en la bandeja.", "Primero miro.\n>> mirar", "taza en (3, 1), brazo en (0, 0)", ">> mover 3 1"]
    row += ["brazo en (3, 1)", ">> cerrar", "pinza cerrada (1)", "Listo."]
    assert observed("Escribe una frase y después una línea «>> orden».", *row) == [2, 4, 6]


def test_messages_of_a_compiler_may_be_shown():
    row = ["theorem t : 1 + 1 = 2 := by sorry"]
    for step, message in [
        ("omega!", "error: unknown tactic"),
        ("rfl'", "error: unknown tactic"),
        ("rfl", "no errors"),
    ]:
        row += [f"Now this.\n```lean4\ntheorem t : 1 + 1 = 2 := by {step}\n```", message]
    assert observed("Write the file. The compiler checks it and its messages are shown to you.", *row) == [2, 4, 6]


def test_a_word_in_capitals_above_a_reply_was_announced():
    system = "CALL fetch <url> END loads a page. After END stop. RETURN ... END has what was found."
    row = ["Who maintains bytes?", "CALL fetch https://crates.example/bytes END", "RETURN\nbytes 1.6.0 by tokio\nEND"]
    row += ["CALL fetch https://git.example/bytes END", "RETURN\nFETCH FAILED: 429\nEND", "The tokio team."]
    assert observed(system, *row) == [2, 4]


def test_a_command_in_brackets_is_announced_with_what_it_is_given():
    system = "창고 로봇이다. [이동 x y], [집기 품번], [스캔] 중 하나만 출력한다."
    row = ["K-77을 가져와.", "[스캔]", "위치 (0,0) 배터리 64%", "[이동 7 5]", "도착 (7,5) 배터리 58%", "[집기 K-77]"]
    assert observed(system, *row, "집음 K-77 ×1, 적재 1/3", "K-77을 가져왔습니다.") == [2, 4, 6]


def test_a_last_line_behind_a_dollar_is_a_command():
    words = "The last line isn't counted.\n$ sed -i 's/n;/n + 1;/' io.c && make test"
    acted = find_actions(words)
    assert acted is not None
    assert words[acted.start :].startswith("$ sed")
    assert acted.calls[0].arguments.startswith('{"command": "sed -i')
    assert find_actions("It costs\n$ 20 or so") is None
    assert find_actions("It costs\n$ what you give for it.") is None


def test_a_call_ends_a_turn_behind_a_sentence():
    system = 'If you need the web, end your message with SEARCH("…"). The results come as a numbered list.'
    row = ["Which alloy is it?", 'I look it up. SEARCH("hinge alloy")', "1. NASA: titanium fittings"]
    row += ['Is it bonded? SEARCH("titanium bonded hinge")', "1. SPIE: bonded to composite tubes", "Titanium."]
    assert observed(system, *row) == [2, 4]


def test_brackets_that_the_prompt_has_around_something_hold_commands():
    system = "Put SQL in brackets: <<<SELECT ...>>>. The fleet manager returns rows as CSV."
    row = ["Who listens on 4444?", "<<<SELECT pid FROM ports WHERE port=4444;>>>", "pid,address\n6120,0.0.0.0"]
    row += ["<<<SELECT name FROM processes WHERE pid=6120;>>>", "name,cmdline\nnc,nc -lvp 4444", "It is nc."]
    assert observed(system, *row) == [2, 4]


def test_json_may_hold_a_command_under_its_short_name():
    row = ["Count the Go files.", '{"thought": "list", "cmd": "find . | head -3"}', "./main.go\n./cmd/root.go"]
    row += ['{"thought": "count", "cmd": "find . | wc -l"}', "4127", '{"thought": "done", "final": "4127"}']
    assert observed('{"cmd": "..."} runs cmd in the sandbox; {"final": "..."} ends.', *row) == [2, 4]
