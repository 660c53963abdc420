"""Why a result in JSON says that something failed: what stands deepest says most, as what is around it is general."""

from __future__ import annotations

import re
from typing import Any

from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.extractive.text import one_line

_WHY = late_re(
    r"(?:^|_|[a-z](?=[A-Z]))(?:message|msg|details?|description|reason|issue|errors?|cause|fault)$", re.IGNORECASE
)
_CODE = late_re(r"(?:^|_|[a-z](?=[A-Z]))(?:code|issue)$", re.IGNORECASE)
_STATUS = ("httpStatusCode", "statusCode", "status_code", "status", "code")
_LEAST_STATUS, _MOST_STATUS = 400, 599
_OF_DETAILS = frozenset({"issue", "description", "message", "reason", "errorCode", "error", "detail"})
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
            said = [one_line(item) for key, item in value.items() if isinstance(item, str) and _WHY.search(key)]
            said = [text for text in said if len(text) >= _LEAST_CHARS or " " in text]
            codes = [item for key, item in value.items() if isinstance(item, str) and _CODE.search(key)]
            told = max(said, key=len, default="")
            if told:
                code = next((code for code in codes if code != told and code.isupper() and code not in told), "")
                found.append((depth, f"{code}: {told}" if code else told))
            waiting += [(depth + 1, item) for item in value.values() if isinstance(item, dict | list)]
    deepest = sorted(found, key=lambda each: -each[0])
    return list(dict.fromkeys(text for _, text in deepest))[:_MOST_TOLD]


def has_details(data: dict[str, Any]) -> bool:
    """Whether an object says what is wrong with what was asked: a message, and details of it."""
    details: list[Any] = next((data[key] for key in ("details", "errors") if isinstance(data.get(key), list)), [])
    if not isinstance(data.get("message"), str) or not details:
        return False
    return all(isinstance(each, dict) and not _OF_DETAILS.isdisjoint(each) for each in details)


def refused(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return those of some answers whose status says that they were refused."""
    return [record for record in records if any(_is_refusal(record.get(key)) for key in _STATUS)]


def _is_refusal(status: Any) -> bool:
    return isinstance(status, int) and not isinstance(status, bool) and _LEAST_STATUS <= status <= _MOST_STATUS
