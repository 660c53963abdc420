from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import CHAT_TOKENIZERS, load_cached

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens.counter import IMAGE_TOKENS, TokenCounter
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.tokens.turn_sizes import turn_sizes

LOOP = "{% for message in messages %}<|end|>{{ message.role }}\n{{ message.content }}{% endfor %}"
TOOLS = [{"type": "function", "function": {"name": "ls", "description": "list files " * 100, "parameters": {}}}]


def said(role: str, content: str, **more) -> dict:
    return {"role": role, "content": content, **more}


@pytest.fixture
def measured(make_tokenizer):
    """Return the sizes of turns, the tokens of the row, and those of each turn's own text."""

    def measure(template, *messages, **columns):
        counter = TokenCounter(load_tokenizer(make_tokenizer(template)))
        trajectory = read_trajectory({"messages": list(messages), **columns}, "x", FormatOptions())
        count = counter.count(trajectory)
        return list(turn_sizes(trajectory, counter, count)), count.tokens, counter.count_turns(trajectory.turns)

    return measure


TALK = (said("user", "go on, please"), said("assistant", "well, no"), said("user", "why?"))


def test_where_nothing_is_rendered_a_turn_is_its_text(measured):
    sizes, tokens, own = measured(None, *TALK)
    assert sizes == own
    assert sum(sizes) == tokens


def test_a_turn_has_what_the_template_writes_around_it(measured):
    sizes, tokens, own = measured(LOOP, *TALK)
    assert sum(sizes) == tokens
    assert all(size > text for size, text in zip(sizes, own, strict=True))


def test_what_the_template_leaves_out_is_of_no_size(measured):
    thinking = said("assistant", "well, no", reasoning_content="hm " * 1000)
    assert measured(LOOP, TALK[0], thinking, TALK[2])[0] == measured(LOOP, *TALK)[0]


def test_an_image_is_part_of_its_turn(measured):
    parts = [{"type": "text", "text": "why?"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    assert measured(LOOP, *TALK[:2], said("user", parts))[0][2] == measured(LOOP, *TALK)[0][2] + IMAGE_TOKENS


def test_tools_are_of_no_turn(measured):
    around = "{{ tools | tojson if tools }}"
    for template in (LOOP.replace("\n{{", f"\n{around * 2}{{{{"), around + LOOP, LOOP + around):
        sizes, tokens, own = measured(template, *TALK, tools=TOOLS)
        assert max(size - text for size, text in zip(sizes, own, strict=True)) <= 64
        assert tokens > sum(sizes) + 300


def test_turns_that_share_a_piece_are_counted_by_their_text(measured):
    template = LOOP.replace("<|end|>", "{% if message.role != 'tool' %}<|end|>{% endif %}")
    results = [said("tool", "one " * 50, tool_call_id="a"), said("tool", "two " * 90, tool_call_id="b")]
    sizes, tokens, own = measured(template, *TALK[:2], *results, TALK[2])
    assert all(text <= size <= text + 64 for size, text in zip(sizes, own, strict=True))
    assert sum(sizes) <= tokens


def test_turns_that_are_not_found_are_counted_by_their_text(measured):
    template = LOOP.replace("message.content }}", "message.content | tojson }}")
    sizes, _, own = measured(template, said("user", 'a "b"\n' * 20), *TALK[1:])
    assert all(text <= size <= text + 64 for size, text in zip(sizes, own, strict=True))


@pytest.mark.parametrize("name", CHAT_TOKENIZERS)
@settings(deadline=None, max_examples=50)
@given(texts=st.lists(st.text(max_size=30) | st.sampled_from(["x", "x x", "<|im_start|>", "\ufeff"]), max_size=8))
def test_any_talk_has_sizes_that_about_add_up(name, texts):
    counter = TokenCounter(load_cached(name))
    messages = [said("assistant" if n % 2 else "user", text) for n, text in enumerate(["go", *texts])]
    trajectory = read_trajectory({"messages": messages}, "x", FormatOptions())
    count = counter.count(trajectory)
    sizes, own = turn_sizes(trajectory, counter, count), counter.count_turns(trajectory.turns)
    assert len(sizes) == len(messages)
    assert min(sizes) >= 0
    assert sum(sizes) <= max(count.tokens, sum(own))
