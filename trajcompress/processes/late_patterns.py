"""Regular expressions that are compiled once they are used: of several hundred a short run uses a fifth.

And the strings without which a text need not be searched with one.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, cast

from ahocorasick_rs import BytesAhoCorasick

_WINDOW = 1 << 15  # bytes searched at once: each place that is found takes a hundred


def late_re(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what :func:`re.compile` does, but for the time that takes; a wrong pattern shows once it is used.

    It has the methods and attributes of a pattern, but the functions of :mod:`re` do not take it.
    """
    return cast("re.Pattern[str]", _LatePattern(pattern, flags))


def last_match(pattern: re.Pattern[str], text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
    """Return the last place between ``start`` and ``end`` at which a pattern is found."""
    return next(iter(deque(pattern.finditer(text, start, end), maxlen=1)), None)


def holds_any(text: str, parts: Iterable[str]) -> bool:
    """Say whether one of the parts stands in a text: where none does, many a pattern need not be tried."""
    for part in parts:  # noqa: SIM110 - any() takes twice as long for a short text
        if part in text:
            return True
    return False


class Signs:
    """What a text must hold one of to be searched: as :func:`holds_any`, but quicker for many, and long texts."""

    def __init__(self, *signs: str) -> None:
        """Take the signs, none of which is empty."""
        self._signs = [sign.encode() for sign in signs]
        self._longest = max(map(len, self._signs))

    @cached_property
    def _automaton(self) -> BytesAhoCorasick:
        return BytesAhoCorasick(self._signs)

    def stand_in(self, text: str) -> bool:
        """Say whether one of them stands in a text."""
        find, whole = self._automaton.find_matches_as_indexes, memoryview(text.encode(errors="surrogatepass"))
        return any(find(whole[at : at + _WINDOW + self._longest]) for at in range(0, len(whole), _WINDOW))

    def ends_in(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield which of them stands in a text, by its number, and where it ends; each of them is ASCII."""
        find, whole = self._automaton.find_matches_as_indexes, memoryview(text.encode("ascii", "replace"))
        for at in range(0, len(whole), _WINDOW):
            for sign, start, end in find(whole[at : at + _WINDOW + self._longest], overlapping=True):
                if start < _WINDOW:  # the next window has it, too
                    yield sign, at + end


class _LatePattern:
    """Its attributes are those of the compiled pattern, each looked up there once."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name == "_compiled":
            self._compiled = re.compile(*self._given)
            return self._compiled
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value
