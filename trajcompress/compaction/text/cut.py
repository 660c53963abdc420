"""Cutting text and JSON to a length.

JSON stays JSON: only its strings are cut and items of its arrays dropped; everything else keeps its characters,
numbers and white space included.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from types import MappingProxyType

from msgspec import Struct

from trajcompress import json_values
from trajcompress.compaction.text.descriptions import without_descriptions
from trajcompress.compaction.text.diffs import without_new_files
from trajcompress.compaction.text.json_tree import Node, tree
from trajcompress.compaction.text.middle import LEAST_CHARS, MARK_CHARS, cut_text, number
from trajcompress.compaction.text.points import without_points
from trajcompress.compaction.text.rejected_edits import without_original
from trajcompress.compaction.text.thinning import without_furniture
from trajcompress.facts.parts import LEAST, Wanted
from trajcompress.processes.late_patterns import late_re
from trajcompress.redact import Clean, without_secrets

_ITEMS_MARK = late_re(r'"… ([\d,]{1,15}) items? elided …"|"\\u2026 ([\d,]{1,15}) items? elided \\u2026"')
_SURROGATE = late_re("[\ud800-\udfff]")
_BESIDE_CHARS = 200
_BEGINS = late_re(r"\s*+(?:[^\n\[{]{0,160}[:：\n]\s{0,4})?(?=[\[{])")
_DEPTH = 40  # what lies deeper is left as it is


class _Keep(Struct, frozen=True):
    """What is to be kept of a text, and what takes secrets out of it."""

    wanted: Wanted
    clean: Clean


def cut(text: str, limit: int, keep: Wanted = MappingProxyType({}), clean: Clean = without_secrets) -> str:
    """Cut a text to about ``limit`` characters: JSON within its values, any other text in its middle.

    JSON loses what its records have beside what they tell, then items of its arrays, but for those that hold what is
    to be kept, as long as there is room; it is left longer where nothing in it can be cut. A few words may stand
    before and behind it. The text never gets longer. No half is kept of a secret, which ``clean`` takes out.
    """
    if len(text) <= max(limit, LEAST_CHARS):
        return text
    place = _json_in(text)
    if place is None:
        shorter = text
        for without in (without_points, without_descriptions, without_new_files, without_original):
            shorter = without(shorter, limit, keep)
        return cut_text(shorter, limit, keep, clean) if len(shorter) > limit else shorter
    held = text[place]
    thinned = without_furniture(held, keep)
    root = tree(thinned)
    around = len(text) - len(held.strip())
    inner = _fit(thinned, root, limit - around, _Keep(keep, clean), 0)
    shorter = text[: place.start] + thinned[: root.start] + inner + thinned[root.end :] + text[place.stop :]
    return shorter if len(shorter) < len(text) else text


@lru_cache(maxsize=32)  # a text is cut again and again, until its row fits
def _json_in(text: str) -> slice | None:
    """Return where the JSON stands that a text is, but for a line before and behind it; None where it is none."""
    begins, end = _BEGINS.match(text), max(text.rfind("]"), text.rfind("}")) + 1
    if begins is None or len(text.rstrip()) - end > _BESIDE_CHARS:
        return None
    place = slice(begins.end(), end)
    return place if is_json(text[place]) else None


def is_json(text: str) -> bool:
    """Tell whether a text is a JSON object or array."""
    return text.lstrip()[:1] in {"{", "["} and json_values.is_json(text)


def write_string(value: str, like: str) -> str:
    """Write a string as JSON, escaped no more than ``like``, the JSON that it had before."""
    escaped = (like.isascii() and "\\u" in like) or _SURROGATE.search(value) is not None
    return json.dumps(value, ensure_ascii=escaped)


def _fit(text: str, node: Node, limit: int, keep: _Keep, depth: int) -> str:
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


def _fit_string(literal: str, limit: int, keep: _Keep) -> str:
    value = json.loads(literal)
    return write_string(cut(value, limit * len(value) // len(literal), keep.wanted, keep.clean), literal)


def _fit_array(text: str, node: Node, limit: int, keep: _Keep, depth: int) -> str:
    """Keep items that fit whole: those that hold what is to be kept, then from both ends; count the others.

    Of the one that holds most of it some is kept where the whole has no room. Where none fits, the first and the last
    one are cut.
    """
    items = node.inner
    room = limit - MARK_CHARS
    held = _held([text[item.start : item.end] for item in items], keep.wanted)
    kept: set[int] = set()
    longest = [place for place in held[:1] if items[place].size > room >= 2 * LEAST_CHARS]
    pieces = {place: _fit(text, items[place], room * 2 // 3, keep, depth + 1) for place in longest}
    room -= sum(len(piece) + MARK_CHARS for piece in pieces.values())
    for place in held:
        cost = items[place].size + 2 + (MARK_CHARS if 0 < place < len(items) - 1 else 0)  # at an end one mark does
        if cost <= room:
            kept.add(place)
            room -= cost
    ends = (place for pair in zip(range(len(items)), reversed(range(len(items))), strict=True) for place in pair)
    for place in ends:
        if place in {*kept, *pieces} or _ITEMS_MARK.fullmatch(text, items[place].start, items[place].end):
            continue
        if items[place].size + 2 > room:
            break
        kept.add(place)
        room -= items[place].size + 2
    pieces |= {place: text[items[place].start : items[place].end] for place in kept}
    if not pieces:
        real = [place for place, item in enumerate(items) if not _ITEMS_MARK.fullmatch(text, item.start, item.end)]
        share = limit - 2 if len(items) == 1 else room // min(len(real) or 1, 2)
        pieces = {place: _fit(text, items[place], share, keep, depth + 1) for place in {*real[:1], *real[-1:]}}
    written: list[str] = []
    gone = 0
    for place, item in enumerate(items):
        if place not in pieces:
            gone += _items(text[item.start : item.end])
        if gone and (place in pieces or place == len(items) - 1):
            written.append(write_string(f"… {gone:,} item{'s' if gone > 1 else ''} elided …", text))
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
    return number(mark[1] or mark[2]) if mark else 1


def _fit_object(text: str, node: Node, limit: int, keep: _Keep, depth: int) -> str:
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
