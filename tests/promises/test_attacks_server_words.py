"""What a server says in its errors: no key, and nothing that steers a terminal."""

from __future__ import annotations

import base64
import json

import commands
import pytest
from outages import KEY, compress
from raw_endpoint import RawEndpoint, answer, refusal

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
def test_no_secret_comes_back_by_a_servers_words(calling, out, secret, status):
    hidden, words = SECRETS[secret]
    reply = refusal(status, words) if status != 200 else answer(200, words)
    with RawEndpoint(lambda _: reply) as server:
        ran = compress(calling, server.base_url, out, "--log-file", f"{out}.log", rows="one.jsonl")
    assert ran.code in {1, 2}
    folder = calling.path(out)
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    metrics = folder / "metrics.parquet"
    errors = str(commands.read_metrics(folder)) if metrics.exists() else ""
    shown = ran.stdout + ran.stderr + calling.path(f"{out}.log").read_text() + errors
    assert hidden not in shown
    assert hidden.encode() not in kept


@pytest.mark.parametrize("status", [401, 500, 400, 200, 301])
def test_no_words_of_a_server_steer_a_terminal_or_fill_it(calling, out, status):
    words = "\x1b[2J\x1b]0;owned\x07\u202egnp.exe\x9b31m\r\n\x00" + "\u2028long " * 5000
    body = {"error": {"message": words}} if status != 200 else words
    reply = answer(status, body, **({"location": "/\x1b[31m"} if status == 301 else {}))
    with RawEndpoint(lambda _: reply) as server:
        ran = compress(calling, server.base_url, out, "--log-file", f"{out}.log", rows="one.jsonl")
    folder = calling.path(out)
    errors = [row["error"] for row in commands.read_metrics(folder)] if (folder / "metrics.parquet").exists() else []
    log = [str(json.loads(line)) for line in calling.path(f"{out}.log").read_text().splitlines()]
    for line in [*ran.stderr.splitlines(), *filter(None, errors), *log]:
        assert line.isprintable(), line
        assert len(line) < 1200


def test_a_key_of_any_shape_is_masked(calling, out):
    for key in ("pass word", 'q"uo\\te/+=', "EMPTY-7", "0123456789012345678901234567890123456789"):
        with RawEndpoint(lambda asked: refusal(401, f"not {asked.headers['authorization']} at all")) as server:
            ran = compress(calling, server.base_url, out, "--overwrite", env={"OPENAI_API_KEY": key})
        assert ran.code == 2
        assert key not in ran.stdout + ran.stderr
        assert "HTTP 401: not " in ran.stderr
