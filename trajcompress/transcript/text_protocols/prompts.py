"""What stands before the first reply of a row: whether it tells of an environment that answers commands. Pure.

The phrases by which prompts tell so are in ``prompts.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import islice
from typing import Any

from msgspec import Struct

from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.transcript.trajectory import Turn

PROMPT_CHARS = 12_000  # of each turn
_MOST_CHARS = 4 * PROMPT_CHARS
_REMEMBERED = 64  # prompts, as the rows of a data set share a few
_MOST_SENTENCES, _SENTENCE_CHARS = 20, 200
_END = late_re(r"[.!?。！？\n]")
_PROMISED, _SAID_TO_YOU = "promised", "said_to_you"


class _Phrases(Struct, frozen=True):
    """What is found by a pattern, and strings of which one is a part of it, where that is known."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]

    def stand_in(self, text: str) -> bool:
        return self.may_stand_in(text) and self.pattern.search(text) is not None

    def may_stand_in(self, text: str) -> bool:
        return not self.hints or holds_any(text, self.hints)


def prompt_of(turns: Sequence[Turn], role: str = "") -> str:
    """Return what stands before the first reply of a row, of many turns what the first and the last say.

    Args:
        turns: all turns of a row.
        role: whose turns alone are read; all if empty.
    """
    first = next((at for at, turn in enumerate(turns) if turn.role == "assistant"), 0)
    prompt = "\n".join(turn.text[:PROMPT_CHARS] for turn in turns[:first] if role in {"", turn.role})
    return prompt if len(prompt) <= _MOST_CHARS else f"{prompt[: _MOST_CHARS // 2]}\n{prompt[-_MOST_CHARS // 2 :]}"


@lru_cache(maxsize=_REMEMBERED)
def sets_up(prompt: str, system: str = "") -> bool:
    """Whether a prompt tells of an environment that commands are given to, and that answers them.

    Args:
        prompt: all that stands before the first reply.
        system: what of it stands in system turns.
    """
    return tells_of_answers(prompt) or has_form(prompt) or _promises(system.lower(), prompt.lower())


@lru_cache(maxsize=_REMEMBERED)
def has_form(prompt: str) -> bool:
    """Whether a prompt tells how commands are to be written: chats may be asked for these, too."""
    return _says("form", prompt)


@lru_cache(maxsize=_REMEMBERED)
def tells_of_answers(prompt: str) -> bool:
    """Whether a prompt tells that something answers commands, and not only how they are to be written."""
    return _says("answered", prompt)


@lru_cache(maxsize=_REMEMBERED)
def has_it_played(prompt: str) -> bool:
    """Whether a person has the assistant play an environment: it is the person who gives commands."""
    return _says("played", prompt)


@lru_cache(maxsize=_REMEMBERED)
def is_relayed(prompt: str) -> bool:
    """Whether a prompt says that a person does what is written, and tells what comes of it."""
    return _says("relayed", prompt)


def _says(what: str, prompt: str) -> bool:
    prompt = prompt.lower()
    return any(phrases.stand_in(prompt) for phrases in _phrases()[what])


def _promises(system: str, asked: str) -> bool:
    """Whether a prompt, in small letters, says that a program takes or answers what is written.

    Args:
        system: its system turns. What these say of programs is said to whoever is to work with them.
        asked: all of it. A person who asks for help tells what programs do as well, but not to you.
    """
    (you,) = _phrases()[_SAID_TO_YOU]
    for phrases in _phrases()[_PROMISED]:
        if phrases.stand_in(system):
            return True
        if phrases.may_stand_in(asked) and any(map(you.stand_in, _sentences(phrases.pattern, asked))):
            return True
    return False


def _sentences(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield the sentences in which a pattern is found."""
    for found in islice(pattern.finditer(text), _MOST_SENTENCES):
        before = text[max(found.start() - _SENTENCE_CHARS, 0) : found.start()]
        behind = text[found.end() : found.end() + _SENTENCE_CHARS]
        yield _END.split(before)[-1] + found[0] + _END.split(behind, 1)[0]


@cache
def _phrases() -> Mapping[str, Sequence[_Phrases]]:
    """Load the phrases by what they say."""
    import tomllib  # most rows name their observations

    text = (resources.files("trajcompress.transcript.text_protocols") / "prompts.toml").read_text("utf-8")
    tables: dict[str, Any] = tomllib.loads(text)
    names: dict[str, str] = tables.pop("names")
    return {what: [_made(entry, names) for entry in entries] for what, entries in tables.items()}


def _made(entry: Mapping[str, Any], names: Mapping[str, str]) -> _Phrases:
    pattern = f"{entry.get('begins', '')}(?:{'|'.join(entry['any'])})"
    for name, meant in names.items():
        pattern = pattern.replace(f"<{name}>", meant)
    return _Phrases(tuple(entry.get("hints", ())), late_re(pattern))
