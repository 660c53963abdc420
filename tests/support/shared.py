"""Real data and tokenizers that lie beside the project, for tests that want them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
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
