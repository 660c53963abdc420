from __future__ import annotations

import pytest

from trajcompress.formats.content import read_call, read_content
from trajcompress.transcript.trajectory import ToolCall

BASE64 = "iVBORw0KGgoAAAANSUhEUg" * 40


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("hi", "hi"),
        (5, "5"),
        (True, "true"),
        ([], ""),
        (["a", "b"], "a\nb"),
        ({"type": "text", "text": "hi"}, "hi"),
        ([{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb"),
        ([{"type": "text", "value": "a"}, {"text": "b"}], "a\nb"),
        ([{"type": "text", "text": None, "value": "a", "image_url": None}], "a"),
        ([{"type": "text", "text": "a"}, None, "b"], "a\nb"),
        ([{"type": "odd", "n": 1}], '{"type": "odd", "n": 1}'),
        ([{"type": ["unhashable"]}], '{"type": ["unhashable"]}'),
        ({}, "{}"),
    ],
)
def test_text_of_content_in_any_shape(value, text):
    assert read_content(value).text == text


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BASE64}"}},
        {"type": "input_image", "image_url": f"data:image/png;base64,{BASE64}"},
        {"type": "image", "source": {"type": "base64", "data": BASE64}},
        {"type": "image", "image": {"bytes": b"\x89PNG", "path": None}},
        {"image": {"format": "png", "source": {"bytes": BASE64}}},
    ],
)
def test_an_image_is_counted_and_never_text(part):
    content = read_content([{"type": "text", "text": "see"}, part])
    assert (content.images, content.text) == (1, "see")


def test_a_payload_in_a_part_that_nobody_knows_is_no_text():
    parts = [{"type": "audio", "data": f"data:audio/wav;base64,{BASE64}=="}, {"type": "blob", "data": b"\x00" * 999}]
    assert read_content(parts).text == '{"type": "audio", "data": "<payload>"}\n{"type": "blob", "data": "<payload>"}'


def test_base64_in_plain_text_is_what_the_trainer_sees_and_stays():
    assert read_content(BASE64).text == BASE64


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_use", "id": "c1", "name": "ls", "input": {"path": "."}},
        {"toolUse": {"toolUseId": "c1", "name": "ls", "input": {"path": "."}}},
        {"type": None, "text": None, "toolUse": {"toolUseId": "c1", "name": "ls", "input": {"path": "."}}},
    ],
)
def test_calls_in_parts(part):
    content = read_content([part])
    assert content.calls == [ToolCall("c1", "ls", '{"path": "."}')]
    assert content.text == ""


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_result", "tool_use_id": "c1", "content": "a.txt"},
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a.txt"}]},
        {"toolResult": {"toolUseId": "c1", "content": [{"text": "a.txt"}]}},
    ],
)
def test_results_in_parts(part):
    content = read_content([part])
    assert (content.answers, content.text) == (["c1"], "a.txt")


@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "reasoning", "text": "hm"},
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "x"}}},
    ],
)
def test_reasoning_in_parts_is_no_text(part):
    content = read_content([part, {"type": "text", "text": "so"}])
    assert (content.reasoning, content.text) == (["hm"], "so")


@pytest.mark.parametrize(
    ("value", "call"),
    [
        ({"name": "ls", "arguments": {"path": "."}}, ToolCall(None, "ls", '{"path": "."}')),
        ({"id": "c1", "name": "ls", "arguments": '{"path": "."}'}, ToolCall("c1", "ls", '{"path": "."}')),
        ({"id": "c1", "function": {"name": "ls", "arguments": "{}"}, "type": "function"}, ToolCall("c1", "ls", "{}")),
        ('{"name": "ls", "parameters": {"path": "."}}', ToolCall(None, "ls", '{"path": "."}')),
        ({"name": "ls", "arguments": None, "input": None}, ToolCall(None, "ls", "{}")),
        ({"name": "ls", "arguments": "not { json"}, ToolCall(None, "ls", "not { json")),
        ("not json", ToolCall(None, "", "not json")),
        ("[" * 200_000, ToolCall(None, "", "[" * 200_000)),
        (5, ToolCall(None, "", "5")),
    ],
)
def test_a_call_in_any_shape(value, call):
    assert read_call(value) == [call]
    assert read_call([value, value]) == [call, call]


def test_a_part_that_only_marks_a_cache_says_nothing():
    content = read_content([{"text": "so"}, {"cachePoint": {"type": "default"}}])
    assert content.text == "so"
