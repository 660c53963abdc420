"""Compactors in a program: in tasks, side by side, with secrets and a cache, closed and pickled."""

from __future__ import annotations

import asyncio
import pickle

import pytest
from growing import SMALL, context
from loopback import LoopbackServer
from loopback_replies import hang

from trajcompress import (
    Compactor,
)


def test_many_conversations_beside_a_loop_share_the_limits(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

    async def all_of_them(compactor):
        inside = compactor.compact_sync(context(40, task="The first."))
        contexts = [context(40, task=f"Task {number}.") for number in range(6)]
        return [inside, *await asyncio.gather(*map(compactor.compact, contexts))]

    with (
        LoopbackServer(latency=0.05) as server,
        Compactor(**SMALL, model="writer", base_url=server.base_url, max_concurrent_requests=2) as compactor,
    ):
        done = asyncio.run(all_of_them(compactor))
    assert server.most_at_once == 2
    assert [each.messages[1]["content"] for each in done] == ["The first."] + [f"Task {n}." for n in range(6)]
    assert all(each.changed and each.metrics.summarizer == "writer" for each in done)


def test_a_task_that_is_cancelled_ends_the_call(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

    async def cancelled(compactor):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(compactor.compact(context(40)), 0.5)
        return await compactor.compact(context(40))

    with (
        LoopbackServer([hang()]) as server,
        Compactor(**SMALL, model="writer", base_url=server.base_url) as compactor,
    ):
        assert asyncio.run(cancelled(compactor)).changed


def test_secrets_stay_here_and_paid_summaries_are_found(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    secret = "sk-" + "a1B2c3D4" * 6
    messages = context(40)
    messages[9]["content"] += f"\napi_key={secret}"
    with LoopbackServer() as server:
        for _ in range(2):
            with Compactor(**SMALL, model="writer", base_url=server.base_url, cache=str(tmp_path)) as compactor:
                done = compactor.compact_sync(messages)
    assert done.metrics.cache_hits == len(server.seen) == 1
    assert secret not in server.seen[0].text
    assert secret not in str(done.messages)


def test_closed_and_pickled():
    async def cell():
        async with Compactor(**SMALL) as compactor:
            return compactor, await compactor.compact(context(40))

    compactor, done = asyncio.run(cell())
    with pytest.raises(RuntimeError, match="this Compactor is closed"):
        compactor.compact_sync(context(1))
    with pytest.raises(RuntimeError, match="closed"):
        compactor.pressure(context(1))
    with pickle.loads(pickle.dumps(compactor)) as other:  # noqa: S301 - our own
        assert other.compact_sync(context(40)) == done
