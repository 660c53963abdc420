"""Cutting the middle out of text and JSON, with a mark that counts what went.

What is cut again keeps one mark, with the sum. JSON stays JSON: only its strings are cut and items of its arrays
dropped; everything else keeps its characters, numbers and white space included.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from types import MappingProxyType

from msgspec import Struct, field

from trajcompress.compaction.text.edges import around, before, behind, heading, whole_line
from trajcompress.facts.parts import LEAST, Part, Wanted, parts_with
from trajcompress.json_values import parse_json
from trajcompress.processes.late_patterns import late_re
from trajcompress.redact import redact

MARK_CHARS = 48
"""No mark is longer, but for the facts that it names."""

LEAST_CHARS = 96
"""No text is cut to less than this."""

LEAST_CUT = 200
"""No less is cut out of the middle of a text: a mark costs a reader more than the words that it stands for."""

_KEPT_SHARE = 0.9  # of a text goes to what later turns take from it, where that is so much
_LEAST_END = 24
_AROUND_SHARE = 0.67  # of the room that is left goes to lines around what is kept, not to the ends
_LEAST_AROUND, _MOST_AROUND = 40, 400  # characters on either side
_TRIES = 3
_SECRET_CHARS = 120

_MARK = late_re(r"\n\[… ([\d,]{1,15}) characters elided(?:, with [^\n]*)? …\]\n")
_MARK_END = " …]\n"
_ITEMS_MARK = late_re(r'"… ([\d,]{1,15}) items elided …"|"\\u2026 ([\d,]{1,15}) items elided \\u2026"')
_SURROGATE = late_re("[\ud800-\udfff]")
_TOKEN = late_re(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]|[^\s\[\]{}:,"]++', re.DOTALL)
_DEPTH = 40  # what lies deeper is left as it is


class _Node(Struct):
    """A value in JSON text: where it stands, and what it holds (in an object keys and values in turn)."""

    start: int
    end: int
    inner: list[_Node] = field(default_factory=list)

    @property
    def size(self) -> int:
        return self.end - self.start


def cut_text(text: str, limit: int, keep: Wanted = MappingProxyType({})) -> str:
    r"""Cut the middle out of a text longer than ``limit`` characters, to about that many, marks included.

    Where less than ``LEAST_CUT`` would go it stays, so the text may be longer by about that.

    The lines and sentences of it that tell most of what is to be kept stay where they stand.

    >>> cut_text("a" * 200 + "b" * 200, 100)[20:60]
    'aaaaaa\n[… 348 characters elided …]\nbbbbb'
    """
    limit = max(limit, LEAST_CHARS)
    if len(text) <= limit:
        return text
    room = limit - MARK_CHARS
    kept = _kept(text, keep, room) if keep else []
    room = max(room - sum(map(_cost, kept)), 2 * _LEAST_END)
    shorter = ""
    for _ in range(_TRIES):
        head = before(text, (room + 1) // 2)
        tail = room - head
        start = behind(text, len(text) - tail, tail) if tail >= _LEAST_END else len(text)
        title = heading(text, start)
        has_room = title and 2 * _cost(title) <= tail and (not kept or kept[-1].end < title.start)
        middle = [*kept, title] if title and has_room else kept
        made = _written(text, _joined(text, [(0, head), *middle, (start, len(text))]))
        if shorter and len(made) > limit and len(made) >= len(shorter):
            break
        shorter = made
        spare = limit - len(shorter)  # where what is kept stands at an end; below 0 where some are joined
        if not middle or 0 <= spare < MARK_CHARS or room + spare < 2 * _LEAST_END:
            break
        room += spare
    return shorter


def cut_behind(text: str, head: int) -> str:
    """Cut all behind the beginning of a text, where that is worth a mark."""
    return text[:head] + _mark(text, head, len(text)) if len(text) - head >= LEAST_CUT else text


def _kept(text: str, keep: Wanted, room: int) -> list[Part]:
    """Return the parts that tell what is to be kept, under their headings, and with lines around them."""
    parts = [whole_line(text, part) for part in parts_with(text, keep, int(room * _KEPT_SHARE), cost=MARK_CHARS)]
    room -= sum(map(_cost, parts))
    titles = [heading(text, part.start) for part in parts]
    kept: dict[Part, None] = {}
    for title in titles:
        if title and title not in kept and _cost(title) <= room - 2 * _LEAST_END:
            room -= _cost(title)
            kept[title] = None
    reach = min(int(room * _AROUND_SHARE) // (2 * len(parts)), _MOST_AROUND) if parts else 0
    for part, title in zip(parts, titles, strict=True):
        top = title.end if title and title in kept else 0
        wide = around(text, part, reach, top) if reach >= _LEAST_AROUND else part
        clean = next((each for each in (wide, part) if not _near_a_secret(text, each)), None)
        kept |= {clean: None} if clean else {}
    return sorted(kept)


def _cost(part: Part) -> int:
    """Return what a part takes with its mark."""
    return part.end - part.start + MARK_CHARS


def _written(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    pieces = [text[: stretches[0][1]]]
    for (_, gone), (start, end) in pairwise(stretches):
        pieces += [_mark(text, gone, start), text[start:end]]
    return "".join(pieces)


def _near_a_secret(text: str, part: Part) -> bool:
    """Whether a part may be half of a secret, or one without the name by which it is known."""
    return redact(text[max(part.start - _SECRET_CHARS, 0) : part.end + _SECRET_CHARS]).count > 0


def useful_chars(text: str, keep: Wanted, most: int) -> int:
    """Return how long a text that is cut must stay to hold what is to be kept, of which so much counts."""
    kept = parts_with(text, keep, most - 2 * _LEAST_END, cost=MARK_CHARS)
    held = sum(map(_cost, kept))
    return max(math.ceil(held / _KEPT_SHARE) + 1, held + 2 * _LEAST_END) + MARK_CHARS if kept else 0


def _joined(text: str, stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join stretches with little between them; none ends within a mark, as half a mark is none."""
    marks = [mark.span() for mark in _MARK.finditer(text)]
    joined: list[tuple[int, int]] = []
    for first, last in stretches:
        start = next((after for before, after in marks if before < first < after), first)
        end = next((before for before, after in marks if before < last < after), last)
        while 0 < start < len(text) and text[start - 1] == "\\":  # half an escape says something else
            start += 1
        while 0 < end < len(text) and text[end - 1] == "\\":
            end -= 1
        if joined and start - joined[-1][1] < LEAST_CUT:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif start < end or not joined or end == len(text):
            joined.append((start, max(start, end)))
    return joined


