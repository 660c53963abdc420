"""Moves: commands without any name, known by what answers them. Pure.

Where no prompt tells of an environment, a row may still be an agent's by what it does: each turn is a command or ends
with one, what comes back is output, nobody speaks, and the output takes up what the command said, or tells the state
again of which something changed. In a chat that fills in forms or sorts texts it is the assistant that takes up what
was said, and what follows is about something else; in one that shows commands, sentences stand around them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import mean, median

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.acted import Acted, after_thought
from trajcompress.transcript.bare_commands import is_code, terse_action
from trajcompress.transcript.openings import without_figures
from trajcompress.transcript.trajectory import Turn
from trajcompress.transcript.written_calls import script_call

_LEAST = 3
_MOVES = 0.6  # of the turns that are answered
_OUTPUT = 0.7  # of what answers moves
_REPLY_CHARS = 20  # below that it may be a person's answer in a quiz
_TAKEN_UP = 0.04  # of the words of a reply, on average
_MOSTLY = 0.75
_HALF = 0.5
_LEAST_CODE = 4
_CODE_CHARS = 10  # below that it may be a move in a game, or a figure that somebody asked for
_TOLD_AGAIN = 0.4  # of the lines of a reply, on average: a state of which something changed
_LEAST_LINES = 3
_BEHIND_PROMPT = 0.75  # of the turns that are answered
_PROMPT_CHARS = 60
_PROMPT = late_re(  # of a debugger, a database, an interpreter, a device, a shell that names its host
    r"\s{0,8}(\([\w-]{2,20}\)|>>>|\?-|[a-z][\w-]{1,30}(?:\[[\w-]{1,30}\])?[=-]?[>#]|[\w-]{1,30}(?:\([\w-]{1,30}\))?[#>]"
    r"|[\w.-]{1,30}@[\w.-]{1,40}[: ][^\s$#]{0,60}[$#]|(?:In ?\[\d{1,4}\]|irb[^\n>]{0,20}|PS [^\n>]{1,60})[:>]) (?=\S)"
)
_WORD = late_re(r"[^\W_]{3,60}|\d{1,20}")


def moves_of(
    turns: Sequence[Turn],
    answered: Sequence[int],
    is_output: Callable[[int], bool],
    addresses: Callable[[str], bool],
) -> Mapping[int, Acted]:
    """Return the moves among some turns, each answered by the next; nothing where they are not an agent's.

    Args:
        turns: all turns of a row.
        answered: assistant turns that a user turn follows.
        is_output: whether the turn of an index may be what an environment prints.
        addresses: whether words before a move are said to somebody.
    """
    read = {i: acted for i in answered if (acted := terse_action(turns[i].text))}
    moves = {i: acted for i, acted in read.items() if not addresses(_said_before(turns[i].text, acted))}
    if len(moves) < max(_LEAST, _MOVES * len(answered)):
        return {}
    if sum(turns[i].text.lstrip().startswith(("{", "<")) for i in moves) > (1 - _MOVES) * len(moves):
        return {}  # forms, in which a chat answers, too
    if sum(is_output(i + 1) for i in moves) < _OUTPUT * len(moves):
        return {}
    replies = [turns[i + 1].text for i in moves]
    if median(map(len, replies)) < _REPLY_CHARS:
        return {}
    taken_up = mean(_taken_up(turns[i].text, reply) for i, reply in zip(moves, replies, strict=True))
    if taken_up >= _TAKEN_UP:
        return moves
    told_again = mean(_told_again(first, then) for first, then in pairwise(replies))
    return moves if told_again >= _TOLD_AGAIN else {}


def exchanged(
    turns: Sequence[Turn], answered: Sequence[int], is_output: Callable[[str], bool]
) -> Mapping[int, Acted]:
    """Return the moves of a row in which turns are all of some language that is no tongue, and so is what answers.

    The task is told in words. Else it is a chat that works on such texts one by one; and one that tells of them takes
    all its words from what it was given. Nothing where any of it is not so.
    """
    read = {i: acted for i in answered if is_code(turns[i].text) and (acted := terse_action(turns[i].text))}
    if len(read) < max(_LEAST_CODE, _MOSTLY * len(answered)) or is_output(turns[answered[0] - 1].text):
        return {}
    replies = [turns[i + 1].text for i in answered]
    if sum(map(is_output, replies)) < _MOSTLY * len(answered):
        return {}
    if sum(len(text.strip()) >= _CODE_CHARS for text in replies) < _HALF * len(replies):
        return {}
    said = [turns[i].text for i in answered]
    given = mean(_taken_up(before, text) for before, text in zip(replies, said[1:], strict=False))
    return read if len(set(said)) >= _HALF * len(said) and given < _HALF else {}


def _said_before(text: str, acted: Acted) -> str:
    return text[after_thought(text) : acted.start]


def at_prompt(turns: Sequence[Turn], answered: Sequence[int]) -> Mapping[int, Acted]:
    """Return moves that all stand behind the prompt of one program, as ``(gdb) run``: no chat is written so."""
    found = {i: at for i in answered if (at := _PROMPT.match(turns[i].text))}
    prompts = {without_figures(at[1], _PROMPT_CHARS) for at in found.values()}
    if len(found) < max(_LEAST, _BEHIND_PROMPT * len(answered)) or len(prompts) > 1:
        return {}
    return {i: Acted((script_call("", turns[i].text[at.end() :].strip()),), "shape", 0) for i, at in found.items()}


def _taken_up(move: str, reply: str) -> float:
    """Return which share of a reply's words its move has, too."""
    words = _words(reply)
    return len(words & _words(move)) / max(len(words), 1)


def _told_again(first: str, then: str) -> float:
    """Return which share of a reply's lines the one before it has, too; 0 of a few lines."""
    lines = then.strip().split("\n")
    before = set(first.split("\n"))
    return sum(line in before for line in lines) / len(lines) if len(lines) >= _LEAST_LINES else 0.0


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text[:4_000].lower()))
