from __future__ import annotations

import json
import os
import signal
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from gigatoken import gigatoken_rs
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from reading import source_of
from shared import CHAT_TOKENIZERS, HAS_SHARED, SOURCES, TOKENIZERS, load_cached, rows_of

from trajcompress.dataset.readers import read_rows
from trajcompress.errors import EngineMismatchError, UncountableTextError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens.engines import (
    PROBE,
    FastEngine,
    FastokensEngine,
    GigatokenEngine,
    PythonEngine,
    ReferenceEngine,
    fast_engine,
)
from trajcompress.tokens.pool import PooledEngine, lines_add_up
from trajcompress.tokens.tokenizer import load_tokenizer

ALL_TOKENIZERS = [None, *TOKENIZERS]
FILES = {
    "made": ("speakers", "tags-in-text", "languages", "functions-sharegpt", "swe-agent"),
    "shared": ("pydantic-ai-cassettes", "webdancer", "functionchat-ko", "llamafactory-toolcall", "swe-agent-demos"),
}
FAST = [GigatokenEngine, FastokensEngine]
ODD = (
    "<|im_end|>",
    "<｜User｜>",
    "</s>",
    "[MASK]",
    "👍🏽",
    "e\u0301",
    "\u200b",
    "\r\n",
    "1234",
    "'ll",
    "中文",
    "\x00",
    " ",
)


def naive(tokenizer, texts) -> list[int]:
    return [len(tokenizer.hf.encode(text, add_special_tokens=False)) for text in texts]


def real_texts(source: str, per_file: int = 3) -> list[str]:
    texts = []
    for name in FILES[source]:
        rows = read_rows(source_of(rows_of(source) / f"{name}.jsonl"))
        for row, _ in zip(rows, range(per_file), strict=False):
            trajectory = read_trajectory(row.value, "x", FormatOptions())
            texts += [turn.text for turn in trajectory.turns]
    return texts


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", ALL_TOKENIZERS)
def test_counts_of_real_texts_are_the_tokenizers_own(name, source):
    tokenizer = load_cached(name)
    texts = real_texts(source)
    assert len(texts) > 100
    assert tokenizer.engine.count(texts) == naive(tokenizer, texts)


@pytest.mark.parametrize("name", ALL_TOKENIZERS)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@example(texts=["\U000323b0/A", "plain"])  # of Unicode 17: a letter to gigatoken, none to the tokenizer
@given(
    texts=st.lists(
        st.text(max_size=40) | st.lists(st.sampled_from(ODD) | st.text(max_size=6)).map("".join), max_size=5
    )
)
def test_counts_of_any_text_are_the_tokenizers_own(name, texts):
    tokenizer = load_cached(name)
    assert tokenizer.engine.count(texts) == naive(tokenizer, texts)


@pytest.mark.parametrize("name", ALL_TOKENIZERS)
def test_characters_that_a_later_unicode_gave_a_meaning_are_counted_as_the_tokenizer_does(name):
    tokenizer = load_cached(name)
    unassigned = [chr(code) for code in range(0x34000) if unicodedata.category(chr(code)) == "Cn"]
    texts = [f" {first}a/{second}1." for first, second in zip(unassigned[::8], unassigned[4::8], strict=False)]
    assert tokenizer.engine.count(texts) == naive(tokenizer, texts)
    if isinstance(tokenizer.engine, FastEngine):
        pieces = ["\n\U000323b0/A", "\nplain"]
        assert tokenizer.engine.count_pieces("".join(pieces), pieces, ["\n"]) == naive(tokenizer, pieces)


@pytest.mark.parametrize("name", ALL_TOKENIZERS)
def test_no_text_and_no_texts(name):
    assert load_cached(name).engine.count([]) == []
    assert load_cached(name).engine.count(["", ""]) == [0, 0]


@pytest.fixture
def engines(make_tokenizer):
    """One engine of each kind; all but the last count with the same tokenizer."""
    from transformers import ByT5Tokenizer

    tokenizer = load_tokenizer(make_tokenizer())
    reference = ReferenceEngine(tokenizer.hf.backend_tokenizer)
    definition = tokenizer.hf.backend_tokenizer.to_str()
    pooled = PooledEngine(definition, reference, 2)
    yield [
        reference,
        *(fast(definition, reference) for fast in FAST),
        pooled,
        PythonEngine(tokenizer.hf),
        PythonEngine(ByT5Tokenizer()),
    ]
    pooled.close()


@pytest.mark.parametrize("bad", ["\ud800", "ok\udfff", "x" * 20_000 + "\ud83d", "\udc00" + "y" * 20_000])
def test_a_lone_surrogate_is_flagged_by_every_engine_and_never_guessed(engines, bad):
    for engine in engines:
        with pytest.raises(UncountableTextError, match="lone surrogate at character"):
            engine.count(["fine", bad])
        assert engine.count(["fine"])[0] > 0


