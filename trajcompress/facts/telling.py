"""The words that a fact stands in: a name alone tells nobody what it is the name of."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from trajcompress.facts.json_words import words_in_json
from trajcompress.facts.markup import linked, shown
from trajcompress.facts.parts import words_at
from trajcompress.facts.reading import is_told, is_whole, mentions, readable
from trajcompress.json_values import parse_json
from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.text_protocols.actions import find_actions
from trajcompress.transcript.text_protocols.result_labels import NAMED_RESULT
from trajcompress.transcript.trajectory import Turn

_BESIDE_CHARS = 60  # of a figure that stands for itself
_AHEAD, _BEHIND = 60, 40
_SCRIPT_CHARS = 40
_JOINED_CHARS = 240
_READ_CHARS = 40_000  # of a text, from its end and its beginning
_ESCAPES = late_re(r"\\+[nrt]")
_NUMBER = late_re(r"\A\s{0,8}\d{1,7}(?:[\t→]| ?\|\s)")  # of a line of a file that is shown
_JSON_PAIR = late_re(r'"([\w .-]{1,40})"\s?: ?(?:"([^"]{1,300})"|(-?\d[\w.+-]{0,40}|true|false|null)),?')
_BEGUN_PAIR = late_re(r'[{,\s]{0,8}"([\w .-]{1,40})"\s?: ?"(?=[^"]*\Z)')
_ADDED = late_re(r"\A\+(?=[^\s\d+])(?:- )?")  # by a patch
_BARE_ITEMS = 3
_MOST_BARE, _ALONE_CHARS = 20, 24
_IN_CALL, _IN_REPLY = "in a call: ", "in a reply: "
_DATA = frozenset("{[")
_COMMANDS = frozenset({"command", "cmd"})
_SCRIPTS = (*_COMMANDS, "code", "script")  # arguments that say themselves what they are
_JOINTS = late_re(r" (?:&&|\|\|) |; ")
_ITEM = late_re(r"[^\s,;]+(?: [^\s,;]+)?")
_TAGS = late_re(r"\A(?:<[a-zA-Z][\w-]{0,40}>)+(?=.)|(?<=.)(?:</[a-zA-Z][\w-]{0,40}>)+\Z")  # of a text protocol
_HEADER = late_re(rf"\A{NAMED_RESULT}\s{{0,8}}")  # of a text protocol: of what it is the result
_LABEL = late_re(r"(?:[-*+•] +)?(?:[Aa]lso (?:needed later|seen): )?")


class Told(NamedTuple):
    """The words that a fact stands in, and the place of the turn that tells it: None where that is not known."""

    words: str
    turn: int | None = None


class _Place(NamedTuple):
    """Where a fact stands in a text."""

    start: int
    end: int
    fact: str


class _Given(NamedTuple):
    """A text of a turn: what says that the agent gives it, if it does, and what of it are calls."""

    text: str
    by: str = ""
    calls: str = ""

    def named(self, facts: Sequence[str]) -> str:
        """Return what says so of facts."""
        return _IN_CALL if self.calls and all(fact in self.calls for fact in facts) else self.by


def telling_lines(text: str) -> str:
    """Return the lines of a summary that say something of what they name: not bare lists of names."""
    if ", " not in text:
        return text
    return "\n".join(line for line in text.split("\n") if not _is_bare(line))


def _is_bare(line: str) -> bool:
    if line.count(", ") < _BARE_ITEMS - 1 or "→" in line or "=" in line or '"' in line:
        return False
    rest = line[_LABEL.match(line).end() :]  # type: ignore[union-attr] # it may be empty, so it matches
    return all(_ITEM.fullmatch(item.strip()) for item in rest.split(", "))


def around(fact: str, text: str) -> str:
    """Return a fact with its line or sentence, the last place where it stands on its own; else nothing."""
    place = last_place(fact, text)
    return _told(text, place, place + len(fact), [fact]) if place >= 0 else ""


def words_around(facts: Sequence[str], turns: Sequence[Turn], others: Iterable[str] = ()) -> dict[str, str]:
    """Return for each fact the words that it stands in, the last time that one of the turns tells it, else itself.

    What the agent says of it comes after what others tell, and is named as that, as it is no outcome.

    Facts that stand close together on a line have the same words.

    Args:
        facts: what to find.
        turns: what tells them.
        others: earlier summaries, which may tell what no turn does.
    """
    return {fact: told.words for fact, told in told_where(facts, turns, others).items()}


def told_where(facts: Sequence[str], turns: Sequence[Turn], others: Iterable[str] = ()) -> dict[str, Told]:
    """Return for each fact what :func:`words_around` does, and which of the turns tells it."""
    if not facts:
        return {}
    latest = [
        (index, turn)
        for own in (False, True)
        for index, turn in reversed([*enumerate(turns)])
        if (turn.role == "assistant") is own
    ]
    given = [(index, text) for index, turn in latest for text in _texts(turn)]
    texts = [*(_short(each.text) for _, each in given), *(other.removeprefix(SUMMARY_PREFIX) for other in others)]
    plain = cache(lambda number: shown(texts[number]))
    found: dict[int, list[_Place]] = {}
    words = {fact: Told(fact) for fact in facts}
    for fact in facts:
        told = _first_telling(fact, texts, plain)
        if isinstance(told, str):
            words[fact] = Told(told)
        elif told:
            found.setdefault(told[0], []).append(told[1])
    for number, alone in found.items():
        places = _together(plain(number), alone)
        index, each = given[number] if number < len(given) else (None, _Given(""))
        for said, near in _in_words(plain(number), places):
            words |= dict.fromkeys(near, Told(said if said in near else f"{each.named(near)}{said}", index))
    return words


def _first_telling(fact: str, texts: Sequence[str], plain: Callable[[int], str]) -> tuple[int, _Place] | str | None:
    """Return which text says something of a fact, and where; else one that has it alone, as a line's number may be.

    Of what is not shown it is the link.
    """
    bare: tuple[int, _Place] | None = None
    for number, text in enumerate(texts):
        if fact not in text:
            continue
        if fact in plain(number) and (at := telling_place(fact, plain(number))) >= 0:
            if not _is_alone(plain(number), at, at + len(fact)):
                return number, _Place(at, at + len(fact), fact)
            bare = bare or (number, _Place(at, at + len(fact), fact))
        elif not bare and (at := last_place(fact, text)) >= 0:
            link = linked(text, at)
            return link if mentions(link, fact) else fact
    return bare


def _in_words(text: str, places: Sequence[_Place]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the words that facts stand in, each with those that it is for: of JSON their values with their keys."""
    in_json = words_in_json([place.fact for place in places], text)
    yield from ((told, [fact]) for fact, told in in_json.items())
    for start, end, near in _joined(text, sorted(place for place in places if place.fact not in in_json)):
        yield _told(text, start, end, near), near


