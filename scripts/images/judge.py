"""Whether each image of a loaded row stands where it stood: its colour before the same words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from truth.rows import messages, text

from images.rows import Shown

PAGE = re.compile(r"(?:^|\n|<image>)page (\d+) lists")
"""The words of a page as they were; where a summary or the line of a cleared result quotes them, other words lead."""
HALVES = ("prompt", "completion")


def expected(shown: Sequence[Shown], written: dict[str, Any]) -> list[Shown]:
    """Where the images of a row have to stand by the words that were left in it."""
    left = pages_said(written)
    return [(said, page) for said, page in shown if said is None or said in left]


def pages_said(row: dict[str, Any]) -> set[int]:
    """The pages whose words stand in a row."""
    turns = messages(row) + [turn for half in HALVES for turn in messages({"messages": row.get(half)})]
    texts = [text(turn) for turn in turns]
    return {int(page) for each in texts for page in PAGE.findall(each)}


def fault(wanted: Sequence[Shown], seen: dict[str, Any]) -> str | None:
    """What is wrong with a row as a loader gave it, if anything."""
    if seen.get("error"):
        return str(seen["error"])
    places, pictures = seen["places"], seen["pictures"]
    if len(places) != len(pictures):
        return f"{len(places)} places for {len(pictures)} images"
    for number, ((_, room), (_, size)) in enumerate(zip(places, pictures, strict=True)):
        if room != size:
            return f"image {number} takes {size} tokens, and its place has {room}"
    found = [(said, page) for (said, _), (page, _) in zip(places, pictures, strict=True)]
    for number, (right, given) in enumerate(zip_longest(wanted, found)):
        if right != given:
            return f"image {number} is {_told(given)}, not {_told(right)}"
    return None


def faults(wanted: Sequence[Sequence[Shown]], loaded: dict[str, Any]) -> list[str]:
    """What is wrong with a file that loaded, row by row."""
    if len(wanted) != len(loaded["rows"]):
        return [f"{len(loaded['rows'])} of {len(wanted)} rows"]
    found = (fault(right, seen) for right, seen in zip(wanted, loaded["rows"], strict=True))
    return [f"row {number}: {what}" for number, what in enumerate(found) if what]


def loads(loaded: dict[str, Any]) -> str | None:
    """Why a file does not load, if it does not: as a whole, or one of its rows."""
    errors = [loaded["error"], *(row.get("error") for row in loaded["rows"])]
    return next((str(error) for error in errors if error), None)


def _told(shown: Shown | None) -> str:
    if shown is None:
        return "none"
    said, page = shown
    return f"that of page {page} before {'no words of a page' if said is None else f'the words of page {said}'}"
