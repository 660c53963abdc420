"""JSON as one short line: what identifies and measures stays, structure and emptiness go."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from trajcompress.json_values import MAX_DEPTH, depth_of, objects_apart, parse_json
from trajcompress.outcomes.text import shorten
from trajcompress.processes.late_patterns import holds_any, late_re

LIST_ITEMS = 4
VALUE_CHARS = 80
_LONG_CHARS = 200
_DEPTH = 5
_PRINTED = late_re(r"[\[{]{1,8}'")
_ODD_ESCAPE = late_re(r"\\[^\\'\"abfnrtv0-7xuUN]")  # which Python warns of
_CALLS = ("datetime.date", "('")
_CALLED = late_re(  # outside of strings, which are matched first
    r"'(?:[^'\\]++|\\.)*+'|\"(?:[^\"\\]++|\\.)*+\"|\bdatetime\.date(?:time)?\((\d{1,4}(?:, ?\d{1,6}){2,6})\)"
    r"|\b[A-Z]\w{1,30}\(('[^'\\\n]{0,200}')\)",
    re.DOTALL,
)
_TOKEN = late_re(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{},]', re.DOTALL)  # the last string may have no end
_CUT = late_re(r"\[\s*+[\[{\"\d\-tfn]|\{\s*+\"")
_CLOSES = {"[": "]", "{": "}"}
_HALF_ESCAPE = late_re(r"\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?\Z")
_ESCAPE_CHARS = 5


def parse(text: str) -> Any:
    """Parse JSON, or give the text itself where it is none, or nested deeper than rows may be."""
    try:
        value = parse_json(text, strict=False)
    except ValueError:
        return text
    may_be_deep = text.count("[") + text.count("{") > MAX_DEPTH  # spares most a walk
    return text if may_be_deep and depth_of(value) > MAX_DEPTH else value


def opened(value: Any) -> Any:
    """Return a value; what a text protocol wrote as JSON as what it holds."""
    return parse(value) if isinstance(value, str) and value[:1] in {"[", "{"} else value


def parse_printed(text: str) -> Any:
    """Parse what Python prints of a list or an object of JSON's kinds of values, or give the text itself.

    >>> parse_printed("{'name': 'Ann', 'ids': (1, 2), 'left': None}")
    {'name': 'Ann', 'ids': [1, 2], 'left': None}
    >>> parse_printed("{'due': datetime.date(2024, 6, 13), 'total': Decimal('5.10')}")
    {'due': '2024-06-13', 'total': '5.10'}
    """
    if not _PRINTED.match(text) or _ODD_ESCAPE.search(text):
        return text
    literal = _CALLED.sub(_as_text, text.strip()) if holds_any(text, _CALLS) else text.strip()
    try:
        return parse(json.dumps(ast.literal_eval(literal), ensure_ascii=False))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return text


def _as_text(called: re.Match[str]) -> str:
    """Write a value that Python prints as a call in quotes: the text that it is given, or a time as data have it."""
    if called[1] is None:
        return called[2] or called[0]
    parts = [int(part) for part in called[1].split(",")]
    written = "-".join(f"{part:02}" for part in parts[:3])
    clock = ":".join(f"{part:02}" for part in parts[3:6])
    return f"'{written} {clock}'" if clock else f"'{written}'"


def parse_series(text: str) -> Any:
    r"""Parse objects that were printed one below the other, each on lines of its own or by Python; or give the text.

    >>> parse_series('{\n "name": "Ann"\n}\n{\n "name": "Bo"\n}')
    [{'name': 'Ann'}, {'name': 'Bo'}]
    """
    objects = objects_apart(text.strip()) if text.startswith(("{\n", "{'")) else []
    if len(objects) <= 1:
        return text
    parsed = [value if isinstance(value := parse(each), dict) else parse_printed(each) for each in objects]
    return parsed if all(isinstance(value, dict) for value in parsed) else text


def without_half_escape(text: str) -> str:
    r"""Return the inside of a quoted string that was cut off without half an escape at its end.

    >>> without_half_escape("caf\\u00")
    'caf'
    """
    found = _HALF_ESCAPE.search(text, max(len(text) - _ESCAPE_CHARS, 0))
    if found is None:
        return text
    before = text[: found.start()]
    return text if (len(before) - len(before.rstrip("\\"))) % 2 else before


def parse_cut(text: str) -> Any:
    """Parse JSON that was cut off, as harnesses do with long results, up to its last whole value; else give the text.

    A long string stays as far as it goes; half of a short one may say something else.

    >>> parse_cut('{"ids": [1, 2], "users": [{"name": "Ann", "age": 3')
    {'ids': [1, 2], 'users': [{'name': 'Ann'}]}
    """
    if _CUT.match(text) is None:  # mostly
        return text
    text = without_half_escape(text)
    inside: list[str] = []  # what closes the containers that are open
    end, closing, start, sign = 0, "", 0, ""
    for token in _TOKEN.finditer(text):
        start, sign = token.start(), token[0]
        if sign in _CLOSES:
            inside.append(_CLOSES[sign])
        elif sign in "]}" and (not inside or inside.pop() != sign):
            return text
        if len(inside) > MAX_DEPTH:
            return text
        if sign in ",]}":
            end, closing = token.end() - (sign == ","), "".join(reversed(inside))
    if len(sign) >= _LONG_CHARS and start + len(sign) == len(text):
        end, closing = len(text), f'"{"".join(reversed(inside))}'
    return parse(f"{text[:end]}{closing}") if end and inside else text


def compact(data: Any, limit: int) -> str:
    """Write ``data`` as ``key=value`` pairs, about ``limit`` characters; a lone value stands without its key."""
    if isinstance(data, dict):
        kept = {key: value for key, value in data.items() if not is_empty(value)}
        if len(kept) == 1:
            return compact(next(iter(kept.values())), limit)
        return pairs(kept, limit)
    return shorten(data, limit) if isinstance(data, str) else _value(data, limit, _DEPTH)


def is_empty(value: Any) -> bool:
    """Whether a value says nothing."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def is_false(value: Any) -> bool:
    """Whether a value is false, or the word for it."""
    return value is False or (isinstance(value, str) and value.lower() == "false")


