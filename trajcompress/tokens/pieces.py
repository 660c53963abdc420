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

from trajcompress.tokens.chat_template import ChatTemplate
from trajcompress.tokens.engines import Engine
from trajcompress.tokens.probe import PROBE

_NO_PART_OF_WORDS = frozenset(string.punctuation) - {"_"}


def find_delimiter(tokenizer: Any, engine: Engine, template: ChatTemplate) -> str | None:
    """Return the token in front of which texts may be cut; None where no token that the template repeats allows it.

    The probe has a veto.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or backend.encode_special_tokens:
        return None
    sample = template.sample()
    added = backend.get_added_tokens_decoder().values()
    contents = [token.content for token in added]
    repeated = [token for token in added if token.special and sample.count(token.content) > 1]
    repeated.sort(key=lambda token: (-sample.count(token.content), sample.index(token.content)))
    for token in repeated:
        if _stands_alone(token, contents) and _adds_up(engine, token.content):
            return str(token.content)
    return None


def cut(text: str, delimiter: str | None) -> list[str]:
    """Return the pieces of a text, cut in front of each delimiter."""
    if delimiter is None:
        return [text]
    first, *others = text.split(delimiter)
    pieces = [delimiter + other for other in others]
    return [first, *pieces] if first or not pieces else pieces


def _stands_alone(token: Any, contents: Iterable[str]) -> bool:
    """Tell whether a token is found wherever it stands, and nothing before it depends on what it is."""
    delimiter: str = token.content
    return (
        not (token.normalized or token.lstrip or token.single_word)
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
    return engine.count(whole) == [sum(engine.count(cut(text, delimiter))) for text in whole]
