"""A run that is stopped, and goes on with other settings."""

from __future__ import annotations

import commands
import pytest
from outages import ROWS, compress
from raw_endpoint import COMPLETION, OK, RawEndpoint, refusal

MAY_DIFFER = {
    "key": ("--api-key-env", "OTHER_KEY"),
    "requests per minute": ("--rpm", "6000"),
    "tokens per minute": ("--tpm", "90000000"),
    "calls at once": ("--max-concurrent-requests", "2"),
    "prices": ("--price-in", "3", "--price-out", "4"),
    "retries": ("--max-retries", "3"),
    "time of a row": ("--per-trajectory-timeout", "100"),
    "on failure": ("--on-failure", "extractive"),
    "log": ("--log-file", "another.log"),
    "outage": ("--max-outage", "9"),
    "failures in a row": ("--max-failures-in-a-row", "3"),
    "nothing shown": ("--quiet",),
}
MAY_NOT = {
    "summarization.model": ("--model", "n"),
    "summarization.fallback_model": ("--fallback-model", "n"),
    "compression.target_max_tokens": ("--target-max-tokens", "1900"),
    "compression.summary_target_tokens": ("--summary-target-tokens", "200"),
    "summarization.focus": ("--focus", "tests"),
    "summarization.redact": ("--redact", "off"),
    "summarization.facts": ("--no-facts",),
}


def stopped(calling, out, answered=4):
    with RawEndpoint(lambda asked: OK if asked.number <= answered else refusal(401, "revoked")) as server:
        ran = compress(calling, server.base_url, out, "--price-in", "1", "--price-out", "2")
    assert (ran.code, ran.json["state"]) == (1, "stopped")


@pytest.mark.parametrize("changed", MAY_DIFFER)
def test_an_unfinished_run_goes_on_elsewhere_and_otherwise(calling, out, whole, changed):
    stopped(calling, out)
    with RawEndpoint(lambda _: OK) as server:
        prices = ("--price-in", "1", "--price-out", "2") if changed != "prices" else ()
        ran = compress(calling, server.base_url, out, *prices, *MAY_DIFFER[changed], env={"OTHER_KEY": "sk-other"})
    assert ran.code == 0, ran.stderr
    assert len(server.asked) == ROWS - 4, "no summary is paid for twice"
    assert commands.read_lines(calling.path(out)) == whole
    costs = [row["cost_usd"] for row in commands.read_metrics(calling.path(out))]
    paid = (COMPLETION["usage"]["prompt_tokens"] + 2 * COMPLETION["usage"]["completion_tokens"]) / 1e6
    assert sum(cost == pytest.approx(paid) for cost in costs) == (4 if changed == "prices" else ROWS)


@pytest.mark.parametrize("changed", MAY_NOT)
def test_what_shapes_the_rows_stays_an_error_that_names_it(calling, out, changed):
    stopped(calling, out)
    with RawEndpoint(lambda _: OK) as server:
        ran = compress(calling, server.base_url, out, *MAY_NOT[changed])
    assert (ran.code, server.asked) == (2, [])
    assert changed in ran.stderr
