"""A store of summaries, for the tests of it and of who asks it first."""

from __future__ import annotations

import pytest

from trajcompress.summarize.cache.store import SummaryStore


@pytest.fixture
def store(tmp_path):
    store = SummaryStore(tmp_path / "new" / "summaries.sqlite")
    yield store
    store.close()
