"""What harnesses tell again: the task and all that happened above what is new, and the call above what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile, zip_longest

from trajcompress.transcript.notes import without_state
from trajcompress.transcript.summary_marks import elided
from trajcompress.transcript.trajectory import Turn

_LEAST_CHARS = 200
_LEAST_TOLD = 12  # of a line; less may stand in any text

FIRST_TURNS, CALL = "as in the first turns", "as in the call"
"""Where what is told again stands already."""


class Standing:
    """The lines of texts that stand above and stay; none is read before somebody asks."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts

    @cached_property
    def _after(self) -> Mapping[str, frozenset[str]]:
        """The lines, each with those that stand right below it somewhere; empty ones do not count."""
        after: dict[str, set[str]] = {}
        for lines in map(_lines, self._texts):
            for line, below in zip_longest(lines, lines[1:], fillvalue=""):
                after.setdefault(line, set()).add(below)
        return {line: frozenset(below) for line, below in after.items()}

    def marked_in(self, text: str, where: str) -> str:
        """Put a mark that says ``where`` in the place of runs of lines that stand so there, if that is worth it."""
        written: list[str] = []
        for run, is_again in self._runs(text):
            size = sum(map(len, run)) + len(run) - 1
            written += [elided(size, where=f"{where}, ")] if is_again else run
        return "\n".join(written)

    def new_in(self, text: str, before: str) -> str:
        """Return a text that has such runs without them, and without lines that tell what the turn ``before`` told.

        All of any other text is new.
        """
        runs = list(self._runs(text))
        if not any(is_again for _, is_again in runs):
            return text
        lines = [line for run, is_again in runs if not is_again for line in run]
        new = [line for line in lines if len(told := _told(line)) < _LEAST_TOLD or told not in before]
        return "\n".join(new).strip() or "\n".join(lines)

    def _runs(self, text: str) -> Iterator[tuple[Sequence[str], bool]]:
        """Give runs of lines, and of each whether it is long and stands so, line below line, in these texts."""
        lines = text.split("\n")
        if len(text) < _LEAST_CHARS:
            yield lines, False
            return
        run: list[str] = []
        last = ""  # line of the run that stands here, too, and is not empty
        for whole in lines:
            line = whole.strip()
            if run and line and not (last and line in self._after[last]):
                yield run, bool(last) and _size(run) > _LEAST_CHARS
                run, last = [], ""
            run.append(whole)
            last = line if line in self._after else last
        yield run, bool(last) and _size(run) > _LEAST_CHARS


def _size(run: Sequence[str]) -> int:
    return sum(len(line.strip()) + 1 for line in run)


def first_turns(turns: Iterable[Turn]) -> Standing:
    """Return what stands before the first reply, but for worked examples and notes of an editor's state."""
    first = takewhile(_is_before_replies, turns)
    return Standing(without_state(turn.text) for turn in first if not turn.example)


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if line]


def _is_before_replies(turn: Turn) -> bool:
    return turn.role != "assistant" and not turn.answers


def _told(line: str) -> str:
    """Return what a line tells behind its label: a history calls by another what was new once."""
    label, mark, said = line.partition(": ")
    return said.strip() if mark and " " not in label.strip() else line.strip()
