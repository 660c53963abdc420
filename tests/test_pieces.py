from __future__ import annotations

import json
from functools import cache
from itertools import islice

import pytest
from conftest import SHARED_TOKENIZERS, load_cached
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import source_of

from trajcompress.dataset.readers import read_rows
from trajcompress.tokens.chat_template import ChatTemplate
from trajcompress.tokens.engines import ReferenceEngine
from trajcompress.tokens.pieces import cut, find_delimiter
from trajcompress.tokens.probe import PROBE
from trajcompress.tokens.tokenizer import load_tokenizer

AWKWARD = (*PROBE, "\u0301", " ", "\n", "▁", "\u00a0", "<", "|>", "x", "é", "</", "[", "s>")


def marked(token: str, **more) -> dict:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"content": token, **flags, **more}


def template_with(*tokens: str) -> str:
    """A template that writes these around each message; the first of them is what it repeats first."""
    around = tokens[0] + "{{ message.role }} {{ message.content }}" + "".join(tokens[1:])
    return "{% for message in messages %}" + around + "{% endfor %}"


@pytest.fixture
def delimiter_of(make_tokenizer):
    def find(*tokens: dict, template: str | None = None, **rules) -> str | None:
        added = [{"id": 400 + number, **token} for number, token in enumerate(tokens)]
        text = template or template_with(tokens[0]["content"])
        loaded = load_tokenizer(make_tokenizer(text, added_tokens=added, **rules))
        assert loaded.hf.backend_tokenizer.token_to_id(tokens[0]["content"]) is not None
        return find_delimiter(loaded.hf, loaded.engine, ChatTemplate(loaded.hf))

    return find


def test_text_is_cut_in_front_of_each_delimiter():
    assert cut("<s>a<s><s>b", "<s>") == ["<s>a", "<s>", "<s>b"]
    assert cut("x<s>a", "<s>") == ["x", "<s>a"]
    assert cut("x", "<s>") == cut("x", None) == ["x"]
    assert cut("", "<s>") == [""]


@pytest.mark.parametrize(("name", "delimiter"), [("qwen3", "<|im_start|>"), ("smollm2", "<|im_start|>")])
def test_messages_are_cut_at_their_start(name, delimiter):
    loaded = load_cached(name)
    assert find_delimiter(loaded.hf, loaded.engine, ChatTemplate(loaded.hf)) == delimiter


@pytest.mark.parametrize("name", SHARED_TOKENIZERS)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_any_text_counts_as_its_pieces_do(name, data):
    loaded = load_cached(name)
    added = [token.content for token in loaded.hf.added_tokens_decoder.values() if token.special][:40]
    delimiter = find_in(name, data.draw(st.sampled_from(added)))
    part = st.sampled_from(AWKWARD) | st.sampled_from(added) | st.text(max_size=8)
    text = "".join(data.draw(st.lists(part | st.just(delimiter), max_size=12)))
    for engine in (loaded.engine, ReferenceEngine(loaded.hf.backend_tokenizer)):
        assert sum(engine.count(cut(text, delimiter))) == engine.count([text])[0]


@cache
def find_in(name: str, token: str) -> str:
    """Return the token where texts may be cut in front of it, as in all of these tokenizers."""
    loaded = load_cached(name)

    class Repeats:
        def sample(self) -> str:
            return token * 2

    found = find_delimiter(loaded.hf, loaded.engine, Repeats())
    assert found == token
    return found


@pytest.mark.parametrize("name", ["qwen3", "deepseek-v3", "smollm2"])
@pytest.mark.parametrize("file", ["swe-agent-demos", "intercode", "webdancer", "tau-bench-airline", "toolbench"])
def test_real_rows_count_as_their_pieces_do(shared_data, name, file):
    loaded = load_cached(name)
    delimiter = find_delimiter(loaded.hf, loaded.engine, ChatTemplate(loaded.hf))
    for row in islice(read_rows(source_of(shared_data / f"{file}.jsonl")), 8):
        text = delimiter.join(json.dumps(value, ensure_ascii=False) for value in row.value.values())
        assert sum(loaded.engine.count(cut(text, delimiter))) == loaded.engine.count([text])[0]


@pytest.mark.parametrize(
    "normalizer",
    [
        None,
        {"type": "NFC"},
        {"type": "Prepend", "prepend": "Ġ"},
        {"type": "Strip", "strip_left": True, "strip_right": True},
    ],
)
@pytest.mark.parametrize(
    "pre_tokenizer",
    [
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        {"type": "Metaspace", "replacement": "Ġ", "prepend_scheme": "first", "split": False},
        {"type": "Metaspace", "replacement": "Ġ", "prepend_scheme": "always", "split": True},
    ],
)
def test_whatever_is_done_to_text_is_done_to_each_piece(delimiter_of, normalizer, pre_tokenizer):
    assert delimiter_of(marked("<s>"), normalizer=normalizer, pre_tokenizer=pre_tokenizer) == "<s>"


@pytest.mark.parametrize(
    "tokens",
    [
        pytest.param([marked("<s>", special=False)], id="text in some uses"),
        pytest.param([marked("<s>", normalized=True)], id="found in normalised text"),
        pytest.param([marked("<s>", lstrip=True)], id="takes the space before it"),
        pytest.param([marked("<s>", single_word=True)], id="depends on what is before it"),
        pytest.param([marked("s>")], id="may end a word"),
        pytest.param([marked("<s>"), marked("x<")], id="another may end in it"),
        pytest.param([marked("<s>"), marked("a<s>b")], id="another holds it"),
        pytest.param([marked("<s>"), marked("<s>x")], id="another is longer"),
        pytest.param([marked("<s<")], id="may overlap itself"),
    ],
)
def test_where_a_cut_might_change_the_count_nothing_is_cut(delimiter_of, tokens):
    assert delimiter_of(*tokens) is None


def test_the_next_best_is_taken(delimiter_of):
    template = template_with("<a>", "<b>")
    assert delimiter_of(marked("<a>"), marked("<b>"), template=template) == "<a>"
    assert delimiter_of(marked("<a>", lstrip=True), marked("<b>"), template=template) == "<b>"


def test_a_template_that_refuses_all_is_not_cut(delimiter_of):
    assert delimiter_of(marked("<s>"), template="{{ raise_exception('no') }}<s><s>") is None
