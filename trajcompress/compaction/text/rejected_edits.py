"""What SWE-agent's editor shows of an edit that it did not apply: how it would look, and the code as it is."""

from __future__ import annotations

from trajcompress.compaction.text.middle import LEAST_CUT, cut_out
from trajcompress.facts.parts import Part, Wanted

_ORIGINAL = "This is the original code before your edit\n"
_RULE = "\n" + "-" * 20


def without_original(text: str, limit: int, keep: Wanted) -> str:
    """Cut the code before a rejected edit out of a text over ``limit``: it was shown before, and is what it was.

    Where later calls quote it, it stays.
    """
    heading = text.find(_ORIGINAL) if len(text) > limit else -1
    start = text.find("\n", text.find(_RULE, heading) + 1) if heading >= 0 else -1
    end = text.find(_RULE, start) + 1 if start >= 0 else 0
    if end - start < LEAST_CUT or any("\n" in block and block in text[start:end] for block in keep):
        return text
    return cut_out(text, [Part(start, end)])
