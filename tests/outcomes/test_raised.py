"""Records whose values stand in objects that they hold, as APIs answer: they are told by these."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from told import read_structured

from trajcompress.outcomes.records.raised import raised


def told(data: Any) -> str:
    return read_structured(data, {}, 150, 150)[0]


def pod(number: int, *, waits: bool = False) -> dict[str, Any]:
    state = (
        {"waiting": {"reason": "CrashLoopBackOff"}} if waits else {"running": {"startedAt": "2026-11-02T09:00:00Z"}}
    )
    container = {"name": "web", "ready": not waits, "restartCount": 7 * waits, "state": state}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"web-{number}", "namespace": "prod", "labels": {"app": "web"}},
        "spec": {"nodeName": "n1", "containers": [{"name": "web", "image": "nginx:1.27"}]},
        "status": {"phase": "Pending" if waits else "Running", "containerStatuses": [container]},
    }


def test_of_pods_the_one_that_waits_is_told_with_its_name_and_why():
    pods = [pod(number, waits=number == 3) for number in range(6)]
    said = told({"apiVersion": "v1", "kind": "List", "items": pods})
    assert "items=[… 3 more; (name=web-3, phase=Pending, " in said
    assert "reason=CrashLoopBackOff); … 2 more]" in said


ISSUES = [
    {
        "id": str(10_000 + number),
        "self": f"https://jira.example.com/rest/api/2/issue/{10_000 + number}",
        "key": f"PRJ-{number}",
        "fields": {"summary": f"Fix step {number}", "status": {"name": "Done" if number else "Open", "id": "3"}},
    }
    for number in range(3)
]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (
            {"total": 3, "issues": ISSUES},
            "(id=10000, key=PRJ-0, summary=Fix step 0, status.name=Open); (10001, PRJ-1, Fix step 1, Done)",
        ),
        (
            {
                "hits": {
                    "hits": [{"_id": str(n), "_score": 1.5 - n / 9, "_source": {"level": f"L{n}"}} for n in range(9)]
                }
            },
            "level=L0); (1, L1); (2, L2)",
        ),
        (
            {"data": [{"type": "book", "id": str(n), "attributes": {"title": f"Title {n}"}} for n in range(12)]},
            "[(id=0, title=Title 0); (1, Title 1); ",
        ),
        (
            {
                "Reservations": [
                    {
                        "ReservationId": f"r-{n}",
                        "Instances": [{"InstanceId": f"i-0{n}", "State": {"Name": "running"}}],
                    }
                    for n in range(5)
                ]
            },
            "(ReservationId=r-0, Instances.InstanceId=i-00); (r-1, i-01); ",
        ),
    ],
    ids=["issues", "hits", "resources", "instances"],
)
def test_records_are_told_by_what_they_hold(data, line):
    assert line in told(data)


def test_of_a_bulk_request_what_failed_is_told():
    items: list[dict[str, Any]] = [{"index": {"_id": str(n), "status": 201, "result": "created"}} for n in range(40)]
    error = {"type": "document_parsing_exception", "reason": "failed to parse field [age] of type [long]"}
    items[7] = {"index": {"_id": "7", "status": 400, "error": error}}
    said, _, failed = read_structured({"took": 30, "errors": True, "items": items}, {}, 150, 150)
    assert failed
    assert said == "1 of 40 failed; failed to parse field [age] of type [long] (_id=7)"


def test_records_that_tell_something_themselves_and_schemas_stay_as_they_are():
    owned = [{"id": n, "name": f"n{n}", "stars": n, "owner": {"login": "a", "id": 5}} for n in range(3)]
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    tools = [{"name": f"tool_{n}", "parameters": schema} for n in range(3)]
    before = copy.deepcopy({"owned": owned, "tools": tools})
    assert raised({"owned": owned, "tools": tools}) == before


def test_values_of_the_same_name_are_told_apart():
    lines = [
        {"id": n, "buyer": {"name": f"b{n}"}, "metadata": {"name": f"m{n}"}, "spec": {"name": "x"}} for n in (1, 2)
    ]
    assert raised(lines)[0] == {"id": 1, "buyer.name": "b1", "metadata.name": "m1", "spec.name": "x"}
