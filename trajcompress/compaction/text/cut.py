"""Cutting the middle out of text and JSON, with a mark that counts what went.

What is cut again keeps one mark, with the sum. JSON stays JSON: only its strings are cut and items of its arrays
dropped; everything else keeps its characters, numbers and white space included.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from trajcompress.json_values import parse_json

MARK_CHARS = 48
"""No mark is longer, but for the facts that it names."""

LEAST_CHARS = 96
"""No text is cut to less than this."""

_MARK = re.compile(r"\n\[… ([\d,]{1,15}) characters elided(?:, with [^\n]*)? …\]\n")
_MARK_END = " …]\n"
_ITEMS_MARK = re.compile(r'"… ([\d,]{1,15}) items elided …"|"\\u2026 ([\d,]{1,15}) items elided \\u2026"')
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]|[^\s\[\]{}:,"]++', re.DOTALL)
_DEPTH = 40  # what lies deeper is left as it is


@dataclass(slots=True)
class _Node:
    """A value in JSON text: where it stands, and what it holds (in an object keys and values in turn)."""

    start: int
    end: int
    inner: list[_Node] = field(default_factory=list)

    @property
    def size(self) -> int:
        return self.end - self.start


def cut_text(text: str, limit: int) -> str:
    r"""Cut the middle out of a text longer than ``limit`` characters, to that many, mark included.

    >>> cut_text("a" * 200 + "b" * 200, 100)[20:60]
    'aaaaaa\n[… 348 characters elided …]\nbbbbb'
    """
    limit = max(limit, LEAST_CHARS)
    if len(text) <= limit:
        return text
    head = (limit - MARK_CHARS + 1) // 2
    tail = limit - MARK_CHARS - head
    start, end = head, len(text) - tail
    for mark in _MARK.finditer(text):  # half a mark is none
        start = mark.start() if mark.start() < start < mark.end() else start
        end = mark.end() if mark.start() < end < mark.end() else end
    earlier = [(_number(mark[1]), len(mark[0])) for mark in _MARK.finditer(text, start, end)]
    gone = end - start + sum(count - length for count, length in earlier)
    return f"{text[:start]}\n[… {gone:,} characters elided …]\n{text[end:]}"


def cut(text: str, limit: int, keep: Sequence[str] = ()) -> str:
    """Cut a text to about ``limit`` characters: JSON within its values, any other text in its middle.

    JSON is left longer where nothing in it can be cut; of its arrays the items that hold what is to be kept stay as
    long as there is room. The text never gets longer.
    """
    if len(text) <= max(limit, LEAST_CHARS):
        return text
    if not is_json(text):
        return cut_text(text, limit)
    root = _tree(text)
    inner = _fit(text, root, limit - (len(text) - root.size), keep, 0)
    return text[: root.start] + inner + text[root.end :] if len(inner) < root.size else text


def name_in_mark(text: str, facts: Sequence[str]) -> str:
    r"""Name facts in the first mark of a text that was cut; JSON has no room for them.

    >>> name_in_mark("a\n[… 348 characters elided …]\nb", ["src/a.py", "n=3"])
    'a\n[… 348 characters elided, with src/a.py; n=3 …]\nb'
    """
    mark = _MARK.search(text)
    if mark is None or not facts:
        return text
    end = mark.end() - len(_MARK_END)
    return f"{text[:end]}{'; ' if ', with ' in mark[0] else ', with '}{'; '.join(facts)}{text[end:]}"


def is_json(text: str) -> bool:
    """Tell whether a text is a JSON object or array."""
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def write_string(value: str, like: str) -> str:
    """Write a string as JSON, escaped no more than ``like``, the JSON that it had before."""
    escaped = (like.isascii() and "\\u" in like) or _SURROGATE.search(value) is not None
    return json.dumps(value, ensure_ascii=escaped)


def _number(digits: str) -> int:
    return int(digits.replace(",", "") or 0)


def _tree(text: str) -> _Node:
    """Read the tree of values in JSON text that is known to parse."""
    root = _Node(0, 0)
    path = [root]
    for token in _TOKEN.finditer(text):
        if token[0] in "]}":
            path.pop().end = token.end()
            continue
        node = _Node(token.start(), token.end())
        path[-1].inner.append(node)
        if token[0] in "[{":
            path.append(node)
    return root.inner[0]


def _fit(text: str, node: _Node, limit: int, keep: Sequence[str], depth: int) -> str:
    whole = text[node.start : node.end]
    limit = max(limit, LEAST_CHARS)
    if node.size <= limit or depth > _DEPTH:
        return whole
    kind = text[node.start]
    if kind == '"':
        shorter = _fit_string(whole, limit, keep)
    elif kind == "[":
        shorter = _fit_array(text, node, limit, keep, depth)
    elif kind == "{":
        shorter = _fit_object(text, node, limit, keep, depth)
    else:
        return whole
    return shorter if len(shorter) < len(whole) else whole


def _fit_string(literal: str, limit: int, keep: Sequence[str]) -> str:
    value = json.loads(literal)
    return write_string(cut(value, limit * len(value) // len(literal), keep), literal)


def _fit_array(text: str, node: _Node, limit: int, keep: Sequence[str], depth: int) -> str:
    """Keep items that fit whole: those that hold what is to be kept, then from both ends; count the others.

    Where none fits, the first and the last one are cut.
    """
    items = node.inner
    room = limit - MARK_CHARS
    held = [place for place, item in enumerate(items) if any(fact in text[item.start : item.end] for fact in keep)]
    kept: set[int] = set()
    for place in held:
        if items[place].size + 2 + MARK_CHARS <= room:
            kept.add(place)
            room -= items[place].size + 2 + MARK_CHARS
    ends = (place for pair in zip(range(len(items)), reversed(range(len(items))), strict=True) for place in pair)
    for place in ends:
        if place in kept or _ITEMS_MARK.fullmatch(text, items[place].start, items[place].end):
            continue
        if items[place].size + 2 > room:
            break
        kept.add(place)
        room -= items[place].size + 2
    pieces = {place: text[items[place].start : items[place].end] for place in kept}
    if not pieces:
        pieces = {0: _fit(text, items[0], room // 2 if len(items) > 1 else limit - 2, keep, depth + 1)}
        pieces |= {len(items) - 1: _fit(text, items[-1], room // 2, keep, depth + 1)} if len(items) > 1 else {}
    written: list[str] = []
    gone = 0
    for place, item in enumerate(items):
        if place not in pieces:
            gone += _items(text[item.start : item.end])
        if gone and (place in pieces or place == len(items) - 1):
            written.append(write_string(f"… {gone:,} items elided …", text))
            gone = 0
        written += [pieces[place]] if place in pieces else []
    return f"[{', '.join(written)}]"


def _items(item: str) -> int:
    mark = _ITEMS_MARK.fullmatch(item)
    return _number(mark[1] or mark[2]) if mark else 1


def _fit_object(text: str, node: _Node, limit: int, keep: Sequence[str], depth: int) -> str:
    """Keep every key, and share the room evenly: short values are whole and leave theirs to the long ones."""
    values = node.inner[1::2]
    room = limit - (node.size - sum(value.size for value in values))
    share = room
    for done, size in enumerate(sorted(value.size for value in values)):
        share = room // (len(values) - done)
        if size > share:
            break
        room -= size
    pieces, at = [], node.start
    for value in values:
        pieces += [text[at : value.start], _fit(text, value, share, keep, depth + 1)]
        at = value.end
    return "".join((*pieces, text[at : node.end]))
