"""What a person says inside a tool's result is theirs: it is quoted as a request, and never cut with the result."""

from __future__ import annotations

import json
import time

import pytest
from summed_up import ask, call, section
from trajectories import openai, read

from trajcompress.compaction.text import ResultLines, prune, prune_steps
from trajcompress.summarize.extractive import extract
from trajcompress.transcript.observations import is_request, request_text, said_beside
from trajcompress.transcript.trajectory import Region, Turn

SAID = "The other branch was merged today, so rename it on main instead.\nKeep the tag."
PLAIN = " ".join(SAID.split())
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)
NOTE = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
EDITOR = "\n<environment_details>\n" + "# VSCode Open Tabs\nsrc/a.py,src/b.py\n" * 60 + "</environment_details>"
DENIED = f"The user denied this operation and provided the following feedback:\n<feedback>\n{SAID}\n</feedback>"


def told(status):
    message = f"The user {status} this operation and provided the following context"
    return json.dumps({"status": status, "message": message, "feedback": SAID})


TAGGED = f"<feedback>\n{SAID}\n</feedback>"


def after(text, name="edit_file"):
    return (
        call(1, name, path="a.py"),
        Turn("tool", text, {"role": "tool", "content": text}, answers=("c1",), name=name),
    )


@pytest.mark.parametrize(
    ("text", "came"),
    [
        (REJECTED + SAID, "rejected by the user"),
        (REJECTED + SAID + NOTE, "rejected by the user"),
        (DENIED, "denied by the user"),
        (told("denied"), "denied by the user"),
        (
            f"[attempt_completion] Result:\nThe user has provided feedback on the results.\n{TAGGED}",
            "feedback of the user",
        ),
        (told("approved"), "approved by the user"),
        (f"{told('approved')}\n\nThe file a.py was saved.", "The file a.py was saved."),
    ],
)
def test_who_decides_on_a_call_asks_for_what_they_say_with_it(text, came):
    record = extract(ask(after(text)))
    assert section(record, "Requests").strip() == f'- "{PLAIN}"'
    assert section(record, "Steps").strip().endswith(f"→ {came}")


def test_a_call_that_is_rejected_without_a_word_asks_for_nothing():
    text = REJECTED.partition(" To tell you")[0] + " STOP what you are doing and wait for the user." + NOTE
    record = extract(ask(after(text)))
    assert "Requests" not in record
    assert section(record, "Steps").strip().endswith("→ rejected by the user")


def test_an_answer_to_a_question_is_a_request_of_whoever_answers():
    turns = after(f"<answer>\n{SAID}\n</answer>", "ask_followup_question")
    assert request_text(turns[1]) == SAID
    assert not is_request(after(f"<answer>\n{SAID}\n</answer>", "read_file")[1])


ANSWERS = '"Which store?"="Postgres, as in staging", "Keep the old API?"="Yes (notes: until May)"'
GO_ON = ". You can now continue with the user's answers in mind."


@pytest.mark.parametrize("note", ["", "\n\n<system-reminder>\nThe task list is empty.\n</system-reminder>"])
@pytest.mark.parametrize("name", ["AskUserQuestion", "question"])
def test_answers_to_several_questions_are_requests_each_behind_its_question(name, note):
    turns = after(f"User has answered your questions: {ANSWERS}{GO_ON}{note}", name)
    assert request_text(turns[1]) == ANSWERS
    record = extract(ask(turns))
    assert section(record, "Requests").strip() == f'- "{ANSWERS}"'
    assert section(record, "Steps").strip().endswith("→ answered by the user")
    assert "failed" not in record


def test_where_nobody_answered_nobody_asks_for_anything():
    turns = after(f"User has answered your questions: {GO_ON}", "AskUserQuestion")
    assert not is_request(turns[1])
    assert "by the user" not in extract(ask(turns))


@pytest.mark.parametrize(
    "text",
    [
        f"User has answered your questions: {ANSWERS}{GO_ON}\nThat is what the harness writes.",
        f"1\tUser has answered your questions: {ANSWERS}{GO_ON}",
        f"User has answered your questions: {ANSWERS}",
        f"# Prompts of the harness\n\n{REJECTED}{SAID}",
        f"def deny():\n    return '''\n{DENIED}\n'''",
        f"1\t{DENIED}",
        f"<user_message>\n{SAID}\n</user_message>\nand so on",
        f"The user reported this:\n<feedback>\n{SAID}\n</feedback>",
        json.dumps({"status": "denied", "message": "The user has no access", "feedback": SAID}),
        json.dumps({"tests": [json.loads(told("denied"))]}),
        f"Command executed.\n{DENIED}\n$ ls",
    ],
)
def test_a_file_that_quotes_what_a_harness_says_asks_for_nothing(text):
    turns = after(text)
    assert not is_request(turns[1])
    assert "Requests" not in extract(ask(turns))


