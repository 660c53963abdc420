"""Of several calls in one turn each stands with its own result, where a mark above each tells them apart."""

from __future__ import annotations

import pytest
from summed_up import ask, section

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.formats.rewrite import map_results, result_texts
from trajcompress.summarize.extractive import extract
from trajcompress.transcript.tool_groups import match_results, tool_groups

TASK = "Which of the two ferries is the cheaper one?"
CALLS = {
    "react": (
        "Thought: I look at both.\n"
        'Action: price\nAction Input: {"ferry": "north"}\nAction: price\nAction Input: {"ferry": "south"}'
    ),
    "brackets": "Thought: I look at both.\nAction 1: price[north]\nAction 2: price[south]",
    "functions": (
        "I look at both.\n\n<function=price>\n<parameter=ferry>\nnorth\n</parameter>\n</function>\n"
        "<function=price>\n<parameter=ferry>\nsouth\n</parameter>\n</function>"
    ),
    "elements": (
        "I look at both.\n\n<ask_price>\n<ferry>north</ferry>\n</ask_price>\n\n"
        "<ask_price>\n<ferry>south</ferry>\n</ask_price>"
    ),
}
RESULTS = {
    "react": "Observation: 31 EUR\nno bicycles\nObservation: 24 EUR",
    "brackets": "Observation 1: 31 EUR\nno bicycles\nObservation 2: 24 EUR",
    "functions": (
        "EXECUTION RESULT of [price]:\n31 EUR\nno bicycles\n[Command finished with exit code 0]\n"
        "EXECUTION RESULT of [price]:\n24 EUR\n[Command finished with exit code 0]"
    ),
    "elements": (
        "[ask_price for 'north'] Result:\n31 EUR\nno bicycles\n[ask_price for 'south'] Result:\n24 EUR\n\n"
        "<environment_details>\n# Open Tabs\na.py\n</environment_details>"
    ),
}


def read(said, printed):
    messages = [("user", TASK), ("assistant", said), ("user", printed)]
    row = {"messages": [{"role": role, "content": text} for role, text in messages]}
    return read_trajectory(row, "row", FormatOptions()).turns


@pytest.mark.parametrize("protocol", CALLS)
def test_each_call_stands_with_what_came_of_it(protocol):
    turns = read(CALLS[protocol], RESULTS[protocol])
    assert [(each.result, each.call) for each in match_results(turns)] == [((2, 0), (1, 0)), ((2, 1), (1, 1))]
    assert tool_groups(turns) == [(1, 3)]
    first, second = result_texts(turns[2])
    assert first == "31 EUR\nno bicycles"
    assert second.partition("\n\n<environment_details>")[0] == "24 EUR"  # a note goes with the last
    told = section(extract(ask(turns[1:], head=turns[:1])), "Steps")
    assert told.replace("ask_", "").strip() == "- price north → 31 EUR no bicycles\n- price south → 24 EUR"


@pytest.mark.parametrize("protocol", CALLS)
def test_what_a_result_is_cut_to_stays_below_its_own_mark(protocol):
    turns = read(CALLS[protocol], RESULTS[protocol])
    cut = map_results(turns[2], lambda number, _: f"[price {number}]")
    again = read(CALLS[protocol], cut.text)
    assert result_texts(again[2]) == ("[price 0]", "[price 1]")
    assert cut.text.count(RESULTS[protocol][:9]) == 2


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        (CALLS["react"], "Observation: 31 EUR"),
        (CALLS["react"].partition('\nAction: price\nAction Input: {"ferry": "south')[0], RESULTS["react"]),
        (CALLS["functions"], RESULTS["functions"].replace("[price]", "[weather]", 1)),
    ],
    ids=["one mark", "one call", "another tool"],
)
def test_what_is_not_told_apart_for_certain_stays_one(said, printed):
    turns = read(said, printed)
    assert len(turns[2].answers) == 1
    assert "31 EUR" in extract(ask(turns[1:], head=turns[:1]))
