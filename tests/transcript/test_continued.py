"""Observations by what is around them: a form that a row keeps to, the prompt of one program, words of a prompt."""

from __future__ import annotations

import pytest

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.transcript.observations import said_beside


def observed(system, *turns):
    """Return which of the turns behind a system turn are observations, counted from 0."""
    messages = [{"role": "system", "content": system}] if system else []
    for number, text in enumerate(turns):
        messages.append({"role": "assistant" if number % 2 else "user", "content": text})
    read = read_trajectory({"messages": messages}, "row", FormatOptions()).turns
    return [index for index, turn in enumerate(read[1:] if system else read) if turn.answers]


LISTING = "total 8\n-rw-r--r-- 1 root root 20 Mar  1 10:00 a.py"


def test_a_turn_that_opens_as_the_actions_around_it_acts():
    row = ["Repair a.py."]
    for command, output in [("ls", LISTING), ("python3 a.py", "KeyError: 'a'"), ("cat a.py", "1:a = {}['a']")]:
        row += [f"Next I do this. <bash>{command}</bash>", output]
    row += ["Next I do this: flake8 over all of it.", "a.py is clean", "Done, it was a key.", "the docs as well"]
    assert observed("", *row) == [2, 4, 6, 8]


def test_commands_behind_the_same_words_need_no_form():
    row = ["Repair a.py, you have a shell.", "Next command: ls -la", LISTING, "Next command: python3 -m a"]
    row += [
        "Traceback (most recent call last):\nKeyError: 'a'",
        "Next command: grep -n a a.py",
        "1:a = {}['a'] # of a.py",
    ]
    row += ["Next command: git log --oneline", "1d5bfe9 notes of a command", "Next command: flake8 a.py"]
    assert observed("", *row, "flake8: a.py is clean as it is", "Done, it was a key.", "thanks, and the docs") == [
        2,
        4,
        6,
        8,
        10,
    ]


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


def test_what_is_thought_in_tags_is_said_to_nobody():
    row = ["Find the errors in app.log."]
    for command, output in [("wc -l app.log", "60 app.log"), ("grep -c ERROR app.log", "9"), ("ls -la", LISTING)]:
        row += [f"<think>\nCould you be full? What is your size?\n</think>\n\n{command}", output]
    assert observed("What you write is run.", *row, "Nine errors.") == [2, 4, 6]


@pytest.mark.parametrize("lead", ["Running:", "Executing on the host", "Ejecución:"])
def test_the_same_words_before_each_block_of_code_are_no_advice(lead):
    row = ["Repair a.py."]
    for command, output in [
        ("ls -la", LISTING),
        ("cat a.py", "1:a = {}['a']"),
        ("git diff", "diff --git a/a.py b/a.py"),
    ]:
        row += [f"{lead}\n```\n{command}\n```", output]
    assert observed("", *row, "Repaired.") == [2, 4, 6]


@pytest.mark.parametrize("lead", ["Run this:", "Try:", "And then:\nexecute", "Can you run"])
def test_the_same_words_may_tell_a_person_to_run_it(lead):
    row = ["a.py fails"]
    for command, output in [
        ("ls -la", LISTING),
        ("cat a.py", "1:a = {}['a']"),
        ("git diff", "diff --git a/a.py b/a.py"),
    ]:
        row += [f"{lead}\n```\n{command}\n```", output]
    assert observed("", *row, "Fine.") == []


