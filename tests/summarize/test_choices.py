"""What a person takes of what was offered is told with the option, as "2" says nothing alone."""

from __future__ import annotations

import pytest
from summed_up import ask, say

from trajcompress.facts import Told
from trajcompress.summarize.extractive import extract
from trajcompress.summarize.extractive.choices import options_of, taken_of
from trajcompress.summarize.extractive.fit import Record, fit

OFFERED = """There are two errors left. Would you like me to:

1. Write a version of the resource without them?
2. **Make the unit and the role** that are missing?
3. Leave it as it is?"""


@pytest.mark.parametrize(
    ("answer", "taken"),
    [
        ("2", ["2. Make the unit and the role** that are missing?"]),
        ("2.", ["2. Make the unit and the role** that are missing?"]),
        ("option 3, please", ["3. Leave it as it is?"]),
        ("1 and 3", ["1. Write a version of the resource without them?", "3. Leave it as it is?"]),
        ("I'll go with the first option", ["1. Write a version of the resource without them?"]),
        ("the last one sounds right", ["3. Leave it as it is?"]),
        ("Please take option 2 then", ["2. Make the unit and the role** that are missing?"]),
        ("yes", []),
        ("7", []),
        ("2 weeks ago it still worked", []),
        ("How long would it take?", []),
    ],
)
def test_the_option_that_an_answer_takes_is_found(answer, taken):
    assert taken_of(options_of(OFFERED), answer) == taken


def test_options_by_letters_are_those_of_the_last_list():
    reply = "1. Stop it.\n2. Start it.\n\nOr:\nA) wait for the night\nB) ask Ilse first"
    assert taken_of(options_of(reply), "B") == ["B. ask Ilse first"]
    assert options_of("1. One thing alone.") == {}


def test_a_number_that_is_asked_for_is_no_option():
    reply = "1. Flight at nine, 88 euros\n2. Flight at ten, 73 euros\n\nHow many passengers are there?"
    assert taken_of(options_of(reply), "2") == []


def summary(reply, answer, budget=300):
    turns = [say("user", "Look at the log.")]
    turns += [
        say("assistant", f"I have looked at part {n} of it, {'and so on, ' * 30}and it is fine.") for n in range(4)
    ]
    turns += [say("assistant", reply), say("user", answer), say("assistant", "It is done, as you wished.")]
    return extract(ask(tuple(turns), budget=budget))


def test_a_summary_tells_which_option_was_taken():
    told = summary("I looked for all of it, and for more. " * 12 + OFFERED, "2")
    assert "2. Make the unit and the role** that are missing?" in told
    assert "3. Leave it as it is?" not in told.partition("2. Make")[2].partition("Requests")[0]


def test_a_number_that_is_said_twice_is_told_twice():
    turns = [
        say("user", "Look at the log."),
        say("assistant", OFFERED),
        say("user", "1"),
        say("assistant", OFFERED),
    ]
    turns += [say("user", "1"), say("assistant", "It is done, as you wished.")]
    assert extract(ask(tuple(turns), budget=400)).count('- "1"') == 2


def test_of_a_list_that_is_offered_the_first_lines_stand_before_what_is_asked():
    legs = "\n".join(
        f"   - Leg {n}: HAT{n}29, from gate {n}, and from {n} to {n} seats in each of its cabins"
        for n in range(1, 12)
    )
    offer = (
        f"The fastest trip back is:\n\n- **Flight Option 2:**\n{legs}\n\nWould you like to proceed with this option?"
    )
    told = summary(offer, "Yes, let's go with this option.", budget=160)
    assert '"The fastest trip back is: Flight Option 2: Leg 1: HAT129, from gate 1' in told
    assert 'Would you like to proceed with this option?"' in told


def test_a_value_that_a_line_tells_with_another_has_no_line_of_its_own():
    words_of = {
        "gift_card_62766": "payment_id = gift_card_62766",
        "113.50": "id = gift_card_62766, amount = 113.50",
        "certificate_8544": "id = certificate_8544",
    }
    told = fit(Record((), {fact: Told(words) for fact, words in words_of.items()}), 200, len)
    assert "payment_id" not in told
    assert told.endswith("- id = gift_card_62766, amount = 113.50\n- id = certificate_8544")
