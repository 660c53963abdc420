"""Rows that name who speaks: a summary stands under nobody's name if there is another place, and says who asked."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from compressing import POLICY, compact, run
from msgspec.structs import replace
from shared import load_cached
from trajectories import openai, read, users_in_a_row

from trajcompress.compaction.assemble import assemble
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import Protection, lay_out
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.summary_marks import SUMMARY_END, SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Region, Trajectory, Turn

SUMMARY = f'{SUMMARY_PREFIX}\nRequests:\n- Bob: "Mend the build."'
BLOCK = f"{SUMMARY}\n{SUMMARY_END}"
PEOPLE = ("Alice", "Bob", "Carol")
TIGHT = replace(POLICY, target_max_tokens=700, summary_size=150)


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return TokenCounter(load_cached("chatml"))


def named(name: str, text: str) -> dict[str, Any]:
    return {"role": "user", "name": name, "content": text}


def says(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def team(turns: int = 14) -> list[dict[str, Any]]:
    """People who ask in turns, each answered at once."""
    messages: list[dict[str, Any]] = []
    for number in range(turns):
        who = PEOPLE[number % 3]
        messages.append(named(who, f"Please look after ticket {700 + number} of the {who.lower()} board."))
        messages.append(says(f"Ticket {700 + number} is done. " + f"It took {number} steps in all. " * 8))
    return messages


def agents(rounds: int = 8) -> list[dict[str, Any]]:
    """A chat of agents as one of them sees it: the others are users, side by side."""
    messages = [named("Admin", "Write the export. Never drop an order.")]
    for number in range(rounds):
        messages += [
            named("Planner", f"Plan {number}: read the orders of week {number}, then write them."),
            says(f"Week {number} is written. " + f"It has {number} orders in all. " * 8, name="Coder"),
            named("Critic", f"Week {number} looks good to me, but mind the header."),
        ]
        messages += [named("Admin", f"Leave invoice {4000 + number} as it is.")] * (number % 3 == 1)
        messages.append(says(f"The header of week {number} is mended, and all of it was run again.", name="Coder"))
    return messages


def in_sharegpt(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    roles = {"user": "human", "assistant": "gpt"}
    names = ({"name": each["name"]} if "name" in each else {} for each in messages)
    return [
        {"from": roles[each["role"]], "value": each["content"], **name}
        for each, name in zip(messages, names, strict=True)
    ]


def with_summary(turns: tuple[Turn, ...] | None) -> Turn:
    found = [turn for turn in turns or () if SUMMARY_PREFIX in turn.text]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("messages", [team(), in_sharegpt(team()), agents(), in_sharegpt(agents())])
def test_a_summary_stands_in_a_turn_of_nobody(counter: TokenCounter, messages: list[dict[str, Any]]):
    trajectory = read(messages)
    turns, metrics = run(counter, trajectory, policy=TIGHT)
    summary = with_summary(turns)
    assert summary.raw.get("name") is None
    assert summary.text.startswith(SUMMARY_PREFIX)
    assert SUMMARY_END not in summary.text
    assert metrics.placement == "human"
    assert bool(users_in_a_row(turns)) <= bool(users_in_a_row(trajectory.turns))


def test_requests_say_who_made_them_where_several_speak(counter: TokenCounter):
    turns, _ = run(counter, read(team()), policy=TIGHT)
    left_out, *requests = with_summary(turns).text.split("Requests:\n")[1].splitlines()
    assert left_out.startswith("- … ")
    assert requests
    for line in requests:
        who = line.removeprefix("- ").partition(":")[0]
        assert line.endswith(f'"Please look after ticket {line.split()[6]} of the {who.lower()} board."')


def test_what_the_agents_of_a_chat_say_is_no_request(counter: TokenCounter):
    turns, _ = run(counter, read(agents()), policy=TIGHT)
    summary = with_summary(turns).text
    requests = summary.split("Requests:\n")[1].partition("Replies:")[0]
    assert '- Admin: "Leave invoice 4001 as it is."' in requests
    assert "Planner" not in requests
    assert "Critic" not in requests


def test_one_person_alone_is_not_named_line_for_line(counter: TokenCounter):
    turns, _ = run(
        counter, read([each | ({"name": "Alice"} if "name" in each else {}) for each in team()]), policy=TIGHT
    )
    assert '- "Please look after ticket ' in with_summary(turns).text


def test_between_people_of_whom_none_may_stand_beside_another_it_goes_where_its_end_is_said():
    people = read([named("Alice", "one"), says("1"), named("Bob", "two"), says("2")])
    made = assemble(people, Region(1, 2), SUMMARY, POLICY)
    assert (made.placed, made.turns[1].text) == ("fold", f"{BLOCK}\n\ntwo")
    beside = read([named("Alice", "one"), says("1"), named("Bob", "two"), named("Carol", "three"), says("2")])
    made = assemble(beside, Region(1, 2), SUMMARY, POLICY)
    assert [turn.name for turn in made.turns] == ["Alice", None, "Bob", "Carol", None]


def test_it_is_folded_into_a_turn_without_a_name_where_one_is_beside_it():
    messages = [{"role": "user", "content": "task"}, says("1"), named("Bob", "two"), says("2")]
    made = assemble(read(messages), Region(1, 2), SUMMARY, POLICY)
    assert [turn.text for turn in made.turns] == [f"task\n\n{BLOCK}", "two", "2"]
    other = openai(("user", "task"), ("assistant", "1"), ("user", "two"), ("assistant", "2"))
    assert assemble(other, Region(1, 2), SUMMARY, POLICY).turns[1].text == f"{BLOCK}\n\ntwo"


@pytest.mark.parametrize("target", ["template", "llama-factory", "mistral", "openai"])
def test_a_region_ends_behind_whoever_has_a_name_where_turns_alternate(target):
    turns = read(team()).turns
    layout = lay_out(turns, Protection(last_n_turns=4), target=target, may_fold=True)
    assert turns[layout.middle.end].role == "user"  # where all of it has to go, it goes
    ends = [end for end in range(layout.middle.start + 1, layout.middle.end) if layout.cuts[end]]
    assert ends
    assert {turns[end].role for end in ends} == {"assistant"}
    plain = read([{key: each[key] for key in ("role", "content")} for each in team()]).turns
    layout = lay_out(plain, Protection(last_n_turns=4), target=target, may_fold=True)
    assert {plain[end].role for end in range(4, 12) if layout.cuts[end]} == {"assistant", "user"}


def test_where_it_is_to_be_folded_it_is(counter: TokenCounter):
    tighter = replace(TIGHT, target_max_tokens=610, placement="fold")  # all of the middle has to go
    turns, metrics = run(counter, read(team()), policy=tighter)
    assert metrics.placement == "fold"
    assert with_summary(turns).text.startswith(SUMMARY_PREFIX)
    assert f"{SUMMARY_END}\n\nPlease look after" in with_summary(turns).text


def test_a_summary_of_nobody_is_updated_where_it_stands(counter: TokenCounter):
    first, _ = run(counter, read(agents()), policy=TIGHT)
    again = read([turn.raw for turn in first or ()])
    turns, metrics = run(counter, again, policy=replace(TIGHT, target_max_tokens=450, summary_size=100))
    assert with_summary(turns).raw.get("name") is None
    assert metrics.placement == "human"


def test_where_all_of_the_middle_has_to_go_the_marks_say_what_is_not_the_person_s(counter: TokenCounter):
    tight = replace(TIGHT, target_max_tokens=600)
    turns, metrics = run(counter, read(team()), policy=tight)
    assert (metrics.placement, metrics.still_over_limit) == ("fold", False)
    summary, _, said = with_summary(turns).text.partition(f"\n{SUMMARY_END}\n\n")
    assert summary.startswith(SUMMARY_PREFIX)
    assert said == "Please look after ticket 712 of the alice board."


def roles_of_people(trajectory: Trajectory, policy: Policy) -> list[str]:
    made = assemble(trajectory, Region(2, 5), SUMMARY, policy)
    return [turn.own_role for turn in made.turns]


def test_where_roles_are_names_the_summary_has_none_of_them():
    row = {"conversations": [{"from": who, "value": who} for who in ("Alice", "gpt", "Bob", "gpt", "Bob", "gpt")]}
    mapped = {"Alice": "user", "Bob": "user"}
    trajectory = read_trajectory(row, "row:0", FormatOptions(role_map=mapped))
    assert roles_of_people(trajectory, replace(POLICY, mapped_roles=frozenset(mapped))) == [
        "Alice",
        "gpt",
        "user",
        "gpt",
    ]
    one = read_trajectory(
        {"conversations": [each | {"from": each["from"].replace("Bob", "Alice")} for each in row["conversations"]]},
        "row:0",
        FormatOptions(),
    )
    assert roles_of_people(one, POLICY) == ["Alice", "gpt", "Alice", "gpt"]  # it may be no name, but all that is read


def test_in_segments_nobody_s_words_stand_under_another_s_name(counter: TokenCounter):
    policy = replace(TIGHT, mode="segments", target_max_tokens=420, summary_size=80, fit="strict")
    for messages in (team(), agents()):
        done = compact(counter, read(messages), ExtractiveSummarizer(), policy)
        said_by = {each["content"]: each["name"] for each in messages if each["role"] == "user"}
        assert len(done.segments) > 2
        for segment in done.segments:
            for turn in segment.composed.turns:
                for text, name in said_by.items():
                    begins = turn.text.find(text)
                    if (
                        turn.role == "user"
                        and begins >= 0
                        and turn.name != name
                        and SUMMARY_PREFIX not in turn.text[:20]
                    ):
                        assert turn.text[:begins].endswith((f"{name}: ", '"'))
        rows = [segment.composed.turns for segment in done.segments]
        alternates = not users_in_a_row(read(messages).turns)
        assert not alternates or not any(one.role == other.role for turns in rows for one, other in pairwise(turns))
