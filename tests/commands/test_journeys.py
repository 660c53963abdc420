"""What people do over days with a model that costs: step by step by the command line, calls counted at the server."""

from __future__ import annotations

import commands
import pytest
import runs
from commands import read_metrics, run_here
from loopback import LoopbackServer
from loopback_replies import failed, hang, obedient

REFUSED = "src/parser_3.py"
PRICES = ("--price-in", "1", "--price-out", "10")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return runs.Place(tmp_path, runs.small_tokenizer())


@pytest.fixture
def rows(place):
    """Six rows over the target of 2,000 tokens, the last two more than twice as long."""
    made = [commands.conversation(number, steps=12 if number < 4 else 30) for number in range(6)]
    return commands.write_rows(place.folder / "rows.jsonl", made)


def step(place, server, *inputs, more=(), output="out"):
    """Run ``compress``; return how it ended, and the calls that the server was asked for meanwhile."""
    before = len(server.seen)
    plain = ("--prune", "off", "--fit", "lenient", *PRICES)
    ran = run_here(*place.calling(server.base_url, inputs, output, *plain, *more), cwd=place.folder)
    return ran, len(server.seen) - before


def metrics_sum(place, column, output="out"):
    return sum(row[column] for row in read_metrics(place.folder / output))


def test_a_file_is_added_and_the_target_changed_and_only_what_is_new_is_paid_for(place, rows):
    with LoopbackServer(obedient) as server:
        ran, paid = step(place, server, rows)
        assert (ran.code, paid) == (0, 6)
        assert metrics_sum(place, "summarization_api_calls") == 6
        ran, paid = step(place, server, rows)
        assert (ran.code, paid) == (0, 0)
        assert "complete already" in ran.stderr

        added = commands.write_rows(place.folder / "added.jsonl", [commands.conversation(9)])
        ran, paid = step(place, server, rows, added)
        assert (ran.code, paid) == (2, 0)
        assert "added.jsonl is a new input" in ran.stderr
        assert "reuses what it can of the 6 summaries" in ran.stderr
        ran, paid = step(place, server, rows, added, more=["--overwrite"])
        assert (ran.code, paid) == (0, 1)
        assert "API calls" in ran.stderr
        assert ran.stderr.split("summaries reused, not paid for again")[1].split()[0] == "6"
        assert metrics_sum(place, "cache_hits") == 6
        assert metrics_sum(place, "cost_usd") == pytest.approx(
            (server.seen[-1].prompt_tokens + 10 * server.seen[-1].completion_tokens) / 1e6
        )

        wider = ["--target-max-tokens", "4000"]
        ran, paid = step(place, server, rows, added, more=wider)
        assert (ran.code, paid) == (2, 0)
        assert "compression.target_max_tokens was 2000, is 4000" in ran.stderr
        assert "reuses what it can of the 7 summaries" in ran.stderr, "each is counted once"
        ran, paid = step(place, server, rows, added, more=[*wider, "--overwrite"])
        assert (ran.code, paid) == (0, 2), "the two that are over the wider target, too"
        ran, paid = step(place, server, rows, added, more=["--overwrite"])
        assert (ran.code, paid) == (0, 0), "what the first run was answered is still there"


def test_a_row_that_is_refused_keeps_its_original_and_runs_are_compared(place, rows):
    with LoopbackServer(lambda seen: failed(400, "no", "content_filter") if REFUSED in seen.text else None) as server:
        ran, paid = step(place, server, rows, more=["--max-failed", "1"])
        assert (ran.code, paid) == (0, 6)
        assert [row["outcome"] for row in read_metrics(place.folder / "out")].count("failed") == 1
        ran, paid = step(place, server, rows, more=["--max-failed", "1", "--on-failure", "extractive"], output="both")
        assert (ran.code, paid) == (0, 6)
    compared = run_here("compare", "out", "both", "--json", cwd=place.folder).json
    assert [each["failed"] for each in compared["runs"]] == [1, 0]
    assert [each["summarizers"] for each in compared["runs"]] == [
        {"loopback": 5},
        {"loopback": 5, "extractive": 1},
    ]
    shown = run_here("compare", "out", "both", cwd=place.folder).stdout
    assert "The same 6 rows in each run" in shown
    assert "row-3" in shown


def test_a_refused_row_is_tried_again_for_one_call(place, rows):
    refused = [REFUSED]
    with LoopbackServer(
        lambda seen: failed(400, "no", "content_filter") if any(each in seen.text for each in refused) else None
    ) as server:
        ran, paid = step(place, server, rows, more=["--max-failed", "1"])
        assert (ran.code, paid) == (0, 6)
        refused.clear()
        ran, paid = step(place, server, rows, more=["--max-failed", "1"])
        assert (ran.code, paid) == (0, 0)
        assert "--retry-failed" in ran.stderr
        ran, paid = step(place, server, rows, more=["--max-failed", "1", "--retry-failed"])
        assert (ran.code, paid) == (0, 1)
    assert [row["outcome"] for row in read_metrics(place.folder / "out")] == ["compressed"] * 6


def test_killed_and_run_again_it_pays_for_no_answer_twice_and_its_log_holds_whole_lines(place, rows):
    with LoopbackServer(lambda _: hang() if len(server.seen) > 3 else None) as server:
        command = place.calling(server.base_url, [rows], "out", "--prune", "off", "--fit", "lenient")
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: len(server.seen) > 3 and len(runs.recorded(place.folder / "out")) == 3, process)
        told = run_here("status", "out", "--json", cwd=place.folder).json
        assert told["state"] == "running"
        runs.kill(process)
        assert run_here("status", "out", "--json", cwd=place.folder).json["state"] == "killed"
    with LoopbackServer() as moved:
        command = place.calling(moved.base_url, [rows], "out", "--prune", "off", "--fit", "lenient")
        ran = commands.run_command(*command, cwd=place.folder, env={"OPENAI_API_KEY": "sk-test"})
        assert (ran.code, len(moved.seen)) == (0, 3)
        assert not {"\r", "\x1b"} & set(ran.stderr)
    assert metrics_sum(place, "summarization_api_calls") == 6
