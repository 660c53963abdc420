"""``compress`` with a model: real HTTP to a scriptable server on loopback."""

from __future__ import annotations

import json
import re

import loopback_replies as replies
import pytest
from commands import conversation, environment, make_desk, read_metrics, read_rows
from loopback import LoopbackServer, most_in_window

KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    desk = make_desk(tmp_path, make_tokenizer)
    # What a user seldom sets, and a test cannot wait for.
    desk.path("quick.yaml").write_text("summarization: {retry_delay: 0.01, timeout: 5}")
    return desk


def compress(desk, server, *arguments, out="out", key=KEY):
    return desk.compress(
        "a.jsonl",
        *("-o", out, "--model", "writer", "--base-url", server.base_url, "-c", "quick.yaml", "--json"),
        *arguments,
        env={"OPENAI_API_KEY": key},
    )


def long_rows(desk, count: int) -> None:
    desk.write("a.jsonl", [conversation(number) for number in range(count)])


def test_summaries_come_from_the_server(desk):
    desk.write("a.jsonl", [conversation(0), conversation(1, 2), conversation(2, sharegpt=True)])
    with LoopbackServer() as server:
        ran = compress(desk, server)
    assert ran.code == 0
    assert [seen.model for seen in server.seen] == ["writer", "writer"]
    assert {seen.headers["authorization"] for seen in server.seen} == {f"Bearer {KEY}"}
    assert ran.json["summarization_api_calls"] == 2
    assert ran.json["summarizers"] == {"writer": 2}
    assert ran.json["prompt_tokens"] == sum(seen.prompt_tokens for seen in server.seen)
    assert ran.json["completion_tokens"] == sum(seen.completion_tokens for seen in server.seen)
    for row, expected in zip(read_rows(desk.path("out")), (1, 0, 1), strict=True):
        assert json.dumps(row).count("[CONTEXT SUMMARY]:") == expected
        assert json.dumps(row).count("- request ") == expected, "the server's own words"
    metrics = read_metrics(desk.path("out"))
    assert [row["summarization_api_calls"] for row in metrics] == [1, 0, 1]
    assert not any(row["still_over_limit"] for row in metrics)


def test_nothing_secret_is_written(desk):
    long_rows(desk, 1)
    with LoopbackServer() as server:
        ran = compress(desk, server)
    written = b"".join(path.read_bytes() for path in desk.path("out").rglob("*") if path.is_file())
    assert KEY.encode() not in written
    assert KEY not in ran.stdout + ran.stderr


def test_no_variable_alone_turns_calls_on(desk):
    long_rows(desk, 1)
    with LoopbackServer() as server:
        env = {
            "TRAJCOMPRESS_MODEL": "writer",
            "TRAJCOMPRESS_BASE_URL": server.base_url,
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": KEY,
        }
        ran = desk.compress("a.jsonl", "-o", "out", "--json", env=env)
    assert ran.code == 0
    assert server.seen == []
    assert ran.json["summarizers"] == {"extractive": 1}
    assert "TRAJCOMPRESS_MODEL" in ran.stderr, "the user is told"


def test_a_complete_run_makes_no_calls_again(desk):
    long_rows(desk, 3)
    with LoopbackServer() as server:
        first = compress(desk, server)
        calls = len(server.seen)
        again = compress(desk, server)
        assert len(server.seen) == calls == 3
    assert (again.code, again.json) == (0, first.json)


def test_with_thirty_percent_faults_every_row_is_compressed(desk):
    long_rows(desk, 40)
    desk.path("quick.yaml").write_text("summarization: {retry_delay: 0.01, timeout: 3, max_retries: 30}")
    faults = [*replies.usual_faults(), replies.hang()]
    with LoopbackServer(fault_rate=0.3, faults=faults, seed=5) as server:
        ran = compress(desk, server)
    assert ran.code == 0
    assert (ran.json["rows"], ran.json["compressed"], ran.json["failed"]) == (40, 40, 0)
    assert len({seen.outcome for seen in server.seen}) > 6, "many kinds of fault came up"
    assert ran.json["summarization_api_calls"] == len(server.seen) > 40
    faulty = sum(seen.outcome != "ok" for seen in server.seen)
    assert ran.json["summarization_errors"] == faulty
    assert sum(row["summarization_api_calls"] for row in read_metrics(desk.path("out"))) == len(server.seen)
    for row in read_rows(desk.path("out")):
        assert "blah" not in json.dumps(row)


