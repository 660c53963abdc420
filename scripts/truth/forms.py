"""Values as they are, however they are written: dates, times of day, and figures with thousands, units or percent."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from decimal import Decimal

from truth.who import Story

Value = tuple[str, object]

MONTHS = [name.lower() for name in calendar.month_name[1:]]
_MONTH = "|".join(name[:3] + (f"(?:{name[3:]})?" if name[3:] else "") for name in MONTHS)
_YEAR = r"((?:19|20)\d\d)"
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"


def _month(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name.lower()[:3]))


DATES: list[tuple[re.Pattern[str], Callable[[str, str, str], tuple[int, int, int]]]] = [
    (
        re.compile(rf"\b({_MONTH})\.? {_ORDINAL},? {_YEAR}\b", re.IGNORECASE),
        lambda m, d, y: (int(y), _month(m), int(d)),
    ),
    (
        re.compile(rf"\b{_ORDINAL}(?: of)? ({_MONTH})\.?,? {_YEAR}\b", re.IGNORECASE),
        lambda d, m, y: (int(y), _month(m), int(d)),
    ),
    (re.compile(rf"(?<![\d-]){_YEAR}[-/.](\d\d?)[-/.](\d\d?)(?![\d-])"), lambda y, m, d: (int(y), int(m), int(d))),
    (re.compile(rf"(?<![\d/.-])(\d\d?)/(\d\d?)/{_YEAR}(?![\d/])"), lambda m, d, y: (int(y), int(m), int(d))),
]
TIME = re.compile(r"(?<![\d:.])(\d{1,2}):(\d\d)(?::\d\d)?(?: ?([ap])\.?m\b\.?)?(?![\d:])", re.IGNORECASE)
FIGURE = re.compile(
    r"(?<![\w.,-])[$€£¥]?((?:\d{1,3}(?:,\d{3})+|\d{1,18})(?:\.\d{1,18})?)"
    r"(?: ?(%|(?:percent|per cent|thousand|million|billion|trillion|bn|mn|[kmbt])\b))?(?!\w)",
    re.IGNORECASE,
)
ZEROS = {"thousand": 3, "k": 3, "million": 6, "mn": 6, "m": 6, "billion": 9, "bn": 9, "b": 9, "trillion": 12, "t": 12}
LEAST_DIGITS = 3  # of a figure that is known again


def values(text: str) -> Iterator[tuple[Value, str]]:
    """Yield each value of a text, and how it is written there."""
    for pattern, read in DATES:
        for match in pattern.finditer(text):
            year, month, day = read(match[1], match[2], match[3])
            if month <= len(MONTHS):
                yield ("date", (year, month, day)), match[0]
    for match in TIME.finditer(text):
        hour = int(match[1]) % 12 + 12 * (match[3].lower() == "p") if match[3] else int(match[1])
        yield ("time", (hour, int(match[2]))), match[0]
    for match in FIGURE.finditer(text):
        digits, unit = match[1].replace(",", ""), (match[2] or "").lower()
        figure = Decimal(digits).scaleb(ZEROS.get(unit, 0))
        if unit in ZEROS or len(digits.replace(".", "").lstrip("0")) >= LEAST_DIGITS:
            yield ("figure", figure.normalize()), match[0]
            if unit in {"%", "percent", "per cent"}:
                yield ("figure", (figure / 100).normalize()), match[0]


def rewritten(story: Story, kept: set[str]) -> Iterator[tuple[int, str, Value]]:
    """Yield turn, words and value of what each kept turn of the agent takes from results in a form of its own.

    Args:
        story: the row as it was.
        kept: the texts of the agent's turns that stand in the output.
    """
    told: dict[Value, set[str]] = {}  # by results, with how these write it
    said: set[Value] = set()  # by anybody else
    printed: list[str] = []
    for place, turn in enumerate(story.turns):
        found = list(values(turn.whole))
        if turn.kind == "observation":
            printed.append(turn.whole)
            for value, written in found:
                told.setdefault(value, set()).add(written)
            continue
        if turn.assistant and turn.whole in kept:
            for value, written in dict(found).items():
                as_told = written in told.get(value, {written}) or any(written in text for text in printed)
                if not as_told and value not in said:
                    yield place, written, value
        said |= {value for value, _ in found}