def test_a_command_of_no_form_acts_where_all_turns_are_commands():
    row = [
        "What is the dearest tin?",
        ".tables",
        "sales items",
        ".schema sales",
        "CREATE TABLE sales (day TEXT, eur TEXT);",
    ]
    row += [
        "select count(*) from sales;",
        "60",
        "select max(eur) from sales;",
        "22.0",
        "select * from s;",
        "Error: s",
    ]
    assert observed("What you write is run by sqlite3.", *row, ".quit", "", "22", "thanks, and the cups") == [
        2,
        4,
        6,
        8,
        10,
        12,
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


@pytest.mark.parametrize(
    "sent", ["To {}: write it.", '{{"plan": "1", "send_to": "{}", "message": "write it"}}', "@{}, write it"]
)
def test_who_a_turn_is_sent_to_answers_under_their_name(sent):
    row = ["Write a parser, with tests.", sent.format("Coder"), "Coder: done, what next?", sent.format("Tester")]
    row += ["Tester: I think two of them fail.", sent.format("User"), "User: and the docs?", "They are written."]
    assert observed("", *row) == [2, 4]


def test_a_form_that_a_person_fills_in_was_sent_to_nobody():
    row = ["The line is dead.", "Please tell me\nNumber: …\nModel: …", "Number: 7\nModel: FX", "And the light: …?"]
    assert observed("", *row, "Light: red", "Please wait.", "Number: 8, sorry") == []


def test_a_function_that_is_called_answers_under_its_name():
    row = [
        "How many?",
        "Step 1: list_dir('/src')",
        "list_dir -> ['a.py', 'c']",
        "Step 2: count('/src/a.py')",
        "count -> 2",
    ]
    assert observed(
        "", *row, "Step 3: count('/c', 'it')", "count -> I found no such file", "Two.", "count them again"
    ) == [2, 4, 6]


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


def test_a_voice_in_brackets_behind_output_is_a_persons():
    text = "1.0M\t/tmp/a.log\n80M\t/tmp/keep.db\n\n(Ana: please leave keep.db alone, I need it)"
    messages = [
        {"role": "user", "content": "Clean up."},
        {"role": "assistant", "content": "<bash>du -sh /tmp/*</bash>"},
    ]
    messages.append({"role": "user", "content": text})
    turn = read_trajectory({"messages": messages}, "row", FormatOptions()).turns[-1]
    assert turn.answers
    assert said_beside(turn) == "(Ana: please leave keep.db alone, I need it)"


LEDGER = [
    ("Al registro: apri una scrittura per la fattura 112.", "Scrittura 487 aperta per la fattura 112."),
    ("Al registro: aggiungi in dare Cancelleria 220.", "Riga 1 dare Cancelleria 220, bozza."),
    ("Al registro: conferma la scrittura 487.", "Scrittura 487 confermata, quadratura OK."),
]


def test_words_to_a_machine_begin_alike_and_are_taken_up():
    row = ["Registra la fattura 112.", *(text for step in LEDGER for text in step)]
    assert observed("", *row, "Fattura registrata.") == [2, 4, 6]
    assert observed("", *row, "Al registro: saldo del conto.") == []


RUNS = [("nothing yet", "2024-05-02 7.2 km 0:41:10 flat"), ("7.2 km flat", "2024-05-04 3.0 km 0:16:02 hills")]
RUNS += [("3.0 km hills", "2024-05-07 10.1 km 0:58:44 flat"), ("10.1 km flat", "2024-05-09 4 km 0:20:01 flat")]
LINES = [("waiting", "2024-05-01 03:13 ERROR worker-0 timeout"), ("network", "2024-05-01 03:14 INFO handled in 20ms")]
LINES += [("normal", "2024-05-01 03:15 ERROR disk /dev/sda1 full"), ("disk", "2024-05-01 03:16 INFO handled in 9ms")]


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        ("I tell you my runs, keep them in the diary.", RUNS),
        ("I paste lines of my server's log now.", LINES),
    ],
)
def test_what_is_kept_or_labelled_begins_alike_too(task, steps):
    row = [task, *(text for said, given in steps for text in (f"Recorded in diary: {said}", given))]
    assert observed("", *row, "That makes four of them.") == []


def test_who_asks_how_it_is_done_does_it():
    row = ["how do i free space on my server", "Checking the disk first: df -h", "/dev/sda1 50G 49G 1G 98% / disk"]
    row += [
        "Checking the largest folders: du -xsh /var/*",
        "38G /var/log folders",
        "Checking the logs: ls -lS /var/log",
    ]
    assert observed("", *row, "-rw-r--r-- 1 root root 40G debug.log logs", "It is debug.log.") == []


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


def test_who_the_row_names_and_who_prints_is_no_person():
    row = [("Make a table.", "Boss"), ("Here:\n```python\nprint(1, 1)\n```", None), ("1 1", "Runner")]
    row += [("With a head:\n```python\nprint(sq)\n```", None), ("NameError: name 'sq' is not defined", "Runner")]
    row += [
        ("Fixed.\n```python\nprint('n sq')\n```", None),
        ("n sq", "Runner"),
        ("Done.", None),
        ("Without it", "Boss"),
    ]
    messages = [{"role": "assistant" if i % 2 else "user", "content": text} for i, (text, _) in enumerate(row)]
    named = [message | ({"name": name} if name else {}) for message, (_, name) in zip(messages, row, strict=True)]
    for given, found in [(messages, []), (named, [2, 4, 6])]:
        turns = read_trajectory({"messages": given}, "row", FormatOptions()).turns
        assert [i for i, turn in enumerate(turns) if turn.answers] == found


def test_who_is_called_by_name_answers_where_it_is_taken_up():
    row = ["Fetch everything on Fastnet.", "Robot, look up Fastnet.", "2 titles on Fastnet: 627.9 SCO, 627.92 LIG"]
    row += [
        "Robot, bring 627.9 SCO.",
        "627.9 SCO: brought, tray 1",
        "Robot, reserve 627.92 LIG.",
        "627.92 LIG: reserved",
    ]
    assert observed("", *row, "One is here, the other is reserved.") == [2, 4, 6]


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


def test_messages_of_a_compiler_may_be_shown():
    row = ["theorem t : 1 + 1 = 2 := by sorry"]
    for step, message in [
        ("omega!", "error: unknown tactic"),
        ("rfl'", "error: unknown tactic"),
        ("rfl", "no errors"),
    ]:
        row += [f"Now this.\n```lean4\ntheorem t : 1 + 1 = 2 := by {step}\n```", message]
    assert observed("Write the file. The compiler checks it and its messages are shown to you.", *row) == [2, 4, 6]
