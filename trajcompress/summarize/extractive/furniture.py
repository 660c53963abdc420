"""What a result has around what it tells: rules, tags, progress, and lines that result after result has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain

from trajcompress.summarize.extractive.text import one_line

_NOISE = re.compile(  # rules, tags alone, keys without a value, progress of a download, the head of a page
    r"(?:(?:[\W_]|<[^<>]{1,80}>)*|[\w \"-]{1,40}:|\"?(?:success|ok)\"?: true,?)$"
    r"|\s*% Total\s+% Received|\s*Dload\s+Upload|.*--:--:--|.*\d%\||\s*<(?:!DOCTYPE|\?xml|meta|link)\b",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d\d*")  # found in half the time of \d+
_KEY_CHARS = 60
_LINES = 30  # at the beginning and at the end of a result
_OFTEN = 3


def repeated_lines(results: Iterable[str]) -> frozenset[str]:
    """Return how lines begin that many different results have, whatever the numbers in them."""
    ends = [{*text[:8_000].splitlines()[:_LINES], *text[-4_000:].splitlines()[-_LINES:]} for text in results]
    lines = list(set().union(*ends))  # the key of each is made once, and all in one go
    keys = _DIGITS.sub("0", "\n".join(one_line(line)[:_KEY_CHARS] for line in lines)).split("\n")
    key_of = dict(zip(lines, keys, strict=bool(lines)))
    often = Counter(chain.from_iterable({key_of[line] for line in each} for each in ends))
    return frozenset(key for key, times in often.items() if times >= _OFTEN)


def telling_lines(lines: Iterable[str], repeated: frozenset[str]) -> list[str]:
    """Return the lines that tell something; those that other results have as well only where there are no others."""
    found = dict.fromkeys(one_line(line) for line in lines if not _NOISE.match(line))
    own = [line for line in found if _key(line) not in repeated] if repeated else []
    return own or list(found)


def _key(line: str) -> str:
    return _DIGITS.sub("0", line[:_KEY_CHARS])
