"""The lines that result after result of a row has: menus, banners, what a program prints each time it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain

from trajcompress.outcomes.page import is_page, visible
from trajcompress.outcomes.text import one_line
from trajcompress.processes.late_patterns import late_re

_DIGITS = late_re(r"\d\d*")  # found in half the time of \d+
_FIGURE = late_re(r"\W{0,3}0(?:[.,]0){0,4}\W{0,3}")  # alone it is an answer
_KEY_CHARS, _READ_CHARS = 60, 80  # numbers may be longer in one than in another
_LINES = 30  # at the beginning and at the end of a result
_OFTEN, _LEAST_FRAMED, _MOSTLY = 3, 5, 0.75


class Repeated:
    """The lines that many of the results of a row have; few rows are ever asked, so none is read before that."""

    def __init__(self, results: Iterable[tuple[Hashable, str]] = ()) -> None:
        """Take what ran, and what it printed."""
        self._results = results

    @cached_property
    def _read(self) -> tuple[Mapping[str, bool], AbstractSet[str]]:
        return _repeated_lines(self._results)

    @property
    def lines(self) -> Mapping[str, bool]:
        """How these begin, whatever the numbers in them; whether all are of one action, run again and again."""
        return self._read[0]

    def __contains__(self, line: str) -> bool:
        """Whether a line is one of them."""
        return _key(one_line(line)) in self.lines

    def frames(self, line: str) -> bool:
        """Whether most results have a line, so that it tells of none, whoever uses its words."""
        return _key(one_line(line)) in self._read[1]


NOTHING_REPEATED = Repeated()


def _repeated_lines(results: Iterable[tuple[Hashable, str]]) -> tuple[Mapping[str, bool], AbstractSet[str]]:
    ran, ends = [], []
    for action, text in results:
        shown = visible(text) if is_page(text) else text
        ran.append(action)
        ends.append({*shown[:8_000].splitlines()[:_LINES], *shown[-4_000:].splitlines()[-_LINES:]})
    lines = list(set().union(*ends))  # the key of each is made once
    key_of = dict(zip(lines, keys_of(map(one_line, lines)), strict=True))
    found = [{key_of[line] for line in each} for each in ends]
    counted = Counter(chain.from_iterable(found))
    often = {key for key, times in counted.items() if times >= _OFTEN and not _FIGURE.fullmatch(key)}
    printed: dict[str, set[Hashable]] = {key: set() for key in often}
    for action, each in zip(ran, found, strict=True):
        for key in each & often:
            printed[key].add(action)
    most = max(_LEAST_FRAMED, _MOSTLY * len(ran))
    framing = {key for key in often if counted[key] >= most}
    return {key: len(actions) == 1 for key, actions in printed.items()}, framing


def _key(line: str) -> str:
    return _DIGITS.sub("0", line[:_READ_CHARS])[:_KEY_CHARS]


def keys_of(lines: Iterable[str]) -> list[str]:
    """Return how lines begin, whatever the numbers in them; all made in one go."""
    begins = [line[:_READ_CHARS] for line in lines]
    return [key[:_KEY_CHARS] for key in _DIGITS.sub("0", "\n".join(begins)).split("\n")] if begins else []
