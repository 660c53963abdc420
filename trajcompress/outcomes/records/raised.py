"""Records whose values stand in objects that they hold, as Kubernetes, JSON:API or Elasticsearch answer: raised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trajcompress.facts.json_words import NAMING
from trajcompress.outcomes.compact import is_empty
from trajcompress.processes.late_patterns import late_re

_LEVELS = 8  # of containers that are looked into for records
_INNER, _MOST_VALUES = 5, 60  # levels of objects in a record, and values raised out of them
_HOLDERS = frozenset(
    (  # noqa: SIM905 - a literal of strings would fill a screen
        "metadata spec status attributes properties fields _source source node data resource item record document"
    ).split()
)
"""Objects that hold what a record says and are nothing beside it: their names say nothing."""
_OF_MACHINES = late_re(r"(?:\A|_)(?:cursor|index|type|kind|score|self|href|url|uri|etag|version)\Z")


def raised(data: Any, levels: int = _LEVELS) -> Any:
    """Return JSON in which records hold themselves what objects in them say, where nothing else in them differs.

    >>> raised([{"id": 1, "attributes": {"title": "On"}}, {"id": 2, "attributes": {"title": "Off"}}])
    [{'id': 1, 'title': 'On'}, {'id': 2, 'title': 'Off'}]
    """
    if not levels or not isinstance(data, dict | list):
        return data
    if isinstance(data, dict):
        return {key: raised(item, levels - 1) for key, item in data.items()}
    if len(data) > 1 and all(isinstance(each, dict) for each in data) and _say_little(data):
        return _raised_alike(data)
    return [raised(item, levels - 1) for item in data]


def _say_little(records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether records that hold objects tell nothing by themselves but which they are."""
    if not all(any(map(_inside, record.values())) for record in records):
        return False
    told: dict[str, set[str]] = {}
    for record in records:
        for key, item in record.items():
            if not isinstance(item, dict | list) and not is_empty(item):
                told.setdefault(key, set()).add(str(item))
    differs = (key for key, texts in told.items() if len(texts) > 1)
    return all(NAMING.search(key) or _OF_MACHINES.search(key) for key in differs)


def _inside(item: Any) -> dict[str, Any] | None:
    """Return an object that a record holds, also one that stands alone in a list; a schema is one value."""
    held = item[0] if isinstance(item, list) and len(item) == 1 else item
    return held if isinstance(held, dict) and held and held.get("type") != "object" else None


def _raised_alike(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Raise what records hold; a value has the same name in each."""
    found = [list(_values(record, (), _INNER))[:_MOST_VALUES] for record in records]
    names = _names({path: None for values in found for path, _ in values})
    return [{names[path]: item for path, item in values} for values in found]


def _values(record: Mapping[str, Any], path: tuple[str, ...], levels: int) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, item in record.items():
        held = _inside(item) if levels else None
        if held is None:
            yield (*path, str(key)), item
        else:
            yield from _values(held, (*path, str(key)), levels - 1)


def _names(paths: Mapping[tuple[str, ...], None]) -> dict[tuple[str, ...], str]:
    """Name each value by its key and that of the object around it, if that says something; else by its whole path."""
    short = {path: ".".join(path[path[0] in _HOLDERS and len(path) > 1 :][-2:]) for path in paths}
    times = Counter(short.values())
    return {path: name if times[name] == 1 else ".".join(path) for path, name in short.items()}
