"""A row's text protocol in words: what its observations begin with, and what each of its turns is. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Literal, TypeAlias

from trajcompress.json_values import parse_json
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.observations import said_beside
from trajcompress.transcript.summary_marks import without_summary
from trajcompress.transcript.text_protocols.observation_parts import in_observation
from trajcompress.transcript.trajectory import ToolCall, Turn

Part: TypeAlias = Literal["action", "observation", "observation and request", "worked example"]

_BEGIN_CHARS = 60
_ACTION_CHARS = 60
_READ_CHARS = 2_000
_AROUND = " \t\n:：*#"
_END = late_re(r"[\d:：]")  # what comes behind is of one observation alone


def has_text_protocol(turns: Iterable[Turn]) -> bool:
    """Whether observations of a row were recognised in plain text."""
    return any(turn.in_text and turn.answers for turn in turns)


def count_observations(turns: Iterable[Turn]) -> int:
    """Count the turns that hold results, whatever their roles."""
    return sum(bool(turn.answers) or turn.role == "tool" for turn in turns)


def part_of(turn: Turn) -> Part | None:
    """Return what a turn is to a text protocol, None where it is no more than its role says."""
    if turn.example:
        return "worked example"
    if not turn.in_text:
        return None
    if turn.answers:
        return "observation and request" if said_beside(turn) else "observation"
    return "action" if turn.calls else None


def action_label(calls: Iterable[ToolCall]) -> str:
    """Return what actions run, on one short line: names and arguments without their keys."""
    text = "; ".join(filter(None, (f"{call.name} {_arguments(call)}".strip() for call in calls)))
    return text if len(text) <= _ACTION_CHARS else f"{text[: _ACTION_CHARS - 1].rstrip()}…"


def explain_text_protocol(recognised: int, rows: int, begin: str) -> str:
    """Say in how many of the rows a text protocol was recognised, and by what.

    >>> explain_text_protocol(2, 1200, "Observation").partition(";")[0]
    'text protocol: 2 of 1,200 rows'
    """
    which = f'that begin with "{begin}"' if begin else "that answer an action"
    return (
        f"text protocol: {recognised:,} of {rows:,} rows; observations are user turns {which}; "
        "--observations tool reads tool roles alone"
    )


def beginning_of(turns: Sequence[Turn]) -> str:
    """Return what the observations of a row begin with: words of their wrapper, else those that all have in common.

    Digits and colons, and what comes behind them, are left out; nothing where there is no such beginning.
    """
    texts = [without_summary(turn.text) for turn in turns if turn.in_text and turn.answers]
    wrappers = [found for text in texts if (found := _words(text[: in_observation(text).start]))]
    words: Sequence[str] = ()
    if wrappers:
        words = _common(wrappers) or Counter(map(tuple, wrappers)).most_common(1)[0][0]
    elif len(texts) > 1:
        words = _common([_words(text) for text in texts])
    begin = " ".join(words).strip(_AROUND)
    return begin[:_BEGIN_CHARS] if any(map(str.isalpha, begin)) else ""


def _words(text: str) -> list[str]:
    """Return the words that a text begins with, up to the first digit or colon."""
    return _END.split(text[: 4 * _BEGIN_CHARS], 1)[0].split()


def _common(texts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    same = takewhile(lambda words: len(set(words)) == 1, zip(*texts, strict=False))
    return tuple(words[0] for words in same)


def _arguments(call: ToolCall) -> str:
    value: object = call.arguments
    if len(call.arguments) <= _READ_CHARS:
        try:
            value = parse_json(call.arguments, strict=False)
        except ValueError:
            value = call.arguments
    values = value.values() if isinstance(value, dict) else [value]
    return " ".join(" ".join(each if isinstance(each, str) else str(each) for each in values).split())
