"""The last resort: cutting over-long results, and what was pasted into requests, in the turns that are kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from trajcompress.compaction.text.bulk import without_encoded
from trajcompress.compaction.text.cut import cut
from trajcompress.compaction.text.line import is_line
from trajcompress.compaction.text.middle import LEAST_CUT, cut_behind, useful_chars
from trajcompress.compaction.text.result_lines import ResultLines
from trajcompress.facts.parts import Wanted, told_of
from trajcompress.formats.rewrite import map_request, map_results
from trajcompress.redact import Clean, without_secrets
from trajcompress.transcript.observations import demonstration_frame, is_request
from trajcompress.transcript.trajectory import Turn

Keep: TypeAlias = Callable[[int], Wanted]
"""Says what of a turn is to stay where it stands."""

LEAST_CHARS = 400
"""No result is cut to less than about this."""

BRIEF_CHARS = 240
"""To so much where else nothing of what later turns use would stay."""

SHORT_CHARS = 900
"""Results up to this length, such as those of the agent's own scripts, stay whole where others can make room."""

REQUEST_CHARS = 1_000
"""Nor is a request to less than this: what is asked stands at its start or at its end."""

_MOST_USEFUL = 3_000  # characters that are spared of a result, as later turns use them
_MOST_OF_EXAMPLE = 0.5
_TRIES = 4  # tokens are not spread evenly over a text, so the first cut may free too little, or far too much
_SLACK = 200  # tokens that more may go than is in excess


def elide_results(
    turns: Sequence[Turn],
    indexes: Iterable[int],
    excess: int,
    count: Callable[[str], int],
    keep: Keep | None = None,
    *,
    requests: Collection[int] = (),
    least: int = 0,
    floor: int = LEAST_CHARS,
    lines: Callable[[], ResultLines] | None = None,
    clean: Clean = without_secrets,
) -> tuple[Turn, ...]:
    """Cut the middle out of long tool results, each no more than needed.

    Of JSON its line is left where that tells more of what later turns take from it.

    Only results change, and ``requests`` where there are some: no other words of the user, none of the assistant, and
    nothing else in the turn of the last request. As many turns come back, a turn that was not cut as the same object;
    with ``excess`` of 0 or less nothing is.

    Args:
        turns: all turns of the row.
        indexes: which of them may be cut, in this order, but for short ones, which come last.
        excess: tokens that must go. Count the row again after: a template may write less, or more, than it is given.
        count: counts the tokens of a text.
        keep: says what of a turn is to stay where it stands; nobody asks of a turn that need not be cut.
        requests: those of ``indexes`` that are a person's, and may be cut all the same.
        least: characters that are left of each besides what is to stay, whether that is enough or not.
        floor: characters to which no result is cut, nor to less.
        lines: makes the lines of the results; where they are not given, all are cut.
        clean: takes secrets out of a text, as no half of one may stay.
    """
    elider = _Elider(excess, count, least, lines, keeps=keep is not None, floor=floor, clean=clean)
    after = list(turns)
    last_request = _last_request(turns)
    indexes = sorted(indexes, key=lambda index: len(turns[index].text) <= SHORT_CHARS)
    # What later turns use goes last, if at all.
    for elider.spares_useful in (True,) if least else (True, False) if keep else (False,):
        for index in indexes:
            if elider.excess <= 0:
                break
            elider.keep = keep(index) if keep and len(turns[index].text) > floor else {}
            if index in requests:
                after[index] = map_request(after[index], elider.shorten_request)
            elif after[index].example:
                after[index] = map_results(after[index], elider.shorten_example)
            elif index != last_request:
                after[index] = map_results(after[index], partial(elider.shorten_result, index))
    return tuple(after)


