"""What was found that a turn has executed, and which part of its text may be an action. Pure."""

from __future__ import annotations

from typing import Literal, NamedTuple

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.trajectory import ToolCall

Sure = Literal["named", "shape", "terse"]
"""``named``: the form has a name that nobody uses in a chat; ``shape``: a chat may show code or commands like it;
``terse``: a short line, no sentence, which is a command only to who knows that commands are given."""


class Acted(NamedTuple):
    """The actions of one turn, in order, what says so, and where the first of them begins in the text."""

    calls: tuple[ToolCall, ...]
    sure: Sure
    start: int


_THOUGHT = late_re(r"<(think|thinking|thought|reasoning)>")
_END_TOKEN = late_re(r"\s{0,4}(?:</s>|<\|(?:im_end|eot_id|endoftext|end)\|>|<end_(?:action|code)>)\s{0,4}\Z")
_END_TOKEN_CHARS = 40
SCAN_CHARS = 40_000
"""At the end of a turn so many characters are looked through for actions."""
_RULE = f"\n{'-' * 80}"


def after_thought(text: str) -> int:
    """Return where a turn goes on behind what it thinks in tags; 0 where it has none, or does not end it."""
    opened = _THOUGHT.search(text[:2000])
    if opened is None:
        end = text.find("</think>")
        return end + len("</think>") if end >= 0 else 0
    closed = text.find(f"</{opened[1]}>", opened.end())
    return closed + len(opened[1]) + 3 if closed >= 0 else 0


def without_end_token(text: str) -> str:
    """Return a turn without the token of a chat template, or the rule of a console, that was left at its end."""
    text = text.rstrip()
    if text.endswith(_RULE):
        text = text.rstrip("-").rstrip()
    if text.endswith(">") and (ended := _END_TOKEN.search(text, max(len(text) - _END_TOKEN_CHARS, 0))):
        return text[: ended.start()].rstrip()
    return text
