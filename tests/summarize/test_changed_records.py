"""Calls that change records: told before others, with all that they were given."""

from __future__ import annotations

import json

import pytest
from summed_up import ask, call, result

from trajcompress.summarize.extractive import extract


@pytest.mark.parametrize(
    "tool", ["create_order", "order_create", "issue_refund", "update_order_status", "book_route"]
)
def test_a_call_that_changes_a_record_is_told_before_others_that_look_some_up(tool: str):
    looked_up = [
        (
            call(number, "check_credit", no=f"I{number}"),
            result(number, json.dumps({"no": f"I{number}", "lines": [f"item {item}" for item in range(8)]})),
        )
        for number in range(12)
    ]
    first = call("a", tool, account="A1", level=7), result("a", '{"ok": true, "ref": "X-9"}')
    then = call("b", tool, account="A2", level=9), result("b", '{"ok": true, "ref": "X-10"}')
    steps = [*looked_up[:4], first, *looked_up[4:8], then, *looked_up[8:]]
    text = extract(ask([turn for step in steps for turn in step], 120))
    assert f"- {tool} account=A1, level=7 → " in text
    assert f"- {tool} account=A2, level=9 → " in text


def test_all_that_is_given_to_a_call_that_changes_records_is_told():
    items = [{"sku": "ESP-01", "qty": 10}, {"sku": "B-2", "qty": 1}]
    steps = [
        call(1, "create_order", customer="C-7", note="leave at the door", items=items, address={"city": "Rome"}),
        result(1, '{"id": "O-7"}'),
        call(2, "modify_items", order_id="#W1", item_ids=["100829", "165636"], new_item_ids=["774740", "165637"]),
        result(2, '{"status": "modified"}'),
    ]
    text = extract(ask(steps))
    assert (
        "- create_order customer=C-7, note=leave at the door, items=[(sku=ESP-01, qty=10); B-2, 1], "
        "address=(city=Rome) → " in text
    )
    assert "- modify_items order_id=#W1, item_ids=[100829; 165636], new_item_ids=[774740; 165637] → " in text
