"""Which values of JSON later turns use: a word that several have is told of the record that has most of them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trajcompress.facts.parts import Wanted, parts_with
from trajcompress.facts.reading import mentions
from trajcompress.facts.taken import STRONG
from trajcompress.outcomes.compact import compact
from trajcompress.outcomes.page import shown_text
from trajcompress.outcomes.records.told_values import Path, are_records, children
from trajcompress.outcomes.text import LEAST_CHARS, one_line, shorten

_SNIPPET_CHARS = 100  # of one value; of a longer one the sentences that later turns use
_LEAST, _NEEDED = 1.5, 2 * STRONG  # what a word must tell to be looked for among values, and among keys
_SAID_SHARE = 4  # of a value words make up so much that is said of it: its length divided by this
_SCHEMA = frozenset({"type", "description"})
_LIST_CHARS, _PAIR = 160, 2


class Used(NamedTuple):
    """A value that later turns use: where it stands, and in which record of which among others."""

    path: Path
    text: str
    needed: bool
    row: Path | None


def _least_of(value: Any) -> float:
    """Return what the name of a value must tell: less where that is a parameter, as schemas of tools have them."""
    return _LEAST if isinstance(value, dict) and not _SCHEMA.isdisjoint(value) else _NEEDED


def _are_short(values: Sequence[Any]) -> bool:
    """Whether a list of ids, names or figures is short enough to be told whole."""
    return (
        all(isinstance(value, str | int | float) for value in values)
        and sum(len(str(v)) + 2 for v in values) <= _LIST_CHARS
    )


class _Leaf(NamedTuple):
    """A value that is no container: where it stands, and in which record."""

    path: Path
    text: str
    row: Path | None


def used_of(data: Any, wanted: Wanted, limit: int) -> Iterator[Used]:
    """Find the values of JSON that later turns use, and for a key that is needed its value."""
    left = {word: weight for word, weight in wanted.items() if weight >= _LEAST}
    waiting: list[tuple[Path, str, Any, Path | None]] = [((), "", data, None)]
    leaves: list[_Leaf] = []
    while waiting and left:
        path, key, value, row = waiting.pop()
        named = bool(key) and left.get(key, 0.0) >= _least_of(value)
        if named:
            del left[key]
            shown = shorten(one_line(compact(value, _SNIPPET_CHARS)), _SNIPPET_CHARS)
            yield Used(path, f"({shown})" if isinstance(value, dict) else shown, needed=True, row=row)
        if named and (path != row or not _SCHEMA.isdisjoint(value)):
            continue
        if path and isinstance(value, list) and _are_short(value) and not left.keys().isdisjoint(map(str, value)):
            left = {word: weight for word, weight in left.items() if word not in value}
            yield Used(path, one_line(compact(value, _LIST_CHARS)), needed=True, row=row)
        elif path and isinstance(value, list) and len(value) <= _PAIR and _are_short(value):
            leaves.append(_Leaf(path, one_line(compact(value, _LIST_CHARS)), row))  # such as a time and a figure
        elif isinstance(value, dict | list):
            among = are_records(value) or (isinstance(value, list) and [*map(type, value)] == [dict])
            inside = enumerate(children(value))
            waiting += reversed(
                [((*path, at), name, item, (*path, at) if among else row) for at, (name, item) in inside]
            )
        elif value is not None:
            leaves.append(_Leaf(path, str(value), row))
    yield from _used_among(leaves, left, wanted, limit)


def _used_among(leaves: Sequence[_Leaf], left: Wanted, wanted: Wanted, limit: int) -> Iterator[Used]:
    """Find which values later turns use; a word that several have is told with that which is said the most of."""
    size = 0
    for leaf, words in _ranked(leaves, left):
        if size >= limit:
            break
        told = [word for word in words if word in left]
        if not told:
            continue
        lines = [leaf.text]
        if len(leaf.text) > _SNIPPET_CHARS:
            here = {word: wanted[word] for word in wanted if word in leaf.text}
            room = limit - size - LEAST_CHARS
            lines = [leaf.text[start:end] for start, end in parts_with(leaf.text, here, room, cost=3)]
        needed = any(left[word] >= _NEEDED for word in told)
        left = {word: weight for word, weight in left.items() if word not in told}
        if lines:
            size += sum(map(len, lines))
            yield Used(leaf.path, " … ".join(one_line(shown_text(line)) for line in lines), needed, leaf.row)


def _ranked(leaves: Sequence[_Leaf], left: Wanted) -> Sequence[tuple[_Leaf, Sequence[str]]]:
    """Return values with the words that they have, last those of which hardly more is said than one word.

    Of values that tell the same that of the record goes first which has most of what few others have.
    """
    everything = "\n".join(leaf.text for leaf in leaves)
    present = [word for word in left if word in everything]
    found = []
    for leaf in leaves if present else ():
        if words := [word for word in present if word in leaf.text and mentions(leaf.text, word)]:
            said = sum(map(len, words)) * _SAID_SHARE >= len(leaf.text)
            found.append((0 if said else 1 if len(words) > 1 else 2, leaf, words))
    worth = _worth_of_records(found)
    found.sort(key=lambda each: (each[0], -worth[each[1].row] if each[1].row else -math.inf))
    return [(leaf, words) for _, leaf, words in found]


def _worth_of_records(found: Sequence[tuple[int, _Leaf, Sequence[str]]]) -> Mapping[Path, float]:
    """Return how much each record tells of what is used, with the list around it, such as that of its journey."""
    times = Counter(word for _, _, words in found for word in words)
    worth: defaultdict[Path, float] = defaultdict(float)
    for _, leaf, words in found:
        if leaf.row:
            worth[leaf.row] += sum(1 / times[word] for word in words)
    around: defaultdict[Path, float] = defaultdict(float)
    for row, told in worth.items():
        around[row[:-1]] += told
    return {row: told + around[row[:-1]] for row, told in worth.items()}
