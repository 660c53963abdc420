"""What came of an action whose result is JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trajcompress.facts import around, brief
from trajcompress.facts.reading import mentions
from trajcompress.summarize.extractive.compact import compact
from trajcompress.summarize.extractive.text import LEAST_CHARS, joined, one_line, shorten

_SNIPPET_CHARS = 100  # around one value that later turns use


def read_structured(data: Any, needed: Sequence[str], limit: int) -> tuple[str, str, bool]:
    """Read a JSON result: its error if it names one, then what later turns use of it, then its values.

    Returns:
        What it says on one line, how many items it has if it is a list, and whether it says that something failed.
    """
    if isinstance(data, dict):
        error = data.get("error") or data.get("errors") or data.get("exception")
        if error and not isinstance(error, bool):
            return shorten(f"error: {one_line(compact(error, limit))}", limit), "", True
        if str(data.get("status", "")).lower() in {"error", "failed", "failure"} or data.get("success") is False:
            return shorten(f"failed: {one_line(compact(data, limit))}", limit), "", True
    line = one_line(compact(data, limit)) or "empty"
    size = f"{len(data)} items" if isinstance(data, list) and len(data) > 1 else ""
    if len(line) > limit or line.endswith("…") or "…" in line:
        pairs = _pairs_of(data, needed, limit)
        if sum(len(value) for values in pairs.values() for value in values) + 2 * len(pairs) > limit:
            pairs = _pairs_of(data, needed, limit, brief)
        if pairs and isinstance(data, dict):
            line = one_line(compact({key: value for key, value in data.items() if key not in pairs}, limit))
        told = [f"{key}={', '.join(values)}" if key else ", ".join(values) for key, values in pairs.items()]
        line = joined([*told, line], limit)
    return line, size, False


def _pairs_of(
    data: Any, needed: Sequence[str], limit: int, words: Callable[[str, str], str] = around
) -> dict[str, list[str]]:
    """Return the values of JSON that later turns use, by their keys, and for a key that is used its value.

    ``words`` takes the words around a value out of a longer one.
    """
    wanted = dict.fromkeys(needed)  # in their order: that of a set is another in each process
    found: dict[str, list[str]] = {}
    waiting: list[tuple[str, Any]] = [("", data)]
    size = 0
    while waiting and wanted and size < limit:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += reversed([(str(name), item) for name, item in value.items()])
            for name in [name for name in value if name in wanted]:
                wanted.pop(name)
                found[name] = [shorten(one_line(compact(value[name], _SNIPPET_CHARS)), _SNIPPET_CHARS)]
        elif isinstance(value, list):
            waiting += reversed([(key, item) for item in value])
        elif value is not None:
            text = str(value)
            if told := [fact for fact in wanted if fact in text and mentions(text, fact)]:
                wanted = {fact: None for fact in wanted if fact not in told}
                shown = (
                    [text]
                    if len(text) <= (_SNIPPET_CHARS if words is around else LEAST_CHARS)
                    else [words(fact, text) for fact in told]
                )
                found.setdefault(key, []).extend(map(one_line, shown))
                size += sum(map(len, shown))
    return found
