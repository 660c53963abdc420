"""Servers that send what nobody should have to read: it costs a try, never the run, the memory or the terminal."""

from __future__ import annotations

import asyncio
import gzip
import http.server
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import commands
import pytest
import runs

from trajcompress.summarize.answer import MAX_BODY_BYTES, read_answer, read_body
from trajcompress.summarize.retry import one_line


@contextmanager
def serving(body: bytes, **headers: str) -> Iterator[str]:
    """Serve the same bytes to everybody; give the base URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:  # nobody listens any more
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def call(tmp_path, base_url: str):
    rows = commands.write_rows(tmp_path / "a.jsonl", [commands.conversation(0)])
    return runs.run_here(
        rows,
        output=tmp_path / "out",
        tokenizer__name=runs.small_tokenizer(),
        compression__target_max_tokens=2000,
        compression__summary_target_tokens=300,
        summarization__model="odd",
        summarization__base_url=base_url,
        summarization__max_retries=0,
        summarization__retry_delay=0.001,
    )


def completion(**usage: int) -> bytes:
    message = {"choices": [{"message": {"content": "## Goal\n- mend it"}, "finish_reason": "stop"}], "usage": usage}
    return json.dumps(message).encode()


BOMB = gzip.compress(bytes(100 * 2**20))  # small on the wire


@pytest.mark.parametrize(
    ("body", "headers"),
    [(b'{"choices": "' + b"x" * 50_000_000, {}), (BOMB, {"content_encoding": "gzip"})],
    ids=["50 MB", "a gzip bomb"],
)
def test_an_endless_answer_is_not_heard_out(tmp_path, body, headers):
    with serving(body, **headers) as base_url:
        result = call(tmp_path, base_url)
    assert result.state == "stopped"
    assert f"longer than {MAX_BODY_BYTES:,} bytes" in result.stopped


def test_no_more_is_read_than_can_be_an_answer():
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 2**20
            yield bytes(2**20)

    assert len(asyncio.run(read_body(endless()))) == sent == MAX_BODY_BYTES + 2**20


def test_counts_that_cannot_be_true_are_no_counts(tmp_path):
    with serving(completion(prompt_tokens=-5, completion_tokens=10**20)) as base_url:
        result = call(tmp_path, base_url)
    assert (result.state, result.totals.outcomes["compressed"]) == ("complete", 1)
    assert (result.totals.prompt_tokens, result.totals.completion_tokens) == (0, 0)
    assert read_answer(completion(prompt_tokens=5, completion_tokens=0)).prompt_tokens == 5
    assert read_answer(completion(prompt_tokens=12.0, completion_tokens="3")).prompt_tokens == 12
    assert read_answer(completion(prompt_tokens=12.0, completion_tokens="3")).completion_tokens is None


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"finish_reason": 0}, {}),
        ({"finish_reason": {"type": "stop"}}, {}),
        ({}, {"refusal": False}),
        ({}, {"content": [{"type": "text", "text": "Words.", "refusal": 0}, {"type": None, "text": 1}]}),
    ],
)
def test_fields_of_odd_types_beside_the_text_do_not_hide_it(choice, message):
    body = json.dumps({"choices": [{"message": {"content": "Words.", **message}, **choice}]}).encode()
    answer = read_answer(body)
    assert (answer.text, answer.finish_reason, answer.refusal) == ("Words.", None, None)


def test_nothing_that_a_server_says_steers_the_terminal(tmp_path):
    with serving(b"\x1b[2J\x07 all is \xff well\x9b") as base_url:
        stopped = call(tmp_path, base_url).stopped
    assert stopped.isprintable()
    assert "all is" in stopped
    assert one_line("größer\n ok") == "größer ok"
