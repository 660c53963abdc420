"""Whether an answer is a copy of what the model was given to read, or of its instructions. Pure, linear."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice

from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.prompt import PROMPT_VERSION, load_template

_STEP = 64  # characters: pieces of a text that are looked up in another
_LEAST_STRETCH = 240  # characters in a row: a quote in a summary is shorter
_LEAST_WHOLE = 120  # characters of a short answer that is one copy
_MOST = 4 / 5  # of an answer
_LEAST_LINE = 32  # characters of an instruction that nobody writes by chance
_FENCE = late_re(r"=====TURNS-[0-9a-f]{16}=====")
_PROBES = 4
_MOST_MISSING = 3  # of one more: probes may fall between two stretches


def is_prompt(text: str) -> bool:
    """Tell whether an answer repeats the prompt: its marks, or mostly its instructions."""
    if _FENCE.search(text):
        return True
    ours = _instructions()
    lines = [" ".join(line.split()).strip("*_> ") for line in text.splitlines() if line.strip()]
    copied = sum(len(line) for line in lines if line in ours)
    return bool(lines) and (lines[0] in ours or 2 * copied >= sum(map(len, lines)))


@cache
def _instructions() -> frozenset[str]:
    lines = (line for part in load_template(PROMPT_VERSION).values() for line in part.splitlines())
    return frozenset(plain for line in lines if len(plain := " ".join(line.split()).strip("*_> ")) >= _LEAST_LINE)


def is_copy(text: str, texts: Sequence[str], rendered: Callable[[], str]) -> bool:
    """Tell whether most of an answer stands in what was read, in long stretches.

    Args:
        text: the answer.
        texts: what was read.
        rendered: returns them as they were shown; asked where it looks like a copy.
    """
    if len(text) < _LEAST_WHOLE:
        return False
    step = (len(text) - _STEP // 2) // _PROBES
    probes = (text[at * step : at * step + _STEP // 2] for at in range(_PROBES + 1))
    missing = (1 for probe in probes if not any(probe in each for each in texts))
    if sum(islice(missing, _MOST_MISSING)) == _MOST_MISSING:  # mostly, and quickly
        return False
    answer, shown = " ".join(text.split()), " ".join(rendered().split())
    if answer in shown:
        return True
    known = set(_pieces(shown))
    least = min(_LEAST_STRETCH, len(answer) - _STEP)
    copied = begin = end = 0
    for at in range(len(answer) - _STEP + 1):
        if answer[at : at + _STEP] in known:
            if at > end:
                copied += end - begin if end - begin >= least else 0
                begin = at
            end = at + _STEP
    copied += end - begin if end - begin >= least else 0
    return copied + _STEP >= _MOST * len(answer) and copied > 0


def _pieces(text: str) -> Iterable[str]:
    return (text[at : at + _STEP] for at in range(0, len(text) - _STEP + 1, _STEP))
