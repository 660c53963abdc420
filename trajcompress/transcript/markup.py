"""Chat markup in text that is to become a turn: special tokens, tags of calls, and role markers. Pure.

In a summary each of them would open a role, a call or a result where there is none. Text that must name one has it
broken by a space, which a reader sees through and a tokenizer does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from trajcompress.processes.late_patterns import late_re

_MARKUP = late_re(
    r"</?(?:tool_calls?|tool_responses?|tool_use|tool_results?|function_calls?|function_responses?|function_results?"
    r"|invoke|function(?==)|parameter(?==))(?:[ =][^<>\n]{0,80})?>"
    r"|<[|｜][^<>|｜\n]{1,80}[|｜]>"
    r"|</?(?:start|end)_of_(?:turn|text|role|image)>|</?im_(?:start|end)>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\]|<</?SYS>>",
    re.IGNORECASE,
)
_SHORTEST = 3


def telling_tokens(tokens: Iterable[str]) -> tuple[str, ...]:
    """Return the special tokens to look for by name, each once: no common words, and none that is markup anyway."""
    return tuple(
        dict.fromkeys(
            token
            for token in tokens
            if len(token) >= _SHORTEST
            and not token.isalnum()
            and token.isprintable()
            and not _MARKUP.fullmatch(token)
        )
    )


def find_markup(text: str, special_tokens: Iterable[str] = ()) -> list[str]:
    """Return the markup in a text, each once."""
    found = dict.fromkeys(match[0] for match in _MARKUP.finditer(text))
    found |= dict.fromkeys(token for token in special_tokens if token in text)
    return list(found)


def break_markup(text: str, special_tokens: tuple[str, ...] = ()) -> str:
    """Return the text with a space behind the first character of all markup, so that it is none any more."""
    while markup := find_markup(text, special_tokens):
        for each in markup:
            text = text.replace(each, f"{each[0]} {each[1:]}")
    return text
