"""Regular expressions that are compiled once they are used: of several hundred a short run uses a fifth."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterable
from typing import Any, cast


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
