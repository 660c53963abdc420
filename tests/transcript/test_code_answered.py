"""Code that nothing but output answers, and what output is."""

from __future__ import annotations

import pytest
from observing import observed

REDIS = [
    ("TTL session:1", "(integer) -1"),
    ("TYPE session:1", "hash"),
    ("HGETALL session:1", '1) "ip"\n2) "10.1.1.4"'),
]
REDIS += [
    ("EXPIRE session:1 60", "(integer) 1"),
    ("CONFIG GET maxmemory", '1) "maxmemory"\n2) "0"'),
    ("DBSIZE", "(integer) 7"),
]
LISP = [
    ("(length accounts)", "$1 = 4"),
    ("(car accounts)", "$2 = (ana . 120)"),
    ("(map cdr accounts)", "$3 = (120 80 300)"),
]
LISP += [
    ("(sum accounts)", ";;; warning: possibly unbound variable `sum'"),
    ("(apply + (map cdr accounts))", "$5 = 500"),
]
TAPS = [(f"tap 540 {y}", f'<node text="Row {y}" bounds="[0,{y}][1080,{y + 100}]"/>') for y in range(100, 700, 100)]


@pytest.mark.parametrize("steps", [REDIS, LISP, TAPS])
def test_code_that_nothing_but_output_answers_is_executed(steps):
    row = ["Find out why the sessions do not expire.", *(text for step in steps for text in step)]
    assert observed("", *row, "They have no limit.") == list(range(2, 2 * len(steps) + 1, 2))


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        (
            "Repair the JSON that I send.",
            [('{"a": 1}', '{b: [1, 2, "x"]}'), ('{"b": [1]}', '{"c": {3}}'), ('{"c": 3}', "[1,2")],
        ),
        (
            "Play chess, I have white: e4",
            [("e5", "Nf3"), ("Nc6", "Bb5"), ("a6", "Ba4"), ("Nf6", "O-O"), ("Be7", "Re1")],
        ),
        (
            "sum of B in Excel",
            [("=SUM(B:B)", "#NAME?"), ("=SUM(B1:B9)", "0"), ("=SUMME(B:B)", "45"), ("=SUM(B)", "ok")],
        ),
        (
            "0.1+0.2",
            [
                ("0.30000000000000004", "2**10 - 2**3"),
                ("1016", "7*8*9*10 - 11"),
                ("5029", "2**64 - 1 + 3*4"),
                ("18", "1"),
            ],
        ),
        (
            "Take the figures out of each line.",
            [(f"ID={i} N={i * 7} T={i * 9}", f"id:{i + 1};n={i * 7 + 7};t={i * 9 + 9};zz={i}") for i in range(6)],
        ),
    ],
)
def test_code_that_a_chat_answers_with_is_not(task, steps):
    assert observed("", task, *(text for step in steps for text in step), "OK") == []


def test_a_file_whose_name_begins_with_a_verb_is_no_request():
    row = [
        "Clean up.",
        "<run>ls /tmp</run>",
        "keep.db",
        "<run>ls /srv</run>",
        "test_a.py run.sh",
        "<run>ls</run>",
        "keep it",
    ]
    assert observed("<run>cmd</run> runs it.", *row) == [2, 4]


def test_goals_of_a_proof_and_complaints_of_a_compiler_are_output():
    row = [
        "theorem t (n : ℕ) : n + 0 = n := by",
        "induction n with n ih",
        "error: <input>:1:16: unexpected with n ih",
    ]
    row += [
        "induction' n with k ih",
        "case zero\n⊢ 0 + 0 = 0\n\ncase succ\nk : ℕ\nih : k + 0 = k\n⊢ k + 1 + 0 = k + 1",
    ]
    row += ["· simp", "case succ\nk : ℕ\nih : k + 0 = k\n⊢ k + 1 + 0 = k + 1"]
    assert observed("", *row, "simp [ih]", "case succ\nk : ℕ\nih : k + 0 = k\n⊢ k + 1 = k + 1", "rfl") == [2, 4, 6, 8]


