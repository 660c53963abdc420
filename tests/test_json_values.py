from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.json_values import parse_json

_NUMBERS = st.sampled_from(["-0", "-0.0", "1e999", "NaN", "-Infinity", "1" * 30, "1" * 4301, "1e-400", "01", "1."])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)
_JSON_TEXTS = (
    st.builds(json.dumps, _JSON, ensure_ascii=st.booleans(), indent=st.sampled_from([None, 1]))
    | st.builds('{{"a": {}, "b": [{}], "a": 1}}'.format, _NUMBERS, _NUMBERS)
    | _NUMBERS
    | st.text(alphabet='{}[]":, \n\t\ufeff\x0c1aeé\\u', max_size=8)
)


def _read_by(parse, text):
    try:
        return repr(parse(text))
    except ValueError as refused:
        return f"refused: {refused}"


@given(_JSON_TEXTS)
def test_json_is_read_as_the_standard_library_reads_it(text):
    assert _read_by(parse_json, text) == _read_by(json.loads, text)
    assert _read_by(partial(parse_json, strict=False), text) == _read_by(json.JSONDecoder(strict=False).decode, text)


def test_control_characters_in_strings_are_read_only_where_that_is_asked_for():
    assert parse_json('["a\nb"]', strict=False) == ["a\nb"]
    with pytest.raises(ValueError, match="control character"):
        parse_json('["a\nb"]')


def test_json_nested_too_deep_is_no_json():
    with pytest.raises(ValueError, match="nested too deep"):
        parse_json("[" * 100_000)
