"""The task sent again: some harnesses write all of their first turn, and all that happened, above what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, takewhile

from trajcompress.transcript.trajectory import Turn

_LEAST_CHARS = 200
_LEAST_TOLD = 12  # of a line; less may stand in any text


class FirstTurns:
    """The lines of the turns before the first reply, which stay; nothing is read before somebody asks."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._turns = takewhile(_is_before_replies, turns)

    @cached_property
    def _lines(self) -> frozenset[str]:
        return frozenset(line.strip() for turn in self._turns if not turn.example for line in turn.text.splitlines())

    def marked_in(self, text: str) -> str:
        """Put a mark in the place of runs of lines that all stand in these turns, where that is worth it."""
        written: list[str] = []
        for run, is_again in self._runs(text):
            size = sum(map(len, run)) + len(run) - 1
            written += [f"[… as in the first turns, {size:,} characters elided …]"] if is_again else run
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
        """Give runs of lines, and of each whether it is long and all of it stands in the first turns."""
        lines = text.split("\n")
        at = 0
        for is_old, group in groupby(map(self._is_old, lines)) if len(text) >= _LEAST_CHARS else [(False, lines)]:
            run = lines[at : at + sum(1 for _ in group)]
            at += len(run)
            yield run, is_old and sum(len(line.strip()) + 1 for line in run) > _LEAST_CHARS

    def _is_old(self, line: str) -> bool:
        line = line.strip()
        return not line or line in self._lines


def _is_before_replies(turn: Turn) -> bool:
    return turn.role != "assistant" and not turn.answers


def _told(line: str) -> str:
    """Return what a line tells behind its label: a history calls by another what was new once."""
    label, mark, said = line.partition(": ")
    return said.strip() if mark and " " not in label.strip() else line.strip()
