"""What a call is called in a line: whole arguments and whole quotes, as half of one says nothing."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from trajcompress.outcomes.action.commands import cut_command
from trajcompress.outcomes.action.quotes import OPEN, closed
from trajcompress.outcomes.compact import compact, opened
from trajcompress.outcomes.text import cut_words, one_line, shorten
from trajcompress.processes.late_patterns import late_re

_VALUE_CHARS = 60
_KEY_CHARS = 42
_SHORT_CHARS, _PROSE_CHARS = 70, 120  # what an agent is asked in words differs in its second half
_ROOMY_CHARS = 50  # of arguments, which have room in any label
_PAIR = late_re(r",(?= …| [\w.-]{1,40}=)")
_CALL = late_re(r"(?:[\w-]{1,40} )?((?:\w{1,40}\.){0,8}?)(\w{1,40}\.)?\w{1,60}\(")
_CALLEE_SHARE = 0.55
_CLOSING_CHARS = 3  # quote and brackets
_LINES, _LINES_CHARS = late_re(r" \(\+\d{1,6} lines?\)\Z"), 20
_PROSE = late_re(r"[A-Z][a-z']{1,20} (?:[a-z]{1,20}|'|\w+-\w)")
_TELLING = frozenset({"query", "sql", "code", "command", "cmd", "path", "file", "url"})
"""Arguments that say more of a call than others do."""
_LITTLE_MORE_CHARS = 20
_LEAST_WITH_END = 40  # characters of a label


def named(data: Any, limit: int, *, keyed: bool = False, first: Collection[str] = frozenset()) -> str:
    """Write the arguments of a call as ``key=value``, those that are long or hold others last, and these unsaid.

    A lone value stands without its key, but where it is to be ``keyed``, as others were left out. Where not all have
    room those go ``first`` that tell a call from others.

    >>> named({"chart": [{"x": 1}], "title": "Sales", "height": 500}, 80)
    'title=Sales, height=500, …'
    """
    while isinstance(data, dict | list):
        if isinstance(data, dict):
            read = {key: opened(value) for key, value in data.items()}
            data = {key: value for key, value in read.items() if value not in ("", None, {}, [])}
        said = _said(data, limit, keyed=keyed, first=first)
        if said is not None:
            return said
        data = next(iter(data.values() if isinstance(data, dict) else data), "")
    return shorten(one_line(compact(data, limit)), limit)


def _said(data: Any, limit: int, *, keyed: bool, first: Collection[str]) -> str | None:
    """Write what is said of arguments in whole pairs; None where only what they hold can be."""
    if isinstance(data, list):
        names = [one_line(str(value)) for value in data if isinstance(value, str | int)]
        return shorten(f"[{'; '.join(names)}]", limit) if names else None
    plain = {key: value for key, value in data.items() if not isinstance(value, dict | list)}
    lists = {key: said for key, value in data.items() if isinstance(value, list) and (said := _names(value))}
    if not plain and not lists:
        return None
    if len(data) == 1 and not keyed:
        return shorten(one_line(compact(next(iter((plain or lists).values())), limit)), limit)
    told = sorted((*plain.items(), *lists.items()), key=_is_long)
    pairs = [_pair(*each) for each in told]
    if sum(map(len, pairs)) > _ROOMY_CHARS:
        told.sort(key=lambda each: (each[0] not in first, not _tells(*each)))
        pairs = [_pair(*each) for each in told]
    while len(pairs) > 1 and sum(map(len, pairs)) + 2 * len(pairs) > limit:
        pairs.pop()
    more = [OPEN] if len(pairs) < len(data) else []
    return shorten(", ".join((*pairs, *more)), limit)


def _tells(key: str, value: Any) -> bool:
    """Whether an argument says what a call is about; data in the place of an address is no address."""
    return key in _TELLING and not str(value).startswith("data:")


def _names(values: list[Any]) -> str:
    """Write a short list of names or figures."""
    said = f"[{'; '.join(map(str, values))}]" if all(isinstance(each, str | int | float) for each in values) else ""
    return one_line(said) if len(said) <= _VALUE_CHARS else ""


def _is_long(pair: tuple[str, Any]) -> bool:
    return isinstance(pair[1], str) and len(pair[1]) > _VALUE_CHARS and " " in pair[1]


def _pair(key: str, value: Any) -> str:
    """Write an argument; a path or an address says what it is, and stays whole."""
    said = str(value).lower() if isinstance(value, bool) else one_line(str(value))
    if " " in said or not (said.startswith(("/", "./", "~/")) or "://" in said):
        return f"{key}={shorten(said, _VALUE_CHARS)}"
    return shorten(said, 2 * _VALUE_CHARS)


def cut_label(label: str, limit: int, *, command: bool) -> str:
    """Cut a label to ``limit`` characters: a command in its middle, as commands differ at their ends.

    Of arguments whole ones stay, of words those that it begins with.

    >>> cut_label("plot title=Sales by Month, height=500, width=800", 32, command=False)
    'plot title=Sales by Month, …'
    """
    if len(label) <= limit:
        return label
    if command and _PROSE.match(label):
        return shorten(label, max(limit, _PROSE_CHARS) if limit > _SHORT_CHARS else limit)
    if command:
        return cut_command(label, limit)
    lines = _LINES.search(label, max(len(label) - _LINES_CHARS, 0)) if limit >= _LEAST_WITH_END else None
    body, more = (label[: lines.start()], lines[0]) if lines else (label, "")
    if call := _CALL.match(body):
        more = more if limit > _SHORT_CHARS else f" {OPEN}" if more else ""
        return _cut_call(body, limit - len(more), call[1], call[2] or "") + more
    return _cut_arguments(body, limit - len(more)) + more


def _cut_call(call: str, limit: int, of: str, part: str) -> str:
    """Cut a call as code writes it: what it is a part of goes first, then arguments; its bracket is closed."""
    if len(call) > limit:
        call = call.replace(of, OPEN, 1) if of else call
        call = call.replace(f"{OPEN}{part}", OPEN, 1) if call.find("(") > limit * _CALLEE_SHARE else call
    if len(call) <= limit:
        return call
    cut = closed(_cut_arguments(call, limit - _CLOSING_CHARS))
    return cut + ")" * min(max(cut.count("(") - cut.count(")"), 0), _CLOSING_CHARS - 1)


def _cut_arguments(label: str, limit: int) -> str:
    if len(label) <= limit:
        return label
    pairs = _PAIR.finditer(label, 0, limit + _KEY_CHARS)
    at = max((pair.start() for pair in pairs if pair.end() + 2 <= limit), default=0)
    if at > limit // 3:
        return f"{label[:at].removesuffix(f', {OPEN}')}, {OPEN}"
    words = cut_words(label, limit)
    if words.endswith(f"={OPEN}"):  # without its value an argument says nothing
        end = label.find(",", len(words))
        end = end if end >= 0 else len(label)
        if end <= limit + _LITTLE_MORE_CHARS:
            return label[:end] if end == len(label) else f"{label[:end]}, {OPEN}"
        words = cut_words(label, limit + _LITTLE_MORE_CHARS)
    if len(words) <= limit // 2 or words.endswith((f"/{OPEN}", f"\\{OPEN}")):  # rather half a name than none
        return label[: limit - 1] + OPEN
    return f"{words[:-2]} {OPEN}" if words.endswith(f",{OPEN}") else words
