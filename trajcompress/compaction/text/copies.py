"""What a result says twice: as text, and once more as structured content, as the Model Context Protocol has it."""

from __future__ import annotations

from trajcompress.compaction.text.middle import LEAST_CUT
from trajcompress.processes.late_patterns import late_re

_KEY = "structuredContent"
_STRUCTURED = late_re(rf"(\\{{0,8}}+\"){_KEY}\1\s{{0,4}}:\s{{0,4}}(?=\{{)")
_BRACE = late_re(r"[{}]")
_WRITING = late_re(r"\\+[nrt]|[\s\"'\\]+")  # what differs between a value and the same one in a string
_TAIL = 100  # characters of a text that was cut, with what is around it
_NAME = "{result:"  # under which what is no object stands


def without_copy(text: str) -> str:
    r"""Put a mark in the place of structured content where the text before it says the same; JSON stays JSON.

    >>> said = ", ".join(f'{{"id": {number}, "name": "n{number}"}}' for number in range(20))
    >>> copy = f'{{"text": "[{said}]", "structuredContent": {{"result": [{said}]}}}}'
    >>> without_copy(copy)[-80:]
    '": "n19"}]", "structuredContent": "[… the same again, 532 characters elided …]"}'
    """
    found = _STRUCTURED.search(text) if _KEY in text else None
    end = _end(text, found.end()) if found else 0
    if found is None or end - found.end() < LEAST_CUT:
        return text
    copy = _WRITING.sub("", text[found.end() : end])
    if copy.startswith(_NAME):
        copy = copy[len(_NAME) :].removesuffix("}")
    if copy not in _WRITING.sub("", text[: found.start()]):
        return text
    mark = f"[… the same again, {end - found.end():,} characters elided …]"
    return f"{text[: found.end()]}{found[1]}{mark}{found[1]}{text[end:]}"


def _end(text: str, start: int) -> int:
    """Return where the object that begins at a place ends; where its end was cut off, near the end of the text."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return max(len(text) - _TAIL, start)
