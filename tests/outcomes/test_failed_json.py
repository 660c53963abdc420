"""What is told of a result in JSON that says why something failed, or that holds one record unlike the others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from told import action, read, read_structured

from trajcompress.outcomes.records.failed_json import reasons_in


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


def test_of_the_log_of_attempts_below_a_message_each_line_is_told_once():
    attempts = "\n".join(f"  element is not displayed, retrying in {wait}ms\n  waiting" for wait in (0, 50, 100))
    message = f"TimeoutError: 467ms exceeded.\n========== logs ==========\n{attempts}\n=========================="
    outcome = told({"kind": "page_observation", "text": "Root\n" * 90, "error": message})
    assert outcome.failed
    assert outcome.said.startswith(
        "error: TimeoutError: 467ms exceeded. element is not displayed, retrying in 0ms waiting; text="
    )


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


ORDERS = [{"order": f"O{n}", "total": n * 10} for n in range(12)]


@pytest.mark.parametrize(
    ("data", "begins"),
    [
        (
            {"error": {"code": 0, "message": "success"}, "data": ORDERS},
            "error=(code=0, message=success), data=[(order=O0",
        ),
        (
            {
                "tests": 240,
                "passed": 233,
                "errors": 2,
                "failures": 5,
                "failed_tests": [f"test_{n}" for n in range(7)],
            },
            "tests=240, passed=233, errors=2, failures=5, failed_tests=[test_0; ",
        ),
        ({"id": "int", "error": "text"}, "id=int, error=text"),
        (
            {"id": "bigint", "error": "varchar(255) not null", "at": "timestamptz"},
            "id=bigint, error=varchar(255) not",
        ),
        ({"errors": {"count": 0, "items": []}, "warnings": {"count": 3}}, "errors=(count=0), warnings=(count=3)"),
        ({"error": {"rate": 0.0, "count": 0}, "latency": {"p50": 12}}, "error=(rate=0.0, count=0), latency=(p50=12)"),
        (
            {"error": {"type": "string", "description": "Why a job failed"}, "id": {"type": "int"}},
            "error=(type=string",
        ),
        ({"error": "/var/log/nginx/error.log", "port": 80}, "error=/var/log/nginx/error.log, port=80"),
        ({"error": "none", "warnings": ["unused variable"]}, "error=none, warnings=[unused variable]"),
        ({"errors": "No errors found", "files": 31}, "errors=No errors found, files=31"),
        ({"name": "x", "dependencies": {"a": "^1.0"}, "error": "x"}, "name=x, error=x, dependencies=(a=^1.0)"),
        ({"chalk": "^4.1.0", "error": "^7.0.2"}, "chalk=^4.1.0, error=^7.0.2"),
        ([{"host": f"h{n}", "error": "none", "latency": n} for n in range(3)], "[(host=h0, error=none, latency=0)"),
        (
            {"message": "Saved with notes", "details": [{"message": "trimmed whitespace"}], "saved": True},
            "message=Saved with notes, saved=true, details=[(message=trimmed whitespace)]",
        ),
        ({"message": "Saved", "details": [{"message": "trimmed whitespace"}]}, "message=Saved, details=[("),
    ],
)
def test_what_is_called_an_error_and_is_none_is_told_as_data(data, begins):
    outcome = told(data)
    assert outcome.said.startswith(begins)
    assert not outcome.failed


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"error": 404, "message": "no such order"}, "error: 404; no such order"),
        ({"error": True, "message": "no such order"}, "error: no such order"),
        ({"error": "invalid_grant", "error_description": "Token expired"}, "error: invalid_grant; Token expired"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no such method"}}, None),
        ({"errors": {"email": ["is already taken"], "name": ["can't be blank"]}}, None),
        ({"error": "timeout", "request_id": "req-1"}, "error: timeout"),
        ({"exception": "ValueError", "trace": ["a", "b"]}, "error: ValueError"),
        ({"error": {"status": 503}}, "error: status: 503"),
    ],
)
def test_an_error_is_told_with_all_that_says_why(data, said):
    outcome = told(data)
    assert outcome.failed
    assert outcome.said.startswith("error: ")
    assert said is None or outcome.said == said


def test_data_beside_an_error_are_told_behind_it():
    repos = [{"name": f"repo-{n}"} for n in range(20)]
    errors = [{"message": "Field 'x' is deprecated", "path": ["viewer", "x"]}]
    outcome = told({"data": {"viewer": {"login": "bob", "repos": repos}}, "errors": errors})
    assert outcome.said.startswith("error: Field 'x' is deprecated; login=bob, repos=[(name=repo-0); repo-1; ")
    seats = {"error": "not enough seats", "available": 2, "timestamp": "2026-01-01"}
    assert told(seats).said == "error: not enough seats; available=2"


@pytest.mark.parametrize(
    "records",
    [
        [{"area": f"Area {n}", "code": 415 + n, "message": "served by two carriers"} for n in range(8)],
        [
            {"course": f"Course {n}", "code": 410 + n, "description": "an introduction in ten lessons"}
            for n in range(6)
        ],
        [{"room": f"R{n}", "status": 401 + n, "message": "quiet room with projector"} for n in range(300)],
        [{"room": f"R{n}", "status": 401 + n, "message": "quiet room with projector"} for n in range(8)],
    ],
)
def test_a_code_that_is_none_of_an_answer_refuses_nothing(records):
    outcome = told(records)
    assert not outcome.failed
    assert outcome.said.startswith("[(")


def test_of_some_that_failed_it_is_told_which():
    links = [
        {"url": f"https://x.example/{n}", "status": 404, "message": "Not Found"}
        if n in {3, 5}
        else {"url": f"https://x.example/{n}", "status": 200, "message": "OK"}
        for n in range(12)
    ]
    which = "Not Found (url=https://x.example/3, https://x.example/5)"
    assert told(links).said == f"2 of 12 failed; {which}"
    links[9] |= {"status": 503, "message": "Service Unavailable"}
    assert told(links).said == f"3 of 12 failed; {which}; Service Unavailable (url=https://x.example/9)"


def test_of_many_that_failed_as_many_are_named_as_have_room():
    rows = [{"sku": f"SKU-{n:04}", "code": 422, "error": "the price is missing"} for n in range(60)]
    said = told(rows).said
    assert said.startswith("60 of 60 failed; the price is missing (sku=SKU-0000, SKU-0001, ")
    assert said.endswith(f"… {60 - said.count('SKU-')} more)")


@pytest.mark.parametrize("key", ["error", "errors", "message"])
def test_errors_within_errors_without_end_are_no_trouble(key):
    deep = lists = "no such order"
    for _ in range(240):
        deep, lists = {key: deep, "n": 1}, [lists]
    for data in ({"error": deep}, {"errors": lists}, [{"error": deep, "status": 404}] * 3):
        assert told(data).said


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


def test_the_one_job_that_failed_is_found_wherever_it_stands():
    for at in (30, 300, 499):
        jobs = [{"id": n, "status": "failed" if n == at else "ok", "name": f"job {n}"} for n in range(500)]
        said = told({"jobs": jobs, "total": 500}).said
        assert f" more; ({at}, failed, job {at})" in said
    invoices = [{"number": f"INV-{n}", "due": 990 * (n == 250), "total": 100 + n} for n in range(400)]
    assert told({"invoices": invoices}).said.startswith("[… 250 more; (number=INV-250, due=990, total=350); ")


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
def test_records_of_which_each_has_keys_of_its_own_take_little_time():
    records = [{f"{n}_status": "ok", f"{n}_state": "x" * 60} for n in range(6_000)]
    assert read_structured({"rows": records, "n": 1}, {}, 150, 150)[0]


@pytest.mark.parametrize(
    "answer",
    [
        {"status": "rejected", "reason": "the user said no", "path": "a.py"},
        {"path": "a.py", "files_written": 0, "note": "the disk is full"},
        {"path": "a.py", "applied": False},
        {"replacements": 0, "path": "a.py"},
    ],
)
def test_a_change_that_was_not_made_has_failed(answer):
    assert read(json.dumps(answer), action("write_file", path="a.py", content="x = 1\n")).failed
    assert not read(json.dumps(answer), action("get_change", path="a.py")).failed


@pytest.mark.parametrize(
    "answer", [{"status": "ok", "written": 12}, {"applied": True, "replacements": 1}, {"failed": 0}]
)
def test_a_change_that_was_made_has_not_failed(answer):
    assert not read(json.dumps(answer), action("write_file", path="a.py", content="x = 1\n")).failed


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


@pytest.mark.parametrize(
    ("tool", "status", "failed"),
    [
        ("cancel_reservation", "cancelled", False),
        ("book_reservation", "cancelled", True),
        ("decline_offer", "DECLINED", False),
        ("update_offer", "declined", True),
        ("block_user", "blocked", False),
    ],
)
def test_a_state_that_was_asked_for_is_no_failure(tool: str, status: str, failed: bool):
    held = {"id": "S61", "legs": [{"flight": "H1", "price": 3}], "status": status, "note": "as told " * 40}
    assert read(json.dumps(held), action(tool, id="S61")).failed is failed
