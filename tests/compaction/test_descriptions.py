"""Descriptions go out of a list of tools before their names and parameters do."""

from __future__ import annotations

import pytest

from trajcompress.compaction.text.cut import cut
from trajcompress.compaction.text.descriptions import without_descriptions

NAMES = ("read_page", "send_mail", "run_query")
PROSE = "It should be used with care, as said before. " * 20


def tools(newline: str = "\n", prose: str = PROSE) -> str:
    found = (
        f"- server_name: office{newline}  tool_name: {name}{newline}  tool_description: Does {name} well. {prose}"
        f"{newline}  inputschema:{newline}    of_{name}: '(string) '{newline}    most: '(Optional, integer) '"
        for name in NAMES
    )
    return newline.join(["matched_tools:", *found, ""])


@pytest.mark.parametrize("newline", ["\n", "\\n"])
def test_names_and_parameters_of_all_stay(newline: str):
    shorter = cut(tools(newline), 1_200)
    for name in NAMES:
        assert f"tool_name: {name}{newline}  tool_description: Does {name} well." in shorter
        assert f"of_{name}: '(string) '{newline}    most: " in shorter
    assert shorter.count("characters elided") == len(NAMES)
    assert len(shorter) <= 1_200


def test_no_more_go_than_must_and_that_of_a_tool_that_is_called_goes_last():
    text = tools()
    shorter = without_descriptions(text, len(text) - 1_000, {"read_page": 4.0})
    assert shorter.count("characters elided") == 2
    assert f"Does read_page well. {PROSE}" in shorter


def test_what_only_a_description_tells_of_what_is_to_be_kept_stays():
    text = tools().replace("with care", "with pid_of_it", 1)
    assert "pid_of_it" in without_descriptions(text, 100, {"pid_of_it": 4.0})
    assert without_descriptions(tools(prose=""), 100, {}) == tools(prose="")
    assert without_descriptions(PROSE, 100, {}) == PROSE


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
def test_time_is_linear_in_the_descriptions():
    text = "- a: b\n- a: c\n" + "\n        description: \n  description: " * 4_000
    without_descriptions(text, 100, {})
