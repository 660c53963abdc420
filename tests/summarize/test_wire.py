"""What goes over the wire."""

from __future__ import annotations

import asyncio
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import LoopbackServer
from loopback_replies import Reply

from trajcompress.summarize.base import SummaryRequest, Usage
from trajcompress.summarize.endpoint.client import OpenAISummarizer
from trajcompress.summarize.endpoint.connection import Endpoint
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.endpoint.wire import HttpReply, Wire
from trajcompress.transcript.trajectory import Turn

KEY = "sk-very-secret-key"
ASKED = {"model": "m", "messages": [{"role": "user", "content": "src/main.py"}]}


def summarizer(base_url: str) -> OpenAISummarizer:
    endpoint = Endpoint(model="m", base_url=base_url, api_key=KEY, temperature=None, timeout=30)
    return OpenAISummarizer(endpoint, max_retries=0, retry_delay=0.01, limiter=RateLimiter(None, None, 4))


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


def posted(answer: bytes) -> tuple[HttpReply, bytes]:
    """Post one request to a server that sends these bytes; return what was read, and the head of the request."""
    heads = []

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        await writer.drain()
        writer.close()

    async def asked() -> HttpReply:
        serving = await asyncio.start_server(reply, "127.0.0.1", 0)
        port = serving.sockets[0].getsockname()[1]
        wire = Wire(f"http://127.0.0.1:{port}/v1/", KEY, connections=1, timeout=30, telling=False)
        async with serving:
            try:
                return await wire.post(ASKED)
            finally:
                await wire.aclose()

    return asyncio.run(asked()), heads[0]


def test_an_answer_may_come_compressed():
    answer = b'{"choices": [{"message": {"content": "It ran."}}]}'
    packed = gzip.compress(answer)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    reply, asked = posted(head + packed)
    assert reply.body == answer
    assert reply.is_success
    assert b"Accept-Encoding: gzip" in asked


def test_a_redirect_is_not_followed():
    reply, _ = posted(b"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:9/v1\r\nContent-Length: 0\r\n\r\n")
    assert (reply.status, reply.is_success) == (307, False)
    assert reply.headers["location"] == "http://127.0.0.1:9/v1"


def test_headers_are_those_of_the_environment_as_with_openais_own_clients(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.delenv("OPENAI_PROJECT_ID", raising=False)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: red: blue\nno header\nUser-Agent: ours")
    _, head = posted(b"HTTP/1.1 204 No Content\r\n\r\n")
    lines = head.decode().splitlines()
    assert lines[0] == "POST /v1/chat/completions HTTP/1.1"
    assert f"Authorization: Bearer {KEY}" in lines
    assert {"OpenAI-Organization: org-1", "X-Team: red: blue", "User-Agent: ours"} <= set(lines)
    assert "OpenAI-Project" not in head.decode()


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
