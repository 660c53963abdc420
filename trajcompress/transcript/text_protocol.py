"""A row's text protocol in words: what its observations begin with, and what each of its turns is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Literal, TypeAlias

from trajcompress.json_values import parse_json
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.observations import said_beside
from trajcompress.transcript.summary_marks import without_summary
from trajcompress.transcript.text_protocols.observation_parts import in_observation
from trajcompress.transcript.text_protocols.result_labels import NAMED_RESULT
from trajcompress.transcript.trajectory import ToolCall, Turn

Part: TypeAlias = Literal["action", "observation", "observation and request", "worked example"]

_BEGIN_CHARS = 60
_ACTION_CHARS = 60
_READ_CHARS = 2_000
_AROUND = " \t\n:：*#"
_END = late_re(r"[\d:：]")  # what comes behind is of one observation alone
_OF_CALL = late_re(rf"\A\s{{0,8}}{NAMED_RESULT}")
"""What Cline and its kin name a call by before its result: the tool and its argument are of one observation alone."""
_MOST_BEGINNINGS = 40
_NAMED_BEGINNINGS = 3
_RARE = 5
"""A beginning that is so many times rarer than the most frequent one is not named."""


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


def explain_text_protocol(recognised: int, rows: int, beginnings: Mapping[str, int]) -> str:
    """Say in how many of the rows a text protocol was recognised, and by what.

    >>> explain_text_protocol(2, 1200, {"Observation": 9}).partition(";")[0]
    'text protocol: 2 of 1,200 rows'
    """
    frequent = sorted(filter(_has_letters, beginnings), key=lambda begin: (-beginnings[begin], begin))[
        :_NAMED_BEGINNINGS
    ]
    named = [_quoted(begin) for begin in frequent if beginnings[begin] * _RARE >= beginnings[frequent[0]]]
    if len(beginnings) == 1 and named:
        which = f"that begin with {named[0]}"
    elif named:
        which = f"that answer an action, such as those that begin with {' or '.join(named)}"
    else:
        which = "that answer an action"
    return (
        f"text protocol: {recognised:,} of {rows:,} rows; observations are user turns {which}; "
        "--observations tool reads tool roles alone"
    )


def beginnings_of(turns: Sequence[Turn]) -> dict[str, int]:
    """Return what observations of a row begin with, each with how many do; "" where it is nothing of a protocol's.

    It is the words of their wrapper, as many as wrappers with the same first word have in common, without digits and
    colons and what comes behind them; without any wrapper what all observations have in common.
    """
    texts = [without_summary(turn.text) for turn in turns if turn.in_text and turn.answers]
    wrappers = [_words(text[: in_observation(text).start]) for text in texts]
    if any(wrappers):
        return merged_beginnings({}, [(_joined(words), 1) for words in wrappers])
    words = _common([_words(text) for text in texts]) if len(texts) > 1 else ()
    return {_joined(words): len(texts)} if texts else {}


def merged_beginnings(beginnings: Mapping[str, int], more: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Add up beginnings: those with the same first word are one, as long as both have the same words."""
    merged = dict(beginnings)
    by_first = {_first_word(begin): begin for begin in merged}
    for begin, count in more:
        is_kept = _first_word(begin) in by_first or len(merged) < _MOST_BEGINNINGS  # hostile rows bring many
        new = begin if is_kept else ""
        first = _first_word(new)
        known = by_first.get(first, new)
        both = new if known == new else " ".join(_common([known.split(), new.split()]))
        before = merged.pop(known, 0)
        merged[both] = before + count
        by_first[first] = both
    return merged


def _joined(words: Sequence[str]) -> str:
    begin = " ".join(words).strip(_AROUND)
    if len(begin) > _BEGIN_CHARS:  # a word of its own marks that it goes on
        begin = f"{begin[:_BEGIN_CHARS].rpartition(' ')[0].rstrip(_AROUND) or begin[:_BEGIN_CHARS]} …"
    return begin if _has_letters(begin) else ""


def _quoted(begin: str) -> str:
    return f"“{begin}”" if '"' in begin else f'"{begin}"'


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


def _first_word(begin: str) -> str:
    return begin.partition(" ")[0]


def _words(text: str) -> list[str]:
    """Return the words that a text begins with, up to the first digit or colon."""
    shown = _OF_CALL.sub(
        lambda found: "[… for '…'] Result" if " for " in found[0] else "[…] Result", text[: 8 * _BEGIN_CHARS], count=1
    )
    return _END.split(shown[: 4 * _BEGIN_CHARS], maxsplit=1)[0].split()


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
