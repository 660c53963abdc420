"""Credentials in the values of HTTP headers."""

from __future__ import annotations

import re

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.spans import Span
from trajcompress.redact.values import JUDGED, is_opaque, is_placeholder

_SCHEME = late_re(
    r"[ \t]*(?:(?:Bearer|Basic|Token|ApiKey|Api-Key|Bot|Negotiate|NTLM|OAuth|JWT)[ \t]+)?", re.IGNORECASE
)
_CREDENTIALS = late_re(r"(?!AWS4-|Digest )[^\s\"'`<>\\,;(){}\[\]]+")
_GENERATED = late_re(r"\d|[a-z][A-Z]|=\Z")
_PAIRS = late_re(r"[\w.!#$%*+^~-]{1,256}=[^\s;,\"'`<>\\]*+(?:;[ \t]*[\w.!#$%*+^~-]{1,256}(?:=[^\s;,\"'`<>\\]*+)?)*+")
_ATTRIBUTES = ("expires", "max-age", "path", "domain", "samesite", "version")
_LEAST_CREDENTIALS = 6
_LEAST_BARE = 8


def credentials(text: str, at: int) -> Span | None:
    """The credentials in an ``Authorization`` header whose value begins at ``at``; its scheme stays."""
    scheme = _SCHEME.match(text, at)
    found = _CREDENTIALS.match(text, scheme.end(), scheme.end() + JUDGED) if scheme else None
    if scheme is None or found is None or text[found.end() : found.end() + 1] in {"(", "[", "{"}:
        return None
    value = found[0]
    if scheme[0].strip():
        secret = len(value) >= _LEAST_CREDENTIALS and _GENERATED.search(value) and not is_placeholder(value)
    else:
        secret = is_opaque(value, _LEAST_BARE) and not is_placeholder(value)
    whole = _CREDENTIALS.match(text, scheme.end()) if secret else None
    return Span(*whole.span(), "authorization") if whole else None


def cookies(text: str, at: int) -> Span | None:
    """The pairs of a ``Cookie`` or ``Set-Cookie`` header whose value begins at ``at``, if one looks generated."""
    found = _PAIRS.match(text, at, at + JUDGED)
    if found is None:
        return None
    pairs = (pair.strip().partition("=") for pair in found[0].split(";"))
    if any(
        is_opaque(value, _LEAST_CREDENTIALS) and not is_placeholder(value)
        for name, _, value in pairs
        if name.lower() not in _ATTRIBUTES
    ):
        whole = _PAIRS.match(text, at) or found
        return Span(*whole.span(), "cookie")
    return None
