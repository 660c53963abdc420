"""Calls as models write them between tokens, tags and labels are read with their names and arguments."""

from __future__ import annotations

import json

import pytest

from trajcompress.transcript.observations import read_observations
from trajcompress.transcript.text_protocols.actions import find_actions
from trajcompress.transcript.text_protocols.observation_parts import in_observation
from trajcompress.transcript.trajectory import Turn

LS = {"path": "src", "depth": 2}
TWO = [("ls", LS), ("cat", {"path": "a.py"})]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('I look.\n<|python_tag|>{"name": "ls", "parameters": {"path": "src", "depth": 2}}<|eom_id|>', [("ls", LS)]),
        (
            (
                '<|python_tag|>{"name": "ls", "parameters": {"path": "src", "depth": 2}}; '
                '{"name": "cat", "parameters": {"path": "a.py"}}<|eot_id|>'
            ),
            TWO,
        ),
        ("<|python_tag|>print(2 + 3)", [("python", {"code": "print(2 + 3)"})]),
        ('<|python_start|>{"name": "cat", "parameters": {"path": "a.py"}}<|python_end|>', TWO[1:]),
        ('<function=ls>{"path": "src", "depth": 2}</function>', [("ls", LS)]),
        ("[ls(path='src', depth=2), cat(path='a.py')]", TWO),
        (
            (
                '[TOOL_CALLS] [{"name": "ls", "arguments": {"path": "src", "depth": 2}}, '
                '{"name": "cat", "arguments": {"path": "a.py"}}]</s>'
            ),
            TWO,
        ),
        ('[TOOL_CALLS]ls[ARGS]{"path": "src", "depth": 2}[TOOL_CALLS]cat[ARGS]{"path": "a.py"}</s>', TWO),
        ('[TOOL_CALLS]ls[CALL_ID]a1B2c3D4e[ARGS]{"path": "src", "depth": 2}', [("ls", LS)]),
        (
            (
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n"
                '{"path": "src", "depth": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>'
            ),
            [("ls", LS)],
        ),
        (
            (
                '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ls<｜tool▁sep｜>{"path": "src", "depth": 2}'
                '<｜tool▁call▁end｜><｜tool▁call▁begin｜>cat<｜tool▁sep｜>{"path": "a.py"}'
                "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
            ),
            TWO,
        ),
        (
            (
                '<｜DSML｜function_calls>\n<｜DSML｜invoke name="cat">\n<｜DSML｜parameter name="path" string="true">'
                "a.py</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"
            ),
            TWO[1:],
        ),
        (
            (
                '<|tool_calls_section_begin|><|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{"path": '
                '"src", "depth": 2}<|tool_call_end|><|tool_calls_section_end|>'
            ),
            [("ls", LS)],
        ),
        ('<|tool_call|>[{"name": "cat", "arguments": {"path": "a.py"}}]<|/tool_call|>', TWO[1:]),
        (
            (
                '<|START_ACTION|>[\n{"tool_call_id": "0", "tool_name": "cat", "parameters": {"path": "a.py"}}\n]'
                "<|END_ACTION|>"
            ),
            TWO[1:],
        ),
        (
            (
                "<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.ls "
                '<|constrain|>json<|message|>{"path": "src", "depth": 2}<|call|>'
            ),
            [("ls", LS)],
        ),
        ("I look.\n```tool_code\nprint(ls(path='src', depth=2))\n```", [("ls", LS)]),
        ("I look.\n<execute>\nls(path='src', depth=2)\n</execute>", [("ls", LS)]),
        ('Tool: ls\nTool Input: {"path": "src", "depth": 2}', [("ls", LS)]),
    ],
)
def test_a_call_is_read_as_its_model_writes_it(text, calls):
    acted = find_actions(text)
    assert acted is not None
    assert acted.sure == "named"
    assert [(call.name, json.loads(call.arguments)) for call in acted.calls] == calls


