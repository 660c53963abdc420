"""What audits look at: metrics with and without faults, and a real run."""

from __future__ import annotations

import pytest
from audited import TARGET, failed, good, over, rejected, write_metrics
from commands import conversation, make_desk, run_here

FAULTY = [
    *(good(row) for row in range(90)),
    over(90, "head", 1200, assistant_tokens_original=100, assistant_tokens_kept=99),
    over(91, "tail", 1500, assistant_tokens_original=100, assistant_tokens_kept=0),
    over(92, "tail", 1900),
    failed(93),
    rejected(94),
    good(95, facts_kept=4),
    good(96, facts_kept=9),
    good(97, compressed_tokens=950),
    good(98, compressed_tokens=949),
    good(99, outcome="skipped_under_target", original_tokens=TARGET, compressed_tokens=TARGET),
]


@pytest.fixture
def audit(tmp_path):
    write_metrics(tmp_path / "good.parquet", [good(row, source_file="good.jsonl") for row in range(10)])
    write_metrics(tmp_path / "faulty.parquet", FAULTY)
    return lambda *arguments: run_here("audit", *arguments, cwd=tmp_path)


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    """A real run: rows that fit, rows that cannot, and one that is no row."""
    from runs import small_tokenizer

    folder = tmp_path_factory.mktemp("audited")
    desk = make_desk(folder, small_tokenizer)
    rows = [conversation(number, 2 + 10 * (number % 2)) for number in range(6)]
    giant = conversation(6)
    giant["messages"][2]["content"] *= 400
    desk.write("in.jsonl", [*rows, giant, {"nothing": 1}])
    assert desk.compress("in.jsonl", "-o", "out").code == 1, "a row is rejected"
    return desk.path("out")
