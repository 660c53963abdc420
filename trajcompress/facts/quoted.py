"""Blocks of lines that later calls quote from results, as an edit quotes what it replaces: half of one is no use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from trajcompress.facts.parts import Wanted
from trajcompress.transcript.trajectory import Turn

_LEAST_RESULT = 280  # characters; shorter ones lose next to nothing
_LEAST_LINE = 12  # of what tells a place in a text
_MOST_BLOCK = 2_000
_LEAST_SHARE = 0.75  # of the lines of a block stand in the result, one behind the other
_FAR = 400  # characters between two of them
_MOST_BACK = 400  # results; a row of many thousands would be looked through for each edit
_WEIGHT = 0.08  # for each character


def blocks_quoted(turns: Sequence[Turn], arguments: Sequence[Sequence[Sequence[str]]]) -> dict[int, Wanted]:
    """Return for each result the blocks of its lines that later calls quote, each from the last result that has it.

    Args:
        turns: all turns of a row.
        arguments: of each turn what it passes to each tool.
    """
    results: list[tuple[int, str]] = []
    found: dict[int, dict[str, float]] = {}
    for index, turn in enumerate(turns):
        if turn.answers:
            if len(turn.text) >= _LEAST_RESULT:
                results.append((index, turn.text))
            continue
        for values in arguments[index] if results else ():
            for value in values:
                for lines in _blocks(value) if "\n" in value else ():
                    for place, text in islice(reversed(results), _MOST_BACK):
                        if lines[0] in text and (block := _block(text, lines)):
                            found.setdefault(place, {})[block] = _WEIGHT * len(block)
                            break
    return dict(found)


def _blocks(value: str) -> Iterator[list[str]]:
    """Yield the lines that are quoted: of a patch those of each hunk as they were before, else all."""
    lines = value[: 4 * _MOST_BLOCK].split("\n")
    hunks = [place for place, line in enumerate(lines) if line.startswith("@@")] if "@@" in value else []
    if not hunks and (hunk := list(_telling(lines))):
        yield hunk
    for start, end in pairwise([*hunks, len(lines)]):
        was = [line[1:] for line in lines[start + 1 : end] if not line.startswith(("+", "---"))]
        if hunk := list(_telling(was)):
            yield hunk


def _telling(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines without indentation, from the first that tells where they stand."""
    begun = False
    for line in lines:
        bare = line.strip()
        begun = begun or len(bare) >= _LEAST_LINE
        if begun and bare:
            yield bare


def _block(text: str, lines: Sequence[str]) -> str:
    """Return the whole lines of a text that hold a block; nothing where it holds less than most of it."""
    start = end = text.find(lines[0])
    held = 0
    for line in lines:
        at = text.find(line, end, end + len(line) + _FAR)
        if at < 0:
            continue
        if at + len(line) - start > _MOST_BLOCK:
            break
        end = at + len(line)
        held += 1
    else:
        if held < _LEAST_SHARE * len(lines) or held < 2:  # noqa: PLR2004 - one line is no block
            return ""
    return text[text.rfind("\n", 0, start) + 1 : end]
