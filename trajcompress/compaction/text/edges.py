"""Where a text may be cut, so that what stays begins and ends with whole elements, and has its heading."""

from __future__ import annotations

import re
from functools import lru_cache

from trajcompress.facts.parts import Part
from trajcompress.processes.late_patterns import holds_any, last_match, late_re
from trajcompress.transcript.line_numbers import NUMBER
from trajcompress.transcript.text_protocols.printed import known_opening

_SEEK_CHARS = 240  # that are given up at most for an end that is whole
_SLACK_CHARS, _TAIL_SLACK_CHARS = 100, 40  # that are taken besides for a short line, rather than half of it
_SHORT_LINE = 200
_LEAST_WORDS = 100  # characters; fewer that are no whole sentence tell nothing
_SENTENCES = ". ", "。", "), (", "}, {", "], [", " "  # or records of a list; words come last
_RECORD = len("), ")
_LINES = tuple(  # behind their numbers or signs; ends of lines as in JSON, where there are no others
    late_re(rf"{end}([ \t]*+{NUMBER}|[+-])?+(?P<depth>[ \t]*+)(?=(?P<first>[^\s\\]))") for end in (r"\n", r"\\+n")
)
_LINE_START_CHARS = 40
_OPENING = late_re(r"\s{0,8}(?:[^\n]{1,100}(?=\n)|[^\n]{1,160}?[.!?。](?=\s))")
_BEGINS = late_re(
    rf"\s*+(?:{NUMBER})?+[ \t]*+(?:(?:async |export |default |public |private |protected |static |abstract |pub )*+"
    r"(?:class|def|function|func|fn|interface|struct|trait|impl|enum|module|namespace)\b"
    r"|(?:- )?[\"']?\w{0,20}name[\"']?: )",
    re.IGNORECASE,
)
_NOTE_END, _NOTE_END_CHARS, _NOTE_CHARS = late_re(r"</(\w{1,30})>\s{0,9}\Z"), 42, 8_000
_CLOSERS = frozenset(")]}")
_HEADED_CHARS, _HEADING_CHARS = 4_000, 120
_DIFF, _DIFF_CHARS = "\ndiff --git ", 20_000
_IN_DIFF = frozenset("+-@")
_BLANKS = "\n\n", "\n\r\n"
_RULE = late_re(r"\r?\n[-=~_*]{3,}\r?\n")
_SECTION_SIGNS = "\n==> ", "\n<file><path>"
_SECTION = late_re(r"\n(?:==> [^\n]{1,200} <==|<file><path>[^\n]{1,200}</path>)(?=\n)")
_HEADINGS = "diff --git ", "#", "=", "Traceback ("


