"""Cutting the middle out of a text, with a mark that counts what went.

What is cut again keeps one mark, with the sum.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice, pairwise, starmap
from types import MappingProxyType

from trajcompress.compaction.text.blocks import with_both_ends
from trajcompress.compaction.text.edges import around, before, behind, heading, note_start, opening, whole_line
from trajcompress.compaction.text.hunks import changes
from trajcompress.facts.parts import Part, Wanted, first_of_entry, parts_with
from trajcompress.outcomes.reports.errors import marks_any, tally
from trajcompress.outcomes.text import TRACEBACK
from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.redact import HOLDS_NONE, Clean, redact, redact_all, without_secrets
from trajcompress.transcript.text_protocols.harness_forms import WHAT_CAME, WHAT_CAME_SIGNS
from trajcompress.transcript.text_protocols.printed import known_opening

MARK_CHARS = 48
"""No mark is longer, but for the facts that it names."""

LEAST_CHARS = 96
"""No text is cut to less than this."""

LEAST_CUT = 200
"""No less is cut out of the middle of a text: a mark costs a reader more than the words that it stands for."""

_KEPT_SHARE = 0.9  # of a text goes to what later turns take from it, where that is so much
_LEAST_END = 24
_AROUND_SHARE = 0.67  # of the room that is left goes to lines around what is kept, not to the ends
_LEAST_AROUND, _MOST_AROUND = 40, 400  # characters on either side
_TRIES = 5
_SECRET_CHARS = 120
_REST_CHARS = 60  # of a line; no more, as what is near a part was looked through for secrets
_TALLIED_CHARS = 20_000  # of a longer text most is no report of tests

_RAISED, _RAISED_CHARS = late_re(r"\n(\S[^\n]*)"), 160  # behind frames, which are indented
_SAYS_WHAT_CAME = late_re(rf"\n({'|'.join(WHAT_CAME)})(?=\r?\n|\Z)")
_MOST_SAID = 8
_MARK = late_re(r"\n\[… ([\d,]{1,15}) characters elided(?:, with [^\n]*)? …\]\n")
_MARK_END = " …]\n"


def cut_text(text: str, limit: int, keep: Wanted = MappingProxyType({}), clean: Clean = without_secrets) -> str:
    r"""Cut the middle out of a text longer than ``limit`` characters, to about that many, marks included.

    Where less than ``LEAST_CUT`` would go it stays, so the text may be longer by about that.

    The lines and sentences of it that tell most of what is to be kept stay where they stand, but for those that may
    hold half of a secret, which ``clean`` takes out of a text.

    >>> cut_text("one line\n" * 40 + "the end", 100)
    'one line\none line\none line\n[… 316 characters elided …]\none line\none line\nthe end'
    """
    limit = max(limit, LEAST_CHARS)
    if len(text) <= limit:
        return text
    room = limit - MARK_CHARS
    kept = _with_tags(text, _kept(text, keep, room, clean))
    for told in _what_came(text, clean):
        if not any(part.start <= told.start < part.end for part in kept):
            kept = sorted([*kept, told])
    room = max(room - sum(map(_cost, kept)), 2 * _LEAST_END)
    first = opening(text) if kept else known_opening(text)
    shorter = ""
    fits, exceeds = 0, 0  # rooms that turned out so
    for _ in range(_TRIES):
        head = max(before(text, (room + 1) // 2), first)
        tail = max(room - head, 0)
        start = behind(text, len(text) - tail, tail) if tail >= _LEAST_END else len(text)
        title = heading(text, start) or first_of_entry(text, Part(start, len(text)))
        has_room = title and 2 * _cost(title) <= tail and title.start >= max(head, kept[-1].end if kept else 0)
        middle = _with_tags(text, sorted([*kept, title])) if title and has_room else kept
        stretches = _joined(text, sorted([(0, head), *middle, (start, len(text))]))
        made = _written(text, _joined(text, with_both_ends(text, stretches)))
        if not shorter or len(shorter) < len(made) <= limit or limit < len(made) < len(shorter):
            shorter = made
        spare = limit - len(made)  # where what is kept stands at an end; below 0 where some are joined
        fits, exceeds = (room, exceeds) if spare >= 0 else (fits, room)
        room = (fits + exceeds) // 2 if fits and exceeds else room + spare
        if not middle or 0 <= spare < MARK_CHARS or room < 2 * _LEAST_END:
            break
    return shorter


def cut_behind(text: str, head: int, end: int) -> str:
    """Cut all behind the beginning of a text, up to its end, where that is worth a mark."""
    return text[:head] + _mark(text, head, end) + text[end:].lstrip("\n") if end - head >= LEAST_CUT else text


def cut_out(text: str, gone: Iterable[Part]) -> str:
    """Cut parts out of a text, in their order, where each is worth a mark; those side by side have one."""
    stretches = [(0, len(text))]
    for start, end in gone:
        first, _ = stretches.pop()
        stretches += [(first, start), (end, len(text))] if first < start or not first else [(end, len(text))]
    return _written(text, _joined(text, stretches))


def _kept(text: str, keep: Wanted, room: int, clean: Clean) -> list[Part]:
    """Return the parts that tell what is to be kept, under their headings, and with lines around them."""
    parts = [whole_line(text, part) for part in _telling(text, keep, int(room * _KEPT_SHARE))]
    room -= sum(map(_cost, parts))
    titles = [heading(text, part.start) for part in parts]
    kept: dict[Part, None] = {}
    for title in titles:
        if title and title not in kept and _cost(title) <= room - 2 * _LEAST_END:
            room -= _cost(title)
            kept[title] = None
    reach = min(int(room * _AROUND_SHARE) // (2 * len(parts)), _MOST_AROUND) if parts else 0
    tops = [title.end if title and title in kept else 0 for title in titles]
    places = zip(parts, tops, strict=True)
    wide = [around(text, part, reach, top) if reach >= _LEAST_AROUND else part for part, top in places]
    secret = _near_secrets(text, wide, clean)
    secret |= _near_secrets(text, parts, clean) if secret else set()
    for ways in zip(wide, parts, strict=True):
        safe = next((part for part in ways if part not in secret), None)
        kept |= {safe: None} if safe else {}
    return sorted(kept)


def _with_tags(text: str, kept: list[Part]) -> list[Part]:
    """Return parts with both tags of the note by which a text ends, beside more, where one of them is amid it."""
    note = note_start(text, len(text)) if kept else -1
    if 2 * note <= len(text) or kept[-1].end <= note:
        return kept
    tag = text.index(">", note) + 1 - note
    return sorted({*kept, Part(note, note + tag), Part(text.rindex("</", note), len(text))})


def _telling(text: str, keep: Wanted, room: int) -> list[Part]:
    """Return the parts that tell what is to be kept, then what a diff changes, as far as there is room."""
    wanted = parts_with(text, keep, room, cost=MARK_CHARS)
    left = room - sum(map(_cost, wanted))
    return [*wanted, *changes(text, left, 3 * MARK_CHARS, LEAST_CUT)]  # each under its file


def _what_came(text: str, clean: Clean) -> Sequence[Part]:
    """Return the lines by which a harness says what came of a call, and how that begins which was raised last."""
    at = text.rfind(TRACEBACK)
    raised = _RAISED.search(text, at) if at >= 0 else None
    said = _SAYS_WHAT_CAME.finditer(text) if holds_any(text, WHAT_CAME_SIGNS) else ()
    found = [*islice(said, _MOST_SAID), *([raised] if raised else [])]
    parts = [Part(line.start(1), min(line.end(1), line.start(1) + _RAISED_CHARS)) for line in found]
    near = _near_secrets(text, parts, clean) if parts else set()
    return [part for part in parts if part not in near]


def _cost(part: Part) -> int:
    """Return what a part takes with its mark."""
    return part.end - part.start + MARK_CHARS


def _written(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    pieces = [text[: stretches[0][1]]]
    for (_, gone), (start, end) in pairwise(stretches):
        pieces += [_mark(text, gone, start), text[start:end]]
    return "".join(pieces)


def _near_secrets(text: str, parts: Sequence[Part], clean: Clean) -> set[Part]:
    """Return the parts that may be half of a secret, or one without the name by which it is known."""
    if clean is HOLDS_NONE:
        return set()
    near = (text[max(part.start - _SECRET_CHARS, 0) : part.end + _SECRET_CHARS] for part in parts)
    found = redact_all(list(near))
    return {parts[place] for place in found} if found and _holds_secrets(text) else set()  # the whole is long


@lru_cache(maxsize=32)  # a text is cut again and again, until its row fits
def _holds_secrets(text: str) -> bool:
    return redact(text).count > 0


@lru_cache(maxsize=32)
def _may_be_tallied(text: str) -> bool:
    return marks_any(text)


def useful_chars(text: str, keep: Wanted, most: int) -> int:
    """Return how long a text that is cut must stay to hold what is to be kept, of which so much counts."""
    kept = _telling(text, keep, most - 2 * _LEAST_END)
    held = sum(map(_cost, kept))
    return max(math.ceil(held / _KEPT_SHARE) + 1, held + 2 * _LEAST_END) + MARK_CHARS if kept else 0


def _joined(text: str, stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join stretches with little between them; none ends within a mark, as half a mark is none."""
    marks = [mark.span() for mark in _MARK.finditer(text)]
    joined: list[tuple[int, int]] = []
    for first, last in starmap(partial(_whole_lines, text), stretches):
        start = next((after for before, after in marks if before < first < after), first)
        end = next((before for before, after in marks if before < last < after), last)
        while 0 < start < len(text) and text[start - 1] == "\\":  # half an escape says something else
            start += 1
        while 0 < end < len(text) and text[end - 1] == "\\":
            end -= 1
        if joined and start - joined[-1][1] < LEAST_CUT:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif start < end or not joined or end == len(text):
            joined.append((start, max(start, end)))
    return joined


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch with the rest of its first and its last line, where that is short: half a line misleads."""
    above = text.rfind("\n", max(start - _REST_CHARS, 0), start) if start else -1
    below = text.find("\n", end, end + _REST_CHARS) if 0 < end < len(text) else -1
    return above + 1 if above >= 0 else start, below if below >= 0 else end


def _mark(text: str, start: int, end: int) -> str:
    """Count what goes from one place to another, with what earlier marks there count, and what passed there."""
    earlier = [(number(mark[1]), len(mark[0])) for mark in _MARK.finditer(text, start, end)]
    gone = end - start + sum(count - length for count, length in earlier)
    told = tally(text[start:end]) if end - start <= _TALLIED_CHARS and _may_be_tallied(text) else ""
    return f"\n[… {gone:,} characters elided{', with ' if told else ''}{told} …]\n"


def name_in_mark(text: str, told: Mapping[str, str], whole: str = "") -> str:
    r"""Name facts in the marks of a text that was cut, each where it stood; JSON has no room for them.

    Those that do not stand in the ``whole`` text where it was cut, if that is known, go to the first mark. ``told``
    has the words in which each is named, and the fact itself.

    >>> name_in_mark("a\n[… 348 characters elided …]\nb", {"src/a.py": "src/a.py", "n = 3": "3"})
    'a\n[… 348 characters elided, with src/a.py; n = 3 …]\nb'
    """
    marks = list(_MARK.finditer(text))
    gone = _gone(text, marks, whole) if len(marks) > 1 and whole else []
    named: dict[int, list[str]] = {}
    for words, fact in told.items() if marks else ():
        places = (
            at for each in (words, fact) for at, (start, end) in enumerate(gone) if whole.find(each, start, end) >= 0
        )
        named.setdefault(next(places, 0), []).append(words)
    for place in sorted(named, reverse=True):
        end = marks[place].end() - len(_MARK_END)
        joint = "; " if ", with " in marks[place][0] else ", with "
        text = f"{text[:end]}{joint}{'; '.join(named[place])}{text[end:]}"
    return text


def _gone(text: str, marks: Sequence[re.Match[str]], whole: str) -> list[tuple[int, int]]:
    """Return from where to where each mark of a text stands for the whole one; nothing where that is not certain."""
    edges = [0, *(edge for mark in marks for edge in mark.span()), len(text)]
    found: list[tuple[int, int]] = []
    end = 0
    for start, last in zip(edges[::2], edges[1::2], strict=True):
        at = whole.find(text[start:last], end)
        if at < 0:
            return []
        found.append((end, at))
        end = at + last - start
    return found[1:]


def number(digits: str) -> int:
    """Read the number of a mark."""
    return int(digits.replace(",", "") or 0)