def test_engines_count_alike_from_many_threads_at_once(engines):
    groups = [[f"{text} {n}" * (1 + n % 50) for text in PROBE] for n in range(24)]
    expected = [engines[0].count(group) for group in groups]
    with ThreadPoolExecutor(8) as threads:
        for engine in engines[:5]:
            assert list(threads.map(engine.count, groups)) == expected


def other_definition(tokenizer, **changes) -> str:
    return json.dumps(json.loads(tokenizer.hf.backend_tokenizer.to_str()) | changes)


@pytest.mark.parametrize("fast", FAST)
def test_a_fast_engine_that_miscounts_the_probe_is_not_used(make_tokenizer, fast):
    tokenizer = load_tokenizer(make_tokenizer())
    definition = other_definition(tokenizer, added_tokens=[], normalizer={"type": "NFC"})
    merges_nothing = json.loads(definition)
    merges_nothing["model"]["merges"] = merges_nothing["model"]["merges"][:5]
    with pytest.raises(EngineMismatchError, match=f"{fast.name} counts"):
        fast(json.dumps(merges_nothing), ReferenceEngine(tokenizer.hf.backend_tokenizer))


@pytest.mark.parametrize("fast", FAST)
def test_a_fast_engine_that_miscounts_later_is_caught_by_the_audit(make_tokenizer, fast):
    tokenizer = load_tokenizer(make_tokenizer())
    # The same on the whole probe, another on a word that only this file has.
    added = {"id": 9999, "content": "frobnicate", "single_word": False, "lstrip": False, "rstrip": False}
    definition = json.loads(tokenizer.hf.backend_tokenizer.to_str())
    definition["added_tokens"].append(added | {"normalized": False, "special": False})
    reference = ReferenceEngine(tokenizer.hf.backend_tokenizer)
    engine = fast(json.dumps(definition), reference, audit_one_in=1)
    assert engine.count(["all is well"]) == reference.count(["all is well"])
    with pytest.raises(EngineMismatchError, match="frobnicate"):
        engine.count(["all is well", "frobnicate it"])


@pytest.mark.parametrize("fast", FAST)
def test_texts_that_begin_alike_are_not_audited_all_or_none(make_tokenizer, fast):
    tokenizer = load_tokenizer(make_tokenizer())
    asked = []

    class Counting(ReferenceEngine):
        def count(self, texts):
            asked.extend(texts)
            return super().count(texts)

    backend = tokenizer.hf.backend_tokenizer
    engine = fast(backend.to_str(), Counting(backend), audit_one_in=8)
    asked.clear()
    system = "You are a helpful assistant. " * 10
    engine.count([f"{system}{n}{' bye' * 20}" for n in range(10_000, 12_000)])
    engine.count([f"{system}Task {n}" for n in range(2000)])
    assert 100 < len(asked) < 2000


@pytest.mark.parametrize("fast", FAST)
def test_a_kind_that_a_fast_engine_does_not_know_is_said_so(make_tokenizer, fast):
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    tokenizer = load_tokenizer(make_tokenizer(pre_tokenizer=metaspace))
    assert isinstance(tokenizer.engine, ReferenceEngine)
    with pytest.raises(ValueError, match="nsupported"):
        fast(tokenizer.hf.backend_tokenizer.to_str(), tokenizer.engine)


def test_what_one_fast_engine_does_not_know_another_may(make_tokenizer):
    backend = load_tokenizer(make_tokenizer()).hf.backend_tokenizer
    definition = json.loads(backend.to_str())
    vocabulary = definition["model"]["vocab"]
    vocabulary["never said"] = vocabulary.pop("Ą")  # how U+0004 is spelled: SmolLM2 has no token for it, either
    text = json.dumps(definition)
    reference = ReferenceEngine(type(backend).from_str(text))
    with pytest.raises(ValueError, match="byte"):
        GigatokenEngine(text, reference)
    assert isinstance(fast_engine(text, reference), FastokensEngine)


@pytest.mark.parametrize("fast", FAST)
def test_where_no_engine_is_fast_and_right_it_is_said_why(make_tokenizer, fast, monkeypatch):
    backend = load_tokenizer(make_tokenizer()).hf.backend_tokenizer
    for engine in FAST:
        monkeypatch.setattr(engine, "_count", lambda self, texts: [7 if self.name == fast.name else 8] * len(texts))
    with pytest.raises(EngineMismatchError, match=r"counts [78] tokens, the tokenizer 0"):
        fast_engine(backend.to_str(), ReferenceEngine(backend))


