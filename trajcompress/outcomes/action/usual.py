"""Arguments that tools are given again and again, such as the name of a project: they tell no call from another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from trajcompress.outcomes.compact import is_empty, parse

Usual: TypeAlias = Mapping[str, str]
"""The values that such arguments have."""

NOTHING_USUAL: Usual = MappingProxyType({})

_LEAST_CALLS, _LEAST_OF, _MOST_OF = 4, 0.5, 0.8  # of all calls, and of those with an argument of that name
_LEAST_TOOLS = 3  # what one or two are given may be what they do
_READ_CHARS = 2_000
_SWITCHES = frozenset({"true", "false", "yes", "no", "on", "off", "0", "1"})


def usual_arguments(calls: Iterable[tuple[str, str]]) -> Usual:
    """Return the arguments that several tools are given in most of their calls.

    Args:
        calls: the name of the tool, and its arguments as they are written.
    """
    found: dict[str, Counter[str | None]] = {}
    given: dict[tuple[str, str], set[str]] = {}
    number = 0
    for tool, written in calls:
        data = parse(written) if written[:1] == "{" and len(written) <= _READ_CHARS else None
        if not isinstance(data, dict):
            continue
        number += 1
        for key, item in data.items():
            value = str(item) if isinstance(item, str | int | float) and not _is_switch(item) else None
            found.setdefault(key, Counter())[value] += 1
            if value is not None:
                given.setdefault((key, value), set()).add(tool)
    least = max(_LEAST_CALLS, _LEAST_OF * number)
    usual: dict[str, str] = {}
    for key, values in found.items():
        value, times = values.most_common(1)[0]
        if value is None or times < max(least, _MOST_OF * values.total()):
            continue
        if len(given[key, value]) >= _LEAST_TOOLS:
            usual[key] = value
    return usual


def _is_switch(item: Any) -> bool:
    """Whether an argument turns something on or off, such as a dry run: it says what a call did."""
    return isinstance(item, bool) or str(item).lower() in _SWITCHES


def own_arguments(data: dict[str, Any], usual: Usual) -> dict[str, Any]:
    """Return the arguments of a call but for those that are usual; all of them where it has no others."""
    own = {key: item for key, item in data.items() if usual.get(key) != str(item)} if usual else data
    return data if all(map(is_empty, own.values())) else own
