"""Turns as text to look facts up in: what is read of a turn, its words, and whether it mentions something.

Everything is linear in what is read, and what is read of one text is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias

from trajcompress.json_values import parse_json
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.trajectory import ToolCall, Turn

Stands: TypeAlias = Callable[[str, int, int], bool]
"""Whether what stands in a text from one place to another is there on its own."""

HEAD_CHARS = 200_000
TAIL_CHARS = 50_000
MAX_TRIES = 1_000  # places looked at before a text is said not to mention something
_MAX_VALUES = 2_000  # read of the arguments of one call
_BRIEF_CHARS = 200
_MOST_BODIES = 20  # of the text of a turn: each is searched for in all of it
_REMEMBERED = 1 << 12
_NAMING_KEYS = frozenset({"tool_name", "function_name", "server_name", "command"})  # name what a tool is to do

_SIGNS_OF_KEYS = ("/", "--")  # of what is written in a text: as a tag ends, and as a flag begins
_ESCAPE = late_re(r"\\([ntr\"/]|u[0-9a-fA-F]{4})")
_DRIVE, _OF_DRIVE = late_re(r"(?<!\w)[A-Za-z]:\\(?![ntr\"/\\]|u[0-9a-fA-F]{4})"), ":\\"  # no JSON has one
_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_TO_WORDS = bytes(byte if byte in _WORD else 32 for byte in range(256))
_WORD_CHARS = frozenset(map(chr, _WORD))
_JOINED = _WORD_CHARS | set("-.,")  # beside what may go on
_LINE = "line "
_FIRST_GROUP, _GROUP = late_re(r"(?<![\d.])\d{1,3}\Z"), late_re(r"\d{3}(?!\d)")  # of a long number


class Said(NamedTuple):
    """What a turn says, thinks and passes to each tool; ``whole`` is all of it."""

    text: str
    reasoning: str
    arguments: list[list[str]]
    whole: str


class Reader:
    """Reads turns. ``schema`` gathers the names of the tools and of their arguments: words that are no facts."""

    def __init__(self) -> None:
        self.schema: set[str] = set()

    def text(self, turns: Iterable[Turn]) -> str:
        """Return everything that turns say, think and pass to tools."""
        parts: list[str] = []
        for turn in turns:
            parts += (turn.text, turn.reasoning)
            for call in turn.calls:
                values = self._values(call)
                parts += () if call.in_text else values
        parts = list(filter(None, parts))
        whole = "\n".join(parts)  # no escape goes on in the next part
        return readable(whole) if len(whole) <= HEAD_CHARS + TAIL_CHARS else "\n".join(map(readable, parts))

    def brief(self, turn: Turn) -> str:
        """Return what a turn says, thinks and passes to tools, but for what files, pages and messages are to hold."""
        said = self.said(turn)
        apart = (values for call, values in zip(turn.calls, said.arguments, strict=True) if not call.in_text)
        passed = (value for value in chain.from_iterable(apart) if not is_body(value))
        return "\n".join((without_bodies(turn, said), said.reasoning, *passed))

    def said(self, turn: Turn) -> Said:
        """Read one turn; ``whole`` is the :meth:`text` of it. Arguments that are no JSON are one value."""
        text, reasoning = readable(turn.text), readable(turn.reasoning)
        arguments = [list(map(readable, self._values(call))) for call in turn.calls]
        apart = (values for call, values in zip(turn.calls, arguments, strict=True) if not call.in_text)
        whole = "\n".join(filter(None, (text, reasoning, *chain.from_iterable(apart))))
        return Said(text, reasoning, arguments, whole)

    def _values(self, call: ToolCall) -> list[str]:
        self.schema.update((call.name, f"/{call.name}"))  # as it ends a tag
        data = None
        if len(call.arguments) <= HEAD_CHARS:
            with suppress(ValueError):
                data = parse_json(call.arguments, strict=False)
        if not isinstance(data, dict | list):
            return [call.arguments]
        values: list[str] = []
        waiting: list[Any] = [data]
        while waiting and len(values) < _MAX_VALUES:
            value = waiting.pop()
            kind = type(value)
            if kind is str:
                values.append(value)
            elif kind is dict:
                self.schema.update(value)
                self.schema.update(f"{sign}{key}" for sign in _SIGNS_OF_KEYS * call.in_text for key in value)
                for key in () if _NAMING_KEYS.isdisjoint(value) else _NAMING_KEYS & value.keys():
                    if isinstance(name := value[key], str) and name.isidentifier():
                        self.schema.add(name)
                waiting += reversed(value.values())
            elif kind is list:
                waiting += reversed(value)
            elif value is not None and kind is not bool:
                values.append(str(value))
        return values


def is_body(value: str) -> bool:
    """Whether an argument is what a file, a page or a message is to hold, and no name of anything."""
    return len(value) > _BRIEF_CHARS or "\n" in value.strip()


def without_bodies(turn: Turn, said: Said) -> str:
    """Return the text of a turn without what calls that stand in it write."""
    written = (values for call, values in zip(turn.calls, said.arguments, strict=True) if call.in_text)
    text = said.text
    for body in islice(filter(is_body, chain.from_iterable(written)), _MOST_BODIES):
        text = text.replace(body, "")
    return text


def readable(text: str) -> str:
    r"""Leave out the middle of a huge text, and undo the escapes of JSON that stands in it.

    Paths of Windows have none: ``C:\Users\new`` has no line break.
    """
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    if "\\" in text and not (_OF_DRIVE in text and _DRIVE.search(text)):
        parts = _ESCAPE.split(text)
        parts[1::2] = map(_PLAIN.__getitem__, parts[1::2])
        text = "".join(parts)
    return text


class _Plain(dict[str, str]):
    """What the escapes of JSON stand for; code points are remembered."""

    def __missing__(self, code_point: str) -> str:
        plain = chr(int(code_point[1:], 16))
        if len(self) < _REMEMBERED:
            self[code_point] = plain
        return plain


_PLAIN = _Plain({"n": "\n", "t": "\t", "r": "\n", '"': '"', "/": "/"})


def words(text: str) -> list[str]:
    """Return the words of a text, as a quick way to see what it cannot mention; what is not ASCII separates."""
    return text.encode("ascii", "replace").translate(_TO_WORDS).decode().split()


def words_of(tokens: Iterable[bytes]) -> list[bytes]:
    """Return the words of what a text was split into, at most where :func:`words` splits it."""
    return b" ".join(tokens).translate(_TO_WORDS).split()


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether what stands at a place is whole: no longer word, hyphenated name or figure around it."""
    if text[end : end + 1] not in _JOINED and (start == 0 or text[start - 1] not in _JOINED):  # mostly
        return True
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    goes_back = _goes_on(text[start], before[-1:], before[:-1]) and (before[-1:] != "," or _groups(text, start - 1))
    return not (
        goes_back or (_goes_on(text[end - 1], after[:1], after[1:]) and (after[:1] != "," or _groups(text, end)))
    )


