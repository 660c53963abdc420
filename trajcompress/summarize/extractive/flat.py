"""Records whose values stand in objects of their own, as APIs nest them, with all of these side by side."""

from __future__ import annotations

from typing import Any

from trajcompress.summarize.extractive.compact import is_empty

_DEPTH = 3
_MOST_VALUES = 40  # of a record
_SCHEMA = frozenset({"properties", "parameters", "inputSchema", "input_schema", "$ref"})
_TYPED = frozenset({"type", "properties"})


def flattened(data: Any, depth: int = 2 * _DEPTH) -> Any:
    """Return JSON in which records that stand side by side hold their values themselves.

    >>> flattened([{"id": 1, "price": {"total": "97.60", "currency": "EUR"}}, {"id": 2, "price": {"total": "80.10"}}])
    [{'id': 1, 'price.total': '97.60', 'price.currency': 'EUR'}, {'id': 2, 'price': '80.10'}]
    """
    if depth <= 0:
        return data
    if isinstance(data, dict):
        return {key: flattened(value, depth - 1) for key, value in data.items()}
    if not isinstance(data, list):
        return data
    if len(data) > 1 and all(isinstance(each, dict) for each in data):
        return [_flat(each, _DEPTH) for each in data]
    return [flattened(each, depth - 1) for each in data]


def _flat(record: dict[str, Any], depth: int) -> dict[str, Any]:
    """Return a record with the values of its objects, each under the names of both."""
    inside = {key: held for key, value in record.items() if depth > 0 and (held := _object(value)) is not None}
    bare = next(iter(inside), None) if len(inside) == 1 else None
    if bare is not None and 2 * len(inside[bare]) < len(record):
        bare = None  # it is one value of many, no wrapper
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if key not in inside:
            flat[key] = value
            continue
        held = {name: item for name, item in _flat(inside[key], depth - 1).items() if not is_empty(item)}
        for name, item in held.items():
            full = key if len(held) == 1 else name if key == bare and name not in record else f"{key}.{name}"
            flat[full] = item
    return flat if len(flat) <= _MOST_VALUES else record


def _object(value: Any) -> dict[str, Any] | None:
    """Return an object, also one that stands alone in a list; what describes parameters stays in one piece."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict) or not value or not _SCHEMA.isdisjoint(value):
        return None
    return None if any(isinstance(each, dict) and not _TYPED.isdisjoint(each) for each in value.values()) else value
