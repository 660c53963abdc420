"""What an ordinary text shows, in a few of its own lines: no JSON, no error, no report of a test run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice, pairwise

from trajcompress.facts.markup import unlinked
from trajcompress.facts.next_turns import Later
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.printed.furniture import telling_lines
from trajcompress.outcomes.printed.known_forms import known_form
from trajcompress.outcomes.printed.later import lines_used
from trajcompress.outcomes.printed.matches import matches
from trajcompress.outcomes.printed.odd_lines import odd_lines, rows_amid
from trajcompress.outcomes.printed.reasons import own_lines
from trajcompress.outcomes.printed.screen import LONG_CHARS, put_sentences, words_of
from trajcompress.outcomes.printed.tree import in_tree
from trajcompress.outcomes.repeated import Repeated
from trajcompress.outcomes.text import LEAST_CHARS, line_break, one_line, shorten, whole_sentences
from trajcompress.processes.late_patterns import holds_any, late_re
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
_HEADER_CHARS = 60
_MOST_NAMES, _MOST_USED = 3, 2
_BROWSES = late_re(r"brows|page|click|fill|submit|navigat|goto", re.IGNORECASE)
_HEAD = late_re(r"\| ?head\b[^|\n]{0,20}\Z")
_TIMES = late_re(
    r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]{1,4}", re.MULTILINE
)
_FILE = late_re(  # what `ls -l` says before the name
    r"^[bcdlps-](?:[r-][w-][xsStT-]){3}[.+@]? {1,4}\d{1,6} {1,9}\S{1,40} {1,9}\S{1,40} {1,12}[\d.,]{1,16}[KMGT]?"
    r" {1,4}(?:\w{3,5}\.? {1,3}\d{1,2}|\d{1,2}\.? \w{3,5}\.?|[\d-]{10}) {1,3}[\d:.]{4,18}(?: [+-]\d{4})? ",
    re.MULTILINE,
)
_ROW_CHARS = 48
_LEAST_LISTED = 4
_LINES_AROUND = 3  # of a listing, such as its head
_GAP_CHARS = 40  # of a line between two others
_CODE_CHARS = 120
_ITEM = late_re(r"^([ \t]*)- (\w{1,40}): (\S[^\n]{0,80})\n\1  (\w{1,40}): (\S[^\n]{0,80})$", re.MULTILINE)
_INNER = late_re(r"^([ \t]{0,80})(\w{1,40}):[ \t]{0,8}\n(\1[ \t]{1,8})(?=\w{1,40}:)", re.MULTILINE)
_LEAST_ITEMS = 2
_MENU = late_re(
    r"^[ \t]{0,4}(?:AVAILABLE|[Aa]vailable|ADMISSIBLE|[Aa]dmissible|VALID|Valid|Possible|Legal|Allowed)"
    r" (?:ACTIONS?|[Aa]ctions?|COMMANDS?|[Cc]ommands?|MOVES?|[Mm]oves?)\b[^\n:：]{0,40}[:：]",
    re.MULTILINE,
)
_MENU_HINTS = ("ctions", "CTIONS", "ommands", "COMMANDS", "oves", "MOVES")


def listed(body: str, later: Later) -> list[tuple[int, str]]:
    """Return lines of a file that is shown, with places: what later turns take up, then what it defines first."""
    used = [(each.start, each.part) for each in lines_used(body, later, _MOST_USED)]
    defined = [(match.start(), match[1]) for match in islice(_CODE.finditer(f"\n{body}"), _MOST_NAMES)]
    if defined and len(defined) < _MOST_NAMES:  # what is shown is the body of one or two
        ends = ((match.start() + 1, match[1]) for match in _COMES_OF.finditer(body, defined[0][0]))
        defined += islice(ends, _MOST_NAMES - len(defined))
    told: dict[int, str] = {}
    for start, line in (*used, *defined):
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
            said, room, between = f"{said}; {one_line(short)}", room - len(short), "\n"
        mark = "" if end < 0 else line_break(said) if between.isspace() or said.endswith("…") else GOES_BETWEEN
        said, end = f"{said}{mark}{line}", body.find("\n", start)
        end = end if end >= 0 else len(body)
    return said


def placed(body: str, pieces: Iterable[str], parts: Iterable[tuple[int, str]]) -> list[tuple[int, str]] | None:
    """Return pieces of a text with places, but for those on whose lines a part stands that is told as well.

    None where a piece does not stand there as it is told.
    """
    found = [
        (body.find(bare[:LEAST_CHARS].rstrip("…")), bare) for bare in (piece.removeprefix("… ") for piece in pieces)
    ]
    if any(start < 0 for start, _ in found):
        return None
    ends = {body.rfind("\n", 0, start): start for start, _ in parts}  # of what goes before a part on its line
    lines = ((body.rfind("\n", 0, start), start, piece) for start, piece in found)
    return [
        (start, piece)
        for line, start, piece in lines
        if line not in ends or (start + len(piece) < ends[line] and ends[line] - line > LONG_CHARS)
    ]


def is_listing(body: str) -> bool:
    """Whether lines are numbered one after the other, as a file is shown; matches of a search jump."""
    begin = f"\n{body[:1500]}"
    numbers = [int(number[1]) for number in _NUMBERED.finditer(begin)]
    if 2 * len(_TABLE_ROW.findall(begin)) >= len(numbers):
        return False
    is_most = 2 * len(numbers) >= begin.count("\n") - _LINES_AROUND  # compilers number the lines they quote
    return len(numbers) > 1 and is_most and all(after == before + 1 for before, after in pairwise(numbers[:3]))


def _without_menu(body: str) -> str:
    """Drop what an environment says may be done next: that is not what came of an action."""
    menu = _MENU.search(body, 1) if holds_any(body, _MENU_HINTS) else None
    if menu is None or not body[: menu.start()].strip():
        return body
    end = body.find("\n\n", menu.end())
    return body[: menu.start()] if end < 0 else f"{body[: menu.start()]}{body[end:]}"


def plain(body: str, asked: Asked, *, of_page: int = 0) -> list[str]:
    """Say an ordinary text: a short one in full, of a long one lines that later turns take up, its first and last.

    Of one that nobody can read there is nothing to be said. ``of_page``: the limit of a page, if a browser shows one.
    """
    if body and not any(char.isprintable() and char != " " for char in body):
        return []
    body = _without_menu(body)
    action, repeated, later = asked.action, asked.repeated, asked.later
    if len(body) <= asked.limit:
        short = unlinked(_without_header(body))
        told = list(filter(None, map(one_line, short.splitlines()))) if of_page else [one_line(short)]
        return told if any(told) else ["no output"]
    kind = asked.kind
    if kind == "read" and (found := matches(body, action, later)):
        return found
    kind = "read" if of_page else kind
    known = known_form(body) or in_tree(body, repeated, later) or _items(body, later)
    known = known or (_rows(body, repeated, later) if kind == "run" else [])
    from_end = kind == "run" and not (action and _HEAD.search(action.target))
    acts = kind == "run" or (action is not None and _BROWSES.search(action.name) is not None)
    words = words_of(action.target) if of_page and action else None
    return known or _ends(body, asked, of_page or asked.limit, from_end=from_end, acted=acts, words=words)


def _rows(body: str, repeated: Repeated, later: Later) -> list[str]:
    """Return the rows of a table amid a text, where none is unlike the others, and nothing is taken up."""
    rows = rows_amid(body)
    if not rows or lines_used(body, later, 1) or odd_lines(body):
        return []
    return [shorten(line, _ROW_CHARS) for line in telling_lines(rows.splitlines(), repeated)]


def _without_header(body: str) -> str:
    """Drop a first line that only announces what comes, and a last one behind which nothing does."""
    first, _, rest = body.partition("\n")
    before, _, last = rest.rstrip().rpartition("\n")
    rest = before if last.endswith(":") and before.strip() else rest
    if not tells(rest):  # nothing came
        return f"{first}\n{rest}"
    return rest if len(first) <= _HEADER_CHARS and first.rstrip().endswith(":") else body


def _items(body: str, later: Later) -> list[str]:
    """Return the first two values of each item of a YAML list, which name it; first where most of these is taken up.

    Of those that are taken up also what else they have a list of, as tools have parameters.
    """
    found = list(_ITEM.finditer(body))
    if len(found) < _LEAST_ITEMS or len({item.group(2, 4) for item in found}) > 1:
        return []
    ends = [*(item.start() for item in found[1:]), len(body)]
    blocks = {(item[3], item[5]): body[item.end() : end] for item, end in zip(found, ends, strict=True)}
    taken = {values: sum(value in later for value in values) for values in blocks}
    said: list[str] = []
    for values in sorted(blocks, key=lambda values: -taken[values]):
        one, other = values if said else (f"{found[0][2]}: {values[0]}", f"{found[0][4]}: {values[1]}")
        said.append(f"{one}, {other}{_listed_below(blocks[values]) if taken[values] else ''}")
    return said


def _listed_below(block: str) -> str:
    """Name what an item of a YAML list has a list of."""
    inner = _INNER.search(block)
    if inner is None:
        return ""
    indent, lines = inner[3], block[inner.start(3) :].splitlines()
    keys = (line.removeprefix(indent).partition(":")[0] for line in lines if line.startswith(indent))
    return f"{GOES_BETWEEN}{inner[2]}: {shorten(', '.join(key for key in keys if key.isidentifier()), _CODE_CHARS)}"


def _ends(
    body: str, asked: Asked, limit: int, *, from_end: bool, acted: bool, words: Collection[str] | None
) -> list[str]:
    """Return lines of a text in their order: what is taken up, what is odd in it, and how it begins and ends.

    ``from_end``: its end says most. ``acted``: it came of something that was done, not of a look. ``words``: it says
    what was done on a page that was asked for in such, then what that shows.
    """
    body = _without_columns(body)
    taken_up = lines_used(body, asked.later, _MOST_USED)
    odd = [one_line(line) for line in odd_lines(body, ran=acted)]
    done = [] if words is None else [one_line(body.partition("\n")[0])]
    kept = [*(one_line(each.line) for each in taken_up), *odd, *done]
    lines = telling_lines(body.splitlines(), asked.repeated, with_last=from_end, kept=kept)
    lines = own_lines(lines) if from_end else lines  # in a text it may be a sentence
    if not lines:
        return [f"…{shorten(one_line(body[-limit:]), limit - 1)}"]
    last = len(lines) - 1
    places = {line: place for place, line in enumerate(lines)}
    used = []
    for each in taken_up:
        if (place := places.get(one_line(unlinked(each.line)))) is not None:
            used.append(place)
            lines[place] = _from_its_beginning(lines[place], one_line(unlinked(each.part)))
    used += [places[line] for line in map(unlinked, odd) if line in places]
    amid = [] if words is None else put_sentences(lines, words)
    shown = (last, 0, last - 1) if from_end else (0, *(amid or (last, 1, 2)))
    chosen = _chosen(lines, used, [place for place in shown if 0 <= place <= last], amid, limit)
    return [chosen[place] if place - 1 in {-1, *chosen} else f"… {chosen[place]}" for place in sorted(chosen)]


def _chosen(
    lines: Sequence[str], used: Sequence[int], shown: Sequence[int], amid: Collection[int], limit: int
) -> dict[int, str]:
    """Return what of some lines has room, by their places: of those that are used first, in whole sentences.

    What stands ``amid`` others is a paragraph: how it begins says little.
    """
    chosen: dict[int, str] = {}
    wanted = list(dict.fromkeys((*used, *shown)))
    room = limit
    for place in wanted:
        if room < LEAST_CHARS:
            break
        share = min(room, max(limit * (2 if chosen else 3) // 5, LEAST_CHARS))  # the first says most
        line = lines[place]
        told = whole_sentences(line, share) or (whole_sentences(line, room) if place in (*used, *amid) else "")
        told = told if told == line or len(told) >= LEAST_CHARS else ""  # initials are no sentence
        is_short = len(line) <= LONG_CHARS and place not in amid
        if told or place in used or not chosen or is_short:
            chosen[place] = told or shorten(line, share)
            room -= len(chosen[place]) + 2
    _lengthen(chosen, lines, wanted, room)
    return chosen


def _lengthen(chosen: dict[int, str], lines: Sequence[str], wanted: Sequence[int], room: int) -> None:
    """Give the room that is left to lines that were cut."""
    for place in wanted:
        if place in chosen and room > 0:
            most = len(chosen[place]) + room
            longer = _begun(lines[place], most)
            if len(longer) > len(chosen[place]):
                room -= len(longer) - len(chosen[place])
                chosen[place] = longer


def _without_columns(body: str) -> str:
    """Return a log without the time that each of its lines begins with, a listing of files with their names alone."""
    for columns in (_TIMES, _FILE):
        if len(columns.findall(body)) > 2 * (body.count("\n") + 1) / 3:
            return columns.sub("", body)
    return body


def bare(line: str) -> str:
    """Return a line without the addresses of its links, of a listing of files the name."""
    return _FILE.sub("", unlinked(line))


def _begun(line: str, most: int) -> str:
    """Return the sentences that a line begins with; of a long list in words as much as has room."""
    whole, cut = whole_sentences(line, most), shorten(line, most)
    is_list = cut.count(", ") >= _LEAST_LISTED and "{" not in cut and "[" not in cut
    return cut if not whole or (is_list and 2 * len(whole) < most) else whole


def _from_its_beginning(line: str, part: str) -> str:
    """Return a part of a line behind the first sentence of it, which says what it is about, if that is short."""
    first = whole_sentences(line, _HEADER_CHARS)
    return f"{first} {part}" if first not in {"", line} and not line.startswith(part) else part
