"""What is tried again, what is given up, and what stops the run."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.summarize.retry import (
    MAX_BACKOFF_S,
    GiveUpRow,
    Retry,
    StopRun,
    backoff,
    decide,
    parse_retry_after,
    refused_parameter,
    server_words,
)

NOW = 1_445_412_000.0  # Wed, 21 Oct 2015 07:20:00 GMT


@pytest.mark.parametrize(
    "words",
    [
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
        "prompt is too long: 215000 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000 `inputs` tokens",
        "Input validation error: `inputs` must have less than 1024 tokens. Given: 9000",
        "litellm.BadRequestError: ContextWindowExceededError: Input is too long for requested model",
        "Requested input length 9000 exceeds maximum input length 8192",
        "the request exceeds the available context size, try increasing it",
        "Please reduce the length of the messages or completion.",
        "too many tokens: total number of tokens in the prompt cannot exceed 4081",
        "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
        "Range of input length should be [1, 30720]",
        "Your request exceeded model token limit: 8192",
    ],
)
def test_what_servers_say_of_a_row_that_is_too_long(words):
    assert decide(400, set(), words, None).reason == "context_length_exceeded"


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens is too large: 9000. This model supports at most 4096 completion tokens.",
        "System role not supported",
        "Input should be a valid string",
        "Invalid input: temperature must be less than 2",
    ],
)
def test_a_request_that_is_refused_for_something_else_is_not_too_long(words):
    assert decide(400, set(), words, None).reason == "bad_request"


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens is too large: 9000. This model supports at most 4096 completion tokens.",
        "`max_completion_tokens` must be less than or equal to 1024",
        "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens",
    ],
)
def test_an_answer_that_the_server_will_not_write_so_long_has_a_remedy(words):
    assert decide(400, set(), words, None).detail.endswith(
        "; shorter summaries ask for fewer tokens: --summary-target-tokens"
    )
    assert "--summary" not in decide(400, set(), "field required", None).detail


@pytest.mark.parametrize(
    ("status", "codes", "words", "kind", "reason"),
    [
        (401, {"invalid_api_key"}, "Incorrect API key provided.", StopRun, "unauthorized"),
        (402, set(), "Insufficient credits", StopRun, "payment_required"),
        (403, set(), "Country not supported", StopRun, "forbidden"),
        (429, {"insufficient_quota"}, "You exceeded your current quota", StopRun, "insufficient_quota"),
        (404, {"model_not_found"}, "no", StopRun, "unknown_model"),
        (404, {"api_error"}, 'model "x" not found, try pulling it first', StopRun, "unknown_model"),
        (404, {"404"}, "The model `x` does not exist.", StopRun, "unknown_model"),
        (400, set(), "x/gpt-4.1 is not a valid model ID", StopRun, "unknown_model"),
        (404, set(), "<html>404 page not found</html>", StopRun, "wrong_endpoint"),
        (410, set(), "v1 is gone", StopRun, "wrong_endpoint"),
        (307, set(), "", StopRun, "wrong_endpoint"),
        (407, set(), "proxy wants a password", StopRun, "proxy_refused"),
        (403, set(), "Your input was flagged by moderation", GiveUpRow, "content_filter"),
        (429, {"rate_limit_exceeded"}, "Rate limit reached", Retry, "rate_limited"),
        (429, {"tokens"}, "Request too large for m: Limit 1000, Requested 2000.", GiveUpRow, "request_too_large"),
        (408, set(), "", Retry, "timeout"),
        (409, set(), "", Retry, "conflict"),
        (425, set(), "", Retry, "conflict"),
        (500, set(), "", Retry, "server_error"),
        (503, set(), "model is loading", Retry, "server_error"),
        (529, set(), "overloaded", Retry, "server_error"),
        (400, {"context_length_exceeded"}, "too long", GiveUpRow, "context_length_exceeded"),
        (400, set(), "This model's maximum context length is 8192 tokens.", GiveUpRow, "context_length_exceeded"),
        (400, {"content_filter"}, "filtered", GiveUpRow, "content_filter"),
        (413, set(), "", GiveUpRow, "request_too_large"),
        (422, set(), "field required", GiveUpRow, "bad_request"),
    ],
)
def test_decisions(status, codes, words, kind, reason):
    decision = decide(status, codes, words, None)
    assert isinstance(decision, kind)
    assert decision.reason == reason
    assert words in decision.detail


def test_a_wait_is_passed_on_however_long():
    assert decide(429, set(), "slow down", 7.5) == Retry("rate_limited", "HTTP 429: slow down", 7.5)
    assert decide(503, set(), "", 86_400.0) == Retry("server_error", "HTTP 503", 86_400.0)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:20:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:00:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2065 07:20:30 GMT", "date": "Wed, 21 Oct 2065 07:20:00 GMT"}, 30.0),
        ({"retry-after-ms": "1500", "retry-after": "20"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "20"}, 20.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "when I feel like it"}, None),
    ],
)
def test_retry_after(headers, seconds):
    assert parse_retry_after(headers, NOW) == seconds


@given(value=st.text())
def test_any_header_is_survived(value):
    seconds = parse_retry_after({"retry-after": value}, NOW)
    assert seconds is None or seconds >= 0


@given(attempt=st.integers(0, 5000), base=st.floats(0, 1000), seed=st.integers())
def test_a_backoff_doubles_up_to_a_minute_and_varies_by_half(attempt, base, seed):
    longest = min(base * 2 ** min(attempt, 32), MAX_BACKOFF_S)
    assert longest / 2 <= backoff(attempt, base, random.Random(seed)) <= longest  # noqa: S311 - repeatable on purpose


@pytest.mark.parametrize(
    ("param", "words", "refused"),
    [
        ("temperature", "Only the default (1) value is supported.", "temperature"),
        (None, "Temperature is deprecated for this model", "temperature"),
        ("max_tokens", "'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_tokens"),
        (
            None,
            "'max_tokens' or 'max_completion_tokens' is too large: 9000. The maximum context length is 8192.",
            None,
        ),
        (None, "messages: field required", None),
    ],
)
def test_refused_parameters(param, words, refused):
    assert refused_parameter(param, words) == refused


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"message": "No\nway"}, "No way"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"loc": "x"}]}, '{"detail": [{"loc": "x"}]}'),
        ("<h1>Bad\n Gateway</h1>", "<h1>Bad Gateway</h1>"),
        (None, ""),
        ({}, ""),
    ],
)
def test_a_servers_words_in_one_line(body, words):
    assert server_words(body) == words


def test_a_long_error_page_is_shortened():
    assert len(server_words("x" * 100_000)) < 500