def pairs(data: dict[str, Any], limit: int, depth: int = _DEPTH) -> str:
    """Write an object as ``key=value`` pairs."""
    parts: list[str] = []
    used = 0
    # Scalars first: they say the most for their length.
    for key, value in sorted(data.items(), key=lambda pair: isinstance(pair[1], dict | list)):
        if is_empty(value):
            continue
        if used >= limit:
            parts.append("…")
            break
        parts.append(f"{key}={_value(value, min(limit - used, limit), depth - 1)}")
        used += len(parts[-1]) + 2
    return ", ".join(parts)


def _value(value: Any, limit: int, depth: int) -> str:
    if isinstance(value, dict):
        return f"({pairs(value, limit, depth)})" if depth > 0 else "(…)"
    if isinstance(value, list):
        return _row(value, limit, depth)
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value).replace("\n", " ")
    cap = max(min(VALUE_CHARS, limit), 16)
    return shorten(text, cap)


def _row(values: list[Any], limit: int, depth: int) -> str:
    """Write a list; of records after the first the values only, as their keys repeat."""
    shown: list[str] = []
    used = 0
    for value in values:
        if used >= limit or (isinstance(value, dict | list) and len(shown) == LIST_ITEMS) or depth <= 0:
            break
        if isinstance(value, dict) and shown:
            fields = (_value(field, limit, depth - 1) for field in value.values() if not is_empty(field))
            shown.append(", ".join(fields))
        else:
            shown.append(_value(value, limit, depth - 1))
        used += len(shown[-1]) + 2
    more = len(values) - len(shown)
    return f"[{'; '.join(shown)}{f'; … {more} more' if more else ''}]"
