"""A harness that sends the task again with each result: what is new in a turn is told, and the task stands once."""

from __future__ import annotations

import json

from clearing import FIRST
from compressing import run
from msgspec import structs
from trajectories import read

from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import extract
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.observations import read_observations
from trajcompress.transcript.sent_again import FIRST_TURNS, first_turns
from trajcompress.transcript.trajectory import Trajectory, Turn

RULES = "\n".join(
    f"{n}. Never enter room {n} without the key that the porter of floor {n} keeps." for n in range(1, 12)
)
ROOMS = ("a lamp and two books", "nothing", "a vase with the spare key", "an old map", "three chairs", "a cat")
TARGET = 1_100


def prompt(history: str, seen: str) -> str:
    return f"You walk through a house. Answer with one action.\n{RULES}\nHistory:\n{history}\nNow: {seen}\nAction:"


def walk() -> Trajectory:
    """Each turn of the house has the rules, all that happened so far, and what is seen now."""
    history, seen, messages = "(none)", "You stand in the hall.", []
    for number, room in enumerate(ROOMS, 1):
        messages += [
            {"role": "user", "content": prompt(history, seen)},
            {"role": "assistant", "content": f"Action: go to room {number}"},
        ]
        history = f"{history}\n{seen}\n> go to room {number}".removeprefix("(none)\n")
        seen = f"You are in room {number}. There is {room}."
    messages += [
        {"role": "user", "content": prompt(history, seen)},
        {"role": "assistant", "content": "Action: take the spare key"},
    ]
    trajectory = read(messages)
    return structs.replace(trajectory, turns=read_observations(trajectory.turns))


def test_lines_tell_what_is_new_and_kept_turns_have_all_but_the_rules(counter: TokenCounter):
    trajectory = walk()
    assert sum(turn.answers != () for turn in trajectory.turns) == len(ROOMS)
    turns, _ = run(counter, trajectory, policy=structs.replace(FIRST, target_max_tokens=TARGET))
    assert turns
    first, *others = [turn.text for turn in turns if turn.role == "user"]
    assert first == trajectory.turns[0].text
    for room, text in zip(ROOMS, others, strict=True):
        assert "the porter of floor 3" not in text
        assert f"There is {room}." in text
    assert "[… as in the first turns, " in others[-1]
    assert others[-1].endswith("\nNow: You are in room 6. There is a cat.\nAction:")


def test_a_summary_tells_what_is_new():
    turns = walk().turns
    summary = extract(SummaryRequest("r", turns[:1], turns[1:11], 400, lambda text: len(text) // 4))
    assert "porter" not in summary
    assert all(room in summary for room in ROOMS[:5])


def test_a_few_lines_that_stand_above_too_stay_and_so_does_what_is_no_line_of_them():
    first = first_turns(
        [Turn("user", RULES, {}), Turn("assistant", "So I do.", {}), Turn("user", "later\n" * 90, {})]
    )
    few = "\n".join(["found:", *RULES.split("\n")[:2], "end"])
    assert first.marked_in(few, FIRST_TURNS) == few
    assert first.marked_in("later\n" * 90, FIRST_TURNS) == "later\n" * 90
    turned = "\n".join(RULES.split("\n")[::-1])
    assert first.marked_in(turned, FIRST_TURNS) == turned  # the same lines in another order say something else
    assert first.marked_in(f"Now:\n{RULES}\n\nend", FIRST_TURNS).startswith("Now:\n[… as in the first turns, ")
    assert first.marked_in("\u2003 " * 400, FIRST_TURNS) == "\u2003 " * 400
    other = RULES.replace("Never", "Always")
    assert first.marked_in(other, FIRST_TURNS) == other


def test_json_stays_as_it_is(counter: TokenCounter):
    data = json.dumps({f"key{n}": "value" for n in range(200)}, indent=1)
    messages = [
        {"role": "user", "content": f"Change this:\n{data}"},
        {"role": "assistant", "content": "", "tool_calls": [_call("show")]},
        {"role": "tool", "tool_call_id": "show", "content": data},
        {"role": "assistant", "content": "It is as you say."},
    ]
    turns = run(counter, read(messages), policy=structs.replace(FIRST, target_max_tokens=2_000))[0]
    assert turns is None or "first turns" not in turns[2].text


def _call(name: str) -> dict[str, object]:
    return {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}
