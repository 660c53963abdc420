"""Blocks of lines that later calls quote from results, as an edit quotes what it replaces: half of one is no use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple

from trajcompress.facts.parts import Wanted
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.line_numbers import NUMBER
from trajcompress.transcript.trajectory import Turn

QUOTED = 0.08
"""How much each character of what is quoted tells."""

_LEAST_RESULT = 280  # characters; shorter ones lose next to nothing
_LEAST_LINE = 12  # of what tells a place in a text
_MOST_BLOCK = 2_000
_LEAST_ALONE = 24  # of a line alone
_LEAST_VALUES, _MOST_VALUES = 3, 8  # of a call that edits: where, what was, and what is to be
_LEAST_SHARE = 0.75  # of the lines of a block stand in the result, one behind the other
_FAR, _NEAR = 400, 60  # characters between two of them, and before or behind one that stands in many places
_MOST_BACK = 400  # results; a row of many thousands would be looked through for each edit
_MOST_PLACES = 4  # in a text that are tried
_NUMBER = late_re(rf"[ \t]{{0,80}}(?:{NUMBER}|\d{{1,7}} )?[ \t]{{0,200}}+")  # of a line that is shown
_SEARCHED = late_re(  # what a block of Cline, Roo Code or aider looks for, behind where Roo Code says that it stands
    r"^(?:<{5,9}|-{5,9}) SEARCH\n(?::(?:start|end)_line: ?\d{1,7}\n){0,2}(?:-{5,9}\n)?(.*?)^={5,9}$",
    re.DOTALL | re.MULTILINE,
)
_LITERAL = late_re(r"(\"\"\"|''')((?:(?!\1).){24,2000})\1", re.DOTALL)
_RANGE = late_re(r"edit (\d{1,6}):(\d{1,6})(?=\s)")
_END_OF_EDIT = "end_of_edit"
_OWN = 0.5  # that much tells what stands in the call as well
_NOT_MADE = "Your changes have NOT been applied"  # what is shown with that has other numbers, too
_LINE_END = late_re(r"[ \t\r]*+(?:\n|\Z)")
_HALF_TURNS = 10  # behind the end of a region a quote tells half as much
_NEAR_TURNS = 4  # with those that hold results


class Quote(NamedTuple):
    """A block of lines of a result that the call of a later turn quotes; ``result`` and ``turn`` are their places."""

    result: int
    turn: int
    block: str


def quotes(turns: Sequence[Turn], arguments: Sequence[Sequence[Sequence[str]]]) -> list[Quote]:
    """Return the blocks of lines of results that later calls quote, each from the last result that has it.

    Args:
        turns: all turns of a row.
        arguments: of each turn what it passes to each tool.
    """
    results: list[tuple[int, str]] = []
    found: list[Quote] = []
    for index, turn in enumerate(turns):
        if turn.answers:
            if len(turn.text) >= _LEAST_RESULT:
                results.append((index, turn.text))
            continue
        for values in arguments[index] if results else ():
            if shown := _by_numbers(values, results):
                found.append(Quote(shown[0], index, shown[1]))
            for lines in _quoted(values):
                longest = max(lines, key=len)
                for place, text in islice(reversed(results), _MOST_BACK):
                    if longest in text and (block := _block(text, lines, longest)):
                        found.append(Quote(place, index, block))
                        break
    return found


def _by_numbers(values: Sequence[str], results: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
    """Return the lines that an edit replaces by their numbers, as SWE-agent's do, where they were shown last."""
    edit = next(filter(None, map(_RANGE.match, values)), None)
    if edit is None:
        return None
    for place, text in islice(reversed(results), _MOST_BACK):
        shown = "" if _NOT_MADE in text else _numbered(text, int(edit[1]), int(edit[2]))
        if shown:
            return place, shown
    return None


def _numbered(text: str, first: int, last: int) -> str:
    """Return the lines from one number to another that a text shows; nothing where it does not, or they are many."""
    start = text.find(f"\n{first}:") + 1
    end = text.find("\n", text.find(f"\n{last}:", start - 1) + 1) if start else -1
    return text[start:end] if 0 < start < end <= start + _MOST_BLOCK else ""


def brought_in(turns: Sequence[Turn], arguments: Sequence[Sequence[Sequence[str]]]) -> dict[int, Wanted]:
    """Return for each result of an edit by numbers of lines the new ones that it shows, and how much that tells."""
    found: dict[int, Wanted] = {}
    for index, turn in enumerate(turns[1:], 1):
        values = chain.from_iterable(arguments[index - 1]) if turn.answers else ()
        edit = next(filter(None, map(_RANGE.match, values)), None)
        if edit is None:
            continue
        new = edit.string.strip().removesuffix(_END_OF_EDIT).rstrip().count("\n")
        if shown := _numbered(turn.text, int(edit[1]), int(edit[1]) + new - 1):
            found[index] = {shown: QUOTED * len(shown) * _OWN}
    return found


