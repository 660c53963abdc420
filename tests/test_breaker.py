"""When every call fails, the server is at fault and not the rows: calls pause, then the run stops."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest
from cycles import leaving_no_cycles

from trajcompress.deadline import Deadline
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
        self.pauses = 0

    def tell(self, event: str, /, **_: object) -> None:
        self.pauses += event == "paused"

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
            request = SummaryRequest(f"t{number}", (), (), 100, len, noted, tell=server.tell)
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


def test_a_row_that_fails_twice_though_the_server_has_answered_is_at_fault_itself():
    server = Server(None, *[FAILS, FAILS, None] * 5)
    assert ask_in_turn(server, 11) == ["ok", *["server_error", "ok"] * 5]
    assert server.pauses == 0
    assert server.closed


def test_a_server_that_never_answered_is_asked_again_after_a_pause_and_then_the_run_stops():
    server = Server(*[FAILS] * 10)
    assert ask_in_turn(server, 10) == ["every_call_fails"]
    assert len(server.asked) == 3
    assert server.pauses == 1


def test_a_row_that_failed_before_the_pause_is_asked_for_again_after_it():
    server = Server(FAILS, FAILS, None, None)
    assert ask_in_turn(server, 2) == ["ok", "ok"]
    assert server.pauses == 1


def test_a_row_that_could_not_be_sent_is_sent_again_until_the_run_stops():
    server = Server(None, UNREACHED, UNREACHED, None)
    assert ask_in_turn(server, 2) == ["ok", "ok"]
    server = Server(None, *[UNREACHED] * 10)
    assert ask_in_turn(server, 2) == ["ok", "every_call_fails"]
    assert len(server.asked) == 5


@pytest.mark.parametrize(
    "reason",
    ["context_length_exceeded", "content_filter", "request_too_large", "request_exceeds_tpm", "empty_answer"],
)
def test_what_concerns_one_row_stops_no_run(reason):
    server = Server(*[SummaryError(reason, "no")] * 30)
    assert ask_in_turn(server, 31) == [reason] * 30 + ["ok"]
    assert server.pauses == 0


def test_refusals_that_may_be_those_of_all_rows_stop_the_run_unless_the_server_has_answered():
    refused = SummaryError("bad_request", "HTTP 400")
    assert ask_in_turn(Server(*[refused] * 9), 9) == ["bad_request"] * 3 + ["every_call_fails"]
    assert ask_in_turn(Server(None, *[refused] * 8), 9) == ["ok", *["bad_request"] * 8]


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

    outcomes = ask_in_turn(Storing(None, *[UNREACHED] * 20), 20)
    assert outcomes == ["ok", "ok", "every_call_fails"]


def test_a_server_that_refuses_everything_stops_the_run_at_once():
    assert ask_in_turn(Server(SummarizerUnusableError("unauthorized", "401")), 3) == ["unauthorized"]


def test_the_pause_is_no_time_of_the_row():
    waiting: list[str] = []
    ask_in_turn(Server(FAILS), 1, most_in_a_row=1, waiting=waiting)
    assert waiting == ["in"] * 3  # to be asked, held back, paused


class Stage(Server):
    """Answers a row as told, when told."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[str] = []
        self.down = False
        self.let_go = asyncio.Event()
        self.all_fail = asyncio.Event()

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        with request.waiting():
            if request.row_id.startswith("queued"):
                await self.let_go.wait()
        self.rows.append(request.row_id)
        if self.down:
            if len(self.rows) == 1 + 3:
                self.all_fail.set()
            raise FAILS
        return await super().summarize(request, usage)


def test_many_rows_that_fail_at_once_lose_nothing_if_the_server_comes_back():
    async def at_once() -> list[str]:
        server = Server(*[FAILS] * 8)
        breaker = BreakerSummarizer(server, most_in_a_row=3, pause_s=PAUSE_S)

        async def ask(number: int) -> str:
            return (await breaker.summarize(SummaryRequest(f"t{number}", (), (), 100, len), Usage())).summarizer

        return await asyncio.gather(*map(ask, range(12)))

    assert asyncio.run(at_once()) == ["server"] * 12


@pytest.mark.parametrize("comes_back", [True, False])
def test_in_a_pause_nothing_is_sent_and_after_it_one_call(comes_back):
    async def outage() -> tuple[list[str], list[object]]:
        server = Stage()
        breaker = BreakerSummarizer(server, most_in_a_row=3, pause_s=PAUSE_S)

        def ask(row: str) -> asyncio.Task[Summary]:
            return asyncio.create_task(breaker.summarize(SummaryRequest(row, (), (), 100, len), Usage()))

        await ask("first")
        queued = [ask(f"queued {number}") for number in range(5)]
        await asyncio.sleep(0)
        server.down = True
        failing = [ask(f"failing {number}") for number in range(3)]
        await server.all_fail.wait()
        server.let_go.set()  # their turns come while calls are paused
        await asyncio.sleep(0)
        server.down = not comes_back
        outcomes = await asyncio.gather(*failing, *queued, return_exceptions=True)
        return server.rows[4:], outcomes

    sent, outcomes = asyncio.run(outage())
    if comes_back:
        assert all(isinstance(each, Summary) for each in outcomes)
        assert len(sent) == 8
    else:
        assert all(isinstance(each, SummarizerUnusableError) for each in outcomes)
        assert len(sent) == 1


def test_a_row_whose_time_was_up_in_an_outage_gets_its_time_anew():
    class Hanging(Server):
        hangs = 3

        async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
            self.hangs -= 1
            if self.hangs >= 0:
                await asyncio.Event().wait()
            return await super().summarize(request, usage)

    async def ask() -> list[str]:
        breaker = BreakerSummarizer(Hanging(), most_in_a_row=3, pause_s=PAUSE_S)

        async def row(number: int) -> str:
            async with Deadline(0.3) as deadline:
                request = SummaryRequest(
                    f"t{number}", (), (), 100, len, waiting=deadline.stopped, renew=deadline.renew
                )
                return (await breaker.summarize(request, Usage())).summarizer

        return await asyncio.gather(*map(row, range(3)))

    assert asyncio.run(ask()) == ["server"] * 3


def test_a_call_that_is_cancelled_is_cancelled():
    async def cancel() -> None:
        breaker = BreakerSummarizer(Stage(), most_in_a_row=3, pause_s=PAUSE_S)
        async with Deadline(60) as deadline:
            request = SummaryRequest("queued", (), (), 100, len, waiting=deadline.stopped, renew=deadline.renew)
            task = asyncio.create_task(breaker.summarize(request, Usage()))
            await asyncio.sleep(0)
            task.cancel()
            await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())


def test_a_failure_keeps_nothing_alive_once_it_is_dealt_with():
    async def fail_once(breaker: BreakerSummarizer) -> None:
        with pytest.raises(SummaryError, match="no"):
            await breaker.summarize(SummaryRequest("t", (), (), 100, len, nullcontext), Usage())

    async def ask() -> None:
        breaker = BreakerSummarizer(
            Server(*[SummaryError("content_filter", "no") for _ in "12"]), most_in_a_row=3, pause_s=PAUSE_S
        )
        await fail_once(breaker)  # what is made once is made
        with leaving_no_cycles():
            await fail_once(breaker)

    asyncio.run(ask())