def _together(text: str, places: Sequence[_Place]) -> list[_Place]:
    """Return places of facts in a text, of one that is alone on its line where it stands beside another, if it does.

    Of a table with a hundred records that is the one which has more of what is needed.
    """
    ends = [text.find("\n", place.end) for place in places]
    lines = [
        (text.rfind("\n", 0, place.start) + 1, end if end >= 0 else len(text))
        for place, end in zip(places, ends, strict=True)
    ]
    held = Counter(lines)
    together: list[_Place] = []
    for place, line in zip(places, lines, strict=True):
        found = place
        for start, end in held if held[line] == 1 else ():
            at = text.find(place.fact, start, end) if (start, end) != line else -1
            if at >= 0 and is_whole(text, at, at + len(place.fact)):
                found = _Place(at, at + len(place.fact), place.fact)
        together.append(found)
    return together


def telling_place(fact: str, text: str) -> int:
    """Return where a fact stands last with other words on its line; if nowhere, where it stands last, or -1."""
    last = at = last_place(fact, text)
    for _ in range(_MOST_BARE):
        if at < 0 or not _is_alone(text, at, at + len(fact)):
            break
        at = text.rfind(fact, 0, at)
    return at if at >= 0 and is_whole(text, at, at + len(fact)) else last


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether a line has no other letters and figures."""
    behind = text.find("\n", end)
    around = text[text.rfind("\n", 0, start) + 1 : start] + text[end : behind if behind >= 0 else len(text)]
    return len(around) <= _ALONE_CHARS and not any(map(str.isalnum, around))


def last_place(fact: str, text: str) -> int:
    """Return where a fact stands last in a text on its own, at best not as the number of a line, or -1."""
    for stands in (is_told, is_whole) if fact.isdecimal() else (is_whole,):
        at = text.rfind(fact)
        while at >= 0 and not stands(text, at, at + len(fact)):
            at = text.rfind(fact, 0, at)
        if at >= 0:
            return at
    return -1


def _joined(text: str, places: Sequence[_Place]) -> list[tuple[int, int, list[str]]]:
    """Join places on one line that are close together."""
    joined: list[tuple[int, int, list[str]]] = []
    for start, end, fact in places:
        if joined:
            first, last, near = joined[-1]
            if start - last < _AHEAD + _BEHIND and end - first < _JOINED_CHARS and "\n" not in text[first:end]:
                joined[-1] = first, max(last, end), [*near, fact]
                continue
        joined.append((start, end, [fact]))
    return joined


def _told(text: str, start: int, end: int, facts: Sequence[str]) -> str:
    """Return the words that facts stand in: of a stretch of JSON the pairs that hold them, where these hold all."""
    line = _window(text, start, end)
    pairs = [f"{pair[1]} = {pair[2] or pair[3]}" for pair in _JSON_PAIR.finditer(line)]
    told = ", ".join(pair for pair in pairs if any(mentions(pair, fact) for fact in facts))
    return told if told and all(mentions(told, fact) for fact in facts) else line


def _window(text: str, start: int, end: int) -> str:
    """Return a stretch of a text with its sentence or line; alone, where that only announces what comes."""
    stretch = text[start:end]
    words = words_at(text, start, end)
    if not any(map(str.isalpha, words)):  # such as a year behind the names of authors
        words = _with_beside(text, start, end)
    if stretch in (bare := _NUMBER.sub("", words)):
        words = bare
    if '\\"' in words:  # JSON in a string
        words = _ESCAPES.sub(" ", words).replace("\\", "")
    line = " ".join(words.split())
    untagged = _TAGS.sub("", line)
    line = (untagged if stretch in untagged else line).removeprefix("- ").rstrip("\\")
    line = _ADDED.sub("", line)
    if (begun := _BEGUN_PAIR.match(line)) and stretch in line[begun.end() :]:  # of JSON, whose value goes on
        line = f"{begun[1]} = {line[begun.end() :]}"
    if line.endswith(f"{stretch}:") and line[0].isupper():
        return stretch
    return line


def _with_beside(text: str, start: int, end: int) -> str:
    """Return a stretch with the words before and behind it on its line, as far as they stand near."""
    first = max(text.rfind("\n", 0, start) + 1, start - _BESIDE_CHARS)
    last = end + len(text[end : end + _BESIDE_CHARS].partition("\n")[0])
    if text[first - 1 : first].strip():  # not within a word
        first = text.find(" ", first, start) + 1 or start
    if text[last : last + 1].strip():
        last = max(text.rfind(" ", end, last), end)
    return text[first:last]


def _texts(turn: Turn) -> list[_Given]:
    text = turn.text
    if turn.role != "assistant":
        text = _HEADER.sub("", text) if text.startswith("[") else text
        # What a protocol wrote as a string has its lines once that is undone; data of its own is read as it is.
        return [_Given(text if text.lstrip()[:1] in _DATA else readable(text)), _Given(turn.reasoning)]
    calls = [_Given(_passed(call.arguments), _IN_CALL) for call in turn.calls]
    if not any(call.in_text for call in turn.calls):
        return [_Given(text, _IN_REPLY), _Given(turn.reasoning, _IN_REPLY), *calls]
    acted = find_actions(text)
    before = text[: acted.start] if acted else ""
    in_text = "\n".join(readable(call.arguments) for call in turn.calls if call.in_text)
    said = [_Given(before, _IN_REPLY), _Given(turn.reasoning, _IN_REPLY)]
    return [*said, *calls, _Given(text, _IN_REPLY, in_text)]  # words may stand behind a call, too


def _passed(arguments: str) -> str:
    """Return the arguments of a call as they are read: a script as it is, and lines where JSON has escapes in it.

    Of several commands in a line each has one of its own, as a fact of one is nothing of the others.
    """
    given = readable(arguments)
    if not arguments.startswith("{") or (given == arguments and not holds_any(arguments[:_SCRIPT_CHARS], _SCRIPTS)):
        return given
    with suppress(ValueError):
        data = parse_json(arguments, strict=False)
        if isinstance(data, dict) and not any(isinstance(value, dict | list) for value in data.values()):
            texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in data.items()}
            apart = texts | {key: _JOINTS.sub("\n", texts[key]) for key in _COMMANDS.intersection(texts)}
            if len(texts) == 1 and not texts.keys().isdisjoint(_SCRIPTS):
                return next(iter(apart.values()))
            if given != arguments or apart != texts:
                return "\n".join(f"{key} = {text}" for key, text in apart.items())
    return given


def _short(text: str) -> str:
    return text if len(text) <= 2 * _READ_CHARS else f"{text[:_READ_CHARS]}\n{text[-_READ_CHARS:]}"