class _Elider:
    """Cuts results one after the other until what is in excess has gone."""

    def __init__(
        self,
        excess: int,
        count: Callable[[str], int],
        least: int,
        lines: Callable[[], ResultLines] | None,
        *,
        keeps: bool,
        floor: int,
        clean: Clean,
    ) -> None:
        self.excess = excess
        self._lines, self._keeps, self._clean = lines, keeps, clean
        self._least, self._floor = least, floor
        self._count = count
        self.keep: Wanted = {}
        self.spares_useful = False

    def shorten_result(self, index: int, number: int, text: str) -> str:
        """Cut a result; of JSON leave its line instead where that tells more of what is used.

        Where a line stands there already a shorter one is left, which is cut only where nothing else is enough.
        """
        excess = self.excess
        if self._lines is not None and is_line(text):
            line = text if self.spares_useful else self._shorter_line(self._lines(), index, number, text)
            if self._keeps or self.excess <= 0:
                return line
            self.excess = excess
        cut_short = self.shorten(number, text)
        if cut_short == text or self._lines is None or not self._keeps:
            return cut_short
        lines = self._lines()
        taken = lines.taken(index)
        told = told_of(taken, cut_short)
        if told >= sum(taken.values()) or told >= told_of(taken, text):  # mostly it tells all, or as much
            return cut_short
        line = lines.line_of_data(index, number, "full" if self.spares_useful else "shortest")
        if len(line) >= len(cut_short) or told_of(taken, line) <= told:
            return cut_short
        self.excess = excess - self._count(text) + self._count(line)
        return line

    def _shorter_line(self, lines: ResultLines, index: int, number: int, text: str) -> str:
        line = lines.line_of_data(index, number, "shortest" if self._keeps else "bare")
        freed = self._count(text) - self._count(line) if line and self.excess > 0 else 0
        if freed <= 0:
            return text
        self.excess -= freed
        return line

    def shorten(self, _: int, text: str) -> str:
        return self._shorten(text, max(self._floor, self._least))

    def shorten_example(self, number: int, text: str) -> str:
        """Cut off the end of a demonstration, or all but its frame: cut amid, steps join that never met."""
        heading, end = demonstration_frame(text)
        if not heading or len(text) <= self._floor:
            return self.shorten(number, text)
        tokens = self._count(text)
        low, high = heading, heading if self.excess > tokens * _MOST_OF_EXAMPLE else end
        while high - low > LEAST_CUT:
            middle = (low + high) // 2
            fits = tokens - self._count(cut_behind(text, middle, end)) >= self.excess
            low, high = (middle, high) if fits else (low, middle)
        shorter = cut_behind(text, max(text.rfind("\n", heading, low), heading), end)
        self.excess -= tokens - self._count(shorter)
        return shorter

    def shorten_request(self, text: str) -> str:
        """Cut a request, what is encoded in it first: half of that is no use."""
        plain = without_encoded(text, lambda _: False) if self.excess > 0 else text
        if plain != text:
            self.excess -= self._count(text) - self._count(plain)
        return self._shorten(plain, REQUEST_CHARS)

    def _shorten(self, text: str, least: int) -> str:
        if self.spares_useful and self.excess > 0:
            least = max(least, self._least + useful_chars(text, self.keep, _MOST_USEFUL))
        if self.excess <= 0 or len(text) <= least:
            return text
        tokens = self._count(text)
        limit = most = len(text)
        freed, shorter = 0, text
        for _try in range(_TRIES):
            missing = self.excess - freed
            if (0 >= missing > -_SLACK) or limit == least:
                break
            if missing > 0:
                most = limit
                limit = max(
                    least, min(limit - 1, limit - missing * len(text) // max(tokens, 1), len(text) - LEAST_CUT)
                )
            elif (limit := limit - missing * len(text) // max(tokens, 1)) >= most:  # where less would be enough
                break
            cut_so = cut(text, limit, self.keep, self._clean)
            frees = tokens - self._count(cut_so)
            if missing <= 0 and frees < self.excess:
                break
            freed, shorter = frees, cut_so
        if freed <= 0:
            return text
        self.excess -= freed
        return shorter


def _last_request(turns: Sequence[Turn]) -> int | None:
    """Return the last user turn that says something besides results; where none does, the last one."""
    users = [index for index, turn in enumerate(turns) if turn.role == "user" and not turn.example]
    return next((index for index in reversed(users) if _says_something(turns[index])), users[-1] if users else None)


def _says_something(turn: Turn) -> bool:
    if turn.in_text:
        return is_request(turn)
    said = map_results(turn, lambda _number, _text: "").text
    return bool(said.replace("<tool_response>", "").replace("</tool_response>", "").strip())
