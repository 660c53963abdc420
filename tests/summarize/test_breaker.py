"""Whose fault a failure is, the row's or the server's: from calls alone, asked for one after another and at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from cycles import leaving_no_cycles

from trajcompress.errors import SummarizerUnusableError, SummaryError
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.deadline import Deadline
from trajcompress.summarize.endpoint.breaker import BreakerSummarizer
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.endpoint.outage import UNCLEAR, Outage
from trajcompress.summarize.retry import OF_THE_SERVER, Retry

FAILS, UNREACHED, REFUSED = (Retry(reason, "no") for reason in ("server_error", "connection", UNCLEAR))
FIRST_PAUSE_S = 0.01
Script = Callable[[str, int], Retry | None]


class Server:
    """Answers, or fails, as its script says of a row and the number of the call; tells as a model's calls do."""

    name = "server"

    def __init__(
        self,
        script: Script,
        *,
        most_at_once: int = 8,
        max_outage_s: float = 0.5,
        max_retries: int = 0,
        stops_for_good: bool = False,
    ):
        self._script = script
        self.limiter = RateLimiter(None, None, most_at_once)
        self.outage = Outage(
            self.limiter,
            url="http://x/v1",
            first_pause_s=FIRST_PAUSE_S,
            most_in_a_row=4,
            max_retries=max_retries,
            max_outage_s=max_outage_s,
            stops_for_good=stops_for_good,
        )
        self.asked: list[str] = []
        self.told: list[str] = []
        self.pauses: list[dict[str, object]] = []

    def emit(self, event: str, /, **figures: object) -> None:
        self.told.append(event)
        self.pauses += [figures] * (event == "paused")

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:  # noqa: ARG002 - as the protocol
        with request.waiting():
            slot = self.limiter.slot(1)
            await slot.__aenter__()
        try:
            began = asyncio.get_running_loop().time()
            self.asked.append(request.row_id)
            failure = self._script(request.row_id, len(self.asked))
            await (asyncio.Event().wait() if failure is HANGS else asyncio.sleep(0.002))
        finally:
            await slot.__aexit__(None, None, None)
        if failure is None or not (failure.reason in OF_THE_SERVER or failure.reason == UNCLEAR):
            self.outage.answered(began, self.emit)
        elif not (failure.reason == UNCLEAR and self.outage.has_answered):
            await self.outage.failed(failure, request.row_id, began, self.emit)
        if failure is not None:
            raise SummaryError(failure.reason, failure.detail)
        return Summary("[CONTEXT SUMMARY]: ok", self.name)

    async def aclose(self) -> None:
        pass


HANGS = Retry("hangs", "")


def ask(server: Server, rows: int, time_s: float = 60) -> list[str]:
    """Ask for rows at once; return what came of each, and why the run would stop for those it would not get to."""
    breaker = BreakerSummarizer(server, server.outage, time_s)

    async def one(number: int) -> str:
        deadline = Deadline(time_s)
        request = SummaryRequest(f"t{number}", (), (), 100, len, deadline.stopped, deadline.renew, emit=server.emit)
        try:
            async with deadline:
                await breaker.summarize(request, Usage())
        except SummarizerUnusableError:
            raise
        except SummaryError as error:
            return error.reason
        except TimeoutError:
            return "time is up"
        return "ok"

    async def all_of_them() -> list[str]:
        tasks = [asyncio.create_task(one(number)) for number in range(rows)]
        _, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)  # as a run does
        for each in others:
            each.cancel()
        came_of = await asyncio.gather(*tasks, return_exceptions=True)
        stops = [f"stop: {each}" for each in came_of if isinstance(each, SummarizerUnusableError)]
        return [each if isinstance(each, str) else stops[0] for each in came_of]

    return asyncio.run(all_of_them())


def failing(*rows: str, failure: Retry = FAILS, after: int = 0) -> Script:
    return lambda row, number: failure if row in rows and number > after else None


def test_the_first_call_goes_out_alone_and_the_others_once_it_is_answered():
    under_way = []

    def script(_row: str, _number: int) -> None:
        under_way.append(server.limiter.in_flight)

    server = Server(script)
    assert ask(server, 6) == ["ok"] * 6
    assert under_way[:2] == [1, 1]
    assert max(under_way) == 5
    assert server.told == []


@pytest.mark.parametrize(
    "failure", [FAILS, UNREACHED, Retry("bad_response", "<html>"), Retry("rate_limited", "slow")]
)
def test_an_endpoint_that_never_answers_is_tried_with_other_rows_one_at_a_time_until_the_run_stops(failure):
    server = Server(lambda _row, _number: failure)
    came_of = ask(server, 3)
    assert all(each.startswith("stop: every_call_fails: no call was answered for ") for each in came_of)
    assert f"the last one with: {failure.reason}: {failure.detail}" in came_of[0]
    assert len(server.asked) < 20
    assert server.asked[:3] == ["t0", "t1", "t2"]
    assert set(server.told) == {"paused", "retried"}


@pytest.mark.parametrize(("first", "pauses"), [(UNREACHED, 5), (FAILS, 15)])
def test_an_endpoint_that_cannot_be_reached_is_given_up_sooner_than_one_that_fails(first, pauses):
    server = Server(lambda _row, number: first if number == 1 else None)
    ask(server, 2)
    assert server.pauses[0]["stops_in"] == pytest.approx(pauses * FIRST_PAUSE_S)
    assert ("check --base-url" in str(server.pauses[0]["detail"])) == (first is UNREACHED)


def test_a_row_that_the_server_always_fails_at_is_at_fault_itself_wherever_it_stands():
    for row in ("t0", "t3", "t9"):
        assert ask(Server(failing(row)), 10) == [
            "server_error" if f"t{number}" == row else "ok" for number in range(10)
        ]


