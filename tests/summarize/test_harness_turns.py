"""What a harness says in the place of a person, always in the same words, is no request."""

from __future__ import annotations

import pytest
from summed_up import ask, call, result, say, section

from trajcompress.summarize.extractive import extract
from trajcompress.transcript.observations import is_request

INCORRECT = "\nYour submission was incorrect. Please proceed and attempt to find the correct answer.\n"
REPLY = say("assistant", "The file seems to hold no flag at all, whatever I try with it.")


@pytest.mark.parametrize(
    "text",
    [
        "[Request interrupted by user for tool use]",
        "[Request interrupted by user]",
        "Please proceed to the next step using your best judgement.",
        (
            "\nPlease proceed to the next step using your best judgement. If you believe you\nhave completed "
            "the task, please call the `submit()` tool with your final answer.\n"
        ),
        INCORRECT,
    ],
)
def test_what_a_harness_says_always_in_the_same_words_asks_for_nothing(text):
    turns = (REPLY, say("user", text), *(call(1, "ls", path="."), result(1, "a.txt")))
    assert not is_request(turns[1])
    assert "Requests" not in extract(ask(turns))


@pytest.mark.parametrize(
    "text",
    [
        "Please proceed to the next step using your best judgement. Do not open b.txt.",
        "[Request interrupted by user] no!",
    ],
)
def test_what_a_person_adds_to_such_words_is_a_request(text):
    assert section(extract(ask((REPLY, say("user", text)))), "Requests").strip() == f'- "{text}"'


def test_where_a_transcript_lies_is_no_part_of_the_plan_that_a_person_accepts():
    plan = "Implement the following plan:\n\n1. Write a.py, and no other file."
    tail = (
        "\n\n\nIf you need specific details from before exiting plan mode (like exact code snippets, error messages, "
        "or content you generated), read the full transcript at: /home/u/.claude/projects/p/s.jsonl"
    )
    record = extract(ask((REPLY, say("user", plan + tail))))
    assert "transcript" not in record
    assert "no other file" in section(record, "Requests")


def test_what_is_said_again_after_replies_without_calls_is_told_once():
    nag = say("user", "Go on with the task until all of it is done.")
    record = extract(ask((REPLY, nag, call(1, "ls", path="."), result(1, "a.txt"), REPLY, nag, REPLY, nag)))
    assert section(record, "Requests").count("until all of it is done") == 1


def test_what_the_kept_beginning_of_a_row_says_already_behind_a_reply_is_a_harness():
    asks = "Based on the files above, answer: do we need more context, and where are the bugs?"
    head = (say("user", f"Find the bug.\n{asks}"), say("assistant", "I look."), say("user", asks))
    record = extract(ask((REPLY, say("user", asks), REPLY, say("user", "Only in a.py.")), head=head))
    assert section(record, "Requests").strip() == '- "Only in a.py."'


@pytest.mark.parametrize("budget", [60, 90, 900])
def test_a_short_answer_stands_with_the_question_that_it_answers(budget):
    looked, question = "I have looked at the page of that day. " * 12, "Do you want me to create this folder?"
    reply = say("assistant", f"{looked}{question} (Else I go on.)")
    told = extract(ask((reply, say("user", "yes"), call(1, "ls", path="."), result(1, "a.txt")), budget=budget))
    assert section(told, "Requests").strip() == '- "yes"'
    assert question in section(told, "Replies")
