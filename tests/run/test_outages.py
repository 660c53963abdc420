"""Runs whose server fails: at everything for a while, at some rows, or only hangs."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import commands
import pytest
import runs
from loopback import LoopbackServer
from loopback_replies import Reply, closed, failed, hang, html, rate_limited, server_error


def call(tmp_path, server, rows: int, **more):
    inputs = runs.write_inputs(tmp_path, rows)
    settings = {
        "tokenizer__name": runs.small_tokenizer(),
        "compression__target_max_tokens": 2000,
        "compression__summary_target_tokens": 300,
        "summarization__model": "loopback",
        "summarization__base_url": server.base_url,
        "summarization__max_retries": 0,
        "summarization__retry_delay": 0.01,
        "summarization__max_failures_in_a_row": 4,
        "summarization__max_outage": 1.0,
        "processing__max_in_flight": 6,
    }
    return runs.run_here(*inputs, output=tmp_path / "out", **(settings | more))


@pytest.mark.parametrize(
    "reply", [server_error(), rate_limited(), html(), closed(), failed(400, "no")], ids=lambda reply: reply.name
)
def test_a_server_that_fails_at_every_row_stops_the_run_which_then_goes_on(tmp_path, reply):
    with LoopbackServer(lambda _: reply) as server:
        result = call(tmp_path, server, 60)
        assert result.state == "stopped"
        assert "every_call_fails" in result.stopped
        assert result.error.exit_code == 2, "nothing was ever answered, so it may be the settings"
        assert len(server.seen) < 20
        base_url = server.base_url
    assert not list((tmp_path / "out" / "data").iterdir())
    with LoopbackServer(port=int(base_url.split(":")[2].split("/")[0])) as server:
        result = call(tmp_path, server, 60)
    assert result.state == "complete"
    assert result.totals.outcomes["failed"] == 0


@pytest.mark.parametrize(
    ("reply", "timeout"),
    [(server_error(503), 60.0), (rate_limited(), 60.0), (hang(), 3.0)],
    ids=["http_503", "rate_limited", "hang"],
)
def test_rows_that_failed_in_an_outage_are_asked_for_again_on_resume(tmp_path, reply, timeout, monkeypatch):
    slow = replace(reply, delay=1.0)  # so that several rows are asked for before the first of them has failed
    down = True

    def script(_):
        return slow if down and len(server.seen) > 8 else None

    with LoopbackServer(script) as server:
        patience = {"summarization__retry_delay": 0.05, "summarization__timeout": timeout}
        result = call(tmp_path, server, 40, **patience)
        assert (result.state, result.totals.outcomes["failed"]) == ("stopped", 0)
        assert result.error.exit_code == 1
        down = False
        result = call(tmp_path, server, 40)
    assert (result.state, result.totals.outcomes["failed"]) == ("complete", 0)


def test_an_outage_that_passes_costs_no_row(tmp_path):
    broken: set[str] = set()

    def script(seen):
        row = re.search(r"parser_(\d+)", seen.text)[1]
        if len(server.seen) <= 8 or len(broken) == 4 or row in broken:
            return None  # however the calls come: a row that fails again and again may be at fault itself
        broken.add(row)
        return server_error()

    with LoopbackServer(script) as server:
        result = call(tmp_path, server, 40)
    assert (result.state, result.totals.outcomes["failed"], len(broken)) == ("complete", 0, 4)


def test_rows_that_are_refused_or_answered_with_nothing_stop_no_run(tmp_path):
    def script(seen):
        number = int(re.search(r"parser_(\d+)", seen.text)[1])
        too_long = failed(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded")
        return None if number >= 24 else [too_long, Reply(text="", name="empty")][number % 2]

    with LoopbackServer(script) as server:
        result = call(tmp_path, server, 40)
    outcomes = [(row["outcome"], row["reason"]) for row in commands.read_metrics(tmp_path / "out")]
    assert result.state == "complete"
    assert outcomes.count(("failed", "context_length_exceeded")) + outcomes.count(("failed", "empty_answer")) > 15
    assert result.totals.outcomes["compressed"] > 10


@pytest.mark.parametrize("poisoned", [{2}, {18, 19}], ids=["amid", "at the end"])
def test_a_row_that_the_server_always_breaks_at_fails_alone(tmp_path, poisoned):
    def script(seen):
        return server_error() if int(re.search(r"parser_(\d+)", seen.text)[1]) in poisoned else None

    with LoopbackServer(script) as server:
        result = call(tmp_path, server, 20)
    assert result.state == "complete"
    failed_rows = [row for row in commands.read_metrics(tmp_path / "out") if row["outcome"] == "failed"]
    assert {row["trajectory_id"] for row in failed_rows} == {f"row-{number}" for number in poisoned}
    assert all(2 <= row["summarization_api_calls"] <= 8 for row in failed_rows)


def test_a_server_that_only_hangs_stops_the_run_as_well(tmp_path):
    with LoopbackServer(lambda _: hang()) as server:
        result = call(tmp_path, server, 60, processing__per_trajectory_timeout=1.0)
        assert result.state == "stopped"
        assert "no answer within the 1 s that a row has" in result.stopped
        assert len(server.seen) < 30


def test_a_row_that_takes_too_long_keeps_its_original(tmp_path):
    with LoopbackServer(lambda seen: hang() if "parser_2" in seen.text else None) as server:
        patience = {"processing__per_trajectory_timeout": 3.0, "summarization__max_outage": 60.0}
        result = call(tmp_path, server, 12, output__format="jsonl", **patience)
    assert result.state == "complete"
    (stuck,) = [row for row in commands.read_metrics(tmp_path / "out") if row["outcome"] == "failed"]
    assert (stuck["trajectory_id"], stuck["reason"]) == ("row-2", "trajectory_timeout")
    assert stuck["summarization_api_calls"] in {1, 2}  # once more where nobody else was answered meanwhile
    assert json.dumps(commands.conversation(2)).encode() in commands.read_lines(tmp_path / "out")
