"""Observations by what is around them: words and labels that a row's turns open or end with."""

from __future__ import annotations

import pytest
from observing import LISTING, observed

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.transcript.observations import said_beside


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


def test_where_actions_are_short_lines_others_that_begin_so_act_too():
    system = "You fly a drone. Orders: ascend N, heading DEG, photo, land."
    row = ["Photograph field 7.", "ascend 20", "alt 20.1 m, hdg 090", "heading 0", "alt 20.0 m, hdg 000"]
    row += ["photo", "stored IMG_0012, horizon straight", "land", "motors off", "I have the photo.", "thank you"]
    assert observed(system, *row) == [2, 4, 6, 8]


def test_words_to_a_person_between_short_commands_act_not():
    system = "You are a tutor. Tools: [quiz topic], [grade answer]. Lines without brackets are spoken."
    row = ["can we do fractions", "[quiz fractions]", '{"id": 31, "answer": "11/12"}', "3/4 + 1/6 = ?", "10/12"]
    row += ["[grade 10/12]", '{"id": 31, "correct": false}', "Nearly: 9/12 + 2/12", "11/12!", "[grade 11/12]"]
    assert observed(system, *row, '{"id": 31, "correct": true}', "Right!") == [2, 6, 10]


def test_a_state_behind_an_action_that_ends_is_one_as_those_before():
    system = "Send a line: FAHRE <rpm>, MISS <kanal>, STOP."
    row = ["Vibration bei 3000 rpm?", "FAHRE 3000", "rpm=2998 ok", "MISS vib1", "vib1=1.24 mm/s", "FAHRE 4500"]
    row += ["rpm=4497 ok", "STOP", "rpm=0 ok", "1,24 mm/s", "danke, und bei 4000?", "STOP", "und jetzt?"]
    assert observed(system, *row) == [2, 4, 6, 8]


def test_replies_that_the_prompt_foretells_are_output():
    system = 'You drive a CAD program by macro lines. It answers "done" or says why not.'
    row = ["Draw a plate.", "rect 0,0 100,60", "done", "circle 50,30 r=5", "done", "extrude all 5", "done"]
    assert observed(system, *row, "The plate is drawn.") == [2, 4, 6]
    assert observed("You drive a CAD program.", *row, "The plate is drawn.") == []


def in_a_shell(*before):
    """Return a row of commands whose output has a header."""
    row = [*before]
    for command, output in [("ls", LISTING), ("pytest", "1 failed"), ("cat a.py", "1:a"), ("git diff", "-a")]:
        row += [f"My next step is this:\n<bash>{command}</bash>", f"[Shell 3]\n{output}"]
    return row


def test_a_header_in_brackets_is_a_form_as_a_label_is():
    row = in_a_shell("Repair a.py.")
    row += ["It was a key. I look at it once more.", "[Shell 3]\nYou have new mail, please read it"]
    assert observed("", *row, "Done.", "thanks, and the docs as well") == [2, 4, 6, 8, 10]


def test_the_first_turn_in_the_form_of_a_rows_observations_is_one_where_somebody_acted():
    said = "[Shell 3]\nYou have new mail, please read it"
    assert observed("", *in_a_shell("Repair a.py.", "My next step is this:\nLook around.", said)) == [2, 4, 6, 8, 10]
    assert observed("", *in_a_shell("You have a shell.", "Understood.", said)) == [4, 6, 8, 10]


def test_a_command_whose_label_the_agent_forgot_is_what_its_observation_answers():
    rules = (
        "You look after a house. Select exactly one next action.\n"
        "Return exactly one line in this format: Action: <command>.\n\nRules:\n1. Keep to the task.\n"
        "2. After taking what is asked for, go where it belongs.\n\nTask: put the cup on the shelf\n\n"
    )
    seen = [
        "You are in the yard.\n\nValid actions:\n- go to hall\n- go to kitchen",
        "You are in the kitchen. On the table, you see a cup 1, and a pan 2.\n\nValid actions:\n- take cup 1",
        "You hold the cup 1. On the table, you see a pan 2.\n\nValid actions:\n- examine cup 1\n- take pan 2",
        "There is nothing special about it. You see a shelf 3.\n\nValid actions:\n- put cup 1 on shelf 3",
        "The cup 1 is on the shelf 3.\n\nValid actions:\n- go to yard",
    ]
    done = [
        "Action: go to kitchen",
        "Action: take cup 1",
        "examine cup 1",
        "Action: put cup 1 on shelf 3",
        "Action: look",
    ]
    messages = []
    for number, (shown, said) in enumerate(zip(seen, done, strict=True)):
        past = "\n".join(done[:number])
        asked = f"{rules}History:\n{past}\n\nCurrent observation:\n{shown}\n\nAction:"
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]
    turns = read_trajectory({"messages": messages}, "r", FormatOptions()).turns
    assert [bool(turn.answers) for turn in turns[2::2]] == [True] * 4
    assert "examine cup 1" in turns[5].calls[0].arguments


def test_an_observation_that_a_record_has_twice_is_one_both_times():
    row = [
        ("user", "Craft a boat."),
        ("assistant", "Thought: Well?\n\nAction: inventory"),
        ("user", "Nothing."),
    ]
    row += [("user", "Nothing."), ("assistant", "Thought: Wood.\n\nAction: get 4 oak"), ("user", "Got 4 oak")]
    row += [("user", "Got 4 oak"), ("user", "And a paddle, please.")]
    turns = read_trajectory(
        {"messages": [{"role": role, "content": text} for role, text in row]}, "r", FormatOptions()
    )
    assert [index for index, turn in enumerate(turns.turns) if turn.answers] == [2, 3, 5, 6]


def test_what_self_ask_finds_is_an_observation_and_its_questions_are_the_actions():
    row = ["Where was the champion of 2022 born?", "Yes.\nFollow up: Who was champion in 2022?"]
    row += ["Intermediate answer: Mara Quint.", "Follow up: Where was Mara Quint born?"]
    row += [
        "Intermediate answer: In Brest, in 1999.",
        "So the final answer is: Brest",
        "Thanks. And when?",
    ]
    assert observed("", *row) == [2, 4]
