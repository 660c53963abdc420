"""What a run may cost: it stops before it costs more, and goes on with more."""

from __future__ import annotations

import commands
import pytest
import runs
from in_workers import run_in_workers
from loopback import LoopbackServer
from loopback_replies import Reply, failed

CALLS_AT_ONCE = 3
PRICE = 100.0  # USD per million tokens, sent or written
PRICES = ("--price-in", str(PRICE), "--price-out", str(PRICE), "--max-concurrent-requests", str(CALLS_AT_ONCE))


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


@pytest.fixture
def rows(tmp_path):
    desk_rows = [commands.conversation(number) for number in range(30)]
    return commands.Desk(tmp_path, "").write("rows.jsonl", desk_rows)


def spent(server):
    return sum(seen.prompt_tokens + seen.completion_tokens for seen in server.seen) * PRICE / 1e6


def run(place, command, workers):
    return runs.run(*command, cwd=place.folder) if workers == 1 else run_in_workers(place, command, workers)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_stops_at_what_it_may_cost_in_all_its_sessions_and_goes_on_with_more(place, rows, workers):
    with LoopbackServer(latency=0.02) as server:
        command = place.calling(server.base_url, [rows], "out", *PRICES, "--part-size", "50000")
        ran = run(place, [*command, "--max-cost", "0.5"], workers)
        assert ran.code == 1, ran.stderr
        assert "stopped early: max_cost: $0." in ran.stderr
        assert "to go on with more: trajcompress compress" in ran.stderr
        assert ran.stderr.rstrip().endswith("--max-cost 1")
        a_call = spent(server) / len(server.seen)
        assert 0.5 - 2 * a_call <= spent(server) <= 0.5 + workers * a_call, "news of other processes take a while"
        before = len(server.seen)
        again = run(place, [*command, "--max-cost=0.5"], workers)
        assert (again.code, len(server.seen)) == (1, before), again.stderr
        assert again.stderr.count("--max-cost") == 2, "what it is, and what is more"
        assert run(place, [*command, "--max-cost", "100"], workers).code == 0
        assert len(server.seen) == 30
        runs.assert_same_as_whole(place, command)


def test_calls_that_are_under_way_count_before_they_are_paid_for(place, rows):
    """All of them go out before the second is answered."""
    at_once = ("--max-concurrent-requests", "30")
    with LoopbackServer(latency=0.5) as server:
        command = place.calling(server.base_url, [rows], "out", *PRICES, *at_once, "--max-cost", "1")
        ran = run(place, command, 1)
        assert server.most_at_once > CALLS_AT_ONCE
    assert ran.code == 1
    assert "under way, a call costs some $0." in ran.stderr
    assert spent(server) <= 1 + spent(server) / len(server.seen)
    assert "above --max-cost" not in ran.stderr


def test_a_cost_above_the_most_is_told(place):
    """What the first call costs nobody knows before."""
    row = commands.Desk(place.folder, "").write("row.jsonl", [commands.conversation(0)])
    with LoopbackServer() as server:
        ran = run(place, place.calling(server.base_url, [row], "out", *PRICES, "--max-cost", "0.001"), 1)
    assert (ran.code, len(server.seen)) == (0, 1)
    (line,) = [line.split() for line in ran.stderr.splitlines() if "cost in USD" in line]
    assert float(line[3]) == pytest.approx(spent(server), abs=1e-4)
    assert " ".join(line[4:]) == f"({spent(server) - 0.001:.4f} above --max-cost)"


def test_answers_that_are_no_summary_count(place, rows):
    with LoopbackServer(lambda _: Reply(text="I can't help with that.")) as server:
        command = place.calling(server.base_url, [rows], "out", *PRICES, "--max-cost", "0.5")
        assert run(place, command, 1).code == 1
        before = len(server.seen)
        assert 0.5 - 2 * spent(server) / before <= spent(server) <= 0.5 + spent(server) / before
        assert run(place, command, 1).code == 1
        assert len(server.seen) == before, "tries that failed in an earlier session"


def test_where_the_server_does_not_count_a_run_stops_at_once(place, rows):
    body = {"choices": [{"message": {"content": "## Results\n- all of the modules were read"}}]}
    with LoopbackServer(lambda _: Reply(body=body)) as server:
        command = place.calling(server.base_url, [rows], "out", *PRICES, "--max-cost", "0.5")
        ran = run(place, command, 1)
    assert ran.code == 1
    assert "the server does not count tokens" in ran.stderr
    assert "--max-cost" not in ran.stderr.splitlines()[-1]
    assert len(server.seen) <= 1 + CALLS_AT_ONCE


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ((), "nobody knows what loopback costs; give --price-in and --price-out"),
        ((*PRICES, "--batch"), "--batch sends all"),
        ((*PRICES, "--summarizer", "json:dumps"), "nobody knows what json:dumps costs"),
        ((*PRICES, "--fallback-model", "other"), "nobody knows what the fallback other costs"),
    ],
)
def test_a_ceiling_that_nobody_can_hold_is_refused(place, rows, more, says):
    command = place.calling("http://127.0.0.1:9/v1", [rows], "out", *more, "--max-cost", "1")
    ran = run(place, command, 1)
    assert ran.code == 2
    assert says in ran.stderr
    assert not (place.folder / "out").exists()


def test_a_run_that_too_many_rows_fail_in_is_not_told_to_go_on_with_the_same_limit(place, rows):
    with LoopbackServer(lambda _: failed(400, "no", "content_filter")) as server:
        command = place.calling(server.base_url, [rows], "out", "--max-failed", "2")
        ran = run(place, command, 1)
    assert ran.code == 1
    assert ran.stderr.rstrip().endswith("--max-failed 100%")
    assert "--max-failed 2 " not in ran.stderr.splitlines()[-1]


def test_a_store_that_is_damaged_is_repaired_and_noted_once(place, rows):
    with LoopbackServer(latency=0.02) as server:
        command = place.calling(server.base_url, [rows], "out", *PRICES)
        assert run(place, [*command, "--max-cost", "0.5"], 1).code == 1
        (store,) = (place.folder / "out" / ".state").glob("summaries.sqlite")
        store.write_bytes(b"no database" * 1000)
        ran = run(place, [*command, "--max-cost", "100"], 1)
    assert ran.code == 0
    assert ran.stderr.count("summaries.sqlite: is damaged") == 1, ran.stderr
