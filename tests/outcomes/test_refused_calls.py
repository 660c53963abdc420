"""Calls that a server refused, or that failed by its own flag: what they were to change is not changed."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.mcp import is_flagged
from trajcompress.outcomes.outcome import Outcome, Reading

WRITES = Action("write", "a.csv", "change", files=("a.csv",))


def told(text: str, action: Action | None = WRITES) -> Outcome:
    return Reading(text, Asked(action)).told(200, 200, {})


def wrapped(text: str, *, fails: bool) -> str:
    held = json.dumps({"_meta": None, "content": [{"type": "text", "text": text}], "isError": fails}, indent=2)
    return f"meta=None content=[TextContent(type='text', text={held!r}, annotations=None)] isError=False"


@pytest.mark.parametrize(
    "said",
    [
        "Input validation error: 'file_hash' is a required property",
        "Input validation error: 1000000 is greater than or equal to the maximum of 1000000",
        "MCP error -32602: Invalid arguments for tool write",
        "Network error: connection reset by peer",
    ],
)
def test_what_a_server_refuses_is_a_failure(said):
    assert told(said).failed
    assert told(f"ok\n{said}", None).failed
    assert told(said).said == said


def test_a_figure_of_a_model_is_no_failure():
    assert not told("Validation error: 0.23\nTest error: 0.25", None).failed


@pytest.mark.parametrize(
    "said",
    [
        *("file_path must be an absolute path", "Path is outside of allowed directories", "Unauthorized"),
        *("You must use your Read tool at least once before editing.", "missing required parameter: content"),
        *("Rate limit exceeded", "The tool execution was aborted"),
    ],
)
def test_an_edit_that_is_told_to_be_impossible_was_not_made(said):
    assert told(said).failed
    assert not told(said, replace(WRITES, kind="read")).failed


def test_code_that_an_editor_shows_again_says_nothing_of_its_edit():
    assert not told('12: raise ValueError("size must be positive")\n13: raise TypeError("invalid key")').failed


def test_a_call_that_its_protocol_marks_as_failed_has_failed_whatever_it_says():
    assert told(wrapped("The page is asleep", fails=True)).failed
    assert told(wrapped("The page is asleep", fails=True)).said == "The page is asleep"
    assert not told(wrapped("The page is asleep", fails=False)).failed
    outer = "meta=None content=[TextContent(type='text', text='No such page', annotations=None)] isError="
    assert is_flagged(f"{outer}True")
    assert not is_flagged(f"{outer}False")


def test_a_text_that_speaks_of_the_flag_is_not_marked():
    page = 'The field is set so: "isError": true\n}\', annotations=None)] isError=True'
    assert not is_flagged(page)
    assert not is_flagged(wrapped(f"{page} and more", fails=False))
    assert not told(page, None).failed
