"""What is told of a result in JSON that says why something failed, or that holds one record unlike the others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from told import action

from trajcompress.summarize.extractive.failed_json import reasons_in
from trajcompress.summarize.extractive.outcome import read


def told(data):
    return read(json.dumps(data), action("call", id="7"))


def test_the_reason_that_stands_deepest_is_told_before_what_is_general():
    outcome = told(
        {
            "name": "UNPROCESSABLE_ENTITY",
            "message": "The requested action could not be performed, or failed business validation.",
            "details": [{"issue": "REFUND_TIME_LIMIT_EXCEEDED", "description": "You are over the time limit."}],
            "links": [{"rel": "information_link", "href": "https://pay.example/doc"}] * 4,
        }
    )
    assert outcome.failed
    assert outcome.said.startswith("error: REFUND_TIME_LIMIT_EXCEEDED: You are over the time limit.")


def test_an_error_beside_a_list_of_errors_gives_way_to_these():
    errors = [{"field": "end", "error": "You do not have enough balance. Available: 12.5 hours"}]
    outcome = told({"error": "invalid request", "errors": errors, "request": {"days": list(range(40))}})
    assert outcome.said.startswith("error: You do not have enough balance. Available: 12.5 hours")
    assert "invalid request" in outcome.said


def test_of_several_answers_those_that_were_refused_are_told():
    body = [{"errorCode": "FIELD_CUSTOM_VALIDATION_EXCEPTION", "message": "Renewal date must be later"}]
    outcome = told(
        [
            {"httpStatusCode": 200, "referenceId": "query", "body": {"totalSize": 1}},
            {"httpStatusCode": 400, "referenceId": "update", "body": body},
        ]
    )
    assert outcome.failed
    assert outcome.said.startswith("1 of 2 failed; FIELD_CUSTOM_VALIDATION_EXCEPTION: Renewal date must be later")


@pytest.mark.parametrize("due", ["12480.55", "-3"])
def test_the_one_bill_that_is_not_paid_comes_first(due):
    bills = [{"number": 1030 + n, "customer": f"Customer {n}", "balance": "0"} for n in range(9)]
    bills[5]["balance"] = due
    said = told({"bills": bills, "note": "x " * 300}).said
    first = said.partition(");")[0]
    assert all(part in first for part in ("number=1035", "customer=Customer 5", f"balance={due}"))


def test_many_that_are_not_paid_are_none_that_is_unlike():
    bills = [{"number": 1030 + n, "customer": f"Customer {n}", "balance": str(n % 2)} for n in range(9)]
    assert "bills=[(number=1030" in told({"bills": bills, "note": "x " * 300}).said


def strings(data):
    if isinstance(data, str):
        return [data]
    inside = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return [text for each in inside for text in strings(each)]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.dictionaries(st.sampled_from(["message", "error", "code", "details", "x"]), inside, max_size=4)
    ),
    max_leaves=20,
)


@given(_JSON)
def test_reasons_are_texts_of_the_result(data):
    texts = [" ".join(text.split()) for text in strings(data)]
    for reason in reasons_in(data):
        assert any(reason == text or reason.endswith(f": {text}") for text in texts)
