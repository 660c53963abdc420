"""Forms of drawn rows: made again they stay, and nothing that was said is lost."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from forming import OPTIONS, TOOL
from hypothesis import given, settings
from hypothesis import strategies as st

from trajcompress.formats.adapter import read_trajectory
from trajcompress.forms.targets import form_for
from trajcompress.settings.choices import Target

TRAINERS = [target for target in get_args(Target) if target != "template"]
TEXT = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=8)
WORDS = st.one_of(TEXT, st.none(), TEXT.map(lambda text: [{"type": "text", "text": text}]))
ARGUMENTS = st.dictionaries(TEXT, st.one_of(TEXT, st.integers(), st.none()), max_size=2)
SHAPES = st.sampled_from(["standard", "object", "flat", "legacy"])


@st.composite
def rounds(draw):
    """A request, and calls of several shapes with their results, then an answer."""
    turns = [{"role": draw(st.sampled_from(["user", "human"])), "content": draw(WORDS) or "go"}]
    for number in range(draw(st.integers(0, 3))):
        arguments, shape = draw(ARGUMENTS), draw(SHAPES)
        call_id = draw(st.sampled_from([f"call_{number}", f"abcdefgh{number}"]))
        function = {"name": "act", "arguments": arguments if shape == "object" else json.dumps(arguments)}
        calls = {
            "legacy": {"function_call": function},
            "flat": {"tool_calls": [{"name": "act", "arguments": arguments}]},
        }.get(shape, {"tool_calls": [{"id": call_id, "type": "function", "function": function}]})
        turns.append({"role": "assistant", "content": draw(WORDS), **calls})
        result = {"role": "function", "name": "act"} if shape == "legacy" else {"role": "tool"}
        if shape in {"standard", "object"}:
            result["tool_call_id"] = call_id
        turns.append({**result, "content": draw(TEXT)})
    return [*turns, {"role": "assistant", "content": draw(TEXT)}]


@pytest.mark.parametrize("target", TRAINERS)
@settings(deadline=None)
@given(messages=rounds(), tools=st.sampled_from([None, [TOOL], json.dumps([TOOL])]))
def test_a_form_made_again_is_itself_and_says_all_that_was_said(target, messages, tools):
    row = {"messages": messages, "id": 7} | ({"tools": tools} if tools else {})
    trajectory = read_trajectory(row, "r", OPTIONS)
    form = form_for(target, OPTIONS)
    once = form.of(trajectory)
    if once.formed and once.formed.unfit:
        assert once.row is row
        return
    assert form.of(once) is once or form.of(once).formed is None
    assert once.row["id"] == 7
    written = "\n".join(turn.text for turn in once.turns)
    for turn in trajectory.turns:
        assert turn.text in written
    before = [(call.name, json.loads(call.arguments)) for turn in trajectory.turns for call in turn.calls]
    after = [(call.name, json.loads(call.arguments)) for turn in once.turns for call in turn.calls]
    assert after == before
