"""Definitions of what the agent names later: they stay where the code that it saw is cut."""

from __future__ import annotations

import pytest
from pruning import call
from trajectories import read, result

from trajcompress.compaction.text.cut import cut
from trajcompress.facts.definitions import definitions
from trajcompress.facts.ledger import FactLedger

VIEW = "\n".join(
    line
    for number in range(60)
    for line in (f"def handle_{number}(event, state):", f"    return state.get({number}), event", "")
)


def test_the_definition_of_what_the_agent_names_stays_in_a_view_that_is_cut():
    ledger = FactLedger(
        read(
            [
                {"role": "user", "content": "handle_31 and other_name are slow. Mend them."},
                call("view", "v", path="a.py"),
                result("v", VIEW),
                {"role": "assistant", "content": "So `handle_31` looks the state up again."},
            ]
        ).turns
    )
    shorter = cut(VIEW, 900, ledger.wanted(2))
    assert "def handle_31(event, state):\n    return state.get(31), event" in shorter
    assert len(shorter) < 1_100


@pytest.mark.parametrize(
    "line", ["def to_snake(text):", "class to_snake(Base):", "function to_snake(text) {", "fn to_snake(text: &str) {"]
)
def test_the_last_result_that_defines_a_name_before_it_is_said_counts(line: str):
    texts = [f"x\n{line}", f"y\n{line}", "I see to_snake.", f"z\n{line}"]
    found = definitions(texts, [True, True, False, True], ["", "", texts[2], ""])
    assert {index: list(names) for index, names in found.items()} == {1: [line.partition("(")[0]]}


def test_plain_words_and_names_that_only_calls_pass_on_are_not_looked_for():
    assert definitions(["def main():\n    pass", "main runs first"], [True, False], ["", "main runs first"]) == {}
    assert definitions(["def to_snake():\n    pass", "to_snake"], [True, False], ["", ""]) == {}
