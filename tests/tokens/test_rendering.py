"""Rendered as transformers does it, or by transformers."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import CHAT_TOKENIZERS, load_cached

from trajcompress.json_values import is_plain
from trajcompress.tokens.rendering import Renderer

SHOWS = (
    "{{ bos_token }}{{ eos_token }}{{ documents }}{{ add_generation_prompt }}{{ tools | tojson }}"
    "{% for message in messages %}{{ message | tojson }}{% endfor %}"
)
USER = {"role": "user", "content": "go"}


class Name(StrEnum):
    USER = "user"


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
odd = st.sampled_from([Name.USER, ("a", 1), b"x", datetime(2025, 1, 1, tzinfo=UTC), 1j])
values = st.recursive(
    scalars | odd,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=4,
)
fields = st.sampled_from(["content", "reasoning", "reasoning_content", "thinking", "tool_calls", "name", "x"])
messages = st.builds(
    lambda role, more: {"role": role, **more},
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.dictionaries(fields, values, max_size=4),
)
talk = st.builds(
    lambda role, text, more: {"role": role, "content": text, **more},
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.text(max_size=9) | st.sampled_from(["<think>a</think>b", "<tool_response>x</tool_response>"]),
    st.fixed_dictionaries(
        {},
        optional={
            "reasoning_content": st.none() | st.text(max_size=3),
            "tool_calls": st.lists(
                st.builds(
                    lambda given: {"type": "function", "function": {"name": "f", "arguments": given}},
                    st.text(max_size=4) | st.dictionaries(st.text(max_size=3), scalars, max_size=2),
                ),
                max_size=2,
            ),
        },
    ),
)
tools = st.none() | st.lists(st.dictionaries(st.text(max_size=3), values, max_size=3), max_size=2)


@cache
def shows_all():
    hf = bare_tokenizer()
    return hf, Renderer(hf)


def bare_tokenizer():
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    hf = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), bos_token="<s>")
    hf.chat_template = SHOWS
    return hf


def outcome(render, *args, **kwargs):
    try:
        return render(*args, **kwargs)
    except Exception as error:  # noqa: BLE001  whatever a template raises
        return type(error), str(error)


def check(hf, renderer, messages, tools):
    expected = outcome(hf.apply_chat_template, messages, tools=tools, tokenize=False)
    assert outcome(renderer.render, messages, tools) == expected


@pytest.fixture(scope="module")
def renderers():
    return [(load_cached(name).hf, Renderer(load_cached(name).hf)) for name in CHAT_TOKENIZERS]


@settings(deadline=None, max_examples=60)
@given(messages=st.lists(messages, max_size=4), tools=tools)
def test_a_template_sees_of_any_values_what_transformers_shows_it(messages, tools):
    check(*shows_all(), messages, tools)


@settings(deadline=None, max_examples=60)
@given(messages=st.lists(talk, max_size=6), tools=tools)
def test_real_templates_render_any_talk_as_transformers_does(renderers, messages, tools):
    for hf, renderer in renderers:
        check(hf, renderer, messages, tools)


def test_what_is_not_plain_is_told():
    deep: object = "x"
    for _ in range(100):
        deep = [deep]
    assert is_plain([USER, {"a": [{"b": None}, [1.5, [True]]]}, {}])
    for value in (Name.USER, ("a",), b"x", {1, 2}, deep, {("a",): 1}, {Name.USER: 1}):
        assert not is_plain([{"x": [{"y": value}]}])


def test_the_shortcut_is_taken_where_transformers_shows_the_same(renderers):
    for hf, renderer in renderers:
        hf.apply_chat_template, kept = None, hf.apply_chat_template
        try:
            assert "go" in renderer.render([USER], None)
        finally:
            hf.apply_chat_template = kept


def test_a_tokenizer_that_renders_in_its_own_way_does_so():
    hf = bare_tokenizer()
    hf.__class__ = type("Own", (type(hf),), {"apply_chat_template": lambda *_, **__: "own"})
    assert Renderer(hf).render([USER], None) == "own"


def test_a_transformers_that_shows_templates_something_else_is_left_to_it(monkeypatch):
    from transformers.utils import chat_template_utils as utils

    monkeypatch.setattr(utils, "_alias_reasoning_fields", lambda chat: chat)
    hf, message = bare_tokenizer(), USER | {"reasoning": "hm"}
    assert Renderer(hf).render([message], []) == hf.apply_chat_template([message], tools=[], tokenize=False)
