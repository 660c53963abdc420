from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.tokens.tools_json import remembering

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=6,
)
tool = st.fixed_dictionaries({"type": st.just("function"), "function": values})


@given(tools=st.lists(tool, max_size=3))
def test_tools_are_written_as_they_are_however_often(tools):
    once = remembering(json.dumps)
    assert [once(each) for each in tools * 2] == [json.dumps(each) for each in tools * 2]
    assert once({"function": {1: (2, {})}}, indent=1) == json.dumps({"function": {1: (2, {})}}, indent=1)


def test_what_is_no_json_is_left_to_who_writes_it():
    with pytest.raises(TypeError, match="not JSON serializable"):
        remembering(json.dumps)({"function": object()})
    assert remembering(json.dumps)({"function": True}) == json.dumps({"function": True})
    assert remembering(json.dumps)({"function": 1}) == json.dumps({"function": 1})
