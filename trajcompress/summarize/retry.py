"""What to do about a failed call: pure decisions, no waiting and no sending.

A failure concerns the moment (try again), the row (give it up) or every row (stop the run).
"""

from __future__ import annotations

import json
import math
import random
import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Literal, TypeAlias

from msgspec import Struct

from trajcompress.processes.late_patterns import late_re

MAX_BACKOFF_S = 60.0
CONNECT_S = 15  # in which a connection is made, or there is nobody
MAX_WORDS = 400  # characters of a server's answer worth showing
MAX_READ = 10_000  # of them worth looking at for that

_NO_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "account_deactivated"}
_TOO_LARGE = "Request too large"  # sent with 429 where one request exceeds the account's limit for a minute
_CLIENT_ERROR, _SERVER_ERROR = 400, 500  # where these classes of HTTP status begin
OF_THE_SERVER = {"connection", "timeout", "server_error", "rate_limited", "conflict", "bad_response"}
"""Reasons that say nothing against the row that was asked for."""
_REFUSED = {401: "unauthorized", 402: "payment_required", 403: "forbidden", 407: "proxy_refused"}
_TRANSIENT = {408: "timeout", 409: "conflict", 425: "conflict", 429: "rate_limited"}
_NOT_THERE = {404, 405, 410}
_LOST = (
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
    ssl.SSLSyscallError,
)  # a connection that broke, not a bad certificate
_NO_MODEL = late_re(r"not a valid model|(unknown|no such|invalid) model", re.IGNORECASE)
_NO_MODEL_404 = late_re(r"model.{0,200}(not found|not exist)", re.IGNORECASE | re.DOTALL)
_TOO_LONG = late_re(
    r"(maximum|max) (context|model len|prompt len)|context[ _]?(length|window|size)|model token limit"
    r"|\b(prompt|inputs?|messages|conversation)\b.{0,40} too long|reduce the length of|input length should be"
    r"|tokens in the prompt cannot exceed"
    r"|\b(prompt|inputs?)\b(?=.{0,80}(length|token)).{0,80}\b(exceed(s|ed)?|less than|longer than|must be <=) ",
    re.IGNORECASE,
)
_FLAGGED = late_re(r"moderation|flagged|content.policy", re.IGNORECASE)  # the request, not the caller
_ANSWER_TOO_LONG = late_re(
    r"\bmax_(?:completion_|output_|new_)?tokens\b.{0,160}\b(?:too (?:large|many|high)|at most|less than|exceed"
    r"|greater than|no more than|up to|maximum)",
    re.IGNORECASE | re.DOTALL,
)
_CHECK_URL = "check the base URL: that of an OpenAI-compatible server mostly ends in /v1"
_CUT_WORD = late_re(r"\S+\Z")
_NOT_SUPPORTED = late_re(r"unsupported|not supported|does not support|instead", re.IGNORECASE)


class Retry(Struct, frozen=True):
    """Try again: after ``wait`` seconds where the server says so, else after a backoff; or ``once`` and no more."""

    reason: str
    detail: str
    wait: float | None = None
    once: bool = False


class GiveUpRow(Struct, frozen=True):
    """This request can never succeed; others can."""

    reason: str
    detail: str


class StopRun(Struct, frozen=True):
    """No request can succeed until somebody does something about it."""

    reason: str
    detail: str


class Adapt(Struct, frozen=True):
    """The server will not have one of the parameters: send the request again without it."""

    parameter: Literal["temperature", "max_tokens"]
    detail: str


Clean: TypeAlias = Callable[[str], str]
Decision: TypeAlias = Retry | GiveUpRow | StopRun


def classify(error: Exception, now: float, clean: Clean = str) -> Decision | Adapt:
    """Decide on an exception that a call raised.

    Args:
        error: The exception.
        now: The time of day in seconds since the epoch.
        clean: Takes secrets out of what the server says.
    """
    import openai

    if isinstance(error, openai.APIStatusError):
        # Decided by all that it says: where the key is a word, it may be the one that tells.
        words, shown = server_words(error.body), server_words(error.body, clean)
        if error.status_code in {400, 422} and (parameter := refused_parameter(error.param, words)):
            return Adapt(parameter, f"HTTP {error.status_code}: {shown}")
        codes = {str(code) for code in (error.code, error.type) if code}
        headers = error.response.headers
        if error.status_code < _CLIENT_ERROR and "location" in headers:
            shown = one_line(f"it redirects to {headers['location']} {words}", clean)
        return decide(error.status_code, codes, words, parse_retry_after(headers, now), shown)
    return _classify_unanswered(error, clean)


