"""What a script types behind a prompt for a secret: ``expect "Password:"; send "…"``, and as libraries have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.keys import Proof
from trajcompress.redact.spans import MARK_START, Span
from trajcompress.redact.values import Style, is_secret

SENDS = (b"send ", b"send\t", b"sendline(", b"send(", b"sendlineafter(")
"""What a script types with, in lower case; what a text is searched for."""

_VALUE = r"(?P<value>(?:[^\s\"'\\\[\]{}]|\\+[^\w\s\"'\\]){3,128})"
_RETURN = r"\\+[rn]"  # without which a prompt goes on to wait
_SENT = late_re(rf"(?:-{{1,2}}\w{{0,8}}[ \t]+){{0,3}}\\*[\"']?{_VALUE}{_RETURN}")
_SENT_BY_CALL = late_re(rf"\s*[bru]{{0,2}}\\*[\"']{_VALUE}(?:{_RETURN}){{0,2}}\\*[\"']")
_SCRIPT = late_re(r"(?i:expect|spawn|sendline|recv)")
# The prompt, and behind it no other text in quotes.
_PROMPT = late_re(
    r"(?i:assword|asswd|assphrase|asscode|passwort|kennwort|wachtwoord|contrase|senha|mot de passe|secret|token"
    r"|api.?key|\bpin\b)[^\"']{0,80}(?:[\"'][^\"']{0,120})?\Z"
)
_BEFORE, _OF_SCRIPT = 240, 800  # characters


def prompted_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The secrets that are sent behind a prompt; ``places`` are where ``SENDS`` start and end."""
    for start, end in places:
        found = (_SENT_BY_CALL if text[end - 1] == "(" else _SENT).match(text, end)
        if found is None or not is_secret(found["value"], Proof.ANY, Style.QUOTED):
            continue
        before = text[max(0, start - _OF_SCRIPT) : start]
        prompt = before[-_BEFORE:].rpartition(MARK_START)[2]
        if _PROMPT.search(prompt) and _SCRIPT.search(before):
            yield Span(*found.span("value"), "password")