def test_an_engine_that_forgets_its_words_counts_as_before_also_in_threads(make_tokenizer, monkeypatch):
    monkeypatch.setattr("trajcompress.tokens.engines._REMEMBERED_CHARS", 300)
    tokenizer = load_tokenizer(make_tokenizer())
    engine = GigatokenEngine(tokenizer.hf.backend_tokenizer.to_str(), tokenizer.engine)
    beside, load = [], gigatoken_rs.load_hf_json

    def load_alone(definition):
        beside.append(engine._encoder)
        return load(definition)

    monkeypatch.setattr(gigatoken_rs, "load_hf_json", load_alone)

    def counted(text):
        one = f"{text} as one"
        assert sum(engine.count_pieces(one, [one], [])) == engine.count([one])[0]
        return engine.count([text, f"{text} once more"])

    with ThreadPoolExecutor(3) as threads:
        counts = list(threads.map(counted, PROBE))
    assert counts == [naive(tokenizer, [text, f"{text} once more"]) for text in PROBE]
    assert 10 < len(beside) < len(PROBE) * 3
    assert set(beside) == {None}, "two at once would take twice the memory"


@pytest.mark.parametrize(
    ("name", "source"),
    [("unigram", "made"), ("wordpiece", "made")]
    + [(name, "shared") for name in ("mistral-v3", "minilm-bert") if HAS_SHARED],
)
def test_worker_processes_count_what_the_tokenizer_counts(name, source):
    tokenizer = load_cached(name)
    engine = PooledEngine(tokenizer.hf.backend_tokenizer.to_str(), tokenizer.engine, 2)
    texts = [*real_texts(source, per_file=1), *PROBE]
    groups = [texts[start : start + 20] for start in range(0, len(texts), 20)]
    with ThreadPoolExecutor(3) as threads:
        counts = list(threads.map(engine.count, groups))
    engine.close()
    assert [count for group in counts for count in group] == naive(tokenizer, texts)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    text=st.lists(st.sampled_from([*ODD, "\n", "\r\n", "[MASK]", "e\u0301", "\u0301"]) | st.text(max_size=6)).map(
        "".join
    )
)
@pytest.mark.parametrize("name", ["wordpiece", *(["minilm-bert"] if HAS_SHARED else [])])
def test_where_lines_are_counted_one_by_one_their_counts_add_up(name, text):
    reference = load_cached(name).engine
    assert lines_add_up(load_cached(name).hf.backend_tokenizer.to_str(), reference)
    assert reference.count([text]) == [sum(reference.count(text.split("\n")))]


@pytest.mark.parametrize("name", ["unigram", *CHAT_TOKENIZERS, *(["mistral-v3"] if HAS_SHARED else [])])
def test_lines_are_not_counted_one_by_one_where_tokens_reach_across_them(name):
    tokenizer = load_cached(name)
    reference = ReferenceEngine(tokenizer.hf.backend_tokenizer)
    assert not lines_add_up(tokenizer.hf.backend_tokenizer.to_str(), reference)


def test_a_worker_that_dies_costs_no_count(make_tokenizer):
    tokenizer = load_tokenizer(make_tokenizer(), engine="reference", workers=2)
    texts = [f"{number} word " * 5000 for number in range(5)]
    expected = naive(tokenizer, texts)
    assert tokenizer.engine.count(texts[:1]) == expected[:1]
    for worker in tokenizer.engine.workers:
        os.kill(worker, signal.SIGKILL)
    assert [tokenizer.engine.count([text])[0] for text in texts] == expected
    tokenizer.close()


def test_workers_take_nothing_from_the_working_folder_or_the_environment(make_tokenizer, tmp_path, monkeypatch):
    for name in ("json", "signal", "tokenizers", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("print('hello')\nraise SystemExit('not this one')")
    folder = make_tokenizer()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    tokenizer = load_tokenizer(folder, engine="reference", workers=2)
    worker = tokenizer.engine._workers[0]
    assert worker.count(["one word", "two"]) == naive(tokenizer, ["one word", "two"])
    tokenizer.close()


def test_turns_that_come_again_are_counted_as_before(make_tokenizer, monkeypatch):
    monkeypatch.setattr("trajcompress.tokens.pool._REMEMBERED", 3)
    tokenizer = load_tokenizer(make_tokenizer(), engine="reference", workers=2)
    system = "You are a helpful assistant. " * 500
    for number in range(6):
        texts = [system, f"{number} task " * 2000, system, "", f"{number % 2} again " * 2000]
        assert tokenizer.engine.count(texts) == naive(tokenizer, texts)
    tokenizer.close()


def test_workers_end_when_closed_and_when_forgotten(make_tokenizer):
    import gc

    folder = make_tokenizer()
    closed = load_tokenizer(folder, engine="reference", workers=2)
    forgotten = load_tokenizer(folder, engine="reference", workers=2)
    pids = [*closed.engine.workers, *forgotten.engine.workers]
    assert len(set(pids)) == 4
    closed.close()
    closed.close()
    del forgotten
    gc.collect()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
