"""The line that shows how far work on rows is, for terminals of 60 to 200 columns and for logs. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from trajcompress.run.progress.counts import Counts
from trajcompress.wording import bar, counted, duration

_LEAST_BAR, _MOST_BAR = 8, 30


def bar_line(counts: Counts, task: str, now: float, width: int) -> str:
    """Return the line for a terminal, as much of it as fits ``width`` columns, the most telling first."""
    share = counts.share_done(now)
    percent = "" if share is None else f" {_percent(share):>3}%"
    left = counts.seconds_left(now)
    clock = duration(now - counts.began) + (f", {duration(left)} left" if left is not None else "")
    head = f"{task}{percent}"
    room = width - 1 - len(head) - 1 - len(clock) - (0 if share is None else _LEAST_BAR + 1)
    parts = [clock]
    for words in _facts(counts, now):
        if len(words) + 3 <= room:
            parts.append(words)
            room -= len(words) + 3
    if share is None:
        return f"{head} {' · '.join(parts)}"[: width - 1]
    bar = _bar(share, min(_MOST_BAR, _LEAST_BAR + max(0, room)))
    return f"{head} {bar} {' · '.join(parts)}"[: width - 1]


def log_line(counts: Counts, task: str, now: float) -> str:
    """Return the line for a log: all there is to tell."""
    share, left = counts.share_done(now), counts.seconds_left(now)
    parts = [
        *([f"{_percent(share)}%"] if share is not None else []),
        duration(now - counts.began) + (f", {duration(left)} left" if left is not None else ""),
        *_facts(counts, now),
    ]
    return f"{task}: {' · '.join(parts)}"


def _facts(counts: Counts, now: float) -> Iterator[str]:
    """Yield what there is to tell, the most telling first."""
    if counts.pause is not None:
        seconds = counts.pause.until - now
        yield f"paused {seconds:.0f} s ({counts.pause.why})" if seconds >= 1 else f"trying again ({counts.pause.why})"
    yield counted(counts.rows, "row")
    if counts.sent or counts.called:
        yield calls_in_words(counts)
    if counts.usd is not None:
        yield f"${counts.usd:,.2f}"
    if counts.not_handled:
        yield f"{counts.not_handled:,} not handled"
    if counts.rpm is not None and counts.sent:
        yield f"{counts.sent_in_minute(now):,}/{counts.rpm:,} rpm"
    if counts.tpm is not None and counts.sent:
        yield f"{counts.tokens_in_minute(now):,}/{counts.tpm:,} tpm"
    if counts.compressed:
        yield f"{counts.compressed:,} compressed"


def calls_in_words(counts: Counts) -> str:
    """Say how many calls have ended, are open, and have failed, as ``status`` and the table at the end do."""
    words = counted(counts.called, "call")
    words += f", {counts.in_flight:,} open" if counts.in_flight else ""
    return words + (f", {counts.failed:,} failed" if counts.failed else "")


def _percent(share: float) -> int:
    return min(int(share * 100), 100)


def _bar(share: float, width: int) -> str:
    return bar(int(share * width * 8)).ljust(width, "░")[:width]
