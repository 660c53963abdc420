"""Who speaks at the end of an observation, where its text alone does not tell: the harness, or a person. Pure.

A harness says the same most of the time, or repeats the task; a person speaks the tongue that the row's requests are
written in, which may not be that of what the environment prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.observation_parts import NAGS, in_observation, last_line
from trajcompress.transcript.tasks import tasks_of
from trajcompress.transcript.trajectory import Turn

_FIGURES = late_re(r"\d+")
_WORD = late_re(r"[^\W\d_]+")
_LETTERS = late_re(r"[^\W\d_]")
_FOREIGN = late_re(r"[^\W\d_\x00-\u036f]")  # letters of other alphabets than the Latin one
_UNSPACED = late_re(r"[\u3040-\u30ff\u3400-\u9fff]{6}")
_READ_CHARS = 4_000
_LEAST_CHARS, _MOST_CHARS = 8, 600  # of a line that somebody says
_MOSTLY, _SELDOM = 0.6, 0.05
_SHORT_WORD = 4  # letters: of these most hold a sentence together
_LEAST_WORDS, _LEAST_SHARED = 5, 2


def asides(turns: Sequence[Turn], observed: Collection[int]) -> dict[int, bool]:
    """Return for observations, by their places, whether a person speaks at their end, where the row shows it.

    Args:
        turns: all turns of a row.
        observed: the places of those that hold observations in plain text.
    """
    said = {index: in_observation(turns[index].text).said for index in observed}
    lines = {index: last_line(turns[index].text)[0] for index in observed if not said[index]}
    often = Counter(_plain(text) for text in (*said.values(), *lines.values()) if text)
    found = {
        index: False
        for index, text in said.items()
        if text and (often[_plain(text)] > max(len(observed) / 2, 1) or _tells_task_again(turns[:index], text))
    }
    likely = {index: line for index, line in lines.items() if often[_plain(line)] == 1 and _may_be_said(line)}
    if likely:
        requests = "\n".join(
            turn.text[:_READ_CHARS]
            for index, turn in enumerate(turns)
            if turn.role == "user" and index not in observed
        )
        tongues = _Tongues(requests, [_printed(turns[index].text, said[index] or lines[index]) for index in observed])
        found |= {index: True for index, line in likely.items() if line not in requests and tongues.is_asked(line)}
    return found


class _Tongues:
    """What the requests of a row are written in, and what its environment prints."""

    def __init__(self, requests: str, bodies: Sequence[str]) -> None:
        self._asked, self._printed = _short_words(requests), _short_words("\n".join(bodies))
        self._other_alphabet = _share(requests) > _SELDOM and _share("".join(bodies)) <= _SELDOM

    def is_asked(self, line: str) -> bool:
        """Whether a line is in the tongue of the requests, and not in that of what is printed."""
        is_sentence = len(_WORD.findall(line)) >= _LEAST_WORDS or _UNSPACED.search(line) is not None
        if not is_sentence or line.isascii():  # as English, which is printed anywhere
            return False
        if self._other_alphabet and _share(line) >= _MOSTLY:
            return True
        words = _short_words(line)
        shared = words & self._asked - self._printed
        return len(shared) >= _LEAST_SHARED and len(words & self._printed) < len(shared)


def _printed(text: str, said: str) -> str:
    body = text.rstrip().removesuffix(said)
    return body if len(body) <= _READ_CHARS else f"{body[: _READ_CHARS // 2]}\n{body[-_READ_CHARS // 2 :]}"


def _share(text: str) -> float:
    """Return which share of the letters of a text is of another alphabet."""
    return len(_FOREIGN.findall(text)) / max(len(_LETTERS.findall(text)), 1)


def _short_words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text) if len(word) <= _SHORT_WORD}


def _plain(text: str) -> str:
    return _FIGURES.sub("0", text[:_MOST_CHARS])


def _may_be_said(line: str) -> bool:
    return _LEAST_CHARS <= len(line) <= _MOST_CHARS and line[0].isalpha() and NAGS.search(line) is None


def _tells_task_again(before: Sequence[Turn], said: str) -> bool:
    """Whether words are a task, under a label, that was told before."""
    tasks = [task for _, task in tasks_of(said)]
    if not tasks:
        return False
    told = [turn.text.lower() for turn in before if turn.role != "assistant"]
    return all(any(task in text for text in told) for task in tasks)