def _classify_unanswered(error: Exception, clean: Clean) -> Decision:
    import aiohttp
    import httpx2

    chain = list(_causes(error))
    root = next((cause for cause in reversed(chain) if str(cause)), error)
    words = f"{type(root).__name__}: {one_line(str(root), clean)}"
    if any(
        isinstance(cause, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError)
        for cause in chain
    ):
        if any(isinstance(cause, _LOST) for cause in _contexts(error)):
            return Retry("connection", words)
        return StopRun(
            "tls_failure",
            f"{words}; name the file of a certificate authority of your own in SSL_CERT_FILE, and begin the base URL "
            "with http:// where the server speaks no TLS",
        )
    if any(isinstance(cause, aiohttp.InvalidURL | httpx2.InvalidURL | UnicodeError) for cause in chain):
        return StopRun("wrong_endpoint", f"{words}; {_CHECK_URL}")
    if any(isinstance(cause, aiohttp.ConnectionTimeoutError) for cause in chain):
        return Retry("connection", f"no connection within {CONNECT_S} s")
    if any(isinstance(cause, TimeoutError) for cause in chain):
        return Retry("timeout", "no answer in time; a longer summarization timeout may help")
    return Retry("connection", words)


def decide(status: int, codes: set[str], words: str, wait: float | None, shown: str | None = None) -> Decision:
    """Decide on an HTTP error.

    Args:
        status: The HTTP status.
        codes: The ``code`` and ``type`` of the error in the body, where it has any.
        words: What the server says, in one line.
        wait: Seconds after which the server wants to be asked again, or None.
        shown: What of that a person may read, where that is not all of it.
    """
    shown = words if shown is None else shown
    detail = f"HTTP {status}: {shown}" if shown else f"HTTP {status}"
    if stop := _why_stop(status, codes, words):
        return StopRun(stop, f"{detail}; {_CHECK_URL}" if stop == "wrong_endpoint" else detail)
    if (status in _TRANSIENT or status >= _SERVER_ERROR) and not words.startswith(_TOO_LARGE):
        return Retry(_TRANSIENT.get(status, "server_error"), detail, wait)
    reason = _why_give_up(status, codes, words)
    if reason == "bad_request" and _ANSWER_TOO_LONG.search(words):
        detail = f"{detail}; shorter summaries ask for fewer tokens: --summary-target-tokens"
    return GiveUpRow(reason, detail)


def _why_stop(status: int, codes: set[str], words: str) -> str | None:
    if codes & _NO_QUOTA:
        return "insufficient_quota"
    if (
        "model_not_found" in codes
        or (status in {400, 404} and _NO_MODEL.search(words))
        or (status == HTTPStatus.NOT_FOUND and _NO_MODEL_404.search(words))
    ):
        return "unknown_model"
    if status in _NOT_THERE or status < _CLIENT_ERROR:  # redirects are not followed: the key would go along
        return "wrong_endpoint"
    if status == HTTPStatus.FORBIDDEN and _FLAGGED.search(words):
        return None
    return _REFUSED.get(status)


def _why_give_up(status: int, codes: set[str], words: str) -> str:
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or words.startswith(_TOO_LARGE):
        return "request_too_large"
    if "context_length_exceeded" in codes or _TOO_LONG.search(words):
        return "context_length_exceeded"
    is_filtered = "content_filter" in codes or status == HTTPStatus.FORBIDDEN
    return "content_filter" if is_filtered else "bad_request"


def refused_parameter(param: str | None, words: str) -> Literal["temperature", "max_tokens"] | None:
    """Name the request parameter that the server will not have, if that is what it says."""
    # "max_tokens is too large" names the other parameter too, but wants a smaller number.
    if "max_completion_tokens" in words and _NOT_SUPPORTED.search(words):
        return "max_tokens"
    if param == "temperature" or "temperature" in words.lower():
        return "temperature"
    return None


def backoff(attempt: int, base: float, rng: random.Random) -> float:
    """Seconds to wait after failed attempt ``attempt`` (from 0): ``base`` doubled each time, at most a minute.

    Between half and the whole of that, at random, so that rows that failed together do not come back together.
    """
    longest = min(base * 2.0 ** min(attempt, 32), MAX_BACKOFF_S)
    return longest * rng.uniform(0.5, 1.0)


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that ``retry-after-ms`` or ``retry-after`` (seconds or an HTTP date) asks for, None if neither does.

    ``now`` is the time of day in seconds since the epoch; a date is compared with the server's own, where it tells
    it, as clocks differ. Never negative.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - _server_time(headers, now)
            except (ValueError, OverflowError):
                continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    return None


def server_words(body: object, clean: Clean = str) -> str:
    """Say in one line what the body of an error says; it may be JSON of any shape, HTML or nothing."""
    if isinstance(body, dict):
        for key in ("message", "detail", "error"):
            if isinstance(body.get(key), str) and body[key].strip():
                return one_line(body[key], clean)
        return one_line(json.dumps(body, default=str), clean) if body else ""
    return one_line(str(body), clean) if body is not None else ""


def one_line(text: str, clean: Clean = str) -> str:
    """Fold text into one line, shortened to :data:`MAX_WORDS` characters, without any that steer a terminal.

    ``clean`` takes secrets out of it, before any is cut in two: what is left of one would not be known for it.
    """
    read = text if len(text) <= MAX_READ else _CUT_WORD.sub("", text[:MAX_READ])
    folded = " ".join(clean(read).split())
    line = clean("".join(each if each.isprintable() else "\ufffd" for each in folded))
    return line if len(line) <= MAX_WORDS else f"{line[:MAX_WORDS]}…"


def _server_time(headers: Mapping[str, str], now: float) -> float:
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, OverflowError):
        return now


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _contexts(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and what it was raised in place of."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
