"""Rows whose messages stand within a column: ``data.messages`` names those of ``{"data": {"messages": […], …}}``.

What the column holds becomes columns of the row, as trainers look for messages, tools and ids there.
"""

from __future__ import annotations

from typing import Any


def lift(row: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    """Return the row with the columns that a path of names leads to, and that which it names at last.

    A path that is the name of a column is that; where its first column is not there, it may be a row that was lifted.
    """
    outer, _, inner = path.partition(".")
    if not inner or path in row:
        return row, path
    held = row.get(outer)
    if not isinstance(held, dict):
        last = path.rpartition(".")[2]
        return (row, last) if outer not in row and last in row else (row, path)
    others = row.keys() - {outer}
    named = {name: _free(name, outer, others) for name in held}
    lifted: dict[str, Any] = {}
    for name, value in row.items():
        lifted.update({named[key]: each for key, each in held.items()} if name == outer else {name: value})
    head, dot, rest = inner.partition(".")
    return lift(lifted, f"{named.get(head, head)}{dot}{rest}")


def _free(name: str, outer: str, others: set[str]) -> str:
    """Return the name of a column that none of the others has."""
    while name in others:
        name = f"{outer}.{name}"
    return name
