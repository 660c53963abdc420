"""``docs/python.md``: what it shows as a summariser of one's own writes summaries of rows that need one."""

from __future__ import annotations

import json

import pytest
from documented import ROOT, blocks

from trajcompress import Compressor, compress_dataset

ROWS = [json.loads(line) for line in (ROOT / "data" / "code-agent-openai.jsonl").read_text().splitlines()[:5]]
OPTIONS = {"target_max_tokens": 6000, "prune": "off"}


@pytest.fixture(params=["first_lines", "Local"])
def summarizer(request, monkeypatch):
    """The one of that name, by the block that makes it."""
    monkeypatch.chdir(ROOT)
    made = {}
    for block in blocks(ROOT / "docs" / "python.md", "python"):
        if "SummaryInput" in block.text:
            made |= {"Compressor": Compressor}
            exec(block.text, made)  # noqa: S102 - what the page says to run
    return made[request.param]


def test_it_summarises_what_needs_it(summarizer):
    done = compress_dataset(ROWS, **OPTIONS, summarizer=summarizer)
    needed = [each for each in done.metrics if each.original_tokens > OPTIONS["target_max_tokens"]]
    assert len(needed) >= 3
    assert [(each.outcome, each.reason) for each in needed] == [("compressed", None)] * len(needed)
    assert [each.summarization_api_calls for each in needed] == [1] * len(needed)
    assert [each.facts_kept for each in needed] == [each.facts_needed for each in needed]


def test_it_goes_on_with_a_summary(summarizer, tmp_path):
    run = compress_dataset(ROWS, tmp_path / "out", **OPTIONS, mode="segments", summarizer=summarizer, num_workers=1)
    assert run.totals.outcomes["failed"] == 0
    assert run.totals.rows_written > 2 * len(ROWS)
