"""What the documentation of a function says that was looked up: how it is called."""

from __future__ import annotations

import json

import pytest
from told import read

from trajcompress.outcomes.records.documented import signature_of

PARAMETERS = [
    {"name": "token", "type": "string", "required": True, "description": "From the login.", "default": None},
    {"name": "page", "type": "integer", "required": False, "default": 0, "constraints": ["value >= 0"]},
    {"name": "limit", "type": "integer", "required": False, "default": 5, "constraints": ["value >= 1, <= 20"]},
    {"name": "newest", "type": "boolean", "required": False, "default": False},
    {"name": "query", "type": "string", "required": False, "default": ""},
]
DOC = {"app_name": "mail", "api_name": "search_mail", "path": "/mail", "method": "GET", "description": "Search mail."}
OF_MCP = {
    "name": "search_mail",
    "description": "Search mail.",
    "inputSchema": {
        "type": "object",
        "properties": {each["name"]: each for each in PARAMETERS},
        "required": ["token"],
    },
}


@pytest.mark.parametrize(
    "doc",
    [
        {**DOC, "parameters": PARAMETERS},
        OF_MCP,
        {"type": "function", "function": {**OF_MCP, "parameters": OF_MCP["inputSchema"], "inputSchema": None}},
    ],
)
def test_a_function_is_told_by_what_it_takes(doc):
    said = signature_of(doc, {}, 200)
    assert said == "search_mail(token, page=0, limit=5, newest=false, query?); Search mail."


def test_what_later_turns_give_it_comes_first_with_what_it_may_be():
    said = signature_of({**DOC, "parameters": PARAMETERS}, {"limit": 2.0, "query": 2.0}, 200)
    assert said.startswith("search_mail(limit=5, query?, token, page=0, newest=false); limit: value >= 1, <= 20")


def test_it_is_told_in_the_room_there_is():
    many = [{"name": f"field_{n}", "type": "string", "required": n < 3} for n in range(60)]
    for limit in (60, 120, 300):
        said = signature_of({**DOC, "parameters": many}, {}, limit)
        assert len(said) <= limit
        assert said.startswith("search_mail(field_0, field_1")
        assert said.endswith(", …)")
    text = json.dumps({**DOC, "parameters": PARAMETERS, "response_schemas": {"failure": {"message": "string"}}})
    assert read(text, None).said.startswith("search_mail(token, page=0, limit=5")
    assert not read(text, None).failed


@pytest.mark.parametrize(
    "data",
    [
        [],
        {**DOC, "parameters": []},
        {**DOC, "parameters": {"depth": 3}},
        {"name": "run 7", "parameters": PARAMETERS},
        {"name": "train", "parameters": [{"name": "rate", "value": 0.1}]},
        {"name": "train", "parameters": [{"type": "float"}]},
        {"name": "train", "parameters": {"properties": {"rate": 0.1}}},
        {"parameters": PARAMETERS},
    ],
)
def test_what_documents_no_function_is_told_as_other_data(data):
    assert signature_of(data, {}, 200) == ""
