"""What differs between rows: types of values in the columns that a trainer's loader reads as one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trajcompress.settings.choices import Target
from trajcompress.transcript.trajectory import Trajectory
from trajcompress.transcript.violation import Violation

TABLES: frozenset[Target] = frozenset({"trl", "axolotl", "llama-factory"})
"""Targets that load JSON lines with ``datasets``."""

TEMPLATE_KWARGS = "chat_template_kwargs"
"""A column that TRL unpacks where it is there; ``datasets`` makes it null in rows that lack it."""
_KINDS = {str: "text", bool: "boolean", int: "number", float: "number", list: "list", dict: "object"}
_MOST_PATHS = 10_000
"""Keys may be data, such as names of files; memory does not grow with them past this."""


class Types:
    """The type of each value that was seen first, by its path: a column, and keys within it."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, str]] = {}
        self._noted: set[str] = set()
        self._with_kwargs: dict[bool, str] = {}

    def of_template_kwargs(self, trajectory: Trajectory, where: str) -> Iterator[Violation]:
        """Yield the first row that has arguments for the chat template where others have none, or the reverse."""
        has = TEMPLATE_KWARGS in trajectory.row
        if has not in self._with_kwargs:
            self._with_kwargs[has] = where
            if other := self._with_kwargs.get(not has):
                lacks = f"it has column {TEMPLATE_KWARGS!r}, and {other} has not"
                yield Violation(
                    "template_kwargs_shape", None, (lacks if has else f"it has no such column, and {other} has")[:200]
                )

    def violations(self, trajectory: Trajectory, where: str) -> Iterator[Violation]:
        """Yield the values of a row that are of another type than before, each path once; ``where`` names it."""
        for column in (trajectory.messages_field, "tools", "system"):
            waiting: list[tuple[str, Any]] = [(column, trajectory.row.get(column))]
            while waiting:
                path, value = waiting.pop()
                kind = _KINDS.get(type(value))
                if kind is None:
                    continue
                first = self._seen.get(path)
                if first is None:
                    if len(self._seen) < _MOST_PATHS:
                        self._seen[path] = (kind, where)
                elif first[0] != kind:
                    if path not in self._noted:
                        self._noted.add(path)
                        yield Violation(
                            "types_differ", None, f"{path[:80]} is {kind}, and {first[0]} in {first[1]}"[:200]
                        )
                    continue
                if kind == "object":
                    waiting += [(f"{path}.{key}", each) for key, each in value.items()]
                elif kind == "list":
                    waiting += [(f"{path}[]", each) for each in _to_look_at(value)]


def _to_look_at(values: list[Any]) -> Iterator[Any]:
    """Yield the objects and lists of a list, and one value of each other type."""
    plain: dict[type, Any] = {}
    for value in values:
        if isinstance(value, dict | list):
            yield value
        else:
            plain.setdefault(type(value), value)
    yield from plain.values()
