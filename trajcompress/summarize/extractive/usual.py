"""Arguments that tools are given again and again, such as the name of a project: they tell no call from another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from trajcompress.summarize.extractive.compact import is_empty, parse

Usual: TypeAlias = Mapping[str, str]
"""The values that such arguments have."""

NOTHING_USUAL: Usual = MappingProxyType({})

_LEAST_CALLS, _LEAST_OF, _MOST_OF = 4, 0.5, 0.8  # of all calls, and of those with an argument of that name
_LEAST_TOOLS, _LEAST_EACH = 2, 2  # what one tool alone is given may be what it does
_READ_CHARS = 2_000


def usual_arguments(calls: Iterable[tuple[str, str]]) -> Usual:
    """Return the arguments that several tools are given in most of their calls; none that turn something on or off.

    Args:
        calls: the name of the tool, and its arguments as they are written.
    """
    found: dict[str, Counter[str | None]] = {}
    given: dict[tuple[str, str], Counter[str]] = {}
    number = 0
    for tool, written in calls:
        number += 1
        data = parse(written) if written[:1] == "{" and len(written) <= _READ_CHARS else None
        for key, item in data.items() if isinstance(data, dict) else ():
            value = str(item) if isinstance(item, str | int | float) and not isinstance(item, bool) else None
            found.setdefault(key, Counter())[value] += 1
            if value is not None:
                given.setdefault((key, value), Counter())[tool] += 1
    least = max(_LEAST_CALLS, _LEAST_OF * number)
    usual: dict[str, str] = {}
    for key, values in found.items():
        value, times = values.most_common(1)[0]
        if value is not None and times >= max(least, _MOST_OF * values.total()):
            tools = sum(calls >= _LEAST_EACH for calls in given[key, value].values())
            usual |= {key: value} if tools >= _LEAST_TOOLS else {}
    return usual


def own_arguments(data: dict[str, Any], usual: Usual) -> dict[str, Any]:
    """Return the arguments of a call but for those that are usual; all of them where it has no others."""
    own = {key: item for key, item in data.items() if usual.get(key) != str(item)} if usual else data
    return data if all(map(is_empty, own.values())) else own
