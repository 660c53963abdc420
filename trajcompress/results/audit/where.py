"""``--where``: one condition over the columns of a row, and nothing else.

DuckDB parses the text, the tree it returns is held against what a condition may consist of, and only what DuckDB
writes back from that tree is ever run. So there is no grammar of our own, quoting and comments cannot smuggle
anything in, and a function that a later version brings is refused until it is listed here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trajcompress.errors import SettingsError
from trajcompress.results.audit.sandbox import connect

_CLASSES = {"COMPARISON", "CONJUNCTION", "CONSTANT", "COLUMN_REF", "OPERATOR", "BETWEEN", "CASE", "FUNCTION"}
_OPERATORS = {"+", "-", "*", "/", "//", "%", "||", "~~", "!~~", "~~*", "!~~*", "~~~", "like_escape", "ilike_escape"}
_FUNCTIONS = (
    "abs", "ceil", "contains", "ends_with", "floor", "greatest", "least", "length", "lower", "regexp_full_match",
    "regexp_matches", "round", "starts_with", "trim", "upper",
)  # fmt: skip
_SELECT = "SELECT "
_WANTED = "--where: should be one condition, such as still_over_limit AND reason = 'head'"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was checked, as SQL, and the columns it names."""

    sql: str
    columns: frozenset[str]


def parse_condition(text: str) -> Condition:
    """Read a condition such as ``still_over_limit AND reason = 'head'``.

    Raises:
        SettingsError: the text is anything but one expression of columns, constants and harmless functions.
    """
    if not text.strip():
        raise SettingsError(_WANTED)
    if "\0" in text:  # DuckDB reads on behind one in some places only
        raise SettingsError("--where: holds a NUL character")
    with connect() as connection:
        try:
            statements = _statements(_serialise(connection, text))
        except RecursionError:
            raise SettingsError("--where: too deeply nested") from None
        expression = _only_expression(statements, _statements(_serialise(connection, "1")))
        columns = frozenset(_columns(expression))
        tree = json.dumps({"error": False, "statements": statements})
        written = connection.execute("SELECT json_deserialize_sql(?)", [tree]).fetchall()[0][0]
    return Condition(written.removeprefix(_SELECT), columns)


def _serialise(connection: Any, text: str) -> dict[str, Any]:
    import duckdb

    try:
        (row,) = connection.execute("SELECT json_serialize_sql(?)", [_SELECT + text]).fetchall()
    except duckdb.Error as error:
        raise SettingsError(f"--where: {first_line(error)}") from error
    tree: dict[str, Any] = json.loads(row[0])
    return tree


def _statements(tree: dict[str, Any]) -> list[dict[str, Any]]:
    if tree["error"]:
        raise SettingsError(f"--where: {tree['error_message'].splitlines()[0]}")
    statements: list[dict[str, Any]] = tree["statements"]
    return statements


def _only_expression(statements: list[dict[str, Any]], plain: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the one thing selected, where the statement is otherwise the same as ``SELECT 1``."""
    expressions = statements[0]["node"].get("select_list") or []
    if len(statements) == 1 and len(expressions) == 1 and not expressions[0]["alias"]:
        expected = plain[0] | {"node": plain[0]["node"] | {"select_list": expressions}}
        if _located_nowhere(statements[0]) == _located_nowhere(expected):
            return dict(expressions[0])
    raise SettingsError(_WANTED)


def _located_nowhere(value: Any) -> Any:
    """Drop where in the text each part stood."""
    if isinstance(value, dict):
        return {key: _located_nowhere(item) for key, item in value.items() if not key.startswith("query_location")}
    return [_located_nowhere(item) for item in value] if isinstance(value, list) else value


def _columns(expression: dict[str, Any]) -> Iterator[str]:
    """Yield the columns that are named; refuse what is no part of a condition."""
    for node in _nodes(expression):
        kind = node["class"]
        if kind not in _CLASSES:
            raise SettingsError(f"--where: takes no {kind.lower()}; compare columns with constants")
        if kind == "FUNCTION" and node["function_name"] not in {*_OPERATORS, *_FUNCTIONS}:
            raise SettingsError(f"--where: no function {node['function_name']}; there are {', '.join(_FUNCTIONS)}")
        if kind == "COLUMN_REF":
            *qualifiers, name = node["column_names"]
            if qualifiers:
                raise SettingsError(f"--where: no column {'.'.join(node['column_names'])}; name it {name}")
            yield name


def _nodes(expression: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every node of a tree, wherever it hangs."""
    waiting: list[Any] = [expression]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "class" in value:
                yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def first_line(error: Exception) -> str:
    """Return what an error says, without the excerpt that follows."""
    return (str(error).splitlines() or [type(error).__name__])[0]
