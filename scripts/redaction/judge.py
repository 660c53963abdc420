"""The judge: whether a secret can still be read in a row, and whether what is no secret still stands there.

It knows nothing of how secrets are looked for. A text is read as it is, with JSON escapes undone one to three times,
and each of these once more without control sequences, invisible characters and continued lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from redaction.labelled import Labelled, strings

DEPTH = 3  # of JSON in JSON
HALVES = 16  # characters from which on half a secret is a secret
MARK = re.compile(r"\[REDACTED\b[^\]\n]*\]")
_ESCAPE = re.compile(r'\\(?:(["\\/])|([bfnrt])|u([0-9a-fA-F]{4}))')
_CONTROL = dict(zip("bfnrt", "\b\f\n\r\t", strict=True))
_ESC = r"(?:\x1b|\\+(?:u001[bB]|x1[bB]|033|e))"
_UNSEEN = re.compile(
    rf"{_ESC}\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links
    rf"|(?:{_ESC}\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, erasing
    r"|\[[0-9;]{1,12}m|\[K"  # a colour whose escape was stripped
    r"|[\u200b-\u200f\u2060\ufeff\u00ad\u180e\u202a-\u202e]"
    r"|\\\r?\n"
)


@dataclass(frozen=True)
class Verdict:
    """What became of one row."""

    row: Labelled
    survived: list[str]
    lost: list[str]
    marks: list[str]
    text: str

    @property
    def leaks(self) -> bool:
        """Whether a secret, or half of one, can be read."""
        return bool(self.survived)

    @property
    def false_alarm(self) -> bool:
        """Whether something went that is no secret."""
        return bool(self.lost) or not (self.row.secrets or self.row.marks_ok or not self.marks)

    @property
    def excerpt(self) -> str:
        """Some text around what went wrong."""
        for wrong in (*self.survived, *self.marks):
            for view in views(self.text):
                at = view.find(wrong)
                if at >= 0:
                    return view[max(0, at - 60) : at + len(wrong) + 30]
        return f"lost {self.lost[0]!r}" if self.lost else ""


def judge(row: Labelled, turns: list[dict[str, Any]]) -> Verdict:
    """Judge the turns that came out for a row."""
    text = "\x00".join(string for turn in turns for string in strings(turn))
    seen = list(views(text))
    survived = [part for secret in row.secrets for part in _parts(secret) if any(part in view for view in seen)]
    lost = [keep for keep in row.keep if not any(keep in view for view in seen)]
    return Verdict(row, survived, lost, MARK.findall(text), text)


def views(text: str) -> Iterator[str]:
    """Yield a text in all the ways it may be read."""
    for _ in range(DEPTH + 1):
        yield text
        yield _UNSEEN.sub("", text)
        text = _ESCAPE.sub(_unescaped, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs


def _parts(secret: str) -> tuple[str, ...]:
    middle = len(secret) // 2
    return (secret, secret[:middle], secret[middle:]) if len(secret) >= HALVES else (secret,)


def _unescaped(found: re.Match[str]) -> str:
    if found[1] is not None:
        return found[1]
    return _CONTROL[found[2]] if found[2] is not None else chr(int(found[3], 16))
