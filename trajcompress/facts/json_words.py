"""The words that facts of JSON stand in: each with its key, behind what names the record that it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from trajcompress.facts.reading import mentions
from trajcompress.json_values import MAX_DEPTH, depth_of, parse_json
from trajcompress.processes.late_patterns import late_re

NAMING = late_re(
    r"(?:\A|[_.]|[a-z](?=[A-Z]))(?:[iI]d|[nN]ame|[nN]umber|[tT]itle|[cC]ode|[kK]ey|[lL]abel|[sS]ymbol|[sS]ubject|[sS]ummary"
    r"|[tT]ext|[hH]eadline|ID|NAME|NUMBER|TITLE|CODE|KEY)\Z"
)
"""Keys under which a record has what names it, as ``flight_number`` or ``userId``."""

_VALUE_CHARS = 120  # a longer one is prose, of which a sentence tells the fact
_NAME_CHARS, _MOST_KEYS = 60, 8  # of an item of a list that has no name
_MOST_OPTIONS, _OPTIONS_CHARS = 5, 90
_BY_ID = late_re(r"[\w.-]{0,40}(?:id|Id|ID|code|number|key) = ")
_BY_WORDS = late_re(r"(?:[\w.-]{0,40}[_.])?(?:name|title|label|Name|Title) = [^\n]{1,60}\Z")
_FIGURE = late_re(r"[-+$€£]?[\d.,]{1,30} ?(?:%|[A-Z]{3})?")

_Path: TypeAlias = tuple[str, ...]


def words_in_json(facts: Sequence[str], text: str) -> dict[str, str]:
    """Return the words of those facts that are values of JSON, the last time that it has them; of others none.

    Values of one record have the same words, its name first; of one that an id names also what has it, and its
    options.

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
        pairs = records.setdefault(path, dict.fromkeys([name] if name else []))
        if f", {pair}," not in f", {name}," and not name.endswith(f": {pair}"):  # it may be named by this
            pairs[pair] = None
    told = {path: ", ".join(pairs) for path, pairs in records.items()}
    return {fact: told[path] for fact, (path, _, _) in last.items() if mentions(told[path], fact)}


def _values(value: Any, record: _Path, name: str, keys: _Path) -> Iterator[tuple[_Path, str, str, str]]:
    """Yield short values of JSON, each with the record that it is of, what names that, and the keys within it."""
    if isinstance(value, dict):
        if named := _named(value):
            around = f"{name}, " if _BY_ID.match(named) and _BY_WORDS.match(name) else ""
            record, name, keys = (*record, *keys, ""), f"{around}{named}{_options(named, value)}", ()
        for key, item in value.items():
            yield from _values(item, record, name, (*keys, str(key)))
    elif isinstance(value, list):
        tells = _telling(value)
        for at, item in enumerate(value):
            if not isinstance(item, dict | list):
                yield from _values(item, record, name, keys)
            elif tells and (said := _pair(item, tells)):
                yield from _values(item, (*record, *keys, str(at)), _within(name, keys, said), ())
            else:  # what it has is not its parent's, so it goes by the key of the list
                yield from _values(item, (*record, *keys, str(at)), name, keys)
    elif value is not None and len(said := _said(value)) <= _VALUE_CHARS:
        yield record, name, ".".join(keys), said


def _within(name: str, keys: _Path, said: str) -> str:
    """Name an item of a list by what it says, behind the key of the list and what names the record of that."""
    around = name if len(name) <= _VALUE_CHARS else ""
    return ", ".join(part for part in (around, f"{'.'.join(keys)}: {said}" if keys else said) if part)


def _telling(items: Sequence[Any]) -> str:
    """Return the key of a text by which items of a list that nothing names are told apart, if they have one."""
    records = [item for item in items if isinstance(item, dict)]
    if not records or any(map(_named, records)):
        return ""
    keys = [key for key, item in records[0].items() if _tells(item)][:_MOST_KEYS]
    apart = [key for key in keys if len({str(each.get(key)) for each in records}) == len(records)]
    return next(iter((*apart, *keys)), "")


def _tells(value: Any) -> bool:
    """Whether a value may tell a record from others: a figure is what is told of it."""
    return isinstance(value, str) and 0 < len(value) <= _NAME_CHARS and _FIGURE.fullmatch(value) is None


def _pair(item: Any, key: str) -> str:
    return f"{key} = {_said(item[key])}" if isinstance(item, dict) and _tells(item.get(key)) else ""


def _named(record: Mapping[str, Any]) -> str:
    """Return what names a record: the first of its values that is called so."""
    for key, value in record.items():
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "" and NAMING.search(key):
            return f"{key} = {value}" if len(str(value)) <= _VALUE_CHARS else ""
    return ""


def _options(named: str, record: Mapping[str, Any]) -> str:
    """Return what a record that an id names is of those beside it, such as its colour, if that is short."""
    for item in record.values() if _BY_ID.match(named) else ():
        if isinstance(item, dict) and 0 < len(item) <= _MOST_OPTIONS:
            pairs = [f"{key} = {_said(each)}" for key, each in item.items() if _tells(each) or isinstance(each, bool)]
            said = ", ".join(("", *pairs))
            if len(pairs) == len(item) and len(said) <= _OPTIONS_CHARS:
                return said
    return ""


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())
