"""What is told of a tool that calls others, and of a result that repeats its call."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

from summed_up import ask, call, result, section

from trajcompress.outcomes.action.actions import describe
from trajcompress.outcomes.action.labels import cut_label
from trajcompress.summarize.extractive import extract


def _executed(action: str, path: dict[str, str], body: dict[str, str]) -> dict[str, str]:
    parts = {"path_params": json.dumps(path), "body_schema": json.dumps(body)}
    return {"server_name": "Forge", "category_name": "FORGE_GIT", "action_name": action, **parts}


def test_what_is_passed_in_several_objects_is_one_call():
    asked = describe("execute_action", _executed("create_ref", {"owner": "an"}, {"ref": "heads/ci"}))
    assert (asked.name, asked.kind) == ("execute_action create_ref", "change")
    assert asked.target == "owner=an, ref=heads/ci"
    details = describe("get_action_details", {"category_name": "FORGE_GIT", "action_name": "create_ref"})
    assert details.name == "get_action_details"  # it makes no call


def test_what_a_result_repeats_of_its_call_is_not_told_and_what_failed_inside_it_changed_no_file():
    text = base64.b64encode(b"on: push\njobs:\n  lint:\n    runs-on: linux\n    steps: []\n").decode()
    file = {"owner": "an", "path": "ci/lint.yml"}
    told = {"server_name": "Forge", "action_name": "put_file"}
    missing = {"error": "API error (HTTP 404)", "details": {"url": "docs"}}
    made = {"success": True, "status_code": 201, "data": {"ref": "heads/ci"}}
    steps = [
        call(1, "execute_action", **_executed("create_ref", {"owner": "an"}, {"ref": "heads/ci"})),
        result(1, json.dumps({**told, "action_name": "create_ref", "execution_result": made})),
        call(2, "execute_action", **_executed("put_file", file, {"content": text})),
        result(2, json.dumps({**told, "execution_result": missing})),
    ]
    text = extract(ask(steps))
    made_line, failed_line = section(text, "Steps").splitlines()
    assert made_line == (
        "- execute_action create_ref owner=an, ref=heads/ci → success=true, status_code=201, data=(ref=heads/ci)"
    )
    assert failed_line == (
        "- execute_action put_file ci/lint.yml an «on: push; jobs: lint: runs-on: linux; steps: []»"
        " → error: API error (HTTP 404)"
    )
    assert "Files changed" not in text


def test_what_was_looked_up_is_told_in_short_by_more_than_the_id_it_was_looked_up_by():
    lamp = {"name": "Desk Lamp", "product_id": "681", "item_id": "838", "price": 137.94}
    found = {
        "order_id": "#W6390527",
        "user_id": "mei_8020",
        "address": {"street": "Elm Street 317", "city": "Charlotte", "country": "USA", "zip": "28236"},
        "items": [lamp, {"name": "Water Bottle", "product_id": "831", "item_id": "853", "price": 45.13}],
        "status": "delivered",
        "fulfillments": [{"tracking_id": ["745984883162"], "item_ids": ["838", "853"]}],
    }
    turns = [call(1, "get_order", order_id="#W6390527"), result(1, json.dumps(found))]
    for number in range(4):
        user = {"user_id": f"u{number}", "note": "a note of some length " * 6, "orders": [f"#W{n}" for n in range(9)]}
        turns += [call(10 + number, "get_user", user_id=f"u{number}"), result(10 + number, json.dumps(user))]
    request = replace(ask(turns), facts=("W6390527",))
    told = [extract(replace(request, target_tokens=tokens)) for tokens in range(20, 200, 4)]
    assert not any("- get_order #W6390527 → order_id=#W6390527, …\n" in f"{text}\n" for text in told)
    assert any("- get_order #W6390527 → " in text and "status=delivered" in text for text in told)


def test_an_argument_is_not_named_without_its_value_for_want_of_a_few_characters():
    label = "get_action_details action_name=create_or_update_file_contents, category_name=FORGE_GIT"
    assert cut_label(label, 60, command=False) == f"{label[:61]}, …"
