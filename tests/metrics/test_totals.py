"""Totals are sums of the rows of metrics.parquet: the same in summary.json, card, audit, report and closing table."""

from __future__ import annotations

import json
import re
from functools import partial

import commands
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import runs
from hypothesis import given, settings
from hypothesis import strategies as st

from trajcompress.errors import InputError
from trajcompress.metrics.files import read_metrics, read_totals
from trajcompress.metrics.row import RowMetrics, metrics_schema
from trajcompress.metrics.totals import Totals
from trajcompress.results.audit.files import MetricsFile
from trajcompress.results.audit.query import Question, read_figures

OUTCOMES = ("compressed", "skipped_under_target", "unchanged", "failed", "rejected")
SUMS = (
    "rows_written", "rows_over_limit",
    "original_tokens", "compressed_tokens", "tokens_saved", "assistant_tokens_original", "assistant_tokens_kept",
    "facts_needed", "facts_kept", "summarization_api_calls", "summarization_errors", "cache_hits", "prompt_tokens",
    "cached_tokens", "completion_tokens",
)  # fmt: skip
COUNTS = {"reasons": "reason", "count_methods": "count_method", "summarizers": "summarizer"}
FLAGS = {
    "in_dataset": "in_dataset",
    "still_over_limit": "still_over_limit",
    "input_invalid": "input_invalid",
    "output_invalid": "output_faults NOT NULL",
    "newly_invalid": "new_faults NOT NULL",
    "template_refused": "contains(output_faults, 'template_refuses')",
}
few = settings(deadline=None, max_examples=20)

amounts = st.none() | st.integers(0, 2**40)
costs = st.floats(0, 100, allow_nan=False, allow_subnormal=False)
words = partial(st.sampled_from, [None, "head", "tail", "echoed_answer"])
ROWS = st.builds(
    RowMetrics,
    source_file=st.just("a.jsonl"),
    source_row=st.integers(0, 9),
    outcome=st.sampled_from(OUTCOMES),
    reason=words(),
    count_method=words(),
    summarizer=words(),
    still_over_limit=st.booleans(),
    in_dataset=st.booleans(),
    input_invalid=st.booleans() | st.none(),
    output_faults=words() | st.just("parity, template_refuses"),
    new_faults=words(),
    non_summaries=st.integers(0, 2),
    cost_usd=costs | st.none(),
    **dict.fromkeys(SUMS[:9], amounts),
    **dict.fromkeys(SUMS[9:], st.integers(0, 2**40)),
)


def write(path, rows, row_group_size=1000):
    table = pa.Table.from_pylist([row.as_dict() for row in rows], schema=metrics_schema())
    pq.write_table(table, path, row_group_size=row_group_size)
    return path


def summed_by_duckdb(path):
    """Return what a user gets who adds metrics up, for all that summary.json holds but the cost."""
    metrics = duckdb.read_parquet(str(path))

    def rows_by(column):
        return dict(metrics.filter(f"{column} NOT NULL").aggregate(f"{column}, count(*)", column).fetchall())

    counts = [f"count(*) FILTER ({rows})" for rows in ("true", *FLAGS.values())]
    ((rows, *figures_of),) = metrics.aggregate(", ".join([*counts, *(f"sum({name})" for name in SUMS)])).fetchall()
    figures = {name: int(total or 0) for name, total in zip((*FLAGS, *SUMS), figures_of, strict=True)}
    by_outcome = rows_by("outcome")
    return {
        "rows": rows,
        **{outcome: by_outcome.get(outcome, 0) for outcome in OUTCOMES},
        **{name: rows_by(column) for name, column in COUNTS.items()},
        **figures,
        "compression_ratio": ratio(figures["compressed_tokens"], figures["original_tokens"]),
        "assistant_tokens_kept_ratio": ratio(figures["assistant_tokens_kept"], figures["assistant_tokens_original"]),
    }


def ratio(part, whole):
    return part / whole if whole else None


@few
@given(st.lists(ROWS, max_size=12), st.integers(1, 5))
def test_totals_are_what_duckdb_sums_to_the_token(tmp_path_factory, rows, group):
    path = write(tmp_path_factory.mktemp("totals") / "metrics.parquet", rows, group)
    ours = read_totals(path).as_dict()
    del ours["cost_usd"]
    assert ours == summed_by_duckdb(path)


