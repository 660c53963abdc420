"""Endpoints that are slow, odd or flapping, and answer after all: no row is lost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from outages import DOWN, ROWS, compress
from raw_endpoint import OK, Asked, RawEndpoint, answer, refusal


@dataclass(frozen=True, slots=True)
class Odd:
    """What a server does that works after all."""

    name: str
    reply: Callable[[Asked], bytes | None]
    arguments: tuple[str, ...] = ()
    path: str = ""
    host: str = "127.0.0.1"
    closing: bool = False


def first(calls: int, reply: bytes) -> Callable[[Asked], bytes]:
    return lambda asked: reply if asked.number <= calls else OK


def every(nth: int, reply: bytes = DOWN) -> Callable[[Asked], bytes]:
    return lambda asked: OK if asked.number % nth == 0 else reply


def slowly(asked: Asked) -> bytes:
    time.sleep(1.0 if asked.number == 1 else 0)
    return OK


def only_second(asked: Asked) -> bytes:
    model = json.loads(asked.body)["model"]
    return OK if model == "second" else refusal(404, f"The model `{model}` does not exist", "model_not_found")


def second_is_up(asked: Asked) -> bytes:
    return OK if json.loads(asked.body)["model"] == "second" else DOWN


def no_temperature(asked: Asked) -> bytes:
    refused = "temperature" in json.loads(asked.body)
    return refusal(400, "Unsupported value: 'temperature' does not support 0.3.") if refused else OK


PATIENT = ("--max-outage", "30")
ODD = [
    Odd("slower at first than an outage may last", slowly),
    Odd("500 for a moment", first(3, DOWN)),
    Odd("425 once", first(1, answer(425))),
    Odd("408 once", first(1, answer(408))),
    Odd(
        "429 with a Retry-After, longer than without one is waited",
        first(6, answer(429, Retry_After="0.08")),
        PATIENT,
    ),
    Odd("429 with a date that is over", first(3, answer(429, Retry_After="Wed, 21 Oct 2015 07:20:30 GMT"))),
    Odd(
        "429 with a date, on a server whose clock is years behind",
        first(2, answer(429, Retry_After="Wed, 21 Oct 2015 07:20:30 GMT", Date="Wed, 21 Oct 2015 07:20:30 GMT")),
    ),
    Odd(
        "429 with a date, on a server whose clock is years ahead",
        first(2, answer(429, Retry_After="Wed, 21 Oct 2065 07:20:30 GMT", Date="Wed, 21 Oct 2065 07:20:30 GMT")),
    ),
    Odd("429, garbage", first(3, answer(429, Retry_After="\u00fc" * 50))),
    Odd("429, nan", first(3, answer(429, Retry_After="nan"))),
    Odd("answers every third call", every(3), ("--max-outage", "30")),
    Odd("answers every third call, connections break", every(3, b"HTTP/1.1"), PATIENT),
    Odd("comes and goes", lambda asked: DOWN if asked.number // 5 % 2 else OK, PATIENT),
    Odd(
        "breaks off amid the body",
        lambda asked: answer(200, b'{"ch', declared=999) if asked.number % 2 else OK,
        PATIENT,
    ),
    Odd("closes each connection without a word", lambda _: OK, closing=True),
    Odd("a slash behind the base URL", lambda _: OK, path="/"),
    Odd("a deep base URL", lambda _: OK, path="/openai/deployments/x"),
    Odd("IPv6", lambda _: OK, host="::1"),
    Odd("a model that only the fallback is", only_second, ("--fallback-model", "second")),
    Odd("a model that is down, and a fallback that is not", second_is_up, ("--fallback-model", "second", *PATIENT)),
    Odd("no temperature", no_temperature),
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_what_works_after_all_costs_no_row(calling, out, odd):
    with RawEndpoint(odd.reply, host=odd.host, closing=odd.closing) as server:
        ran = compress(calling, server.base_url + odd.path, out, *odd.arguments)
    assert (ran.code, ran.json["state"], ran.json["compressed"]) == (0, "complete", ROWS), ran.stderr
    lost = ran.json["summarization_api_calls"] - len(server.asked)
    assert 0 <= lost <= (ROWS if odd.closing else 0), "a call may meet a connection that is just being closed"
    target = f"/v1{odd.path.rstrip('/')}/chat/completions"
    assert {asked.target for asked in server.asked} == {target}
