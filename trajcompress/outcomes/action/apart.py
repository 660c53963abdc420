"""Arguments that tell a call from others of its tool: where a label has no room for all, these go first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from trajcompress.outcomes.action.scripts import called_in
from trajcompress.outcomes.compact import opened, parse

Apart: TypeAlias = Mapping[str, frozenset[str]]
"""The names of such arguments, by all arguments of a call as they are written."""

NOTHING_APART: Apart = MappingProxyType({})

_READ_CHARS = 2_000
_COMPARED = 12  # calls of a tool before one
_NAMING_KEYS = ("tool_name", "action_name")
_INNER_KEYS = ("params", "parameters", "arguments", "args")


def arguments_apart(calls: Iterable[tuple[str, str]]) -> Apart:
    """Return by which arguments each call differs from that call of its tool, near it, that is most like it.

    Where several are as much like it that is all by which they do. Calls that have but one argument, or no other of
    which is like them, are left out.

    Args:
        calls: the name of the tool, and its arguments as they are written.

    >>> calls = [("go", '{"from": "A", "to": "B", "by": "car"}'), ("go", '{"from": "A", "to": "B", "by": "sea"}')]
    >>> [sorted(keys) for keys in arguments_apart(calls).values()]
    [['by'], ['by']]
    """
    given: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for tool, written in calls:
        data = parse(written) if written[:1] == "{" and len(written) <= _READ_CHARS else None
        if isinstance(data, dict):
            inner, arguments = _made(data)
            given.setdefault((tool, inner), {})[written] = {key: str(value) for key, value in arguments.items()}
    apart: dict[str, frozenset[str]] = {}
    for of_tool in given.values():
        made = list(of_tool.items())
        for place, (written, arguments) in enumerate(made):
            for other, others in made[max(place - _COMPARED, 0) : place]:
                differs = _differences(arguments, others)
                if 2 * len(differs) <= len(arguments.keys() | others.keys()):
                    for each in (written, other):
                        known = apart.get(each, differs)
                        apart[each] = min(known, differs, key=len) if len(known) != len(differs) else known | differs
    return apart


def inner_call(data: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of the call that a tool is to make, which calls others; else its own.

    What is passed in several objects, such as what goes into a path and into a body, is one.
    """
    inner = next((data[key] for key in _NAMING_KEYS if isinstance(data.get(key), str)), None)
    if not isinstance(inner, str):
        return "", data
    if inner == data.get("tool_name"):
        inputs = (opened(data.get(key)) for key in _INNER_KEYS)
        return inner, next((each for each in inputs if isinstance(each, dict)), {})
    objects = [each for each in map(opened, data.values()) if isinstance(each, dict)]
    given = {key: value for each in objects for key, value in each.items()}
    return (inner, given) if given else ("", data)


def _made(data: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return what a call calls and with what: a tool that calls others, or code that calls something."""
    code = data.get("code")
    called = called_in(code) if isinstance(code, str) else None
    return (called.callee, called.arguments()) if called else inner_call(data)


def _differences(one: Mapping[str, str], other: Mapping[str, str]) -> frozenset[str]:
    return frozenset(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
