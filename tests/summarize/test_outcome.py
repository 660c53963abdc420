"""What is told of one result: the words of it that somebody goes on from."""

from __future__ import annotations

import json

import pytest

from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import extract
from trajcompress.summarize.extractive.outcome import read
from trajcompress.summarize.extractive.steps import action_of
from trajcompress.transcript.trajectory import ToolCall, Turn


def said(printed: str, did: Turn | None = None, limit: int = 150) -> str:
    """What is told of a result."""
    return read(printed, action_of(did, 0) if did else None, limit=limit).said


def test_of_errors_that_led_to_one_another_the_last_comes_first():
    trace = 'Traceback (most recent call last):\n  File "a.py", line {}, in f\n    g()\n{}\n\n'
    printed = trace.format(3, "urllib3.exceptions.NewConnectionError: <object at 0x75>: " + "refused " * 20)
    printed += "During handling of the above exception, another exception occurred:\n\n"
    printed += trace.format(9, "botocore.exceptions.EndpointConnectionError: no endpoint")
    assert said(printed).startswith("botocore.exceptions.EndpointConnectionError: no endpoint (a.py:9); urllib3")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_test_run_that_failed_says_why(end):
    header = "=== test session starts ===\ncollected 1 item\n\n=== {} ===\n___ test_sum ___\n{}\n"
    summary = "=== short test summary info ===\n{}\n=== 1 {} in 0.05s ===\n"
    asserted = header.format(
        "FAILURES", "    def test_sum():\n>       assert total() == 3\nE       assert 4 == 3\nE        + where"
    )
    skipped = header.format("ERRORS", "Using pytest.skip outside of a test is not allowed.")
    runs = (
        (asserted + summary.format("", "failed"), "1 failed in 0.05s; assert 4 == 3"),
        (
            skipped + summary.format("ERROR test_sum.py", "error"),
            "1 error in 0.05s; Using pytest.skip outside of a test is not allowed.",
        ),
    )
    for printed, told in runs:
        assert said(printed.replace("\n", end)) == told


def test_a_list_of_tools_is_told_by_their_names():
    tool = "- server_name: datagov\n  tool_name: {}\n  tool_description: Search for packages\n  inputschema: '{{}}'\n"
    printed = "success: true\nmatched_tools:\n" + "".join(map(tool.format, ("package_search", "package_show")))
    assert said(printed) == "server_name: datagov; tool_name: package_search, package_show"


def test_furniture_is_no_outcome():
    meter = "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    meter += "                                 Dload  Upload   Total   Spent    Left  Speed\n"
    meter += "100  1055    0   888  100   167   1000   188 --:--:-- --:--:-- --:--:--  1189\n"
    page = (
        "<html>\n<body>\n<p>Your name is test, and you are 123 years old</p>\n"
        + "<hr />\n" * 30
        + "</body>\n</html>\n"
    )
    assert said(meter + page) == "<p>Your name is test, and you are 123 years old</p>"


def test_of_a_page_the_line_that_says_what_was_asked_is_told():
    asked = Turn("assistant", "", {}, calls=(ToolCall("c", "search", '{"query": "year company went public"}'),))
    filler = "".join(f"A link to something else, number {n}\n" for n in range(60))
    printed = f"Results\n{filler}The company went public in the year 2020.\n{filler}"
    assert "The company went public in the year 2020." in said(printed, asked)


def test_records_are_told_with_their_keys_once():
    flights = [{"origin": "MSP", "flight": f"HAT{n}"} for n in range(100, 103)]
    assert said(json.dumps(flights)) == "[(origin=MSP, flight=HAT100); MSP HAT101; MSP HAT102]"


def test_what_is_said_again_and_again_is_no_reply():
    speaks = [Turn("assistant", "Next speaker: the web surfer", {}), Turn("assistant", "It opened in 1912.", {})]
    text = extract(SummaryRequest("t", (), (speaks[0], speaks[1], speaks[0]), 400, len))
    assert "It opened in 1912." in text
    assert "Next speaker" not in text
