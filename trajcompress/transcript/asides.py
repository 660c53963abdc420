"""Who speaks at the end of an observation, where its text alone does not tell: the harness, or a person. Pure.

A harness says the same most of the time, or repeats the task. A person's lines are sentences in the tongue of the
row's requests, behind output that is none; in English, in which tools write as well, they speak of themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.observation_parts import NAGS, in_observation, last_lines
from trajcompress.transcript.tasks import tasks_of
from trajcompress.transcript.tongues import ENGLISH, is_prose, tongue_of, words_of
from trajcompress.transcript.trajectory import Turn

_FIGURES = late_re(r"\d+")
_READ_CHARS = 4_000
_BODY_CHARS = 600  # before a person's lines, by which it is known what is printed
_LEAST_CHARS, _MOST_CHARS = 8, 600  # of a line that somebody says
_KNOWN_CHARS = 24  # by which lines are told to be the same
_MOST_LINES = 2
_LEAST_WORDS = 3
_LETTERS = 0.6  # of the characters of a sentence
_OUTPUT = late_re(r"[\w'/ -]{1,40}[:=](?!\w)|[\w.-]{1,40}@[\w.-]{1,60}[: ][~/]|(?:https?|ftp)://|\S{1,80}\Z")
_ELEMENT = late_re(r"\w{1,30} ['\"].*['\"]\Z")  # of a page
_OF_THEMSELVES = late_re(
    r"(?<![\w'/.-])(?:i|i'm|im|i'd|i've|ive|i'll|my|me|we|we're|we've|our|us|mine)(?![\w/.-]*[\w/])"
    r"|\A(?:careful|perfect|great|nice|thanks|thx|ok|okay|yes|yeah|no|nope|wait|btw|oh|sorry|please|pls|hmm+|good|cool)\b"
    r".*\b(?:you|your|please|don't|dont|do not|not|instead|too|also|only)\b",
    re.IGNORECASE,
)


def asides(turns: Sequence[Turn], observed: Collection[int]) -> dict[int, int]:
    """Return for observations, by their places, how many of their last lines a person says, where the row shows it.

    Args:
        turns: all turns of a row.
        observed: the places of those that hold observations in plain text.
    """
    said = {index: in_observation(turns[index].text).said for index in observed}
    often = Counter(map(_plain, filter(None, said.values())))
    found = {
        index: 0
        for index, text in said.items()
        if text and (often[_plain(text)] > max(len(observed) / 2, 1) or _tells_task_again(turns[:index], text))
    }
    spoken = _spoken(turns, {index: turns[index].text for index in observed if not said[index]}, observed)
    return found if 2 * len(spoken) > max(len(observed), 2) else found | spoken


def _spoken(turns: Sequence[Turn], texts: Mapping[int, str], observed: Collection[int]) -> dict[int, int]:
    """Return how many of the last lines of texts are a person's, of those that have some."""
    lines = {index: last_lines(text, _MOST_LINES + 1) for index, text in texts.items()}
    often = Counter(_plain(line)[:_KNOWN_CHARS] for each in lines.values() for line in {line for line, _ in each})
    likely = {i: each for i, each in lines.items() if each and _may_be_said(each[-1][0])}
    if not likely:
        return {}
    asked = [turn.text[:_READ_CHARS] for i, turn in enumerate(turns) if turn.role == "user" and i not in observed]
    requests = "\n".join(asked)
    printed = _once(turns[i].text[-_BODY_CHARS:] for i in observed if i not in likely)
    found: dict[int, int] = {}
    for index, ends in likely.items():
        number, tongue = 0, tongue_of(ends[-1][0], requests)
        for line, _ in reversed(ends):
            is_new = often[_plain(line)[:_KNOWN_CHARS]] == 1 and line not in requests
            if not (is_new and _may_be_said(line) and _is_said(line, tongue, requests)):
                break
            number += 1
        if 0 < number <= _MOST_LINES:
            body = texts[index][: ends[-number][1]].rstrip()
            if above := [line for line, _ in ends[:-number] if often[_plain(line)[:_KNOWN_CHARS]] > 1]:
                body = body.removesuffix(above[-1])  # a nag of the harness
            if body.strip() and not (is_prose(body[-_BODY_CHARS:], tongue) or is_prose(printed, tongue)):
                found[index] = number
    return found


def _once(texts: Iterable[str]) -> str:
    """Return the lines of texts but for those that several have."""
    often = Counter(line for text in texts for line in set(map(_plain, text.splitlines())))
    return "\n".join(line for line, times in often.items() if times == 1)


def _is_said(line: str, tongue: str, requests: str) -> bool:
    """Whether somebody says a line in a tongue of the row's requests."""
    if tongue == ENGLISH:
        return len(words_of(line)) > _LEAST_WORDS and _OF_THEMSELVES.search(line) is not None
    return bool(tongue) and tongue_of(line, requests) == tongue


def _may_be_said(line: str) -> bool:
    """Whether a line may be a sentence, and is no nag of a harness."""
    if (
        not _LEAST_CHARS <= len(line) <= _MOST_CHARS
        or not (line[0].isalpha() or line[0] in "¿¡(\"'«“「")
        or line.endswith(";")
    ):
        return False
    letters = sum(char.isalpha() or char == " " for char in line)
    enough = len(words_of(line)) >= _LEAST_WORDS or not line.isascii()
    return (
        enough
        and letters >= _LETTERS * len(line)
        and not _ELEMENT.match(line)
        and not (_OUTPUT.match(line) and line.isascii())
        and NAGS.search(line) is None
    )


def _plain(text: str) -> str:
    return _FIGURES.sub("0", text[:_MOST_CHARS])


def _tells_task_again(before: Sequence[Turn], said: str) -> bool:
    """Whether words are a task, under a label, that was told before."""
    tasks = [task for _, task in tasks_of(said)]
    if not tasks:
        return False
    told = [turn.text.lower() for turn in before if turn.role != "assistant"]
    return all(any(task in text for text in told) for task in tasks)
