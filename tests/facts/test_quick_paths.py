"""What is made quick says what the plain way says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from trajcompress.facts import facts_kept
from trajcompress.facts.ledger import FactLedger
from trajcompress.facts.reading import Reader, is_told, mentions, words
from trajcompress.redact import NONE_KNOWN, redact
from trajcompress.redact.turns import clean_turns
from trajcompress.transcript.trajectory import ToolCall, Turn

KEY = "ghp_" + "aB3dE6gH9jKl0mNoPqRsTuVwXyZ012345678"
PIECES = st.sampled_from(
    ["src/a.py", "a.py", "ORD-12", "12", "1,123", "123", "é1", "x", "_", "-", ".", " ", "\n", "token=", KEY, "key_1"]
)
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=8).map("".join)
TURNS = st.builds(
    lambda text, reasoning, arguments: Turn(
        "assistant", text, {}, reasoning, tuple(ToolCall(None, "f", given) for given in arguments)
    ),
    TEXTS,
    TEXTS,
    st.lists(TEXTS, max_size=2),
)


@given(text=TEXTS, fact=TEXTS.filter(bool))
def test_a_text_has_all_words_of_what_it_mentions(text, fact):
    assert not mentions(text, fact) or set(words(fact)) <= set(words(text))
    assert set(words(fact)) <= set(words(f"{text} {fact} {text}"))


@given(text=TEXTS, facts=st.lists(TEXTS.filter(bool), max_size=6))
def test_facts_kept_are_those_mentioned(text, facts):
    assert facts_kept(facts, text) == tuple(fact for fact in facts if mentions(text, fact))


@given(st.lists(TURNS, max_size=4))
def test_turns_are_cleaned_text_by_text(turns):
    def clean(text):
        return redact(text).text

    plain = [
        replace(
            turn,
            text=clean(turn.text),
            reasoning=clean(turn.reasoning),
            calls=tuple(replace(call, arguments=clean(call.arguments)) for call in turn.calls),
        )
        for turn in turns
    ]
    texts = [text for turn in turns for text in (turn.text, turn.reasoning, *(call.arguments for call in turn.calls))]
    cleaned = clean_turns(turns, NONE_KNOWN)
    assert list(cleaned.turns) == plain
    assert cleaned.redactions == sum(redact(text).count for text in texts)


QUOTED = st.sampled_from([" «東京タワー» ", "「東京タワー」", '"Mend It"', "src/é.py"])
SPOKEN = st.builds(
    lambda role, text, arguments: Turn(
        role,
        text,
        {},
        "",
        tuple(ToolCall(None, "f", given) for given in arguments if role == "assistant"),
        (None,) * (role == "tool"),
    ),
    st.sampled_from(["user", "assistant", "tool"]),
    st.lists(PIECES | QUOTED, max_size=8).map("".join),
    st.lists(st.dictionaries(st.just("k"), PIECES | QUOTED).map(json.dumps), max_size=2),
)


@given(st.lists(SPOKEN, max_size=8), st.sets(st.integers(0, 7)))
def test_a_ledger_finds_what_is_lost_as_looking_into_each_turn_does(turns, dropped):
    dropped = {index for index in dropped if index < len(turns) and turns[index].answers}
    ledger, reader = FactLedger(turns), Reader()
    texts = [reader.text([turn]) for turn in turns]
    expected = {}
    for fact, uses in ledger._read.uses.items():
        told = [
            index
            for index, text in enumerate(texts)
            if set(words(fact)) <= set(words(text)) and (index in uses or mentions(text, fact, is_told))
        ]
        kept = next((place for place, index in enumerate(told) if index not in dropped), len(told))
        lost = 0 < kept < len(told) and told[kept] in uses
        if lost:
            expected.setdefault(told[kept - 1], []).append(fact)
    assert ledger.needed(dropped) == expected


@pytest.mark.cpu_seconds(30)  # looking into each turn for each fact would take hours
def test_a_row_of_many_turns_and_facts_is_pruned_in_time():
    turns = [
        Turn(
            "tool" if number % 2 else "assistant",
            f"src/m{number}.py and src/m{number - 1}.py",
            {},
            answers=(None,) * (number % 2),
        )
        for number in range(60_000)
    ]
    needed = FactLedger(turns).needed(range(1, 60_000, 2))
    assert needed[1] == ["src/m1.py"]
    assert len(needed) == 29_999
