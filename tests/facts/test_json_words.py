"""What stands around a fact of JSON: its key, and which record it is of."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from trajcompress.facts.json_words import words_in_json
from trajcompress.facts.reading import mentions

CARDS = {
    "name": {"first": "Ida", "last": "Berg"},
    "payment_methods": {
        "gift_1": {"source": "gift_card", "amount": 113, "id": "gift_1"},
        "gift_2": {"source": "gift_card", "amount": 6, "id": "gift_2"},
    },
}
JOURNEYS = [
    [{"flight_number": "F10", "prices": {"economy": 69}}, {"flight_number": "F11", "prices": {"economy": 112}}],
    [{"flight_number": "F20", "prices": {"economy": 70}}],
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 10**6) | st.text("ab1 _-", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abid_", max_size=6), inner, max_size=3),
    max_leaves=12,
)


def test_a_value_is_told_with_its_key_and_the_record_that_it_is_of():
    told = words_in_json(["113", "6", "Berg", "gift_2"], json.dumps(CARDS))
    assert told["113"] == "id = gift_1, amount = 113"
    assert told["6"] == told["gift_2"] == "id = gift_2, amount = 6"
    assert told["Berg"] == "name.last = Berg"


def test_records_of_lists_within_lists_are_not_mixed():
    told = words_in_json(["112", "70", "F10"], json.dumps(JOURNEYS))
    assert told == {
        "112": "flight_number = F11, prices.economy = 112",
        "70": "flight_number = F20, prices.economy = 70",
        "F10": "flight_number = F10",
    }


def test_what_is_told_twice_is_told_as_it_was_last():
    states = [{"id": "order-7", "state": "open"}, {"id": "order-7", "state": "open and paid"}]
    assert words_in_json(["open"], json.dumps(states)) == {"open": "id = order-7, state = open and paid"}


def test_of_prose_and_of_what_is_no_json_nothing_is_told():
    prose = json.dumps({"id": "page-1", "text": "The total was 112 euros. " * 20})
    assert words_in_json(["112"], prose) == words_in_json(["112"], "112 euros") == words_in_json(["1"], "[1") == {}


@given(VALUES, st.lists(st.text("ab1", min_size=1, max_size=3) | st.integers(0, 10**6).map(str), max_size=3))
def test_what_is_told_of_a_fact_mentions_it_and_is_of_the_json(value, facts):
    text = json.dumps(value)
    told = words_in_json(facts, text)
    assert told.keys() <= set(facts)
    assert all(mentions(words, fact) for fact, words in told.items())