def _mark(text: str, start: int, end: int) -> str:
    """Count what goes from one place to another, with what earlier marks there count."""
    earlier = [(_number(mark[1]), len(mark[0])) for mark in _MARK.finditer(text, start, end)]
    gone = end - start + sum(count - length for count, length in earlier)
    return f"\n[… {gone:,} characters elided …]\n"


def cut(text: str, limit: int, keep: Wanted = MappingProxyType({})) -> str:
    """Cut a text to about ``limit`` characters: JSON within its values, any other text in its middle.

    JSON is left longer where nothing in it can be cut; of its arrays the items that hold what is to be kept stay as
    long as there is room. The text never gets longer.
    """
    if len(text) <= max(limit, LEAST_CHARS):
        return text
    if not is_json(text):
        return cut_text(text, limit, keep)
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


def _fit(text: str, node: _Node, limit: int, keep: Wanted, depth: int) -> str:
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


def _fit_string(literal: str, limit: int, keep: Wanted) -> str:
    value = json.loads(literal)
    return write_string(cut(value, limit * len(value) // len(literal), keep), literal)


def _fit_array(text: str, node: _Node, limit: int, keep: Wanted, depth: int) -> str:
    """Keep items that fit whole: those that hold what is to be kept, then from both ends; count the others.

    Where none fits, the first and the last one are cut.
    """
    items = node.inner
    room = limit - MARK_CHARS
    held = _held([text[item.start : item.end] for item in items], keep)
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


def _held(items: Sequence[str], keep: Wanted) -> list[int]:
    """Return which items hold what is to be kept, those that hold most of it first."""
    found: dict[int, float] = {}
    for word, weight in keep.items():
        places = [place for place, item in enumerate(items) if word in item]
        for place in places:
            found[place] = found.get(place, 0.0) + weight / len(places)
    return sorted((place for place in found if found[place] >= LEAST), key=lambda place: (-found[place], place))


def _items(item: str) -> int:
    mark = _ITEMS_MARK.fullmatch(item)
    return _number(mark[1] or mark[2]) if mark else 1


def _fit_object(text: str, node: _Node, limit: int, keep: Wanted, depth: int) -> str:
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
