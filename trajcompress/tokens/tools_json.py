"""The JSON of tools in a chat template: written once, as most rows of a data set share them."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from functools import lru_cache
from typing import Any

_OF_TOOLS = frozenset({"function", "parameters"})
"""Keys by which tools are known among what a template writes as JSON."""
_REMEMBERED = 256
_MOST_REMEMBERED = 1 << 14  # bytes
_WITHOUT_REFERENCES = 2  # the version in which equal values are packed alike


def remembering(to_json: Callable[..., str]) -> Callable[..., str]:
    """Return what writes values as ``to_json`` does, but equal tools once."""

    @lru_cache(maxsize=_REMEMBERED)
    def written(packed: bytes) -> str:
        return to_json(marshal.loads(packed))  # noqa: S302 - it was packed below

    def write(value: Any, *args: Any, **kwargs: Any) -> str:
        if args or kwargs or type(value) is not dict or _OF_TOOLS.isdisjoint(value):
            return to_json(value, *args, **kwargs)
        try:
            packed = marshal.dumps(value, _WITHOUT_REFERENCES)
        except ValueError:  # other types than JSON's, or too deep
            return to_json(value)
        return written(packed) if len(packed) <= _MOST_REMEMBERED else to_json(value)

    return write