def _groups(text: str, comma: int) -> bool:
    """Whether a comma parts the digits of one long number, and not one value from the next."""
    first = _FIRST_GROUP.search(text, max(comma - 4, 0), comma)
    return first is not None and _GROUP.match(text, comma + 1) is not None


def is_told(text: str, start: int, end: int) -> bool:
    """Whether what stands at a place is whole, and no number at the start of a line, as listings number theirs."""
    return is_whole(text, start, end) and not (text[start:end].isdecimal() and _numbers_a_line(text, start, end))


def mentions(text: str, fact: str, stands: Stands = is_whole) -> bool:
    """Whether a fact stands in a text: at a place where it ``stands`` as a whole, or so that it is told."""
    at = text.find(fact)
    if at < 0:  # mostly
        return False
    for _ in range(MAX_TRIES):
        if stands(text, at, at + len(fact)):
            return True
        at = text.find(fact, at + 1)
        if at < 0:
            return False
    return False


def _goes_on(edge: str, beside: str, beyond: str) -> bool:
    """Whether a word or a figure with ``edge`` at its end goes on with the characters ``beside`` and ``beyond``."""
    if edge not in _WORD_CHARS:
        return False
    if beside in _WORD_CHARS:
        return True
    return (beside == "-" and beyond in _WORD_CHARS) or (
        beside in {".", ","} and edge.isdecimal() and beyond.isdecimal()
    )


def _numbers_a_line(text: str, start: int, end: int) -> bool:
    if text[max(start - len(_LINE), 0) : start].lower() == _LINE and text[end : end + 1] == ":":
        number = int(text[start:end])  # a compiler names one alone, a listing one after the other
        return any(f"{text[start - len(_LINE) : start]}{other}:" in text for other in (number - 1, number + 1))
    first = text.rfind("\n", max(start - 12, 0), start) + 1
    begins = first > 0 or start <= 12  # noqa: PLR2004 - listings indent their numbers by less
    return begins and not text[max(first, start - 12) : start].strip(" \t") and text[end : end + 1] in set("\t :|→-")
