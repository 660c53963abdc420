"""How deep JSON may be nested. Past a thousand levels encoders, templates and readers would overflow the stack."""

from __future__ import annotations

from typing import Any

MAX_DEPTH = 256

_NESTS = frozenset({dict, list})


def is_too_deep(value: Any) -> bool:
    """Tell whether a value of JSON is nested deeper than :data:`MAX_DEPTH` levels."""
    # Level by level instead of by recursion, which is what the limit protects.
    level = [value] if type(value) in _NESTS else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [
            child
            for parent in level
            for child in (parent.values() if type(parent) is dict else parent)
            if type(child) in _NESTS
        ]
    return bool(level)
