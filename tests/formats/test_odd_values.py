"""Values where a format has none, or others: the row is read, counted and checked all the same."""

from __future__ import annotations

import json

import pytest
from commands import run_here

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.outcomes.steps import steps_of

ODD = {"a": 1}
DONE = {"role": "assistant", "content": "Yes."}
SAID = [{"role": "user", "content": "Hi."}, DONE]
NONE = {"type": "object", "properties": {}}
CALL = {"id": "1", "type": ODD, "function": {"name": "f", "arguments": "{}"}}
ROWS = {
    "part": {"messages": [{"role": "user", "content": [{"type": ODD, "text": "Hi."}]}, DONE]},
    "result": {
        "messages": [
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "1", "content": [{"type": ODD}]},
            DONE,
        ]
    },
    "schema": {
        "tools": [
            {"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"type": [ODD]}}}}}
        ],
        "messages": SAID,
    },
    "tool without a name": {
        "tools": [{"type": "function", "function": {"description": "It looks."}}],
        "messages": SAID,
    },
    "tool described in a list": {
        "tools": [{"type": "function", "function": {"name": "f", "description": ["It looks."], "parameters": NONE}}],
        "messages": SAID,
    },
    "kind": {"kind": ["chat"], "segment": 1, "messages": SAID},
}


@pytest.mark.parametrize("target", ["trl", "axolotl", "llama-factory", "verl", "openai", "mistral"])
@pytest.mark.parametrize("name", ROWS)
def test_an_object_where_a_name_stands_stops_neither_a_check_nor_a_run(tmp_path, name, target):
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROWS[name]) + "\n")
    checked = run_here("check", "rows.jsonl", "--for", target, cwd=tmp_path)
    assert "Traceback" not in checked.stderr
    assert checked.code in {0, 1}
    mode = ["--mode", "segments"] if name == "kind" else []
    run_here("compress", "rows.jsonl", "--output", "out", "--for", target, *mode, cwd=tmp_path)
    assert "internal_error" not in (tmp_path / "out" / "summary.json").read_text()


def test_a_result_without_content_takes_no_other_results_place():
    asked = [
        {"type": "tool_use", "id": str(n), "name": "bash", "input": {"command": f"make {what}"}}
        for n, what in enumerate(("deploy", "test"))
    ]
    answered = [
        {"type": "tool_result", "tool_use_id": "0"},
        {"type": "tool_result", "tool_use_id": "1", "content": "3 tests failed"},
    ]
    messages = [{"role": "user", "content": "Do."}, {"role": "assistant", "content": asked}]
    row = {"messages": [*messages, {"role": "user", "content": answered}, DONE]}
    steps = steps_of(read_trajectory(row, "r", FormatOptions()).turns)
    assert [(step.action.target, step.result) for step in steps] == [
        ("make deploy", ""),
        ("make test", "3 tests failed"),
    ]
