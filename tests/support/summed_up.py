"""A region of a coding agent, and the request for a summary of it."""

from __future__ import annotations

import json
import re

from trajcompress.summarize.base import SummaryRequest
from trajcompress.transcript.trajectory import ToolCall, Turn

TRACEBACK = """Traceback (most recent call last):
  File "/repo/tests/run.py", line 3, in <module>
    main()
  File "/repo/src/json/decoder.py", line 355, in raw_decode
    raise JSONDecodeError("Expecting value", s, err.value) from None
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"""
UNITTEST = "....F\n" + "-" * 70 + "\nRan 5 tests in 0.003s\n\nFAILED (failures=1)"


def words(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text))


def say(role: str, text: str, **more) -> Turn:
    return Turn(role, text, {}, **more)


def call(number: int, name: str, text: str = "", **arguments) -> Turn:
    return say("assistant", text, calls=(ToolCall(f"c{number}", name, json.dumps(arguments, ensure_ascii=False)),))


def result(number: int, text: str) -> Turn:
    return say("tool", text, answers=(f"c{number}",))


HEAD = (
    say("system", "You are a coding agent."),
    say("user", "Fix the decoder so that trailing commas are accepted."),
)
REGION = (
    call(1, "read_file", "Let me look at the decoder.", path="src/json/decoder.py", start_line=1, end_line=120),
    result(1, "\n".join(f"{n}\tline {n} of the file" for n in range(1, 121))),
    call(2, "bash", command="cd /repo && grep -rn raw_decode src"),
    result(
        2,
        "src/json/decoder.py:341:    obj, end = self.raw_decode(s)\nsrc/json/decoder.py:344:    def raw_decode(s)\n"
        * 2,
    ),
    call(3, "bash", command="python tests/run.py"),
    result(3, TRACEBACK),
    call(
        4,
        "str_replace_editor",
        "The issue is that JSONArray rejects a comma before the bracket, so we should skip it in scan_once.",
        command="str_replace",
        path="src/json/decoder.py",
        old_str="    end += 1\n",
        new_str="    end += 1\n    if s[end] == ']': break\n",
    ),
    result(4, "The file src/json/decoder.py has been edited."),
    call(5, "run_tests", path="tests"),
    result(5, UNITTEST),
    call(6, "get_ticket", ticket_id="TCK-48213"),
    result(
        6,
        json.dumps({"ticket_id": "TCK-48213", "assignee": "maya_lin_77", "budget": 1250.5, "labels": ["json", "p1"]}),
    ),
    say("assistant", "Next, I need to update test_trailing_comma in tests/test_decode.py."),
)


def ask(region=REGION, budget=750, count=words, head=HEAD) -> SummaryRequest:
    return SummaryRequest("t1", tuple(head), tuple(region), budget, count)


def section(text: str, name: str) -> str:
    """Return the lines of a section, from wherever it goes on."""
    return "".join(re.findall(rf"^{name}:\n((?:- .*\n?)+)", text, re.MULTILINE))
