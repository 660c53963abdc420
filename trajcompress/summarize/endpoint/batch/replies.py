"""Replies to the requests of a batch, read line by line from the files that the endpoint gives back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from trajcompress.summarize.answer import MAX_BODY_BYTES, read_answer
from trajcompress.summarize.endpoint.batch.store import Answered, Refused, Reply
from trajcompress.summarize.retry import (
    Adapt,
    Decision,
    Retry,
    StopRun,
    decide,
    refused_parameter,
    server_words,
)

MAX_LINE_BYTES = 2 * MAX_BODY_BYTES
_BAD_REQUEST = {400, 422}
_FIRST_ERROR = 300  # of HTTP's statuses


class _Response(msgspec.Struct):
    status_code: int = 0
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    custom_id: str
    response: _Response | None = None
    error: Any = None


def read_reply(line: bytes, clean: Callable[[str], str]) -> tuple[str, Reply | StopRun | Retry] | None:
    """Read one line: whose reply it is, and the reply, or why the request is to be sent again; None for no such line.

    Args:
        line: It.
        clean: Takes secrets out of what the server says.
    """
    try:
        read = msgspec.json.decode(line, type=_Line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    response = read.response
    if response is None or response.status_code >= _FIRST_ERROR or not response.status_code:
        return read.custom_id, _read_error(read, clean)
    try:
        return read.custom_id, Answered(read_answer(bytes(response.body)))
    except ValueError as error:
        return read.custom_id, Retry("bad_response", f"no chat completion ({error})")


def decision_on(refused: Refused) -> Decision | Adapt:
    """Decide on an HTTP error as on that of a single call."""
    if refused.status in _BAD_REQUEST and (parameter := refused_parameter(refused.param, refused.words)):
        return Adapt(parameter, f"HTTP {refused.status}: {refused.words}")
    return decide(refused.status, set(refused.codes), refused.words, None)


def _read_error(line: _Line, clean: Callable[[str], str]) -> Refused | StopRun | Retry:
    body: Any = line.error
    status = 0
    if line.response is not None and line.response.status_code:
        status = line.response.status_code
        body = json.loads(bytes(line.response.body) or b"null")
        body = body.get("error", body) if isinstance(body, dict) else body
    details = body if isinstance(body, dict) else {}
    codes = tuple(str(details[key]) for key in ("code", "type") if details.get(key))
    words = server_words(body, clean) or ", ".join(codes)
    if not status:  # the batch, and not the model, says so: it has expired, or was cancelled
        return Retry(codes[0] if codes else "batch_error", words)
    param = details.get("param")
    refused = Refused(status, codes, param if isinstance(param, str) else None, words)
    decision = decision_on(refused)
    return decision if isinstance(decision, StopRun | Retry) else refused