def before(text: str, head: int) -> int:
    """Return where a beginning ends: before an outer element or a line; else behind a sentence, or a word."""
    lowest = max(head // 2, head - _SEEK_CHARS)
    if (element := _element(text, lowest, head + 1, last=True)) is not None:
        return element.start()
    start, end = text.rfind("\n", 0, head) + 1, text.find("\n", head, head + min(head, _SLACK_CHARS))
    if end >= 0 and end - start <= _SHORT_LINE:
        return end
    for mark in _SENTENCES if head >= _LEAST_WORDS else _SENTENCES[:-1]:
        if (at := text.rfind(mark, lowest, head + 1)) >= 0:
            return at + len(mark[:_RECORD].rstrip())
    return head if head >= _LEAST_WORDS else 0


def opening(text: str) -> int:
    """Return where the first line of a text ends, or its first sentence, if that is short: it says what came.

    With it stays by what the text is known for a result, where its turn does not tell.
    """
    first = _OPENING.match(text)
    return max(first.end() if first else 0, known_opening(text))


def behind(text: str, start: int, tail: int) -> int:
    """Return where an end begins: with an outer element or a line; else with a sentence, or a word.

    A note between tags, by which a tool ends, is whole, or goes.
    """
    return _outside_note(text, _behind(text, start, tail), tail)


def note_start(text: str, highest: int) -> int:
    """Return where a note between tags begins by which a text ends, no later than a place; -1 where there is none."""
    closes = _NOTE_END.search(text, max(len(text) - _NOTE_END_CHARS, 0))
    return text.rfind(f"<{closes[1]}>", max(len(text) - _NOTE_CHARS, 0), highest) if closes else -1


def _outside_note(text: str, start: int, tail: int) -> int:
    opens = note_start(text, start)
    if opens < 0:
        return start
    return opens if len(text) - opens <= tail + _SEEK_CHARS else len(text)


def _behind(text: str, start: int, tail: int) -> int:
    highest = start + min(tail // 2, _SEEK_CHARS)
    if (element := _element(text, start - 1, highest, last=False)) is not None:
        return _behind_line_end(element)
    at = text.rfind("\n", start - min(tail, _TAIL_SLACK_CHARS), start) if len(text) - start < _SHORT_LINE else -1
    if at >= 0:
        return at + 1
    for mark in _SENTENCES if tail >= _LEAST_WORDS else _SENTENCES[:-1]:
        furthest = highest if mark == " " else start + min(tail * 3 // 4, _SEEK_CHARS)
        if (at := text.find(mark, start - 1, furthest)) >= 0:
            return at + len(mark[:_RECORD])
    return start if tail >= _LEAST_WORDS else len(text)


def around(text: str, part: Part, reach: int, top: int) -> Part:
    """Return a part with whole lines on either side, as many as so many characters hold, but none before ``top``.

    What begins something, such as a function or a tool of a list, has those that follow it alone.
    """
    begins = _BEGINS.match(text, part.start) is not None
    first = None if begins else _element(text, max(part.start - reach, top), part.start, last=False)
    last = _element(text, part.end, part.end + reach * (1 + begins), last=True)
    return Part(_behind_line_end(first) if first else part.start, last.start() if last else part.end)


@lru_cache(maxsize=256)  # a text is cut again and again, until its row fits
def heading(text: str, at: int) -> Part | None:
    """Return the line that says what the paragraph at a place is of, or the file whose change it is."""
    if text[at : at + 1] in _IN_DIFF:
        start = text.rfind(_DIFF, max(at - _DIFF_CHARS, 0), at) + 1
        if start:
            return _line(text, start, at)
    lowest = max(at - _HEADED_CHARS, 0)
    return _of_paragraph(text, at, lowest) or _of_section(text, at, lowest)


def _of_section(text: str, at: int, lowest: int) -> Part | None:
    """Return the line that names the file whose text goes on there, as ``head``, ``tail`` and Roo Code write it."""
    section = last_match(_SECTION, text, lowest, at) if holds_any(text, _SECTION_SIGNS) else None
    return Part(section.start() + 1, section.end()) if section else None


def _of_paragraph(text: str, at: int, lowest: int) -> Part | None:
    start = max(text.rfind(blank, lowest, at) + len(blank) for blank in _BLANKS)
    found = _line(text, start, at) if start > lowest else None
    if found is None or found.end - found.start > _HEADING_CHARS:
        return None
    is_one = text.startswith(_HEADINGS, start) or text[found.end - 1] == ":" or _RULE.match(text, found.end)
    return found if is_one else None


def whole_line(text: str, part: Part) -> Part:
    """Return a part with the space before it, where a line begins with that."""
    start = part.start
    while start and text[start - 1] in " \t":
        start -= 1
    return Part(start, part.end) if not start or text[start - 1] == "\n" else part


def _line(text: str, start: int, at: int) -> Part | None:
    end = text.find("\n", start, at)
    end -= text[end - 1 : end] == "\r"
    return Part(start, end) if start < end else None


def _behind_line_end(line: re.Match[str]) -> int:
    return line.start() + line[0].index("\n" if line[0][0] == "\n" else "n") + 1


def _element(text: str, lowest: int, highest: int, *, last: bool) -> re.Match[str] | None:
    """Return the end of a line before an element that none of those between two places encloses."""
    for lines in _LINES:
        found: list[re.Match[str]] = []
        least = _LINE_START_CHARS
        line = None
        for line in lines.finditer(text, max(lowest, 0), max(highest, 0) + _LINE_START_CHARS):
            if line.start() >= highest:
                break
            if line["first"] in _CLOSERS or text.startswith("</", line.end()):
                continue
            depth = len(line["depth"])
            if depth < least:
                found, least = [line], depth
            elif depth == least:
                found.append(line)
        if found:
            apart = [line for line in found if text.endswith(("\n", "\n\r"), 0, line.start())]
            return (apart or found)[-1 if last else 0]
        if line and line.start() < highest:
            return line
    return None
