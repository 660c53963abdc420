"""Where another model has made good what the first one failed at, neither is paid for again."""

from __future__ import annotations

import asyncio
import re
from contextlib import nullcontext

import commands
import pytest
import runs
from cycles import leaving_no_cycles
from loopback import LoopbackServer
from loopback_replies import Seen, empty, failed, server_error

from trajcompress.errors import SummarizerUnusableError, SummaryError
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.fallback import FallbackSummarizer

ROWS = 12


def number_of(seen: Seen) -> int:
    return int(re.search(r"parser_(\d+)", seen.text)[1])


def call(folder, server, output="out", **more):
    settings = {
        "tokenizer__name": runs.small_tokenizer(),
        "compression__target_max_tokens": 2000,
        "compression__summary_target_tokens": 300,
        "summarization__model": "first",
        "summarization__fallback_model": "second",
        "summarization__base_url": server.base_url,
        "summarization__max_retries": 1,
        "summarization__retry_delay": 0.1,  # five of which without an answer are an outage, and calls take a while
        "summarization__price_in": 1.0,
        "summarization__price_out": 2.0,
    }
    return runs.run_here(
        *[path for path in folder.iterdir() if path.name.startswith(("a.", "b."))],
        output=folder / output,
        **(settings | more),
    )


@pytest.fixture
def inputs(tmp_path):
    return runs.write_inputs(tmp_path, ROWS)


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("fault", [server_error(), empty()], ids=lambda fault: fault.name)
def test_a_resumed_run_asks_neither_again_and_reports_what_was_paid(tmp_path, fault):
    revoked = False

    def script(seen):
        if revoked and number_of(seen) >= ROWS // 2:
            return failed(401, "expired")
        return fault if seen.model == "first" and number_of(seen) % 2 else None

    with LoopbackServer(script) as server:
        call(tmp_path, server, "whole")
        whole = len(server.seen)
        revoked = True
        assert call(tmp_path, server, processing__max_in_flight=1).state == "stopped"
        answered = [seen for seen in server.seen[whole:] if seen.outcome != "http_401"]
        assert answered
        revoked = False
        assert call(tmp_path, server).state == "complete"
    asked = [(seen.model, number_of(seen)) for seen in server.seen[whole:] if seen.outcome != "http_401"]
    assert sorted(asked) == sorted((seen.model, number_of(seen)) for seen in server.seen[:whole])
    assert runs.outcome(tmp_path / "out") == runs.outcome(tmp_path / "whole")
    rows = commands.read_metrics(tmp_path / "out")
    assert {row["summarization_api_calls"] for row in rows if row["summarizer"] == "second"} == {3}


@pytest.mark.usefixtures("inputs")
def test_a_second_run_with_the_same_cache_pays_nothing(tmp_path):
    def script(seen):
        return empty() if seen.model == "first" and number_of(seen) % 2 else None

    cache = {"summarization__cache": str(tmp_path / "cache")}
    with LoopbackServer(script) as server:
        first = call(tmp_path, server, "one", **cache).totals
        calls = len(server.seen)
        second = call(tmp_path, server, "two", **cache).totals
        assert len(server.seen) == calls
        assert (second.summarization_api_calls, second.summarizers) == (0, first.summarizers)
        call(tmp_path, server, "alone", summarization__fallback_model=None, **cache)
        assert len(server.seen) > calls  # without another model the first one is asked again


@pytest.mark.usefixtures("inputs")
def test_a_second_run_asks_again_where_it_was_the_server_that_failed(tmp_path):
    down = True

    def script(seen):
        return server_error() if down and seen.model == "first" and number_of(seen) % 2 else None

    cache = {"summarization__cache": str(tmp_path / "cache")}
    with LoopbackServer(script) as server:
        assert call(tmp_path, server, "one", **cache).totals.summarizers["second"]
        down = False
        assert call(tmp_path, server, "two", **cache).totals.summarizers.keys() == {"first"}


class Model:
    """Fails as it is told to, or answers."""

    def __init__(self, name: str, failure: SummaryError | None = None) -> None:
        self.name = name
        self.failure = failure

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:  # noqa: ARG002 - as the protocol
        if self.failure is not None:
            raise self.failure
        return Summary("[CONTEXT SUMMARY]: ok", self.name)

    async def aclose(self) -> None:
        """Close nothing."""


@pytest.mark.parametrize(
    "failure", [SummaryError("empty_answer", "no"), SummarizerUnusableError("unknown_model", "no such model")]
)
def test_a_failure_that_was_made_good_keeps_no_row_alive(failure):
    async def ask() -> None:
        summarizer = FallbackSummarizer(Model("first", failure), model=Model("second"))
        for _ in range(3):
            with leaving_no_cycles():
                made = await summarizer.summarize(SummaryRequest("t", (), (), 100, len, nullcontext), Usage())
            assert made.summarizer == "second"
            assert failure.__traceback__ is None

    asyncio.run(ask())
