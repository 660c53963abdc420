"""What a terminal acts on or nobody sees: control sequences, zero-width characters, continued lines.

A secret may stand behind one, before one, or have one amid it, as ``grep --color`` and ``jq -C`` print it. What is
around them is therefore read twice more, as if each were a boundary and as if none were there. Each may be written in
JSON, any number of levels deep, in a shell's or a program's notation, or without its escape character, as many logs
have it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.spans import Span
from trajcompress.redact.unseen import UNSEEN, WRITTEN_UNSEEN, may_hold_unseen, needles

_COLOURS = ("0", "00", "1", "01", "2", "4", "7", "22", "24", "27", "39", *map(str, (*range(30, 38), *range(90, 98))))
_WORD = b"abcdefghijklmnopqrstuvwxyz0123456789_+/="
_LINE_ENDS = (b"\\\n", b"\\\r\n", *(b"\\" * slashes + b"n" for slashes in (3, 6, 12)))
VEILS = (
    *(b"\x1b", b"\x08", b"\\b", b"\\u0008", b"\\u001b", b"\\x1b", b"\\033[", b"\\e[", b"\xc2\x9b", b"\\u009b"),
    *(line_end + bytes([begin]) for begin in _WORD for line_end in _LINE_ENDS),
    *(b"[38;5;", b"[48;5;", b"[38;2;", b"[48;2;"),
    *needles(),
    *(f"[{colour}m".encode() for colour in _COLOURS),
    *(f"[{style};{colour}m".encode() for style in ("0", "1", "01") for colour in range(30, 38)),
)
"""What a text in UTF-8, in lower case, is searched for."""

_SLASHES = r"\\(?<!\\\\)\\*+"  # all that stand there: read from each of them, a million would take forever
_WRITTEN = r"(?:u001[bB]|x1[bB]|033|e(?=\[))"
_PARAMETERS = r"[0-?]{0,64}[ !$]?[@A-Za-z`~]"
_CHARSET = r"[()*+#%][0-9A-Za-z]"
_TO_END = (
    r"[^\x07\x1b\x9c\\\"\n]{0,2048}(?:\x07|\x9c|\x1b\\?|"
    r"(?P<esc>\\++)u001[bB](?:(?P=esc){2})?|\\++(?:u0007|x07|007|a|(?:x1b|033)\\{0,2}))"
)
# A backslash and a line end are three characters' worth of backslashes in JSON, and twice as many at each level.
_LINE_END = r"\r?\n(?=\S)|(?:(?<=[^\\]\\{3})|(?<=[^\\]\\{6})|(?<=[^\\]\\{12}))(?:r\\++)?n(?=\S)"
# By what stands in a text where a pattern matches.
_BOTH = {
    "m": r"\[(?<!\x1b\[)\d{1,3}(?:;\d{1,3}){0,4}m(?:\[K)?",
    "\x9b": rf"\x9b{_PARAMETERS}",
    "": UNSEEN,
}
_AS_NOTHING = _BOTH | {
    "\x1b": rf"\x1b(?:\[{_PARAMETERS}|\]{_TO_END}|{_CHARSET}|[78=>cDEHMNOZ]|\\(?![\"\\]))?",
    "\\": rf"{_SLASHES}(?:{_WRITTEN}(?:\[{_PARAMETERS}|\]{_TO_END}|{_CHARSET})?|u009[bB]{_PARAMETERS}"
    rf"|{WRITTEN_UNSEEN}|{_LINE_END})",
    "\x08": r"[^\n\x08]\x08",  # overstruck, as man writes bold letters
    "u0008": r"[^\n\\]\\{1,8}u0008",
    "\\b": r"(?P<struck>[^\n\\])\\{1,8}b(?=(?P=struck))",
}
_AS_BOUNDARIES = _BOTH | {
    "\x1b": rf"\x1b(?:\[{_PARAMETERS}|\]\d{{0,4}};{{0,2}}|{_CHARSET}|\\(?![\"\\]))?",
    "\x07": r"\x07",
    "\\": rf"{_SLASHES}(?:{_WRITTEN}(?:\[{_PARAMETERS}|\]\d{{0,4}};{{0,2}}|{_CHARSET})?|u0007|u009[bB]{_PARAMETERS}"
    rf"|{WRITTEN_UNSEEN})",
}
_WAYS = tuple(
    ({hint: late_re(pattern) for hint, pattern in way.items()}, instead)
    for way, instead in ((_AS_NOTHING, ""), (_AS_BOUNDARIES, " "))
)
_AROUND = 800  # characters on either side that are read with it
_AROUND_KEYS = 6000
_LINES = 4  # before it, with its own
_BLANK = late_re(r"\s")


class View:
    """A piece of a text as it reads without what is unseen in it, and where its characters stand in the text."""

    def __init__(
        self, text: str, place: tuple[int, int], unseen: Mapping[str, re.Pattern[str]], instead: str
    ) -> None:
        start, end = place
        here = text[start:end]
        patterns = [unseen[hint] for hint in unseen if (hint in here if hint else may_hold_unseen(here))]
        begins, pieces = [start], []
        for gone_start, gone_end in sorted(
            m.span() for pattern in patterns for m in pattern.finditer(text, start, end)
        ):
            if gone_start >= begins[-1]:
                pieces.append(text[begins[-1] : gone_start])
                begins.append(gone_end)
        pieces.append(text[begins[-1] : end])
        self.text = instead.join(pieces)
        self.differs = len(pieces) > 1
        self._begins = begins
        self._at = list(accumulate((len(piece) + len(instead) for piece in pieces[:-1]), initial=0))
        self._cut = start > 0 and not text[start - 1].isspace()

    def spans(self, found: Iterable[Span]) -> Iterator[Span]:
        """Spans of the view as spans of the text, from the first character of each to its last."""
        for span in found:
            if span.start or not self._cut:  # of what is cut at its start nobody knows what it is
                yield span._replace(start=self._place(span.start), end=self._place(span.end - 1) + 1)

    def _place(self, at: int) -> int:
        piece = bisect_right(self._at, at) - 1
        return self._begins[piece] + at - self._at[piece]


def unveiled(text: str) -> str:
    """A text as it reads without its unseen parts."""
    return View(text, (0, len(text)), *_WAYS[0]).text


def views(text: str, places: Sequence[tuple[int, int]], *, with_keys: bool) -> Iterator[View]:
    """What is around the unseen parts of a text, as it reads without them: in two ways.

    Args:
        text: what they are in.
        places: where ``VEILS`` start and end, in order of the ends.
        with_keys: whether there may be a private key, which is many lines long.
    """
    for start, end in _pieces(text, places, _AROUND_KEYS if with_keys else _AROUND):
        for unseen, instead in _WAYS:
            view = View(text, (start, end), unseen, instead)
            if view.differs:
                yield view


def _pieces(text: str, places: Sequence[tuple[int, int]], around: int) -> Iterator[tuple[int, int]]:
    """Where what is around the places begins and ends, what is around neighbours being one."""
    begin, last = places[0]
    for start, end in (*places[1:], (len(text) + 2 * around + 1, 0)):
        if start - last > 2 * around:
            yield _begin(text, begin, around), _end(text, last, around)
            begin = start
        last = end


def _begin(text: str, at: int, around: int) -> int:
    """Where to begin to read: some lines before, or at a blank where lines are long."""
    furthest = max(0, at - around)
    begin = at
    for _ in range(_LINES):
        begin = text.rfind("\n", furthest, max(begin, furthest))
    if begin < 0 and furthest:
        blank = _BLANK.search(text, furthest, at)
        begin = blank.start() if blank else furthest - 1
    return begin + 1


def _end(text: str, at: int, around: int) -> int:
    """Where to end: behind the next line, or at a blank where lines are long."""
    furthest = at + around
    if furthest >= len(text):
        return len(text)
    end = text.find("\n", at, furthest)
    end = text.find("\n", end + 1, furthest) if end >= 0 else end
    if end < 0 or around == _AROUND_KEYS:
        blank = _BLANK.search(text, furthest, furthest + _AROUND)
        end = blank.start() if blank else furthest
    return end