def test_rows_that_fail_keep_their_original(desk):
    long_rows(desk, 3)

    def script(seen):
        return replies.empty() if "build 1 of" in seen.text else None

    with LoopbackServer(script) as server:
        ran = compress(desk, server, "--max-retries", "2")
    assert ran.code == 1
    assert (ran.json["compressed"], ran.json["failed"]) == (2, 1)
    assert read_rows(desk.path("out"))[1] == conversation(1)
    row = read_metrics(desk.path("out"))[1]
    assert (row["outcome"], row["reason"], row["summarizer"]) == ("failed", "empty_answer", None)
    assert (row["summarization_api_calls"], row["summarization_errors"]) == (3, 3)
    assert row["still_over_limit"]
    assert "writer" in row["error"]


USELESS = "none of the first 20 answers was a summary (the last: refused_answer), and each is paid for"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_model_that_writes_no_summary_at_all_is_told_of_once(desk, workers):
    long_rows(desk, 24)
    refusal = replies.saying("I'm sorry, but I can't help with that.")
    with LoopbackServer(lambda _: refusal) as server:
        ran = compress(desk, server, "--max-retries", "0", "--num-workers", workers)
    assert (ran.code, ran.json["failed"]) == (1, 24)
    assert ran.stderr.count(USELESS) == 1
    with LoopbackServer(lambda seen: None if "build 1 of" in seen.text else refusal) as server:
        ran = compress(desk, server, "--max-retries", "0", "--max-concurrent-requests", "1", out="other")
    assert (ran.code, ran.json["compressed"]) == (1, 1)
    assert USELESS not in ran.stderr


def test_failed_rows_may_be_allowed(desk):
    long_rows(desk, 2)
    with LoopbackServer(lambda seen: replies.empty() if "build 1 of" in seen.text else None) as server:
        assert compress(desk, server, "--max-retries", "0", "--max-failed", "50%").code == 0


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "Incorrect API key provided: it has expired."),
        (402, "Please pay your bill."),
        (403, "This project may not use the model."),
    ],
)
def test_a_refused_key_stops_the_run_with_the_servers_words(desk, status, words):
    long_rows(desk, 30)
    refuse = True
    with LoopbackServer(lambda _: replies.failed(status, words) if refuse else None) as server:
        ran = compress(desk, server)
        assert ran.code == 2
        assert words in ran.stderr
        assert ran.json["state"] == "stopped"
        assert len(server.seen) == 1, "the first call goes out alone"
        refuse = False
        ran = compress(desk, server)
    assert (ran.code, ran.json["state"], ran.json["compressed"]) == (0, "complete", 30)
    assert [row["id"] for row in read_rows(desk.path("out"))] == [f"row-{number}" for number in range(30)]


@pytest.mark.parametrize("key", ["", "sk-mine"])
def test_a_run_without_a_key_that_is_refused_says_what_was_sent_in_its_place(desk, key):
    long_rows(desk, 2)
    with LoopbackServer(lambda _: replies.failed(401, "Incorrect API key provided.")) as server:
        options = ("--model", "m", "--base-url", server.base_url, "--api-key-env", "MY_KEY")
        ran = desk.compress("a.jsonl", "-o", "out", *options, env=environment({"MY_KEY": key}))
    assert ran.code == 2
    sent = server.seen[0].headers["authorization"].removeprefix("Bearer ")
    assert (f'no key is set, so "{sent}" was sent in its place: set ' in ran.stderr) == (not key)