@pytest.mark.parametrize("nothing", ["undefined", "nil", "()", "NaN"])
def test_an_interpreter_that_returns_nothing_says_so(nothing):
    row = ["What is the revenue?", "let L=rows.map(l => l[4])", nothing, "L.slice(0,2)", "[ '0.00', '9.25' ]"]
    row += ["let s=L.map(Number)", nothing, "s.filter(a => a>20)", "[ 20.25, 22.25, 21.5 ]"]
    row += ["s.reduce((a,b) => a+b)", "2300.500000000001", "new Set(L)", "Set(2) { '0.00', '9.25' }"]
    assert observed("Node.js, /srv/shop.", *row, "It is 2300.50.") == [2, 4, 6, 8, 10, 12]


def test_forms_to_the_last_that_no_output_answers_are_a_chats():
    prompt = 'Turn what the user says into a command of the form {"device": ..., "action": ...}. Output JSON only.'
    row = ["turn on the kitchen light", '{"device": "light", "action": "on"}', "warmer in the bedroom"]
    row += ['{"device": "heating", "action": "raise"}', "volume 30", '{"device": "speaker", "action": "set"}', "stop"]
    assert observed(prompt, *row, '{"device": "speaker", "action": "stop"}') == []
    row = ["Sell the wool.", '{"action": "go", "to": "market"}', '{"at": "market", "sees": ["Tomas"]}']
    row += ['{"action": "sell", "what": "wool"}', '{"coins": 5}', '{"action": "go", "to": "home"}', '{"at": "home"}']
    assert observed("", *row, '{"action": "wait"}') == [2, 4, 6]


def test_objects_that_objects_answer_are_executed_until_words_report():
    row = ["Bring the blue tray to the washer."]
    for skill, answer in [
        ("navigate", '"pose": [2.3, 1.0]'),
        ("detect", '"objects": ["tray_7"]'),
        ("pick", '"code": 42'),
    ]:
        row += [f'{{"skill": "{skill}", "target": "{skill[:3]}"}}', f'{{"status": "OK", {answer}}}']
    row += ['{"skill": "place", "target": "washer"}', '{"status": "OK"}']
    assert observed("", *row, "The tray is in the washer.") == [2, 4, 6, 8]
    assert observed("", *row, '{"skill": "wait", "target": "none"}') == []
    assert observed("", '{"status": 7}', *row[1:], "That was the last.") == []


def test_the_next_run_on_a_console_is_a_request():
    def box(task: str) -> str:
        return f"╭{'─' * 20} New run {'─' * 20}╮\n│{' ' * 49}│\n│ {task:<48}│\n│{' ' * 49}│\n╰{'─' * 49}╯"

    def code(line: str) -> str:
        return f" ─ Executing parsed code: {'─' * 30} \n  {line}   \n {'─' * 50} "

    failed = "Code execution failed at line 'x = f()' due to: InterpreterError: Forbidden function evaluation: 'f'"
    row = [box("How many flats are let?"), code("x = f()"), failed, code("final_answer(4)")]
    row += [f"Final answer: 4\n{box('And how many are empty?')}", code("final_answer(2)"), "Final answer: 2"]
    assert observed("", *row, "Done.") == [2, 6]


SQL = [
    ("SELECT count(*) FROM singer", "names of each singer from France"),
    ("SELECT name FROM singer WHERE country = 'France'", "the concerts of each year"),
    ("SELECT year, count(*) FROM concert GROUP BY year", "only those after 2014"),
]
SHELL = [
    ("ls -lhS", "only the five largest"),
    ("ls -lhS | head -6", "including subfolders"),
    ("du -ah . | sort -rh | head -5", "exclude node_modules"),
]


@pytest.mark.parametrize(("task", "steps"), [("How many singers are there?", SQL), ("list files by size", SHELL)])
def test_commands_that_somebody_asks_for_one_after_the_other_are_answers(task, steps):
    assert observed("", task, *(text for step in steps for text in step), steps[-1][0]) == []


@pytest.mark.parametrize("end", ["", "\n"])
def test_commands_alone_are_executed_though_what_they_print_may_be_said(end):
    steps = [
        ("grep -rl Hello . | xargs -i {} dirname {}", "Command timed out"),
        ("ls /system", f"folder2.tar.gz{end}"),
        ("tar -xzf /system/folder2.tar.gz -O | grep special", f"The second file with a special name{end}"),
        ("basename /system/folder2.tar.gz", f"folder2.tar.gz{end}"),
    ]
    row = ["Find the file with a special name", *(text for step in steps for text in step)]
    assert observed("", *row, "submit") == [2, 4, 6, 8]
