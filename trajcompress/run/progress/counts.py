"""How far work on rows is, counted from its events: what is done, what is left, and how long that takes. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from trajcompress.events import Event, Figure
from trajcompress.processes.late_patterns import late_re

if TYPE_CHECKING:
    from collections.abc import Callable

    from trajcompress.summarize.endpoint.priced import Price

_MINUTE_S = 60.0
_PAID = ("prompt", "completion", "cached")
_STATUS = late_re(r"\bHTTP (\d{3})\b")
_SOON_S = 2.0  # before that no time that is left is shown: the pace is not known
_FEW = 4  # summaries, by which nobody can tell how many of them are followed by another of their row


class _OpenRow(Struct):
    """A row that is worked on: its size, and whether its counting is behind it."""

    size: float
    is_planned: bool = False


class Pause(Struct, frozen=True):
    """No call is made until then, for such a reason: an HTTP status, or a word."""

    until: float
    why: str


@dataclass(slots=True)
class Counts:
    """What has happened so far; times are seconds of one clock, ``began`` is when work began.

    ``base`` is the share of the input that an earlier session has done. Outcomes are those of rows
    that were consumed, in the order of the input; ``rows`` may be done in any order. ``rpm`` and ``tpm`` are limits.
    """

    began: float
    total_bytes: int | None = None
    rpm: int | None = None
    tpm: int | None = None
    price_of: Callable[[str], Price | None] | None = None
    bytes_read: int = 0
    base: float | None = None
    rows: int = 0
    compressed: int = 0
    not_handled: int = 0
    sent: int = 0
    called: int = 0
    failed: int = 0
    usd: float | None = None
    paid: int = 0  # calls that this is for
    uncounted: int = 0  # answers whose tokens the server has not counted
    useless: int = 0  # answers that are no summaries
    pause: Pause | None = None
    planned: int = 0  # summaries that were to be made
    summarised: int = 0  # rows that they are for
    _had: int = 0  # of them those of rows that are done
    _answered: int = 0
    _done_rows: int = 0
    _taken_size: float = 0
    _reached_size: float = 0
    _done_size: float = 0
    _first_answered: float | None = None
    _open: dict[tuple[Figure, Figure], _OpenRow] = field(default_factory=dict)
    _minute: deque[tuple[float, int]] = field(default_factory=deque)
    _most_shown: float = 0.0

    @property
    def in_flight(self) -> int:
        """Calls that are open."""
        return max(0, self.sent - self.called)

    @property
    def none_usable(self) -> bool:
        """Whether no answer was a summary yet."""
        return not self._answered

    def take(self, event: Event, figures: dict[str, Figure], now: float) -> None:
        """Take note of an event."""
        row = figures.get("source_file"), figures.get("source_row")
        match event:
            case "started" | "resumed" if before := _number(figures, "bytes_so_far"):
                self.read_to(int(before))
            case "taken":
                self._open[row] = opened = _OpenRow(_number(figures, "size"))
                self._taken_size += opened.size
                self._read_to(figures)
            case "planned":
                self.planned += 1
                self.summarised += self._reach(row)
            case "done":
                self._reach(row)
                self._done_size += self._open.pop(row, _OpenRow(0)).size
                self._done(1, figures)
            case "moved":
                self._move(figures)
            case "sent":
                self.sent += 1
                self._minute.append((now, 0))
            case "called":
                self._called(figures, now)
            case "paused":
                seconds, detail = _number(figures, "seconds"), str(figures.get("detail", ""))
                status = _STATUS.search(detail)
                why = status[1] if status else str(figures.get("reason", "")).replace("_", " ")
                self.pause = Pause(now + seconds, why)
            case "answered":
                self._answered_again(now)
            case _:
                pass

    def _move(self, figures: dict[str, Figure]) -> None:
        """Take note of some rows by their sums."""
        self._taken_size += _number(figures, "taken_size")
        self._reached_size += _number(figures, "reached_size")
        self._done_size += _number(figures, "done_size")
        self.planned += int(_number(figures, "planned"))
        self.summarised += int(_number(figures, "summarised"))
        self._done(int(_number(figures, "rows")), figures)

    def _done(self, rows: int, figures: dict[str, Figure]) -> None:
        self._done_rows += rows
        self.rows = max(self.rows, self._done_rows)
        self._had += int(_number(figures, "passes"))
        self._read_to(figures)

    def _answered_again(self, now: float) -> None:
        if self.pause is not None and now >= self.pause.until:  # else of a call that was under way
            self.pause = None

    def _called(self, figures: dict[str, Figure], now: float) -> None:
        self.called += 1
        is_usable = figures.get("result") == "answered"
        self.failed += not is_usable
        self.useless += str(figures.get("result")).endswith("_answer")
        if not is_usable and figures.get("completion_tokens") is None:
            return
        self._answered_again(now)
        self._answered += is_usable
        if is_usable and self._first_answered is None:
            self._first_answered = now
        self.uncounted += figures.get("completion_tokens") is None
        sent, written, cached = (int(_number(figures, f"{which}_tokens")) for which in _PAID)
        self._minute.append((now, sent + written))
        price = self.price_of(str(figures.get("model"))) if self.price_of else None
        if price is not None:
            self.paid += 1
            self.usd = (self.usd or 0.0) + price.cost(sent, written, cached_tokens=cached)

    def _read_to(self, figures: dict[str, Figure]) -> None:
        if "bytes_read" in figures:
            self.read_to(int(_number(figures, "bytes_read")))

    def read_to(self, bytes_read: int) -> None:
        """Note how far the input is read; the first time, what was there."""
        if self.base is None:
            done_before = bytes_read if not self._taken_size else 0
            self.base = min(1.0, done_before / self.total_bytes) if self.total_bytes else 0.0
        self.bytes_read = max(self.bytes_read, bytes_read)

    def _reach(self, row: tuple[Figure, Figure]) -> bool:
        """Note that the counting of a row is behind it; return whether that is news."""
        opened = self._open.get(row)
        if opened is None or opened.is_planned:
            return False
        opened.is_planned = True
        self._reached_size += opened.size
        return True

    def sent_in_minute(self, now: float) -> int:
        """Count the calls that went out in the last minute."""
        self._forget(now)
        return sum(not tokens for _, tokens in self._minute)

    def tokens_in_minute(self, now: float) -> int:
        """Add up the tokens of the calls that were answered in the last minute."""
        self._forget(now)
        return sum(tokens for _, tokens in self._minute)

    def _forget(self, now: float) -> None:
        while self._minute and self._minute[0][0] <= now - _MINUTE_S:
            self._minute.popleft()

    def seconds_left(self, now: float) -> float | None:
        """Return how long it still takes, by calls where any are made, else by rows; None while nobody can tell.

        Not by rows where calls are made: the first summaries of many rows are had before the second of any, so that
        for long no row is done, and then many at once.
        """
        elapsed, share = now - self.began, self._share_of_rows()
        if share is None or elapsed < _SOON_S:
            return None
        was_the_only_one = self._answered == 1 and self.planned <= max(self._had, 1)  # others were kept, or are none
        if self.sent and not was_the_only_one:
            return self._seconds_of_calls(now)
        return elapsed * (1 - share) / share if share else None

    def share_done(self, now: float) -> float | None:
        """Return the share of the work that is done, from 0 to 1, by time; it never falls."""
        if self.total_bytes is None:
            return None
        left, elapsed, base = self.seconds_left(now), now - self.began, self.base or 0.0
        share = (
            self._share_of_rows() or 0.0 if left is None else elapsed / (elapsed + left) if elapsed + left else 1.0
        )
        self._most_shown = max(self._most_shown, min(1.0, base + (1 - base) * share))
        return self._most_shown

    def _share_of_rows(self) -> float | None:
        """Return the share of the rows of this session that are done, in any order, by their sizes."""
        read = self._share_read()
        if read is None or not self._taken_size:
            return read
        return min(1.0, read * self._done_size / self._taken_size)

    def _share_read(self) -> float | None:
        if not self.total_bytes:
            return None
        before = (self.base or 0.0) * self.total_bytes
        left = self.total_bytes - before
        return min(1.0, max(0.0, (self.bytes_read - before) / left)) if left > 0 else 1.0

    def _seconds_of_calls(self, now: float) -> float | None:
        """Return how long the summaries take that are yet to be had; None before a second is answered.

        Rows that still wait for their first one will take as many as those take so far that have it.
        """
        read = self._share_read()
        if self._answered < 2 or not read or not self._taken_size or self._first_answered is None:  # noqa: PLR2004
            return None
        reached = read * self._reached_size / self._taken_size
        had = max(self._had, min(self.planned, self._answered))
        followed = (self.planned - self.summarised) / (min(had, self.summarised) + _FEW)
        left = max(self.summarised / reached * (1 + followed) if reached else 0.0, self.planned) - had
        pace = (self._answered - 1) / max(now - self._first_answered, 1e-9)  # the first call goes out alone
        by_pace = left / pace
        return max(by_pace, left * _MINUTE_S / self.rpm) if self.rpm else by_pace


def _number(figures: dict[str, Figure], name: str) -> float:
    value = figures.get(name)
    return value if isinstance(value, int | float) else 0
