"""Lines of the files and listings that results show, and how those that are told are put together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate, islice, pairwise

from trajcompress.facts.markup import unlinked
from trajcompress.facts.next_turns import Later
from trajcompress.outcomes.printed.later import lines_used
from trajcompress.outcomes.printed.odd_lines import odd_lines
from trajcompress.outcomes.printed.page_sentences import LONG_CHARS
from trajcompress.outcomes.text import LEAST_CHARS, line_break, one_line, shorten
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.line_numbers import NUMBER

GOES_BETWEEN = " … "
_NUMBERED = late_re(r"\n(?:Line )?[ \t]{0,8}(\d{1,7})(?=[:\t|→ \n]|\Z)")
_TABLE_ROW = late_re(r"\n {0,8}\d{1,7} {2,}[^\s\n][^\n]{0,80}? {2,}[^\s\n]")  # of data, under numbers
_NUMBER_BEFORE = rf"(?:(?:Line )?[ \t]{{0,8}}(?:{NUMBER}|\d{{1,7}} ))?"
_CODE = late_re(  # a newline is found in a fraction of the time of the start of a line
    rf"\n({_NUMBER_BEFORE}[ \t]{{0,20}}(?:class|def|async def|function|export|public"
    r"|struct|fn|func|interface|module|package) [^\n]{3,400})",
)
_COMES_OF = late_re(  # what a function comes to
    rf"\n({_NUMBER_BEFORE}[ \t]{{0,40}}(?:raise|return|throw|yield|panic!?)\b[^\n]{{0,400}})"
)
_NUMBER = late_re(r"\A\s{0,8}(?:Line )?\d{1,7}(?:[:|→\s]{1,8}|\Z)")
_TELLING = late_re(r"[^\W_]")
_MOST_NAMES, _MOST_USED = 3, 2
FILE_COLUMNS = late_re(  # what `ls -l` says before the name, and what PowerShell and `dir` do
    r"^[bcdlps-](?:[r-][w-][xsStT-]){3}[.+@]? {1,4}\d{1,6} {1,9}\S{1,40} {1,9}\S{1,40} {1,12}[\d.,]{1,16}[KMGT]?"
    r" {1,4}(?:\w{3,5}\.? {1,3}\d{1,2}|\d{1,2}\.? \w{3,5}\.?|[\d-]{10}) {1,3}[\d:.]{4,18}(?: [+-]\d{4})? "
    r"|^(?:[dl-][a-][r-][h-][s-][l-]? {1,16})?\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4} {1,4}\d{1,2}:\d\d(?: ?[AP]M)?"
    r"(?: {1,20}(?:<DIR>|[\d,.]{1,16}))? {1,20}",
    re.MULTILINE,
)
_LINES_AROUND = 3  # of a listing, such as its head
_TITLE, _MOST_TITLES = late_re(r"(?:\A|\n[ \t\r]{0,8}\n)(\S[^\n]{2,78}:)[ \t\r]{0,4}(?=\n\S)"), 50
_GAP_CHARS = 40  # of a line between two others
_CODE_CHARS = 120


def listed(body: str, later: Later) -> list[tuple[int, str]]:
    """Return lines of a file that is shown, with places: what later turns take up, else what it defines first."""
    used = [(each.start, each.part) for each in lines_used(body, later, _MOST_USED)]
    defined = [(match.start(), match[1]) for match in islice(_CODE.finditer(f"\n{body}"), _MOST_NAMES)]
    ends: list[tuple[int, str]] = []
    if defined and len(defined) < _MOST_NAMES:  # what is shown is the body of one or two
        found = ((match.start() + 1, match[1]) for match in _COMES_OF.finditer(body, defined[0][0]))
        ends = list(islice(found, _MOST_NAMES - len(defined)))
    told: dict[int, str] = {}
    for start, line in (*([each for each in used if tells(each[1])] or defined), *ends):
        short = shorten(one_line(line), _CODE_CHARS)
        if tells(line) and len(told) < _MOST_NAMES and short not in told.values():
            told.setdefault(start, short)
    if not told:  # it may be a log
        told = {body.find(line): shorten(one_line(line), _CODE_CHARS) for line in odd_lines(body)}
    return list(told.items())


def tells(line: str) -> bool:
    """Whether a line of a listing says more than its number and signs."""
    return _TELLING.search(without_number(line)) is not None


def without_number(line: str) -> str:
    """Return a line of a listing without its number."""
    return _NUMBER.sub("", line)


def in_order(body: str, told: Iterable[tuple[int, str]], room: int = 0) -> str:
    """Join lines and sentences of a text as they stand there, with a mark where something goes between.

    One short line between others is told, too, where there is ``room``: the mark takes hardly less.
    """
    said, end = "", -1
    for start, line in sorted(told):
        between = body[end:start] if end >= 0 else ""
        short = between.strip()
        is_line = "\n" not in short and between.rstrip(" \t").endswith("\n")
        if is_line and len(short) <= min(_GAP_CHARS, room) and tells(short):
            said, room, between = f"{said}{line_break(said)}{one_line(short)}", room - len(short), "\n"
        mark = "" if end < 0 else line_break(said) if between.isspace() or said.endswith("…") else GOES_BETWEEN
        said, end = f"{said}{mark}{line}", body.find("\n", start)
        end = end if end >= 0 else len(body)
    return said


def placed(body: str, pieces: Iterable[str], parts: Iterable[tuple[int, str]]) -> list[tuple[int, str]] | None:
    """Return pieces of a text with places, but for those on whose lines a part stands that is told as well.

    None where a piece does not stand there as it is told.
    """
    found = [(_place(body, bare), bare) for bare in (piece.removeprefix("… ") for piece in pieces)]
    if any(start < 0 for start, _ in found):
        return None
    ends = {body.rfind("\n", 0, start): start for start, _ in parts}  # of what goes before a part on its line
    lines = ((body.rfind("\n", 0, start), start, piece) for start, piece in found)
    return [
        (start, piece)
        for line, start, piece in lines
        if line not in ends or (start + len(piece) < ends[line] and ends[line] - line > LONG_CHARS)
    ]


def _place(body: str, piece: str) -> int:
    """Return where a piece stands that was put on one line; -1 where it does not stand as it is told."""
    begin = piece[:LEAST_CHARS].rstrip("…")
    if (at := body.find(begin)) >= 0 or " " not in begin:
        return at
    lines = accumulate(map(len, body.splitlines(keepends=True)), initial=0)
    places = zip(lines, body.splitlines(), strict=False)
    return next((at + len(line) - len(line.lstrip()) for at, line in places if one_line(line).startswith(begin)), -1)


def titles_of(body: str, told: Iterable[tuple[int, str]], room: int) -> list[tuple[int, str]]:
    """Return the lines under which told parts stand, where a text has several such: of which one each is matters."""
    titles = [(title.start(1), title[1]) for title in islice(_TITLE.finditer(body), _MOST_TITLES)]
    found: dict[tuple[int, str], None] = {}
    told = list(told)
    for start, _ in sorted(told) if len(titles) > 1 else ():
        above = next((title for title in reversed(titles) if title[0] <= start), None)
        if above is None or above in found or any(above[1] in part for _, part in told):
            continue
        if len(above[1]) + 2 <= room:
            found[above] = None
            room -= len(above[1]) + 2
    return list(found)


def is_listing(body: str) -> bool:
    """Whether lines are numbered one after the other, as a file is shown; matches of a search jump."""
    begin = f"\n{body[:1500]}"
    numbers = [int(number[1]) for number in _NUMBERED.finditer(begin)]
    if 2 * len(_TABLE_ROW.findall(begin)) >= len(numbers):
        return False
    is_most = 2 * len(numbers) >= begin.count("\n") - _LINES_AROUND  # compilers number the lines they quote
    return len(numbers) > 1 and is_most and all(after == before + 1 for before, after in pairwise(numbers[:3]))


def bare(line: str) -> str:
    """Return a line without the addresses of its links, of a listing of files the name."""
    return FILE_COLUMNS.sub("", unlinked(line))
