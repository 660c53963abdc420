"""When every call fails, the server is at fault and not the rows: calls pause, then the run stops."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager

import commands
import pytest
import runs
from loopback import LoopbackServer
from loopback_replies import Reply, failed, hang, server_error

from trajcompress.errors import SummarizerUnusableError, SummaryError
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.breaker import BreakerSummarizer

FAILS = SummaryError("server_error", "HTTP 500")
UNREACHED = SummaryError("connection", "refused")
PAUSE_S = 0.02


class Server:
    """Answers, or fails, as its script says; then answers for ever."""

    name = "server"

    def __init__(self, *script: Exception | None) -> None:
        self.script = list(script)
        self.asked: list[float] = []
        self.closed = False

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:  # noqa: ARG002 - as the protocol
        self.asked.append(asyncio.get_running_loop().time())
        outcome = self.script.pop(0) if self.script else None
        await asyncio.sleep(0)
        if outcome is not None:
            raise outcome
        return Summary("[CONTEXT SUMMARY]: ok", self.name)

    async def aclose(self) -> None:
        self.closed = True


def ask_in_turn(server: Server, times: int, most_in_a_row: int = 3, waiting: list[str] | None = None) -> list[str]:
    """Ask one after the other; return what came of each, to the end or until the run would stop."""

    @contextmanager
    def noted() -> Iterator[None]:
        if waiting is not None:
            waiting.append("in")
        yield

    async def ask() -> list[str]:
        breaker = BreakerSummarizer(server, most_in_a_row=most_in_a_row, pause_s=PAUSE_S)
        outcomes = []
        for number in range(times):
            request = SummaryRequest(f"t{number}", (), (), 100, len, noted)
            try:
                await breaker.summarize(request, Usage())
            except SummarizerUnusableError as error:
                return [*outcomes, error.reason]
            except SummaryError as error:
                outcomes.append(error.reason)
            else:
                outcomes.append("ok")
        await breaker.aclose()
        return outcomes

    return asyncio.run(ask())


def pauses(server: Server) -> int:
    return sum(later - earlier >= PAUSE_S / 2 for earlier, later in zip(server.asked, server.asked[1:], strict=False))


def test_failures_with_successes_between_are_those_of_rows():
    server = Server(*[FAILS, FAILS, None] * 5)
    assert ask_in_turn(server, 15) == ["server_error", "server_error", "ok"] * 5
    assert pauses(server) == 0
    assert server.closed


def test_a_run_of_failures_pauses_and_one_more_stops():
    server = Server(*[FAILS] * 10)
    assert ask_in_turn(server, 10) == ["server_error"] * 3 + ["every_call_fails"]
    assert pauses(server) == 1


def test_a_success_after_the_pause_starts_anew():
    server = Server(*[FAILS] * 3, None, *[FAILS] * 3, None)
    assert ask_in_turn(server, 8) == (["server_error"] * 3 + ["ok"]) * 2
    assert pauses(server) == 2


def test_a_row_that_could_not_be_sent_is_sent_again():
    server = Server(UNREACHED, UNREACHED, None, None)
    assert ask_in_turn(server, 2) == ["ok", "ok"]
    server = Server(*[UNREACHED] * 10)
    assert ask_in_turn(server, 2) == ["every_call_fails"]
    assert len(server.asked) == 4


@pytest.mark.parametrize(("losses", "outcome"), [(1, "ok"), (9, "connection")])
def test_another_success_before_a_connection_is_lost_proves_nothing(losses, outcome):
    lost = asyncio.Event()

    class Leaving(Server):
        left = losses

        async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
            if request.row_id == "slow" and self.left:
                self.left -= 1
                await lost.wait()
                await asyncio.sleep(PAUSE_S)
                raise UNREACHED
            return await super().summarize(request, usage)

    async def both() -> str:
        breaker = BreakerSummarizer(Leaving(), most_in_a_row=3, pause_s=PAUSE_S)
        slow = asyncio.create_task(breaker.summarize(SummaryRequest("slow", (), (), 100, len), Usage()))
        await asyncio.sleep(0)
        while not slow.done():
            await breaker.summarize(SummaryRequest("quick", (), (), 100, len), Usage())
            lost.set()
        return getattr(slow.exception(), "reason", "ok")

    assert asyncio.run(both()) == outcome


def test_a_stored_summary_says_nothing_about_the_server():
    class Storing(Server):
        async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
            if int(request.row_id[1:]) % 2:
                usage.reused += 1
                return Summary("[CONTEXT SUMMARY]: stored", self.name)
            return await super().summarize(request, usage)

    outcomes = ask_in_turn(Storing(*[FAILS] * 20), 20)
    assert outcomes == ["server_error", "ok"] * 3 + ["every_call_fails"]


def test_a_server_that_refuses_everything_stops_the_run_at_once():
    assert ask_in_turn(Server(SummarizerUnusableError("unauthorized", "401")), 3) == ["unauthorized"]


def test_the_pause_is_no_time_of_the_row():
    waiting: list[str] = []
    ask_in_turn(Server(FAILS), 2, most_in_a_row=1, waiting=waiting)
    assert waiting == ["in", "in"]


def test_failures_that_began_before_the_pause_do_not_stop_the_run():
    async def at_once() -> list[str]:
        server = Server(*[FAILS] * 8)
        breaker = BreakerSummarizer(server, most_in_a_row=3, pause_s=PAUSE_S)

        async def ask(number: int) -> str:
            try:
                await breaker.summarize(SummaryRequest(f"t{number}", (), (), 100, len), Usage())
            except SummaryError as error:
                return error.reason
            return "ok"

        first = await asyncio.gather(*map(ask, range(8)))
        return [*first, *(await asyncio.gather(*map(ask, range(8))))]

    assert asyncio.run(at_once()) == ["server_error"] * 8 + ["ok"] * 8


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
        "processing__max_in_flight": 6,
    }
    return runs.run_here(*inputs, output=tmp_path / "out", **(settings | more))


@pytest.mark.parametrize(
    "reply", [server_error(), failed(400, "no"), Reply(text="", name="empty")], ids=lambda r: r.name
)
def test_a_server_that_fails_at_every_row_stops_the_run_which_then_goes_on(tmp_path, reply):
    with LoopbackServer(lambda _: reply) as server:
        result = call(tmp_path, server, 60)
        assert result.state == "stopped"
        assert "every_call_fails" in result.stopped
        assert len(server.seen) < 20
        base_url = server.base_url
    assert not list((tmp_path / "out" / "data").iterdir())
    with LoopbackServer(port=int(base_url.split(":")[2].split("/")[0])) as server:
        result = call(tmp_path, server, 60)
    assert result.state == "complete"
    assert result.totals.outcomes["failed"] == 0


def test_a_server_that_only_hangs_stops_the_run_as_well(tmp_path):
    with LoopbackServer(lambda _: hang()) as server:
        result = call(tmp_path, server, 60, processing__per_trajectory_timeout=0.2)
        assert result.state == "stopped"
        assert len(server.seen) < 30


def test_a_row_that_takes_too_long_keeps_its_original(tmp_path):
    with LoopbackServer(lambda seen: hang() if "parser_2" in seen.text else None) as server:
        result = call(tmp_path, server, 12, processing__per_trajectory_timeout=2.0, output__format="jsonl")
    assert result.state == "complete"
    (stuck,) = [row for row in commands.read_metrics(tmp_path / "out") if row["outcome"] == "failed"]
    assert (stuck["trajectory_id"], stuck["reason"]) == ("row-2", "trajectory_timeout")
    assert stuck["summarization_api_calls"] == 1
    assert json.dumps(commands.conversation(2)).encode() in commands.read_lines(tmp_path / "out")
