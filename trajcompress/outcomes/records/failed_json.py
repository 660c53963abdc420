"""Why a result in JSON says that something failed: what stands deepest says most, as what is around it is general."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trajcompress.outcomes.compact import compact, is_empty
from trajcompress.outcomes.records.rest import cell, naming
from trajcompress.outcomes.records.says_error import (
    ERRORS,
    FAILING,
    WHY,
    beside_error,
    error_in,
    is_error,
    is_number,
    reads_as_error,
)
from trajcompress.outcomes.text import LEAST_CHARS, clip, one_line
from trajcompress.processes.late_patterns import late_re

_CODE = late_re(r"(?:^|_|[a-z](?=[A-Z]))(?:code|issue)$", re.IGNORECASE)
_STATUS = ("httpStatusCode", "statusCode", "status_code", "status", "code")
_LEAST_HTTP, _LEAST_STATUS, _MOST_STATUS = 100, 400, 599
_OF_DETAILS = frozenset({"issue", "description", "message", "reason", "errorCode", "error", "detail"})
_CODED = frozenset({"issue", "errorCode", "error"})
_FIGURES, _RULE = late_re(r"\d+"), late_re(r"\s{0,8}([=*_~-])\1{4}")
_MOST_TOLD = 3
_MOST_READ = 400  # values
_LEAST_CHARS = 8
_NAME_CHARS = 60


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
            said = [_message(item) for key, item in value.items() if isinstance(item, str) and WHY.search(key)]
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
        _message(item) for item in about.values() if isinstance(item, str) and reads_as_error(item, alone=True)
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
    said = _message(error) if isinstance(error, str) else one_line(compact(error, 2 * limit))
    return f"{key}: {said}" if key else said


def _message(text: str) -> str:
    """Write a message on one line: of the log of attempts below it each line once, whatever its figures."""
    lines: dict[str, str] = {}
    for line in clip(text).splitlines():
        if not _RULE.match(line):
            lines.setdefault(_FIGURES.sub("", line).strip(), line)
    return one_line("\n".join(lines.values()))


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


def failures(data: Any, limit: int) -> list[str]:
    """Return why some records failed, and which did; where all did, why each of them."""
    records = _records_in(data)
    if not records:
        return []
    if (failed := _refused(records)) and reasons_in(failed):
        return [f"{len(failed)} of {len(records)} failed", *_which(failed, limit)]
    errors = [error for each in records if isinstance(error := each.get("error"), str) and reads_as_error(error)]
    if len(errors) < len(records):
        return []
    alike: dict[str, list[str]] = {}  # they differ in what they are about
    for error in dict.fromkeys(map(one_line, errors)):
        alike.setdefault(error[:LEAST_CHARS], []).append(error)
    return [f"error: {one}{f' (and {len(more)} more)' if more else ''}" for one, *more in alike.values()]


def _records_in(data: Any) -> list[dict[str, Any]]:
    """Return the records that a result is, or holds; also those of which each says what was done, as in bulk."""
    records: Any = data
    if isinstance(data, dict) and (len(data) == 1 or data.get("errors") is True):
        records = next((item for item in data.values() if isinstance(item, list)), None)
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        return []
    if all(len(each) == 1 and isinstance(next(iter(each.values())), dict) for each in records):
        return [inner for each in records for inner in each.values()]
    return records


def _which(failed: Sequence[Mapping[str, Any]], limit: int) -> list[str]:
    """Say for what reasons some records failed, and which did for each, as far as there is room."""
    plain = [
        {key: item for key, item in each.items() if key not in _STATUS and not WHY.search(key)} for each in failed
    ]
    key = naming(plain)
    alike: dict[str, list[str]] = {}
    for record in failed:
        reason = next(iter(reasons_in(record)), "") or f"status {next(_refusals(record))}"
        alike.setdefault(reason, []).append(cell(record.get(key or ""), _NAME_CHARS))
    room = limit * 8 // 5 - _LEAST_CHARS * 3  # and how many failed
    told: list[str] = []
    for reason, names in alike.items():
        room -= len(reason) + 4 + len(key or "")
        shown = _fitting([name for name in names if name], room)
        room -= sum(len(name) + 2 for name in shown)
        told.append(f"{reason} ({key}={', '.join(shown)})" if shown else reason)
    return told


def _fitting(names: Sequence[str], room: int) -> list[str]:
    """Return as many names as have room, and how many more there are."""
    shown: list[str] = []
    for name in names:
        room -= len(name) + 2
        if room < 0:
            break
        shown.append(name)
    more = len(names) - len(shown)
    return [*shown, f"… {more} more"] if shown and more else shown


def _refused(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return those of some answers whose status says that they were refused."""
    statuses = [record["status"] for record in records if is_number(record.get("status"))]
    answers = all(_LEAST_HTTP <= status <= _MOST_STATUS for status in statuses)  # else they number something else
    some_passed = answers and any(status < _LEAST_STATUS for status in statuses)
    return [record for record in records if answers and next(_refusals(record, some_passed=some_passed), None)]


def _refusals(record: Mapping[str, Any], *, some_passed: bool = True) -> Iterator[Any]:
    """Yield the status that says that a record was refused: a code may be that of a room or of a course."""
    for key in _STATUS:
        status: Any = record.get(key)
        if is_number(status) and _LEAST_STATUS <= status <= _MOST_STATUS:
            is_answer = key.lower() not in {"code", "status"} or (key == "status" and some_passed)
            if is_answer or _says_why(record):
                yield status


def _says_why(record: Mapping[str, Any]) -> bool:
    texts = [item for key, item in record.items() if isinstance(item, str) and WHY.search(key)]
    return is_error(record.get("error") or record.get("errors")) or any(map(FAILING.search, texts))
