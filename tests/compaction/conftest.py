"""What the tests of compaction share: the counter of the built-in tokenizer."""

from __future__ import annotations

import pytest
from shared import load_cached

from trajcompress.tokens.counter import TokenCounter


@pytest.fixture(scope="session")
def counter() -> TokenCounter:
    return TokenCounter(load_cached(None))
