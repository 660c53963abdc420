"""The words that facts of JSON stand in: each with its key, behind what names the record that it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from trajcompress.facts.reading import mentions
from trajcompress.json_values import MAX_DEPTH, depth_of, parse_json
from trajcompress.processes.late_patterns import late_re

NAMING = late_re(
    r"(?:\A|_|[a-z](?=[A-Z]))(?:[iI]d|[nN]ame|[nN]umber|[tT]itle|[cC]ode|[kK]ey|[lL]abel|[sS]ymbol|[sS]ubject|[sS]ummary"
    r"|[tT]ext|[hH]eadline|ID|NAME|NUMBER|TITLE|CODE|KEY)\Z"
)
"""Keys under which a record has what names it, as ``flight_number`` or ``userId``."""

_VALUE_CHARS = 120  # a longer one is prose, of which a sentence tells the fact

_Path: TypeAlias = tuple[str, ...]


def words_in_json(facts: Sequence[str], text: str) -> dict[str, str]:
    """Return the words of those facts that are values of JSON, the last time that it has them; of others none.

    Values of one record have the same words, its name first.

    >>> words_in_json(["113"], '{"cards": [{"id": "gift_1", "balance": {"amount": 113}}]}')
    {'113': 'id = gift_1, balance.amount = 113'}
    """
    if text.lstrip()[:1] not in {"{", "["}:
        return {}
    try:
        data = parse_json(text, strict=False)
    except ValueError:
        return {}
    if depth_of(data) > MAX_DEPTH:
        return {}
    last: dict[str, tuple[_Path, str, str]] = {}  # record, what names it, and the pair
    for path, name, key, value in _values(data, (), "", ()):
        for fact in facts:
            if fact in value and mentions(value, fact):
                last[fact] = path, name, f"{key} = {value}" if key else value
    records: dict[_Path, dict[str, None]] = {}
    for path, name, pair in last.values():
        records.setdefault(path, dict.fromkeys([name] if name else []))[pair] = None
    told = {path: ", ".join(pairs) for path, pairs in records.items()}
    return {fact: told[path] for fact, (path, _, _) in last.items() if mentions(told[path], fact)}


def _values(value: Any, record: _Path, name: str, keys: _Path) -> Iterator[tuple[_Path, str, str, str]]:
    """Yield short values of JSON, each with the record that it is of, what names that, and the keys within it."""
    if isinstance(value, dict):
        if named := _named(value):
            record, name, keys = (*record, *keys, ""), named, ()
        for key, item in value.items():
            yield from _values(item, record, name, (*keys, str(key)))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            inner = isinstance(item, dict | list)
            yield from _values(item, (*record, *keys, str(at)) if inner else record, name, () if inner else keys)
    elif value is not None and len(said := _said(value)) <= _VALUE_CHARS:
        yield record, name, ".".join(keys), said


def _named(record: Mapping[str, Any]) -> str:
    """Return what names a record: the first of its values that is called so."""
    for key, value in record.items():
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "" and NAMING.search(key):
            return f"{key} = {value}" if len(str(value)) <= _VALUE_CHARS else ""
    return ""


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())
