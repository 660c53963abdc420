"""Which files a call is about, and which lines of one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trajcompress.outcomes.compact import parse
from trajcompress.processes.late_patterns import late_re

PATH_KEYS = (
    *("path", "file_path", "filepath", "filePath", "file", "filename", "file_name", "fileName", "target_file"),
    *("targetFile", "TargetFile", "absolute_path", "AbsolutePath", "relative_path", "notebook_path", "script_name"),
)
_FILES_KEY = "files"
_FROM_KEYS = (
    *("start_line", "startline", "startLine", "StartLine", "line_start", "start", "from_line", "offset"),
    "start_line_number",
)
_TO_KEYS = ("end_line", "endline", "endLine", "EndLine", "line_end", "end", "to_line", "end_line_number")
_RANGE_KEYS = ("view_range", "line_range", "line_ranges", "ranges")
COUNT_KEYS = frozenset({"limit", "num_lines", "line_count", "max_lines"})
SPAN_KEYS = frozenset((*_FROM_KEYS, *_TO_KEYS, *_RANGE_KEYS))
_NUMBER_CHARS = 9
_LINES = late_re(r"\d{1,9}-\d{1,9}")


def files_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the arguments of a call for each file of a list that it is given; nothing of another call."""
    listed = data.get(_FILES_KEY)
    if not isinstance(listed, list) or not all(map(_is_of_file, listed)):
        return []
    rest = {key: value for key, value in data.items() if key != _FILES_KEY}
    return [{**rest, **each} for each in listed]


def _is_of_file(each: Any) -> bool:
    return isinstance(each, dict) and any(key in each for key in PATH_KEYS)


def span_of(data: Mapping[str, Any]) -> str:
    """Return which lines of a file a call is about; nothing where it does not say."""
    if told := _range(next((data[key] for key in _RANGE_KEYS if key in data), None)):
        return told
    start = _number(data, _FROM_KEYS)
    if start is None:
        return ""
    end, count = _number(data, _TO_KEYS), _number(data, COUNT_KEYS)
    if end is None and count and count > 0:
        start = max(start, 1)
        end = start + count - 1
    return f"{start}-{end}" if end is not None else f"{start}-"


def _range(given: Any) -> str:
    """Return a range of lines that is one argument: ``1-70``, two numbers, or a list of such."""
    if isinstance(given, dict):
        given = [given.get("start"), given.get("end")]
    given = parse(given) if isinstance(given, str) and given[:1] == "[" else given
    if isinstance(given, str):
        return given.strip() if _LINES.fullmatch(given.strip()) else ""
    if not isinstance(given, list):
        return ""
    if len(given) == 2 and all(isinstance(each, int) for each in given):  # noqa: PLR2004 - its two ends
        return f"{given[0]}-{given[1]}"
    told = [_range(each) for each in given]
    return ", ".join(told) if all(told) else ""


def _number(data: Mapping[str, Any], keys: Collection[str]) -> int | None:
    for key in keys:
        value = data.get(key)
        if isinstance(value, str) and value.strip().isdecimal() and len(value) <= _NUMBER_CHARS:  # of a text protocol
            value = int(value)
        if isinstance(value, int):
            return value
    return None
