"""Values that an agent says in another form than the result that told them: rounded, scaled, dates in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from trajcompress.facts.reading import mentions
from trajcompress.processes.late_patterns import late_re

_MOST_SOUGHT = 40  # values that are looked for as they may be written
_MOST_FIGURES = 20_000  # of a result that are looked at
_ENCODED_CHARS = 40  # as of keys and encoded data, which may stand in a result with something else joined to them
_LEAST_DIGITS = 3  # that a rounded figure is known by
_LEAST_GROUPED = 4  # digits that are written with a comma
_DIGITS = "0123456789"
_THOUSANDS = late_re(r",(?<=\d,)(?=\d{3}(?!\d))")  # a comma first, as it is searched for quickly
_FIGURE = late_re(r"\d{1,12}(?:\.\d{1,4})?")
_DECIMAL_SAID = late_re(r"(\d{1,9})\.(\d{1,4})")
_BETWEEN_THOUSANDS = ("", " ", ".", "\xa0", "\u202f", "'")  # where a comma stands before the decimals
# Of these a digit first, too.
_DECIMAL = r"\d{0,17}\.\d{1,18}(?![\w.])"
_DECIMAL_IN = late_re(rf"\d(?<![\w.]\d){_DECIMAL}", re.ASCII)
_FIGURE_IN = late_re(rf"\d(?<![\w.]\d)(?:{_DECIMAL}|(?<!-.)(?<!0)\d{{3,17}}(?![\w.-]))", re.ASCII)
_GROUPS = late_re(r",(?<=\d,)\d{3}(?:,\d{3}){0,3}+(?![\d,])")
_CURRENCIES = "$€£¥₩₹"
_MONEY = late_re(rf"[{_CURRENCIES}]\d{{2,3}}(?![\d.,]\d|\d)")
_PERCENT = 0.01
_SCALES = {
    **dict.fromkeys(("%", " %", " percent"), _PERCENT),
    **dict.fromkeys(("K", "k", " thousand"), 1e3),
    **dict.fromkeys(("M", " million"), 1e6),
    **dict.fromkeys(("B", "bn", " billion", " bn"), 1e9),
    **dict.fromkeys(("T", "tn", " trillion", " tn"), 1e12),
}
_SCALED = late_re(
    r"(\d(?<![\w.]\d)\d{0,5}(?:\.\d{1,4})?)( ?(?:%|[KkMBT]\b|[bt]n\b)| (?:percent|thousand|(?:m|b|tr)illion)\b)"
)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTH = r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_DATE = late_re(rf"{_MONTH} (?:(\d\d?)(?:st|nd|rd|th)?,? )?(\d{{4}})\b")
_DAY_BEFORE, _BEFORE_CHARS = late_re(r"\b(\d\d?)(?:st|nd|rd|th)? \Z"), 6
_HALF_OF_DAY, _NOON = late_re(r" ?([AaPp])\.?[Mm]\b"), 12
_ISO = late_re(r"(\d{4})-([01]\d)-([0-3]\d)")


def as_data(text: str, *, figures: bool) -> Iterator[str]:
    """Yield the dates, and the ``figures``, of a text as data has them: ``2020-02-21`` and ``1234``."""
    for date in _DATE.finditer(text):
        month, day, year = date.groups()
        before = None if day else _DAY_BEFORE.search(text, max(date.start() - _BEFORE_CHARS, 0), date.start())
        if day := day or (before and before[1]):
            number = next(place for place, name in enumerate(_MONTHS, 1) if name.startswith(month))
            yield f"{year}-{number:02}-{int(day):02}"
    if figures and (plain := _THOUSANDS.sub("", text)) != text:
        yield plain


def time_as_data(time: str, text: str, end: int) -> tuple[str, ...]:
    """Return a time that ends at a place of a text, as it is said and as data have it.

    >>> time_as_data("07:30", "at 07:30 PM", 8)
    ('07:30 PM', '19:30')
    """
    half = _HALF_OF_DAY.match(text, end)
    hour, _, rest = time.partition(":")
    if half is None or not 0 < int(hour) <= _NOON:
        return (time,)
    since_midnight = int(hour) % _NOON + _NOON * (half[1] in "Pp")
    return f"{time}{half[0]}", f"{since_midnight:02}:{rest}"


def in_other_forms(
    texts: Sequence[str], results: Sequence[bool], untold: Mapping[str, int]
) -> Iterator[tuple[int, str]]:
    """Yield where results have values in another form than that in which they are said later, and that form.

    Args:
        texts: what the turns of a row say.
        results: whether each is a result.
        untold: words of the agent that no result before them has, and where they are said first.
    """
    figures: dict[tuple[str, float], int] = {}
    sought: dict[str, tuple[int, Sequence[str]]] = {}
    digits = {word: index for word, index in untold.items() if word[0] <= "9"}
    for index, number, unit in _scaled(texts, digits):
        scale = _SCALES[unit]
        figures.setdefault((number, scale), index)
        if scale == _PERCENT:  # data may have percentages as they are said
            figures.setdefault((number, 1.0), index)
        sought.setdefault(number + unit, (index, [number + each for each in _SCALES if _SCALES[each] == scale]))
        digits.pop(number, None)
    whole = {figure for index in set(digits.values()) for figure in _whole_figures(texts[index])}
    for word, index in digits.items():
        if word in whole or ("." in word and _FIGURE.fullmatch(word)):
            figures[word, 1.0] = index
    for word, index in untold.items():
        if len(sought) < _MOST_SOUGHT and (forms := _forms(word)):
            sought[word] = index, forms
    yield from _found_before(texts, results, sought)
    yield from _rounded_from(texts, results, figures)


def _whole_figures(text: str) -> Iterator[str]:
    """Yield the figures without decimals that are said to measure something: money, or long ones in groups."""
    for groups in _GROUPS.finditer(text):
        before = text[max(groups.start() - 3, 0) : groups.start()]
        yield before[len(before.rstrip(_DIGITS)) :] + groups[0].replace(",", "")
    if any(sign in text for sign in _CURRENCIES):
        yield from (money[0][1:] for money in _MONEY.finditer(text))


def _scaled(texts: Sequence[str], untold: Mapping[str, int]) -> Iterator[tuple[int, str, str]]:
    """Yield the figures with a unit that the agent says: where, the figure, and its unit."""
    for index in sorted(set(untold.values())):
        for match in _SCALED.finditer(texts[index]):
            unit = match[2] if match[2] in _SCALES else match[2].strip()
            if unit in _SCALES and index in {untold.get(match[1]), untold.get(match[0])}:
                yield index, match[1], unit


def _forms(word: str) -> Sequence[str]:
    """Return how else a result may have a word."""
    if len(word) >= _ENCODED_CHARS:
        return (word.removeprefix("0x"),)
    if (decimal := _DECIMAL_SAID.fullmatch(word)) and len(word) > _LEAST_DIGITS:
        whole, parts = f"{int(decimal[1]):,}", decimal[2]
        return tuple(dict.fromkeys(f"{whole.replace(',', between)},{parts}" for between in _BETWEEN_THOUSANDS))
    if word.isdecimal():
        return (f"{int(word):,}",) if len(word) >= _LEAST_GROUPED else ()
    if (date := _ISO.fullmatch(word)) and 0 < int(date[2]) <= len(_MONTHS):
        name, day = _MONTHS[int(date[2]) - 1], int(date[3])
        months = dict.fromkeys((name, name[:3], f"{name[:3]}."))
        written = [f"{month} {day}, {date[1]}" for month in months] + [f"{day} {month} {date[1]}" for month in months]
        return (*written, f"{date[2]}/{date[3]}/{date[1]}", f"{int(date[2])}/{day}/{date[1]}")
    return ()


def _found_before(
    texts: Sequence[str], results: Sequence[bool], words: Mapping[str, tuple[int, Sequence[str]]]
) -> Iterator[tuple[int, str]]:
    """Yield the last result before each word that has it in one of its forms, and that form."""
    for index, forms in islice(words.values(), _MOST_SOUGHT):
        places = (
            (place, form)
            for place in range(index - 1, -1, -1)
            if results[place]
            for form in forms
            if mentions(texts[place], form)
        )
        yield from islice(places, 1)


def _rounded_from(
    texts: Sequence[str], results: Sequence[bool], said: Mapping[tuple[str, float], int]
) -> Iterator[tuple[int, str]]:
    """Yield of which figure of the last result before it each figure that is ``said`` is a rounded one.

    One of few digits is only what it is exactly, in another unit or without decimals.
    """
    wanted: dict[tuple[float, int], dict[str, list[tuple[str, float]]]] = {}  # by their units and decimals
    for number, scale in said:
        decimals = len(number.partition(".")[2])
        wanted.setdefault((scale, decimals), {}).setdefault(f"{float(number):.{decimals}f}", []).append(
            (number, scale)
        )
    found: dict[tuple[str, float], tuple[int, str]] = {}
    figure = _FIGURE_IN if any(scale != 1 for _, scale in said) else _DECIMAL_IN
    for index, text in enumerate(texts[: max(said.values(), default=0)]):
        for match in islice(figure.finditer(text), _MOST_FIGURES) if results[index] else ():
            value = float(match[0])
            for (scale, decimals), figures in wanted.items():
                scaled = value / scale
                for each in figures.get(f"{scaled:.{decimals}f}", ()):
                    if index < said[each] and _is_telling(scaled, *each):
                        found[each] = index, match[0]
    yield from found.values()


def _is_telling(value: float, number: str, scale: float) -> bool:
    """Whether a figure tells of a value: it has digits enough, or is that in another unit or without its decimals."""
    is_whole = scale == 1 and "." not in number
    digits = len(number.replace(".", "").lstrip("0"))
    if digits >= (_LEAST_GROUPED if is_whole else _LEAST_DIGITS):
        return True
    return (is_whole or scale != 1) and abs(value - float(number)) < 1e-9 * value
