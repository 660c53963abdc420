"""Endpoints that are down, wrong, slow, odd or elsewhere: what a run says, when it ends, and what it keeps."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate

import commands
import pytest
from loopback import LoopbackServer
from raw_endpoint import COMPLETION, OK, Asked, RawEndpoint, answer, refusal

KEY = "sk-proj-9aB8cD7eF6gH5iJ4kL3mN2"
ROWS = 8
OUTAGE_S = 0.6
"""How long an outage may last here; a run that never had an answer stops after 0.3 s of failures."""
QUICK = f"summarization: {{retry_delay: 0.02, timeout: 5, max_outage: {OUTAGE_S}, max_failures_in_a_row: 4}}"

HTML = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
DOWN = refusal(500, "the GPU has left")


@pytest.fixture
def desk(desk):
    desk.write("a.jsonl", map(commands.conversation, range(ROWS)))
    desk.write("one.jsonl", [commands.conversation(0)])
    desk.path("quick.yaml").write_text(QUICK)
    return desk


@pytest.fixture
def out():
    return "out"


def compress(desk, base_url, out, *more, rows="a.jsonl", env=None):
    options = (
        "-o",
        out,
        "--model",
        "m",
        "--base-url",
        base_url,
        "-c",
        "quick.yaml",
        "--json",
        "--max-in-flight",
        "6",
    )
    return desk.compress(rows, *options, *more, env={"OPENAI_API_KEY": KEY, **(env or {})})


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
def test_what_is_wrong_from_the_first_call_on_ends_the_run(desk, out, wrong):
    env = {"TRAJCOMPRESS_SUMMARIZATION__TIMEOUT": "0.4"} if wrong.reply is None else {}
    if wrong.reply is None:
        desk.path("short.yaml").write_text(QUICK.replace("timeout: 5", "timeout: 0.4"))
    more = (*wrong.arguments, *(("-c", "short.yaml") if env else ()))
    with RawEndpoint(lambda _: wrong.reply) as server:
        ran = compress(desk, server.base_url, out, "--on-failure", "extractive", *more, "--log-file", f"{out}.log")
    assert (ran.code, ran.json["state"], ran.json["failed"], ran.json["compressed"]) == (2, "stopped", 0, 0), ran
    assert wrong.says in ran.stderr, ran.stderr
    assert "go on with: trajcompress compress " in ran.stderr
    assert 1 <= len(server.asked) <= wrong.most_calls
    events = [json.loads(line) for line in desk.path(f"{out}.log").read_text().splitlines()]
    assert events[-1]["event"] == "stopped"
    if wrong.most_calls > AT_ONCE and wrong.name != "400":
        assert any(event["event"] == "paused" and event["detail"].startswith("m: ") for event in events)


LATER = {
    *("401", "no quota, as 429", "unknown model", "308", "500", "502, a page", "429 without a word", "hangs"),
    *("429, again and again", "429, in 32 years", "a page", "half an answer", "no HTTP"),
}


@pytest.mark.parametrize("wrong", [each for each in WRONG if each.name in LATER], ids=lambda wrong: wrong.name)
def test_what_goes_wrong_later_stops_the_run_which_goes_on_as_if_nothing_had_been(desk, out, whole, wrong):
    healed, answered = False, 3

    def reply(asked: Asked) -> bytes | None:
        return OK if healed or asked.number <= answered else wrong.reply

    desk.path("short.yaml").write_text(QUICK.replace("timeout: 5", "timeout: 0.4"))
    more = (*wrong.arguments, *(("-c", "short.yaml") if wrong.reply is None else ()))
    with RawEndpoint(reply) as server:
        ran = compress(desk, server.base_url, out, *more)
        assert (ran.code, ran.json["state"], ran.json["failed"]) == (1, "stopped", 0), ran
        assert wrong.says in ran.stderr, ran.stderr
        healed, before = True, len(server.asked)
        again = compress(desk, server.base_url, out, *more)
        assert (again.code, again.json["state"], again.json["compressed"]) == (0, "complete", ROWS), again
        assert len(server.asked) - before == ROWS - answered, "no summary is paid for twice"
    assert commands.read_lines(desk.path(out)) == whole


_WHOLE: list[bytes] = []


@pytest.fixture
def whole(desk):
    """The dataset of a run that nothing disturbs."""
    if not _WHOLE:
        with RawEndpoint(lambda _: OK) as server:
            assert compress(desk, server.base_url, "whole").code == 0
        _WHOLE.extend(commands.read_lines(desk.path("whole")))
    return _WHOLE


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
def test_what_works_after_all_costs_no_row(desk, out, odd):
    with RawEndpoint(odd.reply, host=odd.host, closing=odd.closing) as server:
        ran = compress(desk, server.base_url + odd.path, out, *odd.arguments)
    assert (ran.code, ran.json["state"], ran.json["compressed"]) == (0, "complete", ROWS), ran.stderr
    lost = ran.json["summarization_api_calls"] - len(server.asked)
    assert 0 <= lost <= (ROWS if odd.closing else 0), "a call may meet a connection that is just being closed"
    target = f"/v1{odd.path.rstrip('/')}/chat/completions"
    assert {asked.target for asked in server.asked} == {target}


def test_nobody_there(desk, out):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    ran = compress(desk, f"http://127.0.0.1:{port}/v1", out)
    assert ran.code == 2
    assert f"no call was answered for 0 s at http://127.0.0.1:{port}/v1" in ran.stderr
    assert "Connect" in ran.stderr


def test_a_name_that_nobody_has(desk, out):
    ran = compress(desk, "http://endpoint.invalid/v1", out)
    assert ran.code == 2
    assert "endpoint.invalid" in ran.stderr
    assert "connection: m: " in ran.stderr


@pytest.mark.parametrize("label", ["a" * 70, "xn--\u00fc"], ids=["label too long", "no IDNA"])
def test_a_name_that_nobody_can_have(desk, out, label):
    ran = compress(desk, f"http://{label}.test/v1", out)
    assert ran.code == 2
    assert "summarization.base_url should name a host" in ran.stderr


def test_a_server_without_tls(desk, out):
    with LoopbackServer() as server:
        ran = compress(desk, server.base_url.replace("http://", "https://"), out)
    assert ran.code == 2
    assert "tls_failure: m: " in ran.stderr
    assert "begin the base URL with http://" in ran.stderr


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_certificate_of_nobody_known_is_refused_at_once_and_taken_if_named(desk, out, tmp_path):
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*made, *files], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with RawEndpoint(lambda _: OK, tls=context) as server:
        ran = compress(desk, server.base_url, out)
        assert ran.code == 2
        assert "tls_failure: m: " in ran.stderr
        assert "SSL_CERT_FILE" in ran.stderr
        assert server.asked == []
        ran = compress(desk, server.base_url, out, env={"SSL_CERT_FILE": str(tmp_path / "cert.pem")})
        assert ran.code == 0, ran.stderr


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_the_key_follows_no_redirect(desk, out, status):
    with (
        RawEndpoint(lambda _: OK) as elsewhere,
        RawEndpoint(lambda _: answer(status, location=f"{elsewhere.base_url}/chat/completions")) as server,
    ):
        ran = compress(desk, server.base_url, out)
    assert (ran.code, elsewhere.asked) == (2, [])
    assert f"it redirects to {elsewhere.base_url}" in ran.stderr


OTHER = "sk-ant-api03-" + "Zy9Xw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe" * 2
SECRETS = {
    "in full": (KEY, f"Incorrect API key provided: {KEY}."),
    "its beginning": (KEY[:20], f"Incorrect API key provided: {KEY[:20]}..."),
    "its end": (KEY[-16:], f"key ...{KEY[-16:]} expired"),
    "in other letters": (KEY.lower(), f"key {KEY.lower()} expired"),
    "cut in two by the bound": (KEY[:16], "x " * 192 + KEY),
    "cut in two by what is read": (KEY[:9], " " * 9990 + KEY),
    "base64": (base64.b64encode(KEY.encode()).decode(), "Basic " + base64.b64encode(KEY.encode()).decode()),
    "a header": (KEY, f"upstream refused Authorization: Bearer {KEY}"),
    "another key": (OTHER, f"upstream key {OTHER} is over its quota"),
    "a URL": ("hunter2secret", "cannot reach https://admin:hunter2secret@db.test/x"),
    "a token in a URL": ("Zx81kQ9mLp2vT7wR4nB6", "see https://x.test/?api_key=Zx81kQ9mLp2vT7wR4nB6&a=1"),
}


STATUSES = (401, 500, 400, 200)


@pytest.mark.parametrize(
    ("status", "secret"),
    [*((status, "in full") for status in STATUSES), *zip(STATUSES * 9, SECRETS, strict=False)],
)
def test_no_secret_comes_back_by_a_servers_words(desk, out, secret, status):
    hidden, words = SECRETS[secret]
    reply = refusal(status, words) if status != 200 else answer(200, words)
    with RawEndpoint(lambda _: reply) as server:
        ran = compress(desk, server.base_url, out, "--log-file", f"{out}.log", rows="one.jsonl")
    assert ran.code in {1, 2}
    folder = desk.path(out)
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    metrics = folder / "metrics.parquet"
    errors = str(commands.read_metrics(folder)) if metrics.exists() else ""
    shown = ran.stdout + ran.stderr + desk.path(f"{out}.log").read_text() + errors
    assert hidden not in shown
    assert hidden.encode() not in kept


@pytest.mark.parametrize("status", [401, 500, 400, 200, 301])
def test_no_words_of_a_server_steer_a_terminal_or_fill_it(desk, out, status):
    words = "\x1b[2J\x1b]0;owned\x07\u202egnp.exe\x9b31m\r\n\x00" + "\u2028long " * 5000
    body = {"error": {"message": words}} if status != 200 else words
    reply = answer(status, body, **({"location": "/\x1b[31m"} if status == 301 else {}))
    with RawEndpoint(lambda _: reply) as server:
        ran = compress(desk, server.base_url, out, "--log-file", f"{out}.log", rows="one.jsonl")
    folder = desk.path(out)
    errors = [row["error"] for row in commands.read_metrics(folder)] if (folder / "metrics.parquet").exists() else []
    log = [str(json.loads(line)) for line in desk.path(f"{out}.log").read_text().splitlines()]
    for line in [*ran.stderr.splitlines(), *filter(None, errors), *log]:
        assert line.isprintable(), line
        assert len(line) < 1200


def test_a_key_of_any_shape_is_masked(desk, out):
    for key in ("pass word", 'q"uo\\te/+=', "EMPTY-7", "0123456789012345678901234567890123456789"):
        with RawEndpoint(lambda asked: refusal(401, f"not {asked.headers['authorization']} at all")) as server:
            ran = compress(desk, server.base_url, out, "--overwrite", env={"OPENAI_API_KEY": key})
        assert ran.code == 2
        assert key not in ran.stdout + ran.stderr
        assert "HTTP 401: not " in ran.stderr


MAY_DIFFER = {
    "key": ("--api-key-env", "OTHER_KEY"),
    "requests per minute": ("--rpm", "6000"),
    "tokens per minute": ("--tpm", "90000000"),
    "calls at once": ("--max-concurrent-requests", "2"),
    "prices": ("--price-in", "3", "--price-out", "4"),
    "retries": ("--max-retries", "3"),
    "time of a row": ("--per-trajectory-timeout", "100"),
    "on failure": ("--on-failure", "extractive"),
    "log": ("--log-file", "another.log"),
    "outage": ("--max-outage", "9"),
    "failures in a row": ("--max-failures-in-a-row", "3"),
    "nothing shown": ("--quiet",),
}
MAY_NOT = {
    "summarization.model": ("--model", "n"),
    "summarization.fallback_model": ("--fallback-model", "n"),
    "compression.target_max_tokens": ("--target-max-tokens", "1900"),
    "compression.summary_target_tokens": ("--summary-target-tokens", "200"),
    "summarization.focus": ("--focus", "tests"),
    "summarization.redact": ("--redact", "off"),
    "summarization.facts": ("--no-facts",),
}


def stopped(desk, out, answered=4):
    with RawEndpoint(lambda asked: OK if asked.number <= answered else refusal(401, "revoked")) as server:
        ran = compress(desk, server.base_url, out, "--price-in", "1", "--price-out", "2")
    assert (ran.code, ran.json["state"]) == (1, "stopped")


@pytest.mark.parametrize("changed", MAY_DIFFER)
def test_an_unfinished_run_goes_on_elsewhere_and_otherwise(desk, out, whole, changed):
    stopped(desk, out)
    with RawEndpoint(lambda _: OK) as server:
        prices = ("--price-in", "1", "--price-out", "2") if changed != "prices" else ()
        ran = compress(desk, server.base_url, out, *prices, *MAY_DIFFER[changed], env={"OTHER_KEY": "sk-other"})
    assert ran.code == 0, ran.stderr
    assert len(server.asked) == ROWS - 4, "no summary is paid for twice"
    assert commands.read_lines(desk.path(out)) == whole
    costs = [row["cost_usd"] for row in commands.read_metrics(desk.path(out))]
    paid = (COMPLETION["usage"]["prompt_tokens"] + 2 * COMPLETION["usage"]["completion_tokens"]) / 1e6
    assert sum(cost == pytest.approx(paid) for cost in costs) == (4 if changed == "prices" else ROWS)


@pytest.mark.parametrize("changed", MAY_NOT)
def test_what_shapes_the_rows_stays_an_error_that_names_it(desk, out, changed):
    stopped(desk, out)
    with RawEndpoint(lambda _: OK) as server:
        ran = compress(desk, server.base_url, out, *MAY_NOT[changed])
    assert (ran.code, server.asked) == (2, [])
    assert changed in ran.stderr
