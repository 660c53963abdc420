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


def test_what_an_item_of_a_list_has_is_not_told_of_its_parent():
    items = [{"sku": "A-1", "price": 1250.0}, {"sku": "B-2", "price": 880.25}]
    order = {"id": "O1", "total": 4211.5, "items": items}
    told = words_in_json(["880.25", "4211.5", "B-2"], json.dumps(order))
    assert told["880.25"] == told["B-2"] == "id = O1, items: sku = B-2, price = 880.25"
    assert told["4211.5"] == "id = O1, total = 4211.5"
    assert words_in_json(["880.25"], json.dumps({"items": items})) == {"880.25": "items: sku = B-2, price = 880.25"}


def test_the_score_of_a_comment_is_not_that_of_the_post():
    comments = [{"author": "ida", "kind": "reply", "score": 41}, {"author": "ben", "kind": "reply", "score": 17}]
    told = words_in_json(["17"], json.dumps({"id": "post-9", "score": 203, "comments": comments}))
    assert told == {"17": "id = post-9, comments: author = ben, score = 17"}


def test_an_item_that_nothing_names_goes_by_the_key_of_its_list():
    payments = [{"amount": 391.5, "fee": {"amount": 2.25}}, {"amount": 130.5}]
    told = words_in_json(["130.5", "2.25"], json.dumps({"id": "O1", "payments": payments}))
    assert told["130.5"] == "id = O1, payments.amount = 130.5"
    assert told["2.25"] == "id = O1, payments.fee.amount = 2.25"
    assert words_in_json(["77"], '{"id": "O1", "rows": [[3, 77]]}') == {"77": "id = O1, rows = 77"}


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


def test_what_an_id_names_is_told_with_what_it_is_one_of_and_its_options():
    lamps = {
        "name": "Desk Lamp",
        "variants": {
            "838": {"item_id": "8384507844", "options": {"color": "white", "power": "USB"}, "price": 137.94},
            "762": {"item_id": "7624783998", "options": {"color": "black", "power": "AC"}, "price": 154.17},
        },
    }
    told = words_in_json(["8384507844", "137.94", "7624783998"], json.dumps(lamps))
    white = "name = Desk Lamp, item_id = 8384507844, color = white, power = USB, price = 137.94"
    assert told == {
        "8384507844": white,
        "137.94": white,
        "7624783998": "name = Desk Lamp, item_id = 7624783998, color = black, power = AC",
    }
