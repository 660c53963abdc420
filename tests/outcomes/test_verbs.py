"""What kind of tool a name tells of."""

from __future__ import annotations

import pytest

from trajcompress.outcomes.action.verbs import kind_of_tool


@pytest.mark.parametrize(
    "name",
    [
        "update_order_status", "set_status", "cancel_subscription_plan", "book_route", "add_to_waitlist",
        "issue_refund", "refund_order", "return_delivered_order_items", "pay_invoice", "set_alarm", "grant_access",
        "order_create", "createOrder", "mcp__github__create_issue", "applypatch", "PlaceOrder",
        "str_replace_based_edit_tool",
    ],
)  # fmt: skip
def test_tools_that_change_something(name: str):
    assert kind_of_tool(name) == "change"


@pytest.mark.parametrize(
    "name",
    [
        "get_order_status", "postgres_query", "facebook_search", "getWeather", "find_user_id_by_email", "issue_read",
        "get_return_policy", "ReadFile", "websearch", "open_file",
    ],
)  # fmt: skip
def test_tools_that_look_something_up(name: str):
    assert kind_of_tool(name) == "read"


@pytest.mark.parametrize("name", ["python", "bash", "verify_address", "click", "calculate", "finish", ""])
def test_tools_that_run_something(name: str):
    assert kind_of_tool(name) == "run"


@pytest.mark.parametrize(
    "name", ["think", "sequentialthinking", "update_plan", "TodoWrite", "list_files", "git_status", "route", "wait"]
)
def test_tools_that_do_neither(name: str):
    assert kind_of_tool(name) == "idle"
