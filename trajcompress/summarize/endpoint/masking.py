"""Taking secrets out of what a server says: it is shown, and kept, by people who should not have them."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote

from trajcompress.redact import redact

MASK = "***"
_PIECE = 8  # characters of a long key in a row, which no word has by chance
_LONG = 12
_WORD = r"(?<!\w){}(?!\w)"  # a shorter key, such as EMPTY or x, is part of many words


class Masking:
    """Masks the key that calls are made with, in every form that it may come back in, and redacts other secrets."""

    def __init__(self, key: str) -> None:
        forms = {key, json.dumps(key)[1:-1], quote(key, safe=""), base64.b64encode(key.encode()).decode().rstrip("=")}
        longest_first = sorted(filter(None, forms), key=len, reverse=True)
        is_long = len(key) >= _LONG
        form = "(?:{})" if len(key) >= _PIECE else _WORD
        whole = "|".join(form.format(re.escape(each)) for each in longest_first)
        self._whole = re.compile(whole, re.IGNORECASE) if key else None
        self._pieces = {key[at : at + _PIECE] for at in range(len(key) - _PIECE + 1)} if is_long else set()

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        if self._whole is not None:
            text = self._whole.sub(MASK, text)
        return redact(self._without_pieces(text)).text

    def _without_pieces(self, text: str) -> str:
        """Mask parts of the key, as where a server shows only its beginning."""
        if not self._pieces:
            return text
        kept, at = [], 0
        while at < len(text):
            end = at
            while text[end : end + _PIECE] in self._pieces:
                end += 1
            if end > at:
                kept.append(MASK)
                at = end + _PIECE - 1
            else:
                kept.append(text[at])
                at += 1
        return "".join(kept)