@pytest.mark.parametrize(
    "text",
    [
        "Mistral writes [TOOL_CALLS] before its calls, as you can see in its chat template.",
        "The token <|python_tag|> begins a call of Llama 3, and <|eom_id|> ends the message.",
        "[ls(path), cat(path)]",
        "Your list is [1, 2, 3].",
        "Use the tool: it takes an input.",
    ],
)
def test_who_speaks_of_such_tokens_calls_nothing(text):
    acted = find_actions(text)
    assert acted is None or acted.sure != "named"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("```tool_output\n", "\n```"),
        ("Tool response: ", ""),
        ("Tool result (ls): ", ""),
        ("[Execution output]\n", ""),
        ("[TOOL_RESULTS] ", "[/TOOL_RESULTS]"),
        ("", "///PROCESS-DONE:0:PROCESS-DONE///\n(Open file: n/a)\n(Current directory: /ctf)\nbash-$"),
        ("<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>", "<｜tool▁output▁end｜><｜tool▁outputs▁end｜>"),
        (
            "<function_results>\n<result>\n<tool_name>ls</tool_name>\n<stdout>\n",
            "\n</stdout>\n</result>\n</function_results>",
        ),
        ("<tool_result>\n<output>", "</output>\n</tool_result>"),
    ],
)
def test_what_a_protocol_puts_around_a_result_stays(before, behind):
    body = "a.py\nb.py"
    parts = in_observation(f"{before}{body}{behind}")
    assert parts == (len(before), len(before) + len(body), "")


def _row(label: str, replies: list[str]) -> list[Turn]:
    turns = [Turn("user", "What is the sum of the file?", {})]
    for reply in replies:
        turns += [
            Turn("assistant", "Let me see what it holds.\n\n```python\nprint(1)\n```", {}),
            Turn("user", f"{label}{reply}", {}),
        ]
    return turns


@pytest.mark.parametrize(
    ("text", "name", "given"),
    [
        ("Action: type [51] [a word] [1]", "type", "[51] [a word] [1]"),
        ("I will ```drag [1] [2]```", "drag", "[1] [2]"),
        ("Action: search[a [b] c]", "search", "a [b] c"),
        ("Action: search[a [b]", "search", "a [b"),
    ],
)
def test_arguments_with_brackets_of_their_own_keep_these(text, name, given):
    acted = find_actions(text)
    assert acted is not None
    assert [(call.name, call.arguments) for call in acted.calls] == [(name, given)]


def test_forms_of_observations_alone_are_enough_where_there_are_several():
    turns = [Turn("user", "Tidy up the notes.", {})]
    for number in range(3):
        turns += [
            Turn("assistant", f"<<<open note {number}>>>", {}),
            Turn("user", f"[open for 'note {number}'] Result:\nempty", {}),
        ]
    assert [index for index, turn in enumerate(read_observations(turns)) if turn.answers] == [2, 4, 6]
    assert not any(turn.answers for turn in read_observations(turns[:5]))


def test_what_begins_with_the_same_label_turn_after_turn_is_output():
    read = read_observations(_row("Output:\n```\n", ["1\n```", "2\n```", "3\n```"]))
    assert [index for index, turn in enumerate(read) if turn.answers] == [2, 4, 6]
    assert not any(turn.answers for turn in read_observations(_row("Output:\n", ["1", "thanks, and the other?"])))


@pytest.mark.parametrize(
    "labels",
    [("Action", "Action Input"), ("Action", "Action input"), ("ACTION", "ACTION INPUT"), ("action", "action_input")],
)
def test_an_input_is_read_however_its_label_is_written(labels):
    action, given = labels
    acted = find_actions(f"Thought: I ask.\n{action}: Relational DB\n{given}: goods below 10")
    assert acted is not None
    assert [(call.name, call.arguments) for call in acted.calls] == [("Relational DB", "goods below 10")]


@pytest.mark.parametrize(
    "text",
    [
        'Action:\n{"name": "ls", "arguments": {"path": "src", "depth": 2}',
        'Action: ls\nAction Input: {"path": "src", "depth": 2',
        "Action: ls\nAction Input: {'path': 'src', 'depth': 2}",
        "I call it.\n```python\n{'name': 'ls', 'parameters': {'path': 'src', 'depth': 2}}\n```",
    ],
)
def test_calls_that_models_write_without_the_last_bracket_or_as_python_are_read(text):
    acted = find_actions(text)
    assert acted is not None
    assert [(call.name, json.loads(call.arguments)) for call in acted.calls] == [("ls", LS)]


@pytest.mark.parametrize("given", ['{"path": "src', '{"path": ["src"}', '{"a": {"b": {"c": {"d": 1', "{'path': src}"])
def test_what_nobody_can_complete_for_certain_stays_as_it_is_written(given):
    acted = find_actions(f"Action: ls\nAction Input: {given}")
    assert acted is not None
    assert acted.calls[0].arguments == given
