"""Regular expressions that are compiled once they are used: of several hundred a short run uses a fifth."""

from __future__ import annotations

import re
from typing import Any, cast


def late_re(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what :func:`re.compile` does, but for the time that takes; a wrong pattern shows once it is used.

    It has the methods and attributes of a pattern, but the functions of :mod:`re` do not take it.
    """
    return cast("re.Pattern[str]", _LatePattern(pattern, flags))


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
