"""What a call is called in a line: whole arguments and whole quotes, as half of one says nothing."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from trajcompress.outcomes.compact import compact, parse
from trajcompress.outcomes.text import one_line, shorten
from trajcompress.processes.late_patterns import late_re

_VALUE_CHARS = 60
_KEY_CHARS = 42
_SHORT_CHARS, _PROSE_CHARS = 70, 120  # what an agent is asked in words differs in its second half
_ROOMY_CHARS = 50  # of arguments, which have room in any label
_OPEN = "…"
_PAIR = late_re(r",(?= …| [\w.-]{1,40}=)")
_PROSE = late_re(r"[A-Z][a-z']{1,20} (?:[a-z]{1,20}|'|\w+-\w)")
_PART = late_re(r"[/?&=#](?=\w[^/?&=#]{2})")  # of an address or a path
_QUOTES = "\"'`"
_LEAST_WITH_END = 40  # characters of a label
_QUOTE = late_re(r"\\.|[\"'`]")


def named(data: Any, limit: int, *, keyed: bool = False, first: Collection[str] = frozenset()) -> str:
    """Write the arguments of a call as ``key=value``, those that are long or hold others last, and these unsaid.

    A lone value stands without its key, but where it is to be ``keyed``, as others were left out. Where not all have
    room those go ``first`` that tell a call from others.

    >>> named({"chart": [{"x": 1}], "title": "Sales", "height": 500}, 80)
    'title=Sales, height=500, …'
    """
    while isinstance(data, dict | list):
        if isinstance(data, dict):
            opened = {key: _opened(value) for key, value in data.items()}
            data = {key: value for key, value in opened.items() if value not in ("", None, {}, [])}
        said = _said(data, limit, keyed=keyed, first=first)
        if said is not None:
            return said
        data = next(iter(data.values() if isinstance(data, dict) else data), "")
    return shorten(one_line(compact(data, limit)), limit)


def _opened(value: Any) -> Any:
    """Return a value; what a text protocol wrote as JSON as what it holds."""
    return parse(value) if isinstance(value, str) and value[:1] in {"[", "{"} else value


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
        pairs = [_pair(*each) for each in sorted(told, key=lambda each: each[0] not in first)]
    while len(pairs) > 1 and sum(map(len, pairs)) + 2 * len(pairs) > limit:
        pairs.pop()
    more = [_OPEN] if len(pairs) < len(data) else []
    return shorten(", ".join((*pairs, *more)), limit)


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
        return _cut_command(label, limit)
    pairs = _PAIR.finditer(label, 0, limit + _KEY_CHARS)
    at = max((pair.start() for pair in pairs if pair.end() + 2 <= limit), default=0)
    if at > limit // 3:
        return f"{label[:at].removesuffix(f', {_OPEN}')}, {_OPEN}"
    words = shorten(label, limit)
    if len(words) <= limit // 2 or words.endswith(f"/{_OPEN}"):  # rather half a name than none
        return label[: limit - 1] + _OPEN
    return f"{words[:-2]} {_OPEN}" if words.endswith(f",{_OPEN}") else words


def _cut_command(text: str, limit: int) -> str:
    begins = shorten(text, limit * 3 // 5)
    head = closed(begins)
    room = max(limit - len(head), 0)
    last = text.rfind(" ") + 1
    ends = "" if limit < _LEAST_WITH_END or _open_quote(text[:last]) else _end_of_word(text[last:], room - 2)
    if ends and len(begins) > last + 1:  # it is cut in that word
        return f"{begins}{ends}{_open_quote(begins)}"
    if ends:
        return f"{head.removesuffix(_OPEN).rstrip()} {_OPEN}{ends}"
    start = text.find(" ", len(text) - room)
    if start >= 0 and (quote := _open_quote(text[:start])):  # the rest of what is quoted says nothing
        start = text.find(quote, start) + 1 or -1
    tail = text[start:].rstrip() if start >= 0 else ""
    if any(map(str.isalnum, tail)):
        return f"{head}{'' if head.endswith(_OPEN) or tail[:1] == ' ' else ' '}{tail}"
    return closed(shorten(text, limit - 1))


def _end_of_word(word: str, room: int) -> str:
    """Return the last parts of an address or a path that has no room; of what has, and of other words, nothing."""
    bare = word.strip(_QUOTES)
    part = _PART.search(bare, len(bare) - room) if len(bare) > room else None
    return bare[part.start() :] if part else ""


def closed(command: str) -> str:
    """Close the quote that a command was cut in.

    >>> closed('python -c "import os…')
    'python -c "import os…"'
    """
    quote = _open_quote(command)
    if not quote:
        return command
    return f"{command}{quote}" if command.endswith(_OPEN) else f"{command}{_OPEN}{quote}"


def _open_quote(command: str) -> str:
    """Return the quote that is open where a command ends; an apostrophe within a word opens none."""
    quote = ""
    for mark in _QUOTE.finditer(command):
        sign, ahead = mark[0], command[max(mark.start() - 1, 0) : mark.start()]
        if sign == quote:
            quote = ""
        elif not quote and sign in _QUOTES and (sign != "'" or ahead in " =("):
            quote = sign
    return quote
