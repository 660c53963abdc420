"""What a result says twice: as text, and once more as structured content, as the Model Context Protocol has it."""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.compaction.text.middle import LEAST_CUT
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.summary_marks import elided

_KEY = "structuredContent"
_STRUCTURED = late_re(rf"(\\{{0,8}}+\"){_KEY}\1\s{{0,4}}:\s{{0,4}}(?=\{{)")
_BRACE = late_re(r"[{}]")
_WRITING = late_re(r"(?:\\{1,16}[nrt]|[\s\"'\\])+")  # what differs between a value and the same one in a string
_TAILS = (0, 12, 100)  # characters of a text that was cut, that say so, or are around it
_NAME = "{result:"  # under which what is no object stands


def without_copy(text: str) -> str:
    r"""Put a mark in the place of structured content where the text before it says the same; JSON stays JSON.

    >>> said = ", ".join(f'{{"id": {number}, "name": "n{number}"}}' for number in range(20))
    >>> copy = f'{{"text": "[{said}]", "structuredContent": {{"result": [{said}]}}}}'
    >>> without_copy(copy)[-80:]
    '": "n19"}]", "structuredContent": "[… the same again, 532 characters elided …]"}'
    """
    found = _STRUCTURED.search(text) if _KEY in text else None
    if found is None:
        return text
    said = _WRITING.sub("", text[: found.start()])
    for end in _ends(text, found.end()):
        if end - found.end() < LEAST_CUT:
            break
        copy = _WRITING.sub("", text[found.end() : end])
        if copy.startswith(_NAME):
            copy = copy[len(_NAME) :].removesuffix("}")
        if copy in said:
            mark = elided(end - found.end(), where="the same again, ")
            return f"{text[: found.end()]}{found[1]}{mark}{found[1]}{text[end:]}"
    return text


def _ends(text: str, start: int) -> Sequence[int]:
    """Return where the object that begins at a place may end; where its end was cut off, near the end of the text."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return (brace.end(),)
    return [len(text) - tail for tail in _TAILS]
