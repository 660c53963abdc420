"""Cutting a text where its tokens are known to be those of its pieces.

A tokenizer looks for added tokens before it does anything else to a text, and does everything else to what stands
between them, each part alone. So nothing reaches across the start of a message where a template begins messages with
such a token.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from trajcompress.tokens.engines import PROBE, Engine

CUT = "\ufdd0"
"""Ends a part of a text that is tokenized by itself; a code point that is no character, so no text has it."""

_NO_PART_OF_WORDS = frozenset(string.punctuation) - {"_"}


def find_delimiters(tokenizer: Any, engine: Engine, gaps: Iterable[str]) -> tuple[str, ...]:
    """Return tokens in front of which texts may be cut: as few as have one in each gap where there is such a token.

    The ``gaps`` are what a template writes between messages. The engine, which counts the probe, has a veto.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or backend.encode_special_tokens:
        return ()
    added = backend.get_added_tokens_decoder().values()
    contents = [token.content for token in added]
    chosen: list[str] = []
    left = "".join(gaps := list(gaps))
    delimiters = [token.content for token in added if token.content in left and _stands_alone(token, contents)]
    delimiters.sort(key=left.rindex, reverse=True)  # of two in each gap the later one begins messages
    while delimiters:
        best = max(delimiters, key=lambda token: sum(token in gap for gap in gaps))
        delimiters.remove(best)
        if any(best in gap for gap in gaps) and _adds_up(engine, best):
            chosen.append(best)
            gaps = [gap for gap in gaps if best not in gap]
    return tuple(chosen)


def cut(text: str, delimiters: Iterable[str]) -> list[str]:
    """Return the pieces of a text, cut in front of each delimiter."""
    pieces = [text]
    for delimiter in delimiters:
        pieces = [piece for uncut in pieces for piece in _cut(uncut, delimiter)]
    return pieces


def _cut(text: str, delimiter: str) -> list[str]:
    first, *others = text.split(delimiter)
    pieces = [delimiter + other for other in others]
    return [first, *pieces] if first or not pieces else pieces


def _stands_alone(token: Any, contents: Iterable[str]) -> bool:
    """Tell whether a token is found wherever it stands, and nothing before it depends on what it is."""
    delimiter: str = token.content
    return (
        token.special
        and not (token.normalized or token.lstrip or token.single_word)
        and delimiter[0] in _NO_PART_OF_WORDS  # else a token before it might be no word of its own, or strip it
        and not any(_reaches_into(content, delimiter) for content in contents)
    )


def _reaches_into(content: str, delimiter: str) -> bool:
    """Tell whether an added token may begin before a delimiter and end in it or after it, or be a longer one."""
    ends = (content[start:] for start in range(1, len(content)))
    return (content != delimiter and content.startswith(delimiter)) or any(
        end.startswith(delimiter) or delimiter.startswith(end) for end in ends
    )


def _adds_up(engine: Engine, delimiter: str) -> bool:
    whole = [before + delimiter + after for before, after in pairwise((*PROBE, *PROBE[::-1]))]
    whole += [delimiter.join(PROBE), delimiter * 3]
    return engine.count(whole) == [sum(engine.count(cut(text, [delimiter]))) for text in whole]
