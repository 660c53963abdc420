from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from importlib.metadata import version
from pathlib import Path

import pytest
from shared import TOKENIZERS, load_cached

from trajcompress.errors import TokenizerError
from trajcompress.tokens.engines import FastEngine, PythonEngine, ReferenceEngine
from trajcompress.tokens.pool import PooledEngine
from trajcompress.tokens.tokenizer import DEFAULT_TOKENIZER, load_tokenizer

TEXT = "def f(x):\n    return 1234567 if x else 'naïve ☃'  # <|end|>\n" * 30


def refusal(name: str) -> str:
    with pytest.raises(TokenizerError) as caught:
        load_tokenizer(name)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.exit_code == 2
    return message


def test_the_built_in_tokenizer_needs_nothing_and_has_a_fast_engine(builtin_tokenizer):
    assert builtin_tokenizer.name == DEFAULT_TOKENIZER
    assert isinstance(builtin_tokenizer.engine, FastEngine)
    assert len(builtin_tokenizer.hf) > 128_000
    assert not builtin_tokenizer.has_template


@pytest.mark.parametrize("name", TOKENIZERS)
def test_the_fast_engine_where_it_loads_else_the_tokenizer_itself(name):
    fast = name not in {"unigram", "wordpiece", "minilm-bert"}
    tokenizer = load_cached(name)
    assert isinstance(tokenizer.engine, FastEngine if fast else ReferenceEngine)
    assert tokenizer.notes == ()


@pytest.mark.parametrize("name", ["./missing", "/missing/folder", "~/missing", "a/b/c", "", "two words"])
def test_a_folder_that_is_not_there(name):
    assert "no such folder" in refusal(name)


def test_a_hub_name_that_cannot_be_reached():
    message = refusal("no-such-organisation/no-such-model")
    assert "no-such-organisation/no-such-model" in message
    assert "name a folder with tokenizer.json, or a hub repository that this machine can reach" in message


def test_a_file_in_place_of_a_folder(make_tokenizer):
    assert "name the folder that holds tokenizer.json" in refusal(f"{make_tokenizer()}/tokenizer.json")


def test_a_folder_without_a_tokenizer(tmp_path):
    assert "the folder should hold tokenizer.json" in refusal(str(tmp_path))


def test_a_broken_tokenizer_json(make_tokenizer):
    folder = make_tokenizer()
    Path(folder, "tokenizer.json").write_text('{"model":')
    assert "the folder should hold tokenizer.json" in refusal(folder)


@pytest.mark.parametrize("tokenizer_class", ["GPT2Tokenizer", "Qwen2Tokenizer", "BertTokenizer", "T5Tokenizer"])
def test_a_config_alone_gives_no_tokenizer_that_counts_nothing(make_tokenizer, tokenizer_class):
    folder = make_tokenizer(tokenizer_class=tokenizer_class)
    Path(folder, "tokenizer.json").unlink()
    assert "holds no vocabulary" in refusal(folder)


def test_a_tokenizer_that_loses_white_space_is_called_so(make_tokenizer):
    """As some versions of transformers load a byte-level file whose configuration names LLaMA's class."""
    spaces = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never", "split": True}
    loses = make_tokenizer(pre_tokenizer=spaces, decoder={"type": "Fuse"})
    (note,) = load_tokenizer(loses).notes
    assert f"tokenizer {loses}: as transformers {version('transformers')} loads it, white space is lost" in note
    assert load_tokenizer(make_tokenizer()).notes == ()


def test_remote_code_is_not_run_unasked(make_tokenizer):
    folder = make_tokenizer()
    Path(folder, "tokenizer.json").unlink()
    config = {"tokenizer_class": "MyTokenizer", "auto_map": {"AutoTokenizer": ["mine.MyTokenizer", None]}}
    Path(folder, "tokenizer_config.json").write_text(json.dumps(config))
    Path(folder, "mine.py").write_text("raise SystemExit('this ran')")
    assert "--trust-remote-code" in refusal(folder)


def test_truncation_and_padding_in_the_file_are_off(make_tokenizer):
    truncation = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    padding = {
        "strategy": {"Fixed": 64},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "<|end|>",
    }
    plain = load_tokenizer(make_tokenizer())
    for engine in ("auto", "reference"):
        trapped = load_tokenizer(make_tokenizer(truncation=truncation, padding=padding), engine=engine)
        assert (
            trapped.engine.count([TEXT, "a"]) == plain.engine.count([TEXT, "a"]) == [len(plain.hf.tokenize(TEXT)), 1]
        )
        assert trapped.fingerprint == plain.fingerprint


def test_a_class_that_transformers_rebuilds_counts_as_transformers_does(make_tokenizer):
    digits_apart = {"type": "Digits", "individual_digits": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    rules = {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits_apart, byte_level]}}
    as_file = load_tokenizer(make_tokenizer(**rules))
    rebuilt = load_tokenizer(make_tokenizer(tokenizer_class="GPT2Tokenizer", **rules))
    assert isinstance(rebuilt.engine, FastEngine)
    assert rebuilt.fingerprint != as_file.fingerprint  # the trap: the same file, another tokenizer
    assert rebuilt.engine.count([TEXT]) == [len(rebuilt.hf.encode(TEXT, add_special_tokens=False))]
    assert as_file.engine.count([TEXT]) == [len(as_file.hf.encode(TEXT, add_special_tokens=False))]


def test_a_fast_engine_can_be_declined(make_tokenizer):
    assert isinstance(load_tokenizer(make_tokenizer(), engine="reference").engine, ReferenceEngine)


def test_worker_processes_only_where_the_tokenizer_itself_counts(make_tokenizer):
    assert isinstance(load_tokenizer(make_tokenizer(), workers=2).engine, FastEngine)
    pooled = load_tokenizer(make_tokenizer(), engine="reference", workers=2)
    assert isinstance(pooled.engine, PooledEngine)
    pooled.close()
    assert pooled.engine.count([TEXT]) == [len(pooled.hf.tokenize(TEXT))]


def test_a_tokenizer_written_in_python():
    from transformers import ByT5Tokenizer

    hf = ByT5Tokenizer()
    assert PythonEngine(hf).count(["naïve", ""]) == [6, 0]


def test_the_fingerprint_tells_templates_apart(make_tokenizer):
    one, other = load_tokenizer(make_tokenizer(template="a")), load_tokenizer(make_tokenizer(template="b"))
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint == load_tokenizer(make_tokenizer(template="a")).fingerprint


def test_a_script_without_a_main_guard_may_use_workers(make_tokenizer, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        from trajcompress.tokens.tokenizer import load_tokenizer
        tokenizer = load_tokenizer({make_tokenizer()!r}, engine="reference", workers=2)
        print(tokenizer.engine.count(["word " * 5000]))
        """)
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, env=os.environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)[0] > 5000
