"""Why a result in JSON says that something failed: what stands deepest says most, as what is around it is general."""

from __future__ import annotations

import re
from typing import Any

from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.extractive.compact import compact, is_empty
from trajcompress.summarize.extractive.says_error import (
    ERRORS,
    FAILING,
    WHY,
    beside_error,
    error_in,
    is_error,
    is_number,
    reads_as_error,
)
from trajcompress.summarize.extractive.text import one_line

_CODE = late_re(r"(?:^|_|[a-z](?=[A-Z]))(?:code|issue)$", re.IGNORECASE)
_STATUS = ("httpStatusCode", "statusCode", "status_code", "status", "code")
_LEAST_STATUS, _MOST_STATUS = 400, 599
_OF_DETAILS = frozenset({"issue", "description", "message", "reason", "errorCode", "error", "detail"})
_CODED = frozenset({"issue", "errorCode", "error"})
_MOST_TOLD = 3
_MOST_READ = 400  # values
_LEAST_CHARS = 8


def reasons_in(data: Any) -> list[str]:
    """Return why something failed, as a result says it: what is said deepest first, each once.

    >>> reasons_in({"message": "bad request", "details": [{"issue": "TOO_LATE", "description": "the time is over"}]})
    ['TOO_LATE: the time is over', 'bad request']
    """
    found: list[tuple[int, str]] = []
    waiting: list[tuple[int, Any]] = [(0, data)]
    read = 0
    while waiting and read < _MOST_READ:
        depth, value = waiting.pop(0)
        read += 1
        if isinstance(value, list):
            waiting += [(depth, item) for item in value]
        elif isinstance(value, dict):
            said = [one_line(item) for key, item in value.items() if isinstance(item, str) and WHY.search(key)]
            said = [text for text in said if len(text) >= _LEAST_CHARS or " " in text]
            codes = [item for key, item in value.items() if isinstance(item, str) and _CODE.search(key)]
            told = max(said, key=len, default="")
            if told:
                code = next((code for code in codes if code != told and code.isupper() and code not in told), "")
                found.append((depth, f"{code}: {told}" if code else told))
            waiting += [(depth + 1, item) for item in value.values() if isinstance(item, dict | list)]
    deepest = sorted(found, key=lambda each: -each[0])
    return list(dict.fromkeys(text for _, text in deepest))[:_MOST_TOLD]


def failure_in(data: Any, limit: int) -> tuple[str, dict[str, Any]]:
    """Return why a call failed, if it says so, and what the result holds besides."""
    if not isinstance(data, dict):
        return "", {}
    error = error_in(data)
    if error is not None:
        others = {key: data[key] for key in ERRORS if is_number(data.get(key)) and data[key] is not error}
        return f"error: {_why(data, error, limit)}", {**others, **beside_error(data)}
    return (f"error: {'; '.join(reasons_in(data))}", {}) if has_details(data) else ("", {})


def _why(data: dict[str, Any], error: Any, limit: int) -> str:
    """Say why a call failed: as it is said deepest, else all that the error holds."""
    about = {key: item for key, item in data.items() if WHY.search(key) and (key not in ERRORS or is_error(item))}
    if beside_error(data):  # which may be what is described
        about = {key: item for key, item in about.items() if key != "description"}
    said = "" if error is True else _whole(error, limit)
    reasons = reasons_in(about)
    general = [
        one_line(item) for item in about.values() if isinstance(item, str) and reads_as_error(item, alone=True)
    ]
    if said and (not reasons or (len(said) <= limit and not isinstance(data.get("errors"), list))):
        reasons = [said]
    told: list[str] = []
    for reason in (*reasons, *general):
        if not any(reason in each for each in told):
            told.append(reason)
    return "; ".join(told) or said or "true"


def _whole(error: Any, limit: int) -> str:
    """Write all that an error holds; of which field one is stands with it."""
    held = [(key, item) for key, item in error.items() if not is_empty(item)] if isinstance(error, dict) else []
    key = held[0][0] if len(held) == 1 and not WHY.search(held[0][0]) else ""
    said = one_line(compact(error, 2 * limit))
    return f"{key}: {said}" if key else said


def has_details(data: dict[str, Any]) -> bool:
    """Whether an object says what is wrong with what was asked: a message, and details of it.

    What was done may have notes as well, which are then not all that is told.
    """
    details: list[Any] = next((data[key] for key in ("details", "errors") if isinstance(data.get(key), list)), [])
    message = data.get("message")
    if not isinstance(message, str) or not details or data.get("success") is True:
        return False
    if not all(isinstance(each, dict) and not _OF_DETAILS.isdisjoint(each) for each in details):
        return False
    if set(beside_error(data)) - {"name"}:
        return False
    said = [message, *(item for each in details for item in each.values() if isinstance(item, str))]
    return any(not _CODED.isdisjoint(each) for each in details) or any(map(FAILING.search, said))


def refused(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return those of some answers whose status says that they were refused."""
    return [record for record in records if any(_is_refusal(record.get(key)) for key in _STATUS)]


def _is_refusal(status: Any) -> bool:
    return isinstance(status, int) and not isinstance(status, bool) and _LEAST_STATUS <= status <= _MOST_STATUS
