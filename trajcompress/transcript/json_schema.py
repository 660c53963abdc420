"""Types in the JSON schemas of tools: whoever validates tools refuses those that are Python's. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_OF_PYTHON = {
    "bool": "boolean",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "list": "array",
    "None": "null",
    "str": "string",
    "tuple": "array",
}
_BY_NAME = ("properties", "patternProperties", "definitions", "$defs")
_BESIDE = ("items", "additionalProperties", "anyOf", "allOf", "oneOf", "not")


def with_json_types(schema: Any) -> Any:
    """Return a schema with JSON's names of types in the place of Python's."""
    if not isinstance(schema, dict):
        return schema
    made = _map_inner(schema, with_json_types)
    kind = made.get("type")
    return {**made, "type": _OF_PYTHON[kind]} if isinstance(kind, str) and kind in _OF_PYTHON else made


def schema_fault(schema: Any) -> str | None:
    """Return why a schema is no JSON schema, as far as types and what is required go; None where it is one."""
    if not isinstance(schema, dict):
        return None if isinstance(schema, bool | None) else f"a schema is {type(schema).__name__}"
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else [str(kinds)]:
        if not isinstance(kind, str) or kind not in _TYPES:
            return f"a parameter is of type {kind!r}, which JSON Schema does not have"
    if not isinstance(schema.get("required", []), list):
        return f"required is {schema['required']!r}, no list of names"
    return next(filter(None, map(schema_fault, _inner(schema))), None)


def _inner(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield the schemas within a schema."""
    for key in _BY_NAME:
        if isinstance(named := schema.get(key), dict):
            yield from named.values()
    for key in _BESIDE:
        if key in schema:
            yield from schema[key] if isinstance(schema[key], list) else [schema[key]]


def _map_inner(schema: dict[str, Any], rewrite: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a schema with what ``rewrite`` makes of each within it."""
    made = dict(schema)
    for key in _BY_NAME:
        if isinstance(named := schema.get(key), dict):
            made[key] = {name: rewrite(each) for name, each in named.items()}
    for key in _BESIDE:
        if key in schema:
            given = schema[key]
            made[key] = [rewrite(each) for each in given] if isinstance(given, list) else rewrite(given)
    return made
