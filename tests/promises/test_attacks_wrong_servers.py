"""Endpoints that are wrong, down or hanging: what a run says, when it ends, and what it keeps."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from email.utils import formatdate

import commands
import pytest
from outages import DOWN, HTML, QUICK, ROWS, compress
from raw_endpoint import OK, Asked, RawEndpoint, answer, refusal


@dataclass(frozen=True, slots=True)
class Wrong:
    """What every call comes to, what is said of it, and at how many calls the run gives up."""

    name: str
    reply: bytes | None
    says: str
    most_calls: int = 40
    arguments: tuple[str, ...] = ()


AT_ONCE = 1
WRONG = [
    Wrong("401", refusal(401, "No such key.", "invalid_api_key"), "unauthorized: m: HTTP 401: No such key.", AT_ONCE),
    Wrong(
        "402", refusal(402, "Insufficient credits"), "payment_required: m: HTTP 402: Insufficient credits", AT_ONCE
    ),
    Wrong("403", refusal(403, "Not in your country"), "forbidden: m: HTTP 403: Not in your country", AT_ONCE),
    Wrong("404", answer(404, "no page"), "wrong_endpoint: m: HTTP 404: no page; check the base URL", AT_ONCE),
    Wrong("405", answer(405), "wrong_endpoint: m: HTTP 405; check the base URL", AT_ONCE),
    Wrong("410", refusal(410, "v1 is gone"), "wrong_endpoint: m: HTTP 410: v1 is gone", AT_ONCE),
    Wrong("407 of a proxy", answer(407, HTML), "proxy_refused: m: HTTP 407: <html>", AT_ONCE),
    Wrong(
        "unknown model", refusal(404, "The model `m` does not exist", "model_not_found"), "unknown_model: m:", AT_ONCE
    ),
    Wrong(
        "no quota, as 429", refusal(429, "Check your plan.", "insufficient_quota"), "insufficient_quota: m:", AT_ONCE
    ),
    Wrong("301", answer(301, location="https://x.test/v2"), "HTTP 301: it redirects to https://x.test/v2", AT_ONCE),
    Wrong("308", answer(308, location="/v2"), "HTTP 308: it redirects to /v2; check the base URL", AT_ONCE),
    Wrong("500", DOWN, "server_error: m: HTTP 500: the GPU has left"),
    Wrong("502, a page", answer(502, HTML), "HTTP 502: <html><head><title>502 Bad Gateway"),
    Wrong("503", answer(503), "server_error: m: HTTP 503"),
    Wrong("529", refusal(529, "Overloaded"), "server_error: m: HTTP 529: Overloaded"),
    Wrong("408", answer(408), "timeout: m: HTTP 408"),
    Wrong("425", answer(425), "conflict: m: HTTP 425"),
    Wrong("429 without a word", answer(429), "rate_limited: m: HTTP 429"),
    Wrong("429, again and again", answer(429, Retry_After="0.05"), "rate_limited: m: HTTP 429"),
    Wrong("503, again and again", answer(503, Retry_After="0.05"), "server_error: m: HTTP 503"),
    Wrong("429, in 32 years", answer(429, Retry_After="1000000000"), "asks to wait 1,000,000,000 s", AT_ONCE),
    Wrong(
        "429, next year", answer(429, Retry_After=formatdate(time.time() + 4e7)), "the server asks to wait", AT_ONCE
    ),
    Wrong("429, never mind", answer(429, Retry_After="-5"), "rate_limited: m: HTTP 429"),
    Wrong("429, at some time", answer(429, Retry_After="soon, I hope"), "rate_limited: m: HTTP 429"),
    Wrong("a page", answer(200, "<h1>Welcome to nginx!</h1>"), "bad_response: m: no chat completion"),
    Wrong("nothing", answer(200), "bad_response: m: no chat completion"),
    Wrong("204", answer(204), "bad_response: m: no chat completion"),
    Wrong("null", answer(200, {"choices": None}), "bad_response: m: no chat completion"),
    Wrong("half an answer", answer(200, b'{"choices": [{"mess', declared=4000), "connection: m: "),
    Wrong("half a header", b"HTTP/1.1 200 O", "connection: m: "),
    Wrong("no HTTP", b"220 mail.test ESMTP\r\n", "connection: m: "),
    Wrong("400", refusal(400, "Unknown field `messages`"), "rows are refused"),
    Wrong("hangs", None, "timeout: m: no answer in time", 3, ("--max-retries", "1")),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_what_is_wrong_from_the_first_call_on_ends_the_run(calling, out, wrong):
    env = {"TRAJCOMPRESS_SUMMARIZATION__TIMEOUT": "0.4"} if wrong.reply is None else {}
    if wrong.reply is None:
        calling.path("short.yaml").write_text(QUICK.replace("timeout: 5", "timeout: 0.4"))
    more = (*wrong.arguments, *(("-c", "short.yaml") if env else ()))
    with RawEndpoint(lambda _: wrong.reply) as server:
        ran = compress(calling, server.base_url, out, "--on-failure", "extractive", *more, "--log-file", f"{out}.log")
    assert (ran.code, ran.json["state"], ran.json["failed"], ran.json["compressed"]) == (2, "stopped", 0, 0), ran
    assert wrong.says in ran.stderr, ran.stderr
    assert "go on with: trajcompress compress " in ran.stderr
    assert 1 <= len(server.asked) <= wrong.most_calls
    events = [json.loads(line) for line in calling.path(f"{out}.log").read_text().splitlines()]
    assert events[-1]["event"] == "stopped"
    if wrong.most_calls > AT_ONCE and wrong.name != "400":
        assert any(event["event"] == "paused" and event["detail"].startswith("m: ") for event in events)


LATER = {
    *("401", "no quota, as 429", "unknown model", "308", "500", "502, a page", "429 without a word", "hangs"),
    *("429, again and again", "429, in 32 years", "a page", "half an answer", "no HTTP"),
}


@pytest.mark.parametrize("wrong", [each for each in WRONG if each.name in LATER], ids=lambda wrong: wrong.name)
def test_what_goes_wrong_later_stops_the_run_which_goes_on_as_if_nothing_had_been(calling, out, whole, wrong):
    healed, answered = False, 3

    def reply(asked: Asked) -> bytes | None:
        return OK if healed or asked.number <= answered else wrong.reply

    calling.path("short.yaml").write_text(QUICK.replace("timeout: 5", "timeout: 0.4"))
    more = (*wrong.arguments, *(("-c", "short.yaml") if wrong.reply is None else ()))
    with RawEndpoint(reply) as server:
        ran = compress(calling, server.base_url, out, *more)
        assert (ran.code, ran.json["state"], ran.json["failed"]) == (1, "stopped", 0), ran
        assert wrong.says in ran.stderr, ran.stderr
        healed, before = True, len(server.asked)
        again = compress(calling, server.base_url, out, *more)
        assert (again.code, again.json["state"], again.json["compressed"]) == (0, "complete", ROWS), again
        assert len(server.asked) - before == ROWS - answered, "no summary is paid for twice"
    assert commands.read_lines(calling.path(out)) == whole