def by_result(found: Iterable[Quote], end: int | None = None) -> dict[int, Wanted]:
    """Return for each result the blocks of it that are quoted, and how much each tells.

    It tells the less the later behind the ``end`` of a region it is quoted: until then other results come between.
    One with the line ends of Windows is there without them, too, as a result that is read has none.
    """
    blocks: dict[int, dict[str, float]] = {}
    for result, turn, block in found:
        near = 1.0 if end is None else _HALF_TURNS / (_HALF_TURNS + turn - end)
        wanted = blocks.setdefault(result, {})
        for form in (block, block.replace("\r\n", "\n")):
            wanted[form] = max(wanted.get(form, 0.0), QUOTED * len(block) * near)
    return dict(blocks)


def is_block(wanted: str) -> bool:
    """Whether what is wanted of a result are lines that are quoted, and no word."""
    return "\n" in wanted or (len(wanted) >= _LEAST_ALONE and " " in wanted)


def within_quotes(found: Iterable[Quote]) -> set[int]:
    """Return before which turns a row cannot be cut without parting a quote from what it quotes shortly before."""
    near = (each for each in found if each.turn - each.result <= _NEAR_TURNS)
    return {place for each in near for place in range(each.result + 1, each.turn + 1)}


def _quoted(values: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines that each value of a call quotes; a line alone where another may say what replaces it."""
    is_edit = _LEAST_VALUES <= len(values) <= _MOST_VALUES
    for value in values:
        line = value.strip()
        if "\n" in line:
            yield from _blocks(value)
        elif is_edit and _LEAST_ALONE <= len(line) <= _MOST_BLOCK:
            yield [line]


def _blocks(value: str) -> Iterator[list[str]]:
    """Yield the lines that are quoted: of a patch those of each hunk as they were before, else all."""
    searched = [found[1].split("\n") for found in _SEARCHED.finditer(value, 0, 4 * _MOST_BLOCK)]
    if searched:
        yield from filter(None, (_bare(was) or _alone(was) for was in searched))
        return
    for literal in _LITERAL.finditer(value, 0, 4 * _MOST_BLOCK):  # of a script that puts one text for another
        was = literal[2].replace("\\n", "\n").split("\n")
        if block := _bare(was) or _alone(was):
            yield block
    lines = value[: 4 * _MOST_BLOCK].split("\n")
    hunks = [place for place, line in enumerate(lines) if line.startswith("@@")] if "@@" in value else []
    if not hunks and (whole := _bare(lines)):
        yield whole
    for start, end in pairwise([*hunks, len(lines)]):
        was = [line[1:] for line in lines[start + 1 : end] if not line.startswith(("+", "---", "*** "))]
        if hunk := _bare(was) or _alone(was):
            yield hunk


def _alone(lines: Iterable[str]) -> list[str]:
    """Return the only line that a hunk replaces; nothing where there are others, or it is too short to be known."""
    found = [line for line in map(str.strip, lines) if line]
    return found if len(found) == 1 and _LEAST_ALONE <= len(found[0]) <= _MOST_BLOCK else []


def _bare(lines: Iterable[str]) -> list[str]:
    """Return lines without indentation, and no blank ones; nothing where none tells where they stand."""
    bare = [line for line in map(str.strip, lines) if line]
    return bare if len(bare) > 1 and max(map(len, bare)) >= _LEAST_LINE else []


def _block(text: str, lines: Sequence[str], longest: str) -> str:
    """Return the whole lines of a text that hold a block; nothing where it holds less than most of it.

    It is found by its longest line: its first may well stand in other places, too.
    """
    if len(lines) == 1:
        return _line(text, longest)
    place = lines.index(longest)
    best, most = "", 0.0
    at = text.find(longest)
    for _ in range(_MOST_PLACES):
        if at < 0 or most == 1:
            break
        block, share = _block_at(text, lines, place, at)
        if share > most:
            best, most = block, share
        at = text.find(longest, at + len(longest))
    return best if most >= _LEAST_SHARE else ""


def _line(text: str, line: str) -> str:
    """Return the line of a text that is no more than this one and maybe its number."""
    at = -1
    for _ in range(_MOST_PLACES):
        at = text.find(line, at + 1)
        if at < 0:
            break
        start, end = text.rfind("\n", 0, at) + 1, at + len(line)
        if _NUMBER.fullmatch(text, start, at) and _LINE_END.match(text, end):
            return text[start:end]
    return ""


def _block_at(text: str, lines: Sequence[str], place: int, start: int) -> tuple[str, float]:
    """Return the whole lines that hold a block, one line of which stands at a place, and what share of it."""
    end = start + len(lines[place])
    held = sought = 1
    for line in lines[place + 1 :]:
        at = text.find(line, end, end + len(line) + _reach(line))
        if max(at, end) + len(line) - start > _MOST_BLOCK:
            break
        sought += 1
        if at >= 0:
            held, end = held + 1, at + len(line)
    for line in reversed(lines[:place]):
        at = text.rfind(line, max(start - len(line) - _reach(line), 0), start)
        if end - (at if at >= 0 else start - len(line)) > _MOST_BLOCK:
            break
        sought += 1
        if at >= 0:
            held, start = held + 1, at
    share = held / sought if held > 1 else 0.0  # one line is no block
    return text[text.rfind("\n", 0, start) + 1 : end], share


def _reach(line: str) -> int:
    return _FAR if len(line) >= _LEAST_LINE else _NEAR