@few
@given(st.lists(ROWS, max_size=12), st.integers(0, 12))
def test_totals_of_rows_of_files_and_of_an_audit_are_one(tmp_path_factory, rows, cut):
    folder = tmp_path_factory.mktemp("totals")
    paths = [write(folder / "1.parquet", rows[:cut]), write(folder / "2.parquet", rows[cut:])]
    whole = Totals()
    whole.add(*rows)
    assert read_totals(*paths) == whole
    audited = read_figures(MetricsFile("all", write(folder / "all.parquet", rows)), Question()).totals
    for name in ("rows", "outcomes", "tokens_saved", "facts_unknown", "asked_model", "no_summary_failed"):
        assert getattr(audited, name) == getattr(whole, name), name


@few
@given(st.lists(costs, max_size=30), st.integers(1, 7))
def test_costs_are_added_from_first_to_last_however_rows_are_grouped(tmp_path_factory, spent, group):
    rows = [RowMetrics("a.jsonl", row, cost_usd=cost) for row, cost in enumerate(spent)]
    path = write(tmp_path_factory.mktemp("costs") / "metrics.parquet", rows, group)
    expected = 0.0
    for cost in spent:
        expected += cost
    assert read_totals(path).cost_usd == expected


def test_the_order_of_rows_shows_in_the_last_bit(tmp_path):
    """So it has to be kept: a sum in parallel would differ from run to run."""
    spent = [0.1] * 10 + [1e9]
    sums = {
        read_totals(write(tmp_path / name, [RowMetrics("a", 0, cost_usd=cost) for cost in given])).cost_usd
        for name, given in (("up.parquet", spent), ("down.parquet", spent[::-1]))
    }
    assert len(sums) == 2


def test_one_unknown_cost_makes_the_sum_unknown_and_leaves_what_is_known(tmp_path):
    rows = [
        RowMetrics("a", row, cost_usd=cost, summarization_api_calls=1) for row, cost in enumerate([0.5, None, 0.25])
    ]
    totals = read_totals(write(tmp_path / "metrics.parquet", rows))
    assert totals.cost_usd is None
    assert (totals.known_cost_usd, totals.asked_without_price, totals.has_price) == (0.75, 1, True)


def test_what_is_no_metrics_is_an_error_that_names_it(tmp_path):
    (tmp_path / "metrics.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"metrics\.parquet: cannot be read as metrics"):
        read_totals(tmp_path / "metrics.parquet")


@pytest.fixture(scope="module")
def run_with_a_late_reject(tmp_path_factory):
    """A run with a row that is compressed, and that Parquet then cannot hold."""
    folder = tmp_path_factory.mktemp("late")
    place = runs.Place(folder, runs.small_tokenizer())
    rows = [commands.conversation(number, steps=12) for number in range(3)]
    rows[1]["score"] = 2**64
    commands.write_rows(folder / "rows.jsonl", rows)
    ran = commands.run_here(*place.offline(["rows.jsonl"], "out", "--output-format", "parquet", "--json"), cwd=folder)
    assert ran.code == 0, ran.stderr
    return folder, ran.json


def test_a_row_rejected_after_compression_saves_no_tokens(run_with_a_late_reject):
    folder, told = run_with_a_late_reject
    first, rejected, last = read_metrics(folder / "out/metrics.parquet")
    assert (rejected.outcome, rejected.reason, rejected.summarizer) == ("rejected", "unrepresentable", "extractive")
    assert rejected.original_tokens > commands.TARGET
    assert rejected.tokens_saved is None
    assert told["tokens_saved"] == first.tokens_saved + last.tokens_saved > 0


def test_all_that_show_totals_show_those_of_the_metrics(run_with_a_late_reject):
    folder, told = run_with_a_late_reject
    expected = summed_by_duckdb(folder / "out/metrics.parquet")
    summary = json.loads((folder / "out/summary.json").read_text())
    audit = commands.run_here("audit", "out", "--json", cwd=folder).json["totals"]
    for shown in (summary, told, audit):
        assert shown.items() >= {name: expected[name] for name in shown.keys() & expected.keys()}.items()
        assert shown["tokens_saved"] == expected["tokens_saved"]
    card = (folder / "out/README.md").read_text()
    for name in ("original_tokens", "compressed_tokens"):
        assert f"{expected[name]:,}" in card
    share = f"{expected['tokens_saved'] / expected['original_tokens']:.1%}"
    page = commands.run_here("report", "out", "-o", "-", cwd=folder).stdout
    assert re.search(rf"Tokens saved\W.*?{re.escape(share)}", page, re.DOTALL)
    again = commands.run_here(
        *runs.Place(folder, runs.small_tokenizer()).offline(["rows.jsonl"], "out", "--output-format", "parquet"),
        cwd=folder,
    )
    assert f"{expected['tokens_saved']:,} ({share})" in again.stderr
