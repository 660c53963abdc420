"""Telling values that are nothing but what JSON has, in the very types that reading it gives."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from types import NoneType
from typing import Any

SCALARS: frozenset[type] = frozenset({str, int, float, bool, NoneType})
_NESTS = frozenset({dict, list})
_DEEPEST = 50
"""Levels of nesting. Who takes plain values gives up at some hundreds, so what is deeper is not called plain."""


def is_plain(messages: Iterable[Any], scalars: frozenset[type] = SCALARS) -> bool:
    """Tell whether all are dictionaries of nothing but lists, dictionaries and ``scalars``."""
    nested = list(messages)
    if not all(type(message) is dict for message in nested):
        return False
    for _ in range(_DEEPEST):
        if not nested:
            return True
        if not _NESTS.issuperset(map(type, nested)):
            return False
        dicts = [value for value in nested if type(value) is dict]
        if not scalars.issuperset(map(type, chain.from_iterable(dicts))):
            return False
        lists = [value for value in nested if type(value) is list]
        values = chain.from_iterable([*map(dict.values, dicts), *lists])
        nested = [value for value in values if type(value) not in scalars]
    return False
