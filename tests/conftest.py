"""What all tests share: no hub, and tokenizers that load without one."""

from __future__ import annotations

import json
import os
import signal
from functools import cache
from pathlib import Path

import pytest
from small_definition import small_definition

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports huggingface_hub
# A shell has its background jobs ignore Ctrl-C, and so would each process that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
NO_SHARED = f"needs real trajectories and tokenizers, which are not part of the project, in {SHARED}"
SHARED_TOKENIZERS = ("qwen3", "deepseek-v3", "smollm2", "mistral-v3", "minilm-bert")


def shared_tokenizer(name: str) -> Path:
    folder = SHARED / "tokenizers" / name
    if not folder.is_dir():
        pytest.skip(f"no tokenizer at {folder}")
    return folder


@cache
def load_cached(name: str | None):
    """Load a tokenizer once for all tests; None is the built-in one."""
    from trajcompress.tokens.tokenizer import load_tokenizer

    return load_tokenizer(None if name is None else str(shared_tokenizer(name)))


@pytest.fixture(scope="session")
def builtin_tokenizer():
    return load_cached(None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip(f"no trajectories at {folder}")
    return folder


@pytest.fixture
def make_tokenizer(tmp_path):
    """Write the folder of a small byte-level BPE tokenizer: with a template, another class, other rules."""

    def make(template: str | None = None, tokenizer_class: str = "PreTrainedTokenizerFast", **rules) -> str:
        folder = tmp_path / f"tokenizer-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        definition = json.loads(small_definition()) | rules
        (folder / "tokenizer.json").write_text(json.dumps(definition))
        config = {"tokenizer_class": tokenizer_class, "eos_token": "<|end|>"}
        if template is not None:
            config["chat_template"] = template
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
        return str(folder)

    return make


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    import commands

    return commands.make_desk(tmp_path, make_tokenizer)
