"""What a result says once as text and once as structured content is said once."""

from __future__ import annotations

import json

import pytest

from trajcompress.compaction.text.copies import without_copy

STATIONS = [{"id": number, "name": f"Stop “{number}”", "open": None, "at": [1.5, 2]} for number in range(12)]
TEXT = json.dumps({"stations": STATIONS}, ensure_ascii=False, indent=2)


def answer(structured: object, text: str = TEXT) -> str:
    content = [{"type": "text", "text": text}]
    return json.dumps({"content": content, "structuredContent": structured, "isError": False}, ensure_ascii=False)


@pytest.mark.parametrize("structured", [{"stations": STATIONS}, {"result": TEXT}, {"result": {"stations": STATIONS}}])
def test_structured_content_that_says_the_same_goes_and_json_stays_json(structured: object):
    whole = answer(structured)
    shorter = json.loads(without_copy(whole))
    assert shorter["structuredContent"].startswith("[… the same again, ")
    assert {**shorter, "structuredContent": structured} == json.loads(whole)


def test_it_goes_within_a_string_and_where_its_end_was_cut_off():
    whole = answer({"stations": STATIONS})
    printed = f"[TextContent(type='text', text={json.dumps(whole, ensure_ascii=False)})]"
    for text in (printed, whole[:-100]):
        shorter = without_copy(text)
        assert "[… the same again, " in shorter
        assert shorter.endswith(text[-20:] if text is printed else ' elided …]"')
        assert shorter.startswith(text[: text.index("structuredContent")])


def test_it_goes_where_json_in_a_string_stands_in_lines():
    said = json.loads(answer({"result": TEXT}))
    said["content"][0]["annotations"] = None
    whole = json.dumps(said, indent=2, ensure_ascii=False)
    printed = f"[TextContent(type='text', text={json.dumps(whole, ensure_ascii=False)})]"
    shorter = without_copy(printed)
    assert "[… the same again, " in shorter
    inner = json.loads(json.loads(shorter[len("[TextContent(type='text', text=") : -len(")]")]))
    assert inner["content"][0]["text"] == TEXT


def test_content_that_says_something_else_or_little_stays():
    for structured in ({"stations": STATIONS[::-1]}, {"stations": [*STATIONS, {"id": 12}]}, {"count": 12}):
        assert without_copy(answer(structured)) == answer(structured)


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
@pytest.mark.parametrize("piece", ['"structuredContent": {', "{", "\\", '\\"', 'structuredContent"'])
def test_a_long_text_of_any_shape_is_read_at_once(piece: str):
    without_copy('"structuredContent": {' + piece * (1_000_000 // len(piece)))