def test_two_rows_that_fail_at_the_end_though_the_server_has_answered_are_at_fault_themselves():
    assert ask(Server(failing("t1", "t2"), most_at_once=1), 3) == ["ok", "server_error", "server_error"]


def test_nobody_reached_is_no_rows_fault_however_few_they_are():
    came_of = ask(Server(failing("t1", "t2", failure=UNREACHED)), 3)
    assert came_of[0] == "ok"
    assert [each[:22] for each in came_of[1:]] == ["stop: every_call_fails"] * 2


@pytest.mark.parametrize("at_once", [1, 8])
def test_an_outage_that_passes_costs_no_row(at_once):
    server = Server(lambda _row, number: FAILS if 4 < number <= 16 else None, most_at_once=at_once, max_outage_s=60)
    assert ask(server, 30) == ["ok"] * 30
    assert "answered" in server.told
    assert len(server.asked) == 42


def test_one_that_does_not_pass_stops_the_run_and_costs_no_row():
    server = Server(lambda _row, number: FAILS if number > 5 else None)
    came_of = ask(server, 30)
    assert came_of.count("ok") == 5
    assert sum("stop: every_call_fails" in each for each in came_of) == 25


def test_a_server_that_answers_every_third_call_gets_all_rows_done():
    assert ask(Server(lambda _row, number: None if number % 3 == 0 else FAILS, max_retries=4), 40) == ["ok"] * 40


@pytest.mark.parametrize("reason", ["context_length_exceeded", "content_filter", "request_too_large", "empty_answer"])
def test_what_concerns_one_row_stops_no_run(reason):
    server = Server(lambda _row, number: Retry(reason, "no") if number <= 10 else None)
    assert ask(server, 12) == [reason] * 10 + ["ok"] * 2
    assert server.told == []


def test_refusals_that_may_be_those_of_all_rows_stop_the_run_unless_the_server_has_answered():
    came_of = ask(Server(lambda _row, _number: REFUSED), 5)
    assert all("the first 3 rows are refused" in each for each in came_of[2:3])
    server = Server(failing("t0", "t1", failure=REFUSED))
    assert ask(server, 4) == [UNCLEAR, UNCLEAR, "ok", "ok"]
    assert ask(Server(lambda _row, _number: REFUSED), 1) == [UNCLEAR]


def test_a_server_that_asks_for_patience_is_given_it_even_if_it_never_answered():
    server = Server(lambda _row, number: Retry("rate_limited", "slow", 0.05) if number <= 6 else None, max_outage_s=5)
    assert ask(server, 2) == ["ok", "ok"]
    server = Server(lambda _row, _number: Retry("rate_limited", "slow", 0.05))
    assert ask(server, 2)[0].startswith("stop: every_call_fails: ")
    assert 4 <= len(server.asked) <= 12, "for as long as an outage may last"
    came_of = ask(Server(lambda _row, _number: Retry("rate_limited", "slow", 1e9)), 1)
    assert "the server asks to wait 1,000,000,000 s, beyond --max-outage" in came_of[0]


def test_a_row_whose_time_was_up_in_an_outage_gets_its_time_anew():
    assert ask(Server(lambda _row, number: HANGS if 1 < number <= 4 else None, max_outage_s=9), 4, 0.3) == ["ok"] * 4


def test_a_row_that_hangs_while_others_are_answered_has_no_more_time():
    server = Server(failing("t1", failure=HANGS))
    assert ask(server, 6, 0.2) == ["ok", "time is up", *["ok"] * 4]
    assert server.asked.count("t1") <= 2


def test_a_call_that_is_cancelled_is_cancelled():
    async def cancel() -> None:
        server = Server(lambda _row, _number: HANGS)
        breaker = BreakerSummarizer(server, server.outage, 60)
        async with Deadline(60) as deadline:
            request = SummaryRequest("t", (), (), 100, len, waiting=deadline.stopped, renew=deadline.renew)
            task = asyncio.create_task(breaker.summarize(request, Usage()))
            await asyncio.sleep(0.01)
            task.cancel()
            await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())


def test_a_failure_keeps_nothing_alive_once_it_is_dealt_with():
    async def fail_once(breaker: BreakerSummarizer) -> None:
        with pytest.raises(SummaryError, match="no"):
            await breaker.summarize(SummaryRequest("t", (), (), 100, len), Usage())

    async def ask_twice() -> None:
        server = Server(lambda _row, _number: Retry("content_filter", "no"))
        breaker = BreakerSummarizer(server, server.outage, 60)
        await fail_once(breaker)  # what is made once is made
        with leaving_no_cycles():
            await fail_once(breaker)

    asyncio.run(ask_twice())


@pytest.mark.parametrize("stops_for_good", [True, False])
def test_a_row_that_gets_to_its_call_after_the_stop_asks_nobody_in_a_run_and_again_elsewhere(stops_for_good):
    server = Server(lambda _row, _number: FAILS, stops_for_good=stops_for_good)
    breaker = BreakerSummarizer(server, server.outage, 60)

    async def one(row: str) -> str:
        try:
            await breaker.summarize(SummaryRequest(row, (), (), 100, len, emit=server.emit), Usage())
        except SummarizerUnusableError as error:
            return error.reason
        return "ok"

    async def one_after_the_other() -> None:
        assert await one("t0") == "every_call_fails"
        asked = len(server.asked)
        late = asyncio.create_task(one("t1"))
        await asyncio.wait((late,), timeout=0.1)
        assert (len(server.asked) > asked) == (not stops_for_good)
        late.cancel()

    asyncio.run(one_after_the_other())