def test_what_answers_cost_that_a_server_does_not_count_is_unknown_though_none_is_a_summary(desk):
    long_rows(desk, 2)
    message = {"role": "assistant", "content": None}
    body = {"id": "x", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    with LoopbackServer(lambda _: replies.Reply("uncounted", body=body)) as server:
        options = ("--model", "m", "--base-url", server.base_url, "--price-in", "1", "--price-out", "2")
        ran = desk.compress("a.jsonl", "-o", "out", *options, "-c", "quick.yaml", env={"OPENAI_API_KEY": KEY})
    assert ran.code == 1
    assert re.search(r"cost in USD +unknown: no tokens were counted", ran.stderr)
    assert {row["cost_usd"] for row in read_metrics(desk.path("out"))} == {None}


def test_an_unknown_model_stops_the_run(desk):
    long_rows(desk, 2)
    with LoopbackServer(lambda _: replies.unknown_model("writer")) as server:
        ran = compress(desk, server)
    assert ran.code == 2
    assert "The model `writer` does not exist" in ran.stderr


def test_an_exhausted_quota_stops_the_run(desk):
    long_rows(desk, 2)
    with LoopbackServer(lambda _: replies.no_quota()) as server:
        ran = compress(desk, server)
    assert ran.code == 2
    assert "You exceeded your current quota" in ran.stderr


def test_a_fallback_model_is_tried_and_named(desk):
    long_rows(desk, 3)

    def script(seen):
        return replies.server_error() if seen.model == "writer" and "build 1 of" in seen.text else None

    with LoopbackServer(script) as server:
        ran = compress(desk, server, "--fallback-model", "second", "--max-retries", "1")
    assert ran.code == 0
    assert [row["summarizer"] for row in read_metrics(desk.path("out"))] == ["writer", "second", "writer"]
    assert [row["summarization_api_calls"] for row in read_metrics(desk.path("out"))] == [1, 3, 1]


def test_the_built_in_summariser_may_stand_in_and_is_named(desk):
    long_rows(desk, 3)
    with LoopbackServer(lambda seen: replies.overlong() if "build 1 of" in seen.text else None) as server:
        ran = compress(desk, server, "--on-failure", "extractive", "--max-retries", "0")
    assert ran.code == 0
    assert [row["summarizer"] for row in read_metrics(desk.path("out"))] == ["writer", "extractive", "writer"]
    assert not any(row["still_over_limit"] for row in read_metrics(desk.path("out")))
    again = desk.compress(
        *("a.jsonl", "-o", "out", "-c", "quick.yaml", "--model", "writer", "--base-url", server.base_url),
        env={"OPENAI_API_KEY": KEY},
    )
    table = {line.rpartition("  ")[0].strip(): line.split()[-1] for line in again.stderr.splitlines() if line}
    assert (table["summaries by writer"], table["summaries by extractive"]) == ("2", "1")


def test_a_trajectory_that_takes_too_long_keeps_its_original(desk):
    long_rows(desk, 3)
    with LoopbackServer(lambda seen: replies.hang() if "build 1 of" in seen.text else None) as server:
        ran = compress(desk, server, "--per-trajectory-timeout", "1.5")
    assert ran.code == 1
    row = read_metrics(desk.path("out"))[1]
    assert (row["outcome"], row["reason"]) == ("failed", "trajectory_timeout")
    assert row["summarization_api_calls"] in {1, 2}, "once more where nobody else was answered meanwhile"
    assert read_rows(desk.path("out"))[1] == conversation(1)
    assert ran.json["compressed"] == 2


def test_requests_per_minute_hold_at_the_server(desk):
    long_rows(desk, 10)
    with LoopbackServer() as server:
        ran = compress(desk, server, "--rpm", "240")
    assert ran.json["compressed"] == 10
    assert most_in_window(server.seen, 1.0) <= 4


def test_tokens_per_minute_hold_at_the_server(desk):
    long_rows(desk, 4)
    with LoopbackServer() as server:
        first = compress(desk, server, out="free")
        largest = max(seen.prompt_tokens + seen.completion_tokens for seen in server.seen)
        server.seen.clear()
        limit = 300_000
        ran = compress(desk, server, "--tpm", str(limit), out="limited")
    assert (first.json["compressed"], ran.json["compressed"]) == (4, 4)
    spent = most_in_window(server.seen, 1.0, lambda seen: seen.prompt_tokens + seen.completion_tokens)
    assert spent <= limit / 60 + largest, "each keeps the next one back; the last of a window keeps back none in it"


def test_a_request_above_the_tokens_of_a_minute_is_not_sent(desk):
    long_rows(desk, 1)
    with LoopbackServer() as server:
        ran = desk.compress("a.jsonl", "-o", "out", "--model", "m", "--base-url", server.base_url, "--tpm", "100")
    assert server.seen == []
    (row,) = read_metrics(desk.path("out"))
    assert (row["outcome"], row["reason"], ran.code) == ("failed", "request_exceeds_tpm", 1)
    assert re.search(r"1 × request_exceeds_tpm: .* than --tpm allows in a minute; raise --tpm", ran.stderr)


def test_no_more_calls_are_open_at_once_than_allowed(desk):
    long_rows(desk, 12)
    with LoopbackServer(latency=0.02) as server:
        compress(desk, server, "--max-concurrent-requests", "3")
    assert server.most_at_once == 3
    assert server.connections <= 3, "one client, whose connections are used again"


def test_nobody_at_the_address(desk):
    long_rows(desk, 2)
    with LoopbackServer() as server:
        pass
    ran = compress(desk, server, "--max-retries", "0")
    assert ran.code == 2
    assert read_rows(desk.path("out")) == []
    assert "Traceback" not in ran.stderr


def test_rows_that_are_longer_than_the_model_takes_are_told_what_helps(desk):
    long_rows(desk, 2)
    too_long = replies.failed(400, "maximum context length is 8192 tokens", "context_length_exceeded")
    with LoopbackServer(lambda _: too_long) as server:
        ran = desk.compress("a.jsonl", "-o", "out", "--model", "writer", "--base-url", server.base_url)
    assert ran.code == 1
    assert re.search(r"2 × context_length_exceeded: .*; --summarizer-context N", ran.stderr)
