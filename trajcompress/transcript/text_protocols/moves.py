"""Moves: commands without any name, known by what answers them. Pure.

Where no prompt tells of an environment, a row may still be an agent's by what it does: each turn is a command or ends
with one, what comes back is output, nobody speaks, and the output takes up what the command said, or tells the state
again of which something changed. In a chat that fills in forms or sorts texts it is the assistant that takes up what
was said, and what follows is about something else; in one that shows commands, sentences stand around them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import mean, median

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.acted import Acted, after_thought
from trajcompress.transcript.text_protocols.addressing import addresses, tells
from trajcompress.transcript.text_protocols.bare_commands import is_code, terse_action
from trajcompress.transcript.text_protocols.feedback import is_parser
from trajcompress.transcript.text_protocols.openings import label_of, without_figures
from trajcompress.transcript.text_protocols.printed import is_output, printed
from trajcompress.transcript.text_protocols.written_calls import new_call, script_call
from trajcompress.transcript.trajectory import Turn

_LEAST = 3
_MOVES = 0.6  # of the turns that are answered
_OUTPUT = 0.7  # of what answers moves
_REPLY_CHARS = 20  # below that it may be a person's answer in a quiz
_TAKEN_UP = 0.04  # of the words of a reply, on average
_VERBS = (  # of games that are told in words, and directions
    "go|walk|run|move|take|get|pick|drop|put|insert|open|close|lock|unlock|look|examine|read|search|inventory|turn|switch"
    "|push|pull|press|use|eat|drink|wear|remove|give|show|tell|ask|talk|say|attack|kill|hit|break|climb|enter|exit|leave"
    "|wait|light|burn|tie|untie|dig|throw|wave|sit|stand|jump|swim|sleep|wake|listen|smell|touch|feel|taste|fill|pour"
    "|cook|slice|activate|deactivate|focus|connect|mix|heat|cool|clean|north|south|east|west|up|down|northeast"
    "|northwest|southeast|southwest|left|right|forward|backward|in|out|[nsewudxilz]|[ns][ew]"
    "|answer|knock|follow|shout|buy|sell|equip|cast|hide|cross|pray|greet|kiss|empty|play|ring|call"
)
_PLAYED = late_re(
    rf"(?:(?:.{{0,2000}}\n)?(?:[ \t>*_-]{{0,6}}(?:command|action|move)\**: ?)?)[ \t>*`]{{0,4}}(?:{_VERBS})\b"
    r"[^\n.!?]{0,60}\s{0,4}\Z",
    re.IGNORECASE | re.DOTALL,
)
_LABELS_MOVE = late_re(r"(?:\A|\n)[ \t>*_-]{0,6}(?:command|action|move)\**:\**[ \t]?\Z", re.IGNORECASE)
_REPEATED = 0.2
_FAR_MORE = 3
_MOSTLY = 0.75
_HALF = 0.5
_LEAST_CODE = 4
_LEAD_LETTERS = 5
_CODE_CHARS = 10  # below that it may be a move in a game, or a figure that somebody asked for
_TOLD_AGAIN = 0.4  # of the lines of a reply, on average: a state of which something changed
_LEAST_LINES = 3
_BEHIND_PROMPT = 0.75  # of the turns that are answered
_PROMPT_CHARS = 60
_PROMPT = late_re(  # of a debugger, a database, an interpreter, a device, a shell that names its host
    r"\s{0,8}(\([\w-]{2,20}\)|>>>|\?-|[a-z][\w-]{1,30}(?:\[[\w-]{1,30}\])?[=-]?[>#]|[\w-]{1,30}(?:\([\w-]{1,30}\))?[#>]"
    r"|[\w.-]{1,30}@[\w.-]{1,40}[: ][^\s$#]{0,60}[$#]|(?:In ?\[\d{1,4}\]|irb[^\n>]{0,20}|PS [^\n>]{1,60})[:>]) (?=\S)"
)
_HOW = late_re(  # who asks for the way goes it, and tells what came of it
    r"\bhow (?:do|can|could|should|would|to)\b|\bwie (?:kann|mache|geht|soll)\b|\bcomment (?:faire|puis|je|on)\b"
    r"|\bcómo\b|\bcom[oe] (?:posso|faço|faccio|si)\b|\bкак (?:мне|можно|сделать)\b|怎么|怎样|如何"
    r"|どうやって|どうすれば|어떻게"
)
_CALLED = late_re(r"\s{0,8}([^\W\d_][^\n,:，：]{4,30}[,:，：])")
_TASK_CHARS = 2_000
_WORD = late_re(r"[^\W_]{3,60}|\d{1,20}")


def find_moves(
    turns: Sequence[Turn], answered: Sequence[int], prints: Callable[[int], bool], is_chatty: Callable[[int], bool]
) -> Mapping[int, Acted]:
    """Return the turns of a row that are commands without a form, by the first of the ways in which such rows go.

    Args:
        turns: all turns of a row.
        answered: indices of turns of the assistant that a user turn follows.
        prints: whether the turn of an index may be what an environment prints.
        is_chatty: whether the turn of an index is what a person would say.
    """
    moves = _at_prompt(turns, answered) or _answered_by_state(turns, answered, prints) or _in_code(turns, answered)
    if moves:
        return moves
    moves = _led(turns, answered)
    return {} if any(is_chatty(i + 1) for i in moves) else moves


def _is_output(text: str) -> bool:
    return is_output(printed(text), text)


def _answered_by_state(
    turns: Sequence[Turn], answered: Sequence[int], prints: Callable[[int], bool]
) -> Mapping[int, Acted]:
    """Return the moves that replies take up, or that change something of a state which replies tell again."""
    read = {i: acted for i in answered if (acted := terse_action(turns[i].text))}
    moves = {i: acted for i, acted in read.items() if not addresses(_said_before(turns[i].text, acted))}
    if len(moves) < max(_LEAST, _MOVES * len(answered)):
        return {}
    if sum(turns[i].text.lstrip().startswith(("{", "<")) for i in moves) > (1 - _MOVES) * len(moves):
        return {}  # forms, in which a chat answers, too
    if sum(prints(i + 1) for i in moves) < _OUTPUT * len(moves):
        return {}
    replies = [turns[i + 1].text for i in moves]
    if median(map(len, replies)) < _REPLY_CHARS:
        return {}
    said = [turns[i].text for i in moves]
    taken = mean(map(_taken_up, said, replies))
    before = mean(map(_taken_up, said[1:], replies))
    told_again = mean(_told_again(first, then) for first, then in pairwise(replies))
    keeps = before > max(_REPEATED, _FAR_MORE * taken)  # what was said is told again, as in a diary
    return moves if not keeps and (taken >= _TAKEN_UP or told_again >= _TOLD_AGAIN) else {}


def game_moves(turns: Sequence[Turn], answered: Sequence[int]) -> Mapping[int, Acted]:
    """Return moves of which nearly all begin with verbs or directions of games that are told in words."""
    read = {i: acted for i in answered if (acted := terse_action(turns[i].text))}
    said = {i: _said_before(turns[i].text, acted) for i, acted in read.items()}
    moves = {i: acted for i, acted in read.items() if _LABELS_MOVE.search(said[i]) or not addresses(said[i])}
    played = sum(_PLAYED.match(turns[i].text[max(acted.start, 0) :]) is not None for i, acted in moves.items())
    if played < max(_LEAST, _MOSTLY * len(answered)):
        return {}
    replies = [turns[i + 1].text for i in moves]
    labels = Counter(label for text in replies if (label := label_of(text)) and ". " not in label)
    # As a person does who plays the world.
    speaks = max(labels.values(), default=0) >= _HALF * len(replies)
    # Of rooms it may tell the names alone.
    answers = median(map(len, replies)) >= _REPLY_CHARS or any(map(is_parser, replies))
    return moves if answers and not speaks else {}


def _in_code(turns: Sequence[Turn], answered: Sequence[int]) -> Mapping[int, Acted]:
    """Return the moves of a row in which turns are all of some language that is no tongue, and so is what answers.

    The task is told in words. Else it is a chat that works on such texts one by one; and one that tells of them takes
    all its words from what it was given. Nothing where any of it is not so.
    """
    reports = turns[-1].role == "assistant" and turns[-1].text[:1] != "{"  # else JSON may be all that is asked for
    code = [
        i
        for i in answered
        if is_code(turns[i].text) or (reports and turns[i].text[:1] == turns[i + 1].text[:1] == "{")
    ]
    read = {i: acted for i in code if (acted := terse_action(turns[i].text))}
    if len(read) < max(_LEAST_CODE, _MOSTLY * len(answered)) or _is_output(turns[answered[0] - 1].text):
        return {}
    replies = [turns[i + 1].text for i in answered]
    if sum(map(_is_output, replies)) < _MOSTLY * len(answered):
        return {}
    if sum(len(text.strip()) >= _CODE_CHARS for text in replies) < _HALF * len(replies):
        return {}
    said = [turns[i].text for i in answered]
    given = mean(_taken_up(before, text) for before, text in zip(replies, said[1:], strict=False))
    return read if len(set(said)) >= _HALF * len(said) and given < _HALF else {}


def _led(turns: Sequence[Turn], answered: Sequence[int]) -> Mapping[int, Acted]:
    """Return moves that begin with the same words until the last turn, which reports; nothing of a chat's template.

    What answers them takes up what they say, and they take up less of what stood before: in a diary, a review or a
    list of labels it is the other way round. Who asks how something is done does it, and tells what came of it.
    """
    moves = _with_lead(turns, answered)
    task = turns[answered[0] - 1].text if moves else ""
    if not moves or _is_output(task) or _HOW.search(task[:_TASK_CHARS].lower()):
        return {}
    said, replies = [turns[i].text for i in moves], [turns[i + 1].text for i in moves]
    if median(map(len, replies)) < _REPLY_CHARS or any(addresses(text) or tells(text) for text in said):
        return {}
    then = mean(map(_taken_up, said, replies))
    if then < _TAKEN_UP or then <= mean(map(_taken_up, said[1:], replies)):
        return {}
    return {i: Acted((new_call("", {"command": turns[i].text.strip()}),), "terse", 0) for i in moves}


def _with_lead(turns: Sequence[Turn], answered: Sequence[int]) -> list[int]:
    """Return the turns that begin with the same words, if nearly all do, but not one that ends the row."""
    leads = {i: _lead_of(turns[i].text) for i in answered}
    lead, times = Counter(leads.values()).most_common(1)[0] if leads else ("", 0)
    if times < max(_LEAST, _MOSTLY * len(answered)) or sum(map(str.isalpha, lead)) < _LEAD_LETTERS:
        return []
    goes_on = turns[-1].role == "assistant" and _lead_of(turns[-1].text) == lead
    return [] if goes_on or not lead[0].isalpha() else [i for i in answered if leads[i] == lead]


def _lead_of(text: str) -> str:
    """Return the label or the name that a turn begins with, else its first characters, whatever the figures."""
    called = _CALLED.match(text)
    return called[1] if called else without_figures(text.lstrip())


def _said_before(text: str, acted: Acted) -> str:
    return text[after_thought(text) : acted.start]


def _at_prompt(turns: Sequence[Turn], answered: Sequence[int]) -> Mapping[int, Acted]:
    """Return moves that all stand behind the prompt of one program, as ``(gdb) run``: no chat is written so."""
    found = {i: at for i in answered if (at := _PROMPT.match(turns[i].text))}
    prompts = {without_figures(at[1], _PROMPT_CHARS) for at in found.values()}
    if len(found) < max(_LEAST, _BEHIND_PROMPT * len(answered)) or len(prompts) > 1:
        return {}
    return {i: Acted((script_call("", turns[i].text[at.end() :].strip()),), "shape", 0) for i, at in found.items()}


def taken_up(exchanges: Iterable[tuple[str, str]]) -> bool:
    """Whether replies have words of what they answer, on average; of moves each with its reply."""
    shares = [_taken_up(move, reply) for move, reply in exchanges]
    return bool(shares) and mean(shares) >= _TAKEN_UP


def says_again(move: str, reply: str) -> bool:
    """Whether most words of a reply are those of what it answers."""
    return _taken_up(move, reply) > _HALF


def are_led_by(turns: Sequence[Turn], moves: Sequence[int]) -> bool:
    """Whether moves say again what stood before them, and replies do not say again what moves say: as in a chat."""
    given = mean(_taken_up(turns[i - 1].text, turns[i].text) for i in moves)
    return given >= _HALF and mean(_taken_up(turns[i].text, turns[i + 1].text) for i in moves) < given


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
