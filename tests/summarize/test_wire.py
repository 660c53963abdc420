"""What goes over the wire."""

from __future__ import annotations

import asyncio
import gzip

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import LoopbackServer
from loopback_replies import Reply

from trajcompress.summarize.base import SummaryRequest, Usage
from trajcompress.summarize.endpoint.client import OpenAISummarizer
from trajcompress.summarize.endpoint.connection import Endpoint
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.endpoint.wire import ask_for_completion, http_client
from trajcompress.transcript.trajectory import Turn

KEY = "sk-very-secret-key"
ASKED = {"model": "m", "messages": [{"role": "user", "content": "src/main.py"}]}


def summarizer(base_url: str) -> OpenAISummarizer:
    endpoint = Endpoint(model="m", base_url=base_url, api_key=KEY, temperature=None, timeout=30)
    return OpenAISummarizer(endpoint, max_retries=0, retry_delay=0.01, limiter=RateLimiter(None, None, 4))


def client(base_url: str, below: httpx2.AsyncClient) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key=KEY, base_url=base_url, max_retries=0, http_client=below)


def ask(text: str) -> SummaryRequest:
    return SummaryRequest("row", (), (Turn("user", text, {}),), 300, len)


async def summarize_once(base_url: str) -> str:
    one = summarizer(base_url)
    try:
        return (await one.summarize(ask("src/main.py"), Usage())).text
    finally:
        await one.aclose()


def test_a_cookie_that_the_server_sets_comes_back():
    script = [None, Reply(headers={"Set-Cookie": "route=7; Path=/"}), None, None]

    async def in_turn(base_url: str) -> None:
        one = summarizer(base_url)
        for number in range(4):
            await one.summarize(ask(f"turn {number}"), Usage())
        await one.aclose()

    with LoopbackServer(script) as server:
        asyncio.run(in_turn(server.base_url))
        assert [seen.headers.get("cookie") for seen in server.seen] == [None, None, "route=7", "route=7"]


def test_an_answer_may_come_compressed():
    answer = b'{"choices": [{"message": {"content": "It ran."}}]}'

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"accept-encoding: gzip" in head
        packed = gzip.compress(answer)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n" % len(packed) + packed)
        await writer.drain()
        writer.close()

    async def asked() -> bytes:
        serving = await asyncio.start_server(reply, "127.0.0.1", 0)
        port = serving.sockets[0].getsockname()[1]
        async with serving, client(f"http://127.0.0.1:{port}/v1", http_client(1, telling=False)) as one:
            return await ask_for_completion(one, ASKED)

    assert asyncio.run(asked()) == answer


@given(asked=st.lists(st.integers(0, 3), max_size=8))
def test_the_key_of_a_request_is_its_own_whatever_was_asked_before(asked):
    requests = [ask(f"turn {number} token=ghp_{'a1B2' * 9}") for number in range(4)]
    used = summarizer("http://127.0.0.1:9/v1")
    for number in asked:
        fresh = summarizer("http://127.0.0.1:9/v1")
        assert used.request_key(requests[number]) == fresh.request_key(ask(requests[number].region[0].text))


def test_what_is_sent_is_the_request_at_hand_not_the_one_whose_key_was_asked_for_last(server):
    first, second = ask("src/first.py"), ask("src/second.py")

    async def in_turn() -> None:
        one = summarizer(server.base_url)
        one.request_key(first)
        one.request_key(second)
        for request in (first, second):
            await one.summarize(request, Usage())
        await one.aclose()

    asyncio.run(in_turn())
    sent = [seen.messages[-1]["content"] for seen in server.seen[-2:]]
    assert ["src/first.py" in text for text in sent] == [True, False]
    assert ["src/second.py" in text for text in sent] == [False, True]


def test_a_proxy_of_the_environment_is_used(server, monkeypatch):
    monkeypatch.setenv("http_proxy", server.base_url.removesuffix("/v1"))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert "src/main.py" in asyncio.run(summarize_once("http://endpoint.invalid/v1"))
    assert server.seen[-1].headers["host"] == "endpoint.invalid"


def test_a_netrc_does_not_stand_against_the_key(server, monkeypatch, tmp_path):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password something\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    asyncio.run(summarize_once(server.base_url))
    assert server.seen[-1].headers["authorization"] == f"Bearer {KEY}"


@pytest.fixture(scope="module")
def server():
    with LoopbackServer() as running:
        yield running
