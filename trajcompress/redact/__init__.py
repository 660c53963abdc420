"""Redaction: secrets become typed marks, ``[REDACTED:aws_key]``; nothing of a secret is kept.

The way of a text: fold it to one byte per character, find in one pass the few places that may hold a secret
(``search``), and judge those with care, by the rules that they are for: ``vendors``, ``fields`` and ``forms``,
``commands``, ``prompted``, ``urls``, ``keyblocks``, ``stores``, ``cracked`` and ``records`` (``keys``: does the name
promise a secret; ``literals``: where is the value; ``values``: is it one, or a stand-in, a word, code; ``veils`` and
``unseen``: what nobody sees and may hide one).
What is told once in a row is then looked for in all of it (``row``, ``known``), with what only another turn gives
away: what a command was asked for (``context``, ``queries``), in a session in one text, too (``sessions``).
All of it is pure, takes time in proportion to the text, and leaves marks alone.
"""

from __future__ import annotations

from trajcompress.redact.known import NONE_KNOWN, Known
from trajcompress.redact.row import redact_turns
from trajcompress.redact.text import HOLDS_NONE, Clean, Redacted, redact, redact_all, without_secrets
from trajcompress.redact.tree import RedactedRow, RedactedValue, redact_row, redact_value

__all__ = [
    "HOLDS_NONE",
    "NONE_KNOWN",
    "Clean",
    "Known",
    "Redacted",
    "RedactedRow",
    "RedactedValue",
    "redact",
    "redact_all",
    "redact_row",
    "redact_turns",
    "redact_value",
    "without_secrets",
]