def cline(*results):
    asked = {"role": "user", "content": "<task>\nRename the tag.\n</task>"}
    act = {"role": "assistant", "content": "I write it.\n\n<write_file>\n<path>a.py</path>\n</write_file>"}
    messages = [asked]
    for text in results:
        messages += [act, {"role": "user", "content": text + EDITOR}]
    return read([*messages, act]).turns


@pytest.mark.parametrize(
    "text",
    [
        f"[write_file for 'a.py'] Result:\n{DENIED}\n[write_file] Result:\nNothing was written.",
        f"[ask_followup_question for 'Which?'] Result:\n<answer>\n{SAID}\n</answer>",
        (
            "[execute_command for 'npm run dev'] Result:\nCommand is still running in the user's terminal.\nListening"
            f"\n\nThe user provided the following feedback:\n<feedback>\n{SAID}\n</feedback>"
        ),
    ],
)
def test_what_an_editor_shows_behind_them_hides_no_words_of_a_person(text):
    turns = cline("[write_file for 'b.py'] Result:\nSaved.", text)
    assert request_text(turns[4]) == SAID
    short = prune(turns, prune_steps(ResultLines(turns, Region(0, len(turns))))).turns[4]
    assert f"\n{SAID}\n" in short.text
    assert request_text(short) == SAID


def test_the_words_of_a_person_stay_where_all_else_of_a_result_goes():
    log = "\n".join(f"row {n} {n * 7919 % 1000}" for n in range(90))
    text = f"{DENIED}\n\n{log}"
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        ]},
        {"role": "tool", "tool_call_id": "c", "content": text},
        {"role": "assistant", "content": "Well."},
    ]  # fmt: skip
    turns = read(messages).turns
    short = prune(turns, prune_steps(ResultLines(turns, Region(0, 4)))).turns[2]
    assert DENIED in short.text
    assert "row 40 " not in short.text


@pytest.mark.parametrize(
    "part", ["The user denied ", "<user_message>", "The user x\n<feedback>", '{"status":"denied"']
)
def test_hostile_results_are_read_in_a_moment(part):
    text = f"[Tool]\n{part * 40_000}"
    start = time.process_time()
    assert not is_request(after(text)[1])
    assert time.process_time() - start < 1


def test_what_a_person_types_in_the_history_of_aider_is_what_they_say():
    report = "> Tokens: 7,919 sent, 413 received.  \n> Applied edit to app.css"
    edit = "app.css\n```css\n<<<<<<< SEARCH\na {}\n=======\na { color: red; }\n>>>>>>> REPLACE\n```"
    typed = "\n\n#### /drop\n\n> Dropping all files from the chat session.\n\n#### now the header, please"
    turns = [("assistant", edit), ("user", report), ("assistant", edit), ("user", report + typed)]
    row = openai(("user", "Make the links red."), *turns, ("assistant", edit))
    assert [index for index, turn in enumerate(row.turns) if turn.answers] == [2, 4]
    assert [said_beside(turn) for turn in row.turns if turn.answers] == ["", "/drop\nnow the header, please"]
    record = extract(ask(row.turns[1:]))
    assert section(record, "Requests").strip() == '- "/drop now the header, please"'
    assert "→ Applied edit to app.css\n" in section(record, "Steps")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("admin (to chat_manager):\n\nSend it today.\n\n" + 80 * "-" + "\n", "Send it today."),
        ("----------------22-------------- \nadmin (to writer):\n\nSend it today.", "Send it today."),
        ("\n\n>>>>>>>> NO HUMAN INPUT RECEIVED.\n\n", ""),
    ],
)
def test_a_console_that_asks_for_words_of_a_person_is_none_of_these(typed, said):
    for asked in ("Provide feedback to writer. Press enter to skip", "Please give feedback to writer. Press enter"):
        text = f"{asked} or type 'exit' to end the conversation: {typed}"
        assert request_text(Turn("user", text, {})) == said


def test_a_question_of_cline_that_was_answered_has_come_to_an_answer():
    asked = "<ask_followup_question>\n<question>Go on?</question>\n</ask_followup_question>"
    answered = "[ask_followup_question for 'Go on?'] Result:\n<answer>\nYes, but slowly\n</answer>"
    row = openai(("user", "Mend it."), ("assistant", asked), ("user", answered), ("assistant", "So I do."))
    record = extract(ask(row.turns[1:]))
    assert "→ answered by the user" in section(record, "Steps")
    assert '"Yes, but slowly"' in section(record, "Requests")
