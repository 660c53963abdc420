"""Asking a loopback server for summaries, by the summariser that a run has."""

from __future__ import annotations

import asyncio

from loopback import LoopbackServer

from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.endpoint.client import OpenAISummarizer
from trajcompress.summarize.endpoint.connection import Endpoint
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.transcript.trajectory import Turn

KEY = "sk-very-secret-key"


def count(text: str) -> int:
    return len(text) // 4


def ask(number: int = 0, *, size: int = 200, target: int = 300) -> SummaryRequest:
    text = f"reading src/module_{number}.py " + "x" * size
    return SummaryRequest(f"t{number}", (Turn("user", "Fix it", {}),), (Turn("tool", text, {}),), target, count)


def summarizer(server: LoopbackServer, limiter: RateLimiter | None = None, **more) -> OpenAISummarizer:
    arguments = {
        "model": "m",
        "base_url": server.base_url,
        "api_key": KEY,
        "temperature": 0.3,
        "max_retries": 3,
        "retry_delay": 0.01,
        "timeout": 30,
    }
    return openai_summarizer(limiter=limiter or RateLimiter(None, None, 50), **arguments | more)


def openai_summarizer(**given) -> OpenAISummarizer:
    endpoint = Endpoint(**{name: given.pop(name) for name in Endpoint.__struct_fields__ if name in given})
    return OpenAISummarizer(endpoint, **given)


async def using(one, *requests: SummaryRequest, usage: Usage | None = None) -> list[Summary]:
    usage = usage or Usage()
    try:
        return await asyncio.gather(*(one.summarize(request, usage) for request in requests))
    finally:
        await one.aclose()


def one_summary(server: LoopbackServer, usage: Usage | None = None, **more) -> Summary:
    return asyncio.run(using(summarizer(server, **more), ask(), usage=usage))[0]
