"""What records of JSON have beside what they tell goes before they do: links, empty values, when each was changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from trajcompress.compaction.text.json_tree import Node, tree
from trajcompress.facts.parts import Wanted
from trajcompress.processes.late_patterns import late_re

_LEAST_GONE = 400  # characters, as the mark takes some
_LEAST_RECORDS = 4
_LEAST_LINES = 20
_STRING, _INDENT = late_re(r'("(?:[^"\\]++|\\.)*+")', re.DOTALL), late_re(r"\n\s*+")
_DEPTH = 12
_NAMED, _NAME_CHARS, _VALUE_CHARS = 8, 40, 40  # of what goes
_LINK = late_re(r"(?!(?:html|web|page|source)_url)\w{1,60}_(?:url|urls|href|link|uri)")
_OF_RECORD = late_re(
    r"node_id|gravatar_id|etag|_?(?:created|modified|updated|last_?(?:edited|modified|updated))(?:_?(?:at|on|time|date))?",
)
_TIME = late_re(r'"\d{4}-\d\d-\d\d[T ][^"]{1,40}"|\d{10,13}')
_ID, _QUOTE = late_re(r"\w{1,40}(?:_id|Id|ID)"), '"'
_NOTHING = "what is empty"
_MARKED = frozenset({'"…"', '"\\u2026"'})
_MARKS = ('"… of each elided: ', '"\\u2026 of each elided: ')
_EMPTY = frozenset({"null", '""', "[]", "{}"})


def without_furniture(text: str, keep: Wanted) -> str:
    r"""Take links, empty values, times of changes, and ids that all records of a list share out of JSON text.

    What later turns use stays. A mark says what went; where that is little all stays.

    >>> text = json.dumps([{"id": n, "avatar_url": "https://a.example/" + "u" * 99, "x": None} for n in range(5)])
    >>> print(without_furniture(text, {})[:62])
    ["… of each elided: avatar_url, what is empty …", {"id": 0}, {
    """
    return _thinned(text, tuple(keep))


@lru_cache(maxsize=32)  # a text is cut again and again, until its row fits
def _thinned(text: str, wanted: Sequence[str]) -> str:
    text = _without_indents(text)
    root = tree(text)
    if text[root.start] not in "[{" or _has_mark(text, root):
        return text
    words = [word for word in wanted if word in text]
    gone: dict[tuple[int, int], str] = {}
    for start, end, name in _furniture(text, root, 0):
        if not any(word in text[start:end] for word in words):
            gone[start, end] = name
    if sum(end - start for start, end in gone) < _LEAST_GONE:
        return text
    pieces = [text[: root.start + 1], _mark(text, root, list(dict.fromkeys(gone.values())))]
    at = root.start + 1
    for start, end in sorted(gone):
        if start >= at:
            pieces.append(text[at:start])
            at = end
    return "".join((*pieces, text[at:]))


def _without_indents(text: str) -> str:
    """Write JSON of many lines, which a serializer indented, without the spaces between its values but one."""
    if text.count("\n ") < _LEAST_LINES:
        return text
    return "".join(part if place % 2 else _INDENT.sub(" ", part) for place, part in enumerate(_STRING.split(text)))


def _has_mark(text: str, root: Node) -> bool:
    """Whether JSON was thinned before, or has a member of its own that is called as a mark is."""
    if text[root.start] == "{":
        return any(text[key.start : key.end] in _MARKED for key in root.inner[::2])
    return any(text.startswith(_MARKS, item.start) for item in root.inner[:1])


def _mark(text: str, root: Node, names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    escaped = text.isascii() and "\\u" in text
    said = json.dumps(f"… of each elided: {', '.join(names[:_NAMED])}{more} …", ensure_ascii=escaped)
    member = f"{json.dumps('…', ensure_ascii=escaped)}: {said}" if text[root.start] == "{" else said
    return f"{member}, "


def _furniture(text: str, node: Node, depth: int) -> Iterator[tuple[int, int, str]]:
    """Yield from where to where members go, each with what a mark says of it."""
    if depth > _DEPTH or not node.inner:
        return
    if text[node.start] == "[":
        common = _in_common(text, node)
        for item in node.inner:
            yield from (
                _of_object(text, item, depth, common)
                if text[item.start] == "{"
                else _furniture(text, item, depth + 1)
            )
    elif text[node.start] == "{":
        yield from _of_object(text, node, depth, {})


def _of_object(text: str, node: Node, depth: int, common: dict[str, str]) -> Iterator[tuple[int, int, str]]:
    members = list(zip(node.inner[::2], node.inner[1::2], strict=False))
    names = [text[key.start + 1 : key.end - 1] for key, _ in members]
    values = [text[value.start : value.end] for _, value in members]
    goes = [name in common or _tells_nothing(name, value) for name, value in zip(names, values, strict=True)]
    if all(goes):
        return
    for place, (_, value) in enumerate(members):
        if not goes[place]:
            yield from _furniture(text, value, depth + 1)
            continue
        # With the comma behind it, or before it where no other stays behind.
        is_last = all(goes[place:])
        start = members[place - 1][1].end if is_last else members[place][0].start
        end = value.end if is_last else members[place + 1][0].start
        said = _NOTHING if text[value.start : value.end] in _EMPTY else names[place][:_NAME_CHARS]
        yield start, end, common.get(names[place], said)


def _tells_nothing(name: str, value: str) -> bool:
    if value in _EMPTY:
        return True
    if _LINK.fullmatch(name):
        return value.startswith(('"http', '"/'))
    if _OF_RECORD.fullmatch(name) is None or value.startswith(("[", "{")):
        return False
    return name.endswith(("id", "etag")) or _TIME.fullmatch(value) is not None


def _in_common(text: str, node: Node) -> dict[str, str]:
    """Return the ids that all records of a list have in common, each with what a mark says of it."""
    records = [item for item in node.inner if text[item.start] == "{"]
    if len(records) < _LEAST_RECORDS or len(records) < len(node.inner) - 1:
        return {}
    shared: dict[str, str] | None = None
    for record in records:
        pairs = zip(record.inner[::2], record.inner[1::2], strict=False)
        members = {text[key.start + 1 : key.end - 1]: text[value.start : value.end] for key, value in pairs}
        shared = (
            members if shared is None else {name: each for name, each in shared.items() if members.get(name) == each}
        )
    ids = {name: each for name, each in (shared or {}).items() if _ID.fullmatch(name) and len(each) <= _VALUE_CHARS}
    return {name: f"{name}={value.strip(_QUOTE)}" for name, value in ids.items() if value not in _EMPTY}
