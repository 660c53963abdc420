"""Taking secrets out of what a server says: it is shown, and kept, by people who should not have them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote

from msgspec.structs import replace

from trajcompress.redact import redact
from trajcompress.redact.known import is_telling
from trajcompress.redact.spans import mark
from trajcompress.redact.values import is_placeholder
from trajcompress.summarize.answer import Answer

MASK = "***"
_PIECE = 8  # characters of a long key in a row, which no word has by chance
_LONG = 12
_WORD = r"(?<!\w){}(?!\w)"  # a shorter key, such as EMPTY or x, is part of many words
_MARK = mark("api_key")


class Masking:
    """Masks the key that calls are made with, in every form that it may come back in, and redacts other secrets.

    Args:
        key: the key.
        redact_secrets: whether other secrets in answers become marks; those in errors do in any case.
    """

    def __init__(self, key: str, *, redact_secrets: bool = True) -> None:
        forms = {key, json.dumps(key)[1:-1], quote(key, safe=""), base64.b64encode(key.encode()).decode().rstrip("=")}
        longest_first = sorted(filter(None, forms), key=len, reverse=True)
        is_long = len(key) >= _LONG
        form = "(?:{})" if len(key) >= _PIECE else _WORD
        whole = "|".join(form.format(re.escape(each)) for each in longest_first)
        self._whole = re.compile(whole, re.IGNORECASE) if key else None
        self._pieces = {key[at : at + _PIECE] for at in range(len(key) - _PIECE + 1)} if is_long else set()
        # A summary may well say EMPTY, no-key-needed or sk-proj-, and an error seldom.
        is_own = is_telling(key) or (is_long and not is_placeholder(key))
        self._whole_in_answers = re.compile("|".join(map(re.escape, longest_first))) if is_own else None
        self._pieces_in_answers = set(filter(is_telling, self._pieces))
        self._redact = redact_secrets

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        if self._whole is not None:
            text = self._whole.sub(MASK, text)
        return redact("".join(_without(self._pieces, text, MASK))).text

    def answer(self, answer: Answer) -> Answer:
        """Return an answer without secrets, before anybody keeps it; it tells how many there were."""
        text, count = answer.text, 0
        if self._whole_in_answers is not None:
            text, count = self._whole_in_answers.subn(_MARK, text)
        if self._redact:
            redacted = redact(text)
            text, count = redacted.text, count + redacted.count
        if any(piece in text for piece in self._pieces_in_answers):
            kept = list(_without(self._pieces_in_answers, text, _MARK))
            text, count = "".join(kept), count + kept.count(_MARK)
        refusal = self(answer.refusal) if answer.refusal else answer.refusal
        return replace(answer, text=text, refusal=refusal, redactions=count)


def _without(pieces: set[str], text: str, mask: str) -> Iterable[str]:
    """Yield a text in parts, with a mask for each stretch of pieces, as where a server shows a key's beginning."""
    if not pieces:
        yield text
        return
    at = begin = 0
    while at < len(text):
        end = at
        while text[end : end + _PIECE] in pieces:
            end += 1
        if end > at:
            yield text[begin:at]
            yield mask
            at = begin = end + _PIECE - 1
        else:
            at += 1
    yield text[begin:]
