"""What goes over the wire: the same request as the typed client sends, for less."""

from __future__ import annotations

import asyncio

import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import LoopbackServer

from trajcompress.summarize.answer import read_body
from trajcompress.summarize.base import SummaryRequest, Usage
from trajcompress.summarize.limiter import RateLimiter
from trajcompress.summarize.openai_compatible import OpenAISummarizer
from trajcompress.summarize.wire import ask_for_completion, http_client
from trajcompress.trajectory import Turn

KEY = "sk-very-secret-key"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "max_tokens": st.integers(1, 40_000),
        "max_completion_tokens": st.integers(1, 40_000),
        "temperature": st.floats(0, 2),
    },
)


def summarizer(base_url: str) -> OpenAISummarizer:
    return OpenAISummarizer(
        model="m",
        base_url=base_url,
        api_key=KEY,
        temperature=None,
        max_retries=0,
        retry_delay=0.01,
        timeout=30,
        limiter=RateLimiter(None, None, 4),
    )


def ask(text: str) -> SummaryRequest:
    return SummaryRequest("row", (), (Turn("user", text, {}),), 300, len)


async def summarize_once(base_url: str) -> str:
    one = summarizer(base_url)
    try:
        return (await one.summarize(ask("src/main.py"), Usage())).text
    finally:
        await one.aclose()


@given(system=TEXTS, user=TEXTS, parameters=PARAMETERS)
@settings(max_examples=30, deadline=None)
def test_a_request_is_the_one_that_the_typed_client_sends(server, system, user, parameters):
    asked = {
        "model": "m",
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
        **parameters,
    }

    async def both_ways() -> tuple[bytes, bytes]:
        client = openai.AsyncOpenAI(api_key=KEY, base_url=server.base_url, max_retries=0, http_client=http_client(1))
        async with client:
            ours = await ask_for_completion(client, asked)
            async with client.chat.completions.with_streaming_response.create(**asked) as response:
                return ours, await read_body(response.iter_bytes())

    ours, typed = asyncio.run(both_ways())
    one, other = server.seen[-2:]
    assert ours == typed
    assert one.body == other.body == asked
    assert one.headers == other.headers
    assert one.headers["authorization"] == f"Bearer {KEY}"


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
