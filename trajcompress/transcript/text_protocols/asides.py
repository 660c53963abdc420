"""Who speaks at the end of an observation, where its text alone does not tell: the harness, or a person. Pure.

A harness says the same most of the time, or repeats the task. A person's lines are sentences in the tongue of the
row's requests, behind output that is none; in English, in which tools write as well, they speak of themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import islice

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.summary_marks import is_cleared_line
from trajcompress.transcript.text_protocols.observation_parts import in_observation, is_of_tools, last_lines
from trajcompress.transcript.text_protocols.openings import without_figures
from trajcompress.transcript.text_protocols.tasks import tasks_of
from trajcompress.transcript.text_protocols.tongues import ENGLISH, is_prose, tongue_of, words_of
from trajcompress.transcript.trajectory import Turn

_READ_CHARS, _MOST_READ = 4_000, 20  # of a request, and requests
_PRINTED_CHARS = 40_000
_BODY_CHARS = 600  # before a person's lines, by which it is known what is printed
_LEAST_CHARS, _MOST_CHARS = 8, 600  # of a line that somebody says
_LONG_CHARS = 120  # so much nobody types word for word again
_KNOWN_CHARS = 24  # by which lines are told to be the same
_MOST_LINES = 2
_LEAST_WORDS = 3
_LETTERS = 0.6  # of the characters of a sentence
_OUTPUT = late_re(r"[\w'/ -]{1,40}[:=](?!\w)|[\w.-]{1,40}@[\w.-]{1,60}[: ][~/]|(?:https?|ftp)://|\S{1,80}\Z")
_ELEMENT = late_re(r"\w{1,30} ['\"].*['\"]\Z")  # of a page
_OF_THEMSELVES = late_re(
    r"(?<![\w'/.-])(?:i|i'm|im|i'd|i've|ive|i'll|my|me|we|we're|we've|our|us|mine)(?![\w/.-]*[\w/])"
    r"|\A(?:careful|perfect|great|nice|thanks|thx|ok|okay|yes|yeah|no(?=[,.!;])|nope|wait|btw|oh|sorry|please|pls|hmm+|good|cool)\b"
    r".*\b(?:you|your|please|don't|dont|do not|not|instead|too|also|only)\b",
    re.IGNORECASE,
)


def asides(turns: Sequence[Turn], observed: Collection[int]) -> dict[int, int]:
    """Return for observations, by their places, how many of their last lines a person says, where the row shows it.

    Args:
        turns: all turns of a row.
        observed: the places of those that hold observations in plain text.
    """
    row = _Row(turns, observed)
    nobody = {index for index, said in row.said.items() if said and row.is_harness(index)}
    spoken = {index: number for index in observed if index not in nobody and (number := row.spoken(index))}
    news = {index for index in spoken if not row.said[index]}
    if 2 * len(news) > max(len(observed), 2):  # of each turn no person speaks
        spoken = {index: number for index, number in spoken.items() if index not in news}
    return {**dict.fromkeys(nobody, 0), **spoken}


class _Row:
    """How the observations of a row end; ``said`` is what the text of each alone tells to be a person's."""

    def __init__(self, turns: Sequence[Turn], observed: Collection[int]) -> None:
        self._turns, self._observed = turns, observed
        parts = {index: in_observation(turns[index].text) for index in observed}
        self.said = {index: part.said for index, part in parts.items()}
        # Of those that were cleared before, what a harness said behind them went with them.
        self._whole = sum(
            not is_cleared_line(turns[index].text[part.start : part.end]) for index, part in parts.items()
        )
        self._often = Counter(map(_plain, filter(None, self.said.values())))
        self._ends = {index: last_lines(turns[index].text, _MOST_LINES + 1) for index in observed}
        self._prose: dict[str, bool] = {}
        self._begun = Counter(
            begun for ends in self._ends.values() for begun in {_beginning(line) for line, _ in ends}
        )

    def is_harness(self, index: int) -> bool:
        """Whether what seems a person's is said mostly or at length again, was told before, or ends printed prose."""
        said = self.said[index]
        times = self._often[_plain(said)]
        often = times > max(self._whole / 2, 1) or (times > 1 and len(said) >= _LONG_CHARS)
        tasks = [task for _, task in tasks_of(said)]
        again = bool(tasks) and all(self._told_first.get(task, index) < index for task in tasks)
        return often or again or self._ends_prose(index)

    def _ends_prose(self, index: int) -> bool:
        """Whether a last paragraph follows as many in its tongue as would be too much for a person to say."""
        ends = [line for line, _ in self._ends[index]]
        if len(ends) <= _MOST_LINES or self.said[index] != ends[-1]:
            return False
        tongue = tongue_of(ends[-1], self._requests)
        return tongue != "" and all(_may_be_said(line) and is_prose(line, tongue) for line in ends[:-1])

    def spoken(self, index: int) -> int:
        """Return how many of the last lines of an observation are a person's."""
        ends, text = self._ends[index], self._turns[index].text
        if not ends or not self._may_be_said(ends[-1][0]):
            return 0
        tongue = tongue_of(ends[-1][0], self._requests)
        if not (self.said[index].endswith(ends[-1][0]) or _is_said(ends[-1][0], tongue)):
            return 0
        number = 1
        while number < len(ends) and self._goes_before(ends[-number - 1][0], tongue):
            number += 1
        body = text[: ends[-number][1]].rstrip()
        if above := [line for line, _ in ends[:-number] if self._begun[_beginning(line)] > 1]:
            body = body.removesuffix(above[-1])  # a nag of the harness
        if number > _MOST_LINES or not body.strip() or body.rstrip().endswith((":", "：")):  # it says what comes
            return 0
        return 0 if tongue and (is_prose(body[-_BODY_CHARS:], tongue) or self._prints(tongue)) else number

    def _goes_before(self, line: str, tongue: str) -> bool:
        """Whether the line before a person's is theirs, too."""
        if not self._may_be_said(line):
            return False
        return is_prose(line, ENGLISH) if tongue == ENGLISH else tongue_of(line, self._requests) == tongue != ""

    def _may_be_said(self, line: str) -> bool:
        return self._begun[_beginning(line)] == 1 and _may_be_said(line) and line not in self._requests

    @cached_property
    def _told_first(self) -> dict[str, int]:
        """In which turn each task is told first, under a label."""
        told: dict[str, int] = {}
        for index, turn in enumerate(self._turns):
            for _, task in tasks_of(turn.text) if turn.role != "assistant" else ():
                told.setdefault(task, index)
        return told

    @cached_property
    def _requests(self) -> str:
        asked = (turn for at, turn in enumerate(self._turns) if turn.role == "user" and at not in self._observed)
        return "\n".join(turn.text[:_READ_CHARS] for turn in islice(asked, _MOST_READ))

    @cached_property
    def _printed(self) -> str:
        """The ends of observations that end in no sentence, but for lines that several have."""
        others = (index for index, ends in self._ends.items() if not ends or not _may_be_said(ends[-1][0]))
        lines = (set(map(_plain, self._turns[index].text[-_BODY_CHARS:].splitlines())) for index in others)
        often = Counter(line for each in lines for line in each)
        return "\n".join(line for line, times in often.items() if times == 1)[:_PRINTED_CHARS]

    def _prints(self, tongue: str) -> bool:
        """Whether the environment prints sentences of a tongue."""
        if tongue not in self._prose:
            self._prose[tongue] = is_prose(self._printed, tongue)
        return self._prose[tongue]


def _is_said(line: str, tongue: str) -> bool:
    """Whether somebody says a line in a tongue of the row's requests."""
    if tongue == ENGLISH:
        return len(words_of(line)) > _LEAST_WORDS and _OF_THEMSELVES.search(line) is not None
    return tongue != ""


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
        and not is_of_tools(line)
    )


def _plain(text: str) -> str:
    return without_figures(text, _MOST_CHARS)


def _beginning(line: str) -> str:
    return without_figures(line, _KNOWN_CHARS)
