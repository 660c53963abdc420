"""Telling a printed result in the room there is: what it reports or shows, and what later turns use of it."""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.facts.taken import STRONG
from trajcompress.outcomes.asked import FAILED_CHARS, SAID_CHARS, Asked
from trajcompress.outcomes.printed.shown import GOES_BETWEEN, in_order, placed, tells, titles_of
from trajcompress.outcomes.reported import Report
from trajcompress.outcomes.reports.errors import is_within, needless_frames
from trajcompress.outcomes.text import joined, one_line, whole_pieces
from trajcompress.outcomes.used import Placed, fitting, is_told, not_begun, parts_used

_SHARE = 3  # of what may be said goes to the rest of a result where later turns use much of it
_MOST_SHARE = 6
_FAILED_SHARE = 5


class Telling:
    """Tells one result, first without what later turns use."""

    def __init__(
        self,
        whole: str,
        report: Report,
        pieces: Sequence[str],
        lined: Sequence[Placed],
        asked: Asked,
        *,
        before: str,
    ) -> None:
        """Take what may be told.

        Args:
            whole: the result.
            report: what it reports.
            pieces: that, or what it shows.
            lined: lines of what it lists, with their places, where it does.
            asked: what is to be told, and in how much room.
            before: what is told before it.
        """
        self._whole, self._report, self._pieces, self._lined, self._asked = whole, report, pieces, lined, asked
        self._limit, self._most = asked.limit, max(asked.most, asked.limit)
        self._before = before
        self._tools = sum(len(piece) + 2 for piece in pieces if GOES_BETWEEN in piece)  # with their parameters
        self._begin = whole_pieces if self._tools else joined
        self._speaks = report.failed or report.tests
        # A path may stand before what became of it.
        self._at_most = max(self._limit, FAILED_CHARS) if report.done else self._limit
        self.first = in_order(whole, fitting(lined, self._limit)) or self._begin(pieces, self._room_for_pieces())
        """What it reports or shows."""

    def _room_for_pieces(self) -> int:
        if self._report.failed or self._tools:
            # Beside why it failed there is room for lines that are used.
            used = self._limit if self._report.failed and self._limit >= SAID_CHARS else 0
            return max(self._limit, FAILED_CHARS + used, self._most // _FAILED_SHARE)
        return self._at_most

    def with_used(self, shown: str) -> str:
        """Return what is told with what later turns use of what is ``shown``; what is told first gets shorter."""
        report, room = self._report, max(self._limit // _SHARE, self._most // _MOST_SHARE)
        at_most = self._room_for_pieces() if self._tools else self._limit
        begun = self._at_most if report.done else min(max(room, self._tools), at_most)
        lined = fitting(self._lined, room)
        first = self.first if self._speaks else in_order(self._whole, lined) or self._begin(self._pieces, begun)
        parts = self._used(shown, first)
        if not parts:
            return self.first
        if not (lined or self._speaks):  # what is told in full is not begun before that
            told = in_order(shown, parts, self._most)
            left = [piece for piece in self._pieces if not is_told(piece, told)]
            apart = None if report.done else placed(shown, left, parts)
            first, lined = self._begin(left, begun) if apart is None else "", fitting(apart or [], room)
        first = "" if lined else not_begun(first, [one_line(part) for _, part in parts])  # lines have places
        lined = [each for each in lined if not any(each[1].rstrip("…") in part for _, part in parts)]
        every = [*lined, *parts]
        room = self._most - sum(len(part) + 3 for _, part in every)
        every += titles_of(shown, every, room)
        told = in_order(shown, every, self._most - sum(len(part) + 3 for _, part in every))
        gap = GOES_BETWEEN if report.done else "; "  # what an edit shows there it need not have written
        return f"{first.rstrip(';')}{gap}{told}" if first else told

    def _used(self, shown: str, first: str) -> list[Placed]:
        """Return what later turns use: of files and matches what tells, of a failure no frame that nobody needs."""
        asked, report = self._asked, self._report
        hidden = needless_frames(shown) if report.failed else []
        change = f"\n{asked.action.change}" if asked.action else ""  # stands in the step, too
        told = f"\n{self._before}{change}"
        wanted = asked.wanted
        if report.done:  # it shows lines that nobody changed: of these what is quoted, or names a file or a page
            wanted = {word: weight for word, weight in wanted.items() if weight > STRONG or "/" in word}
        return [
            (start, part)
            for start, part in parts_used(shown, wanted, first + told, self._most + len(told), asked.needed)
            if (not report.listing or tells(part))
            and (not is_within(start, hidden) or any(need in part for need in asked.needed))
        ]
