"""Secrets that are part of a URL's authority or path; those in its query are named, see fields."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trajcompress.redact.spans import Span
from trajcompress.redact.values import is_opaque, is_placeholder

# scheme://user:password@host: the last @ before the path ends the password.
_USERINFO = re.compile(r"://([^\s/:@\"'`<>\\(),{}?#]{0,256})(:[^\s/\"'`<>\\?#]{1,512}|)@(?=[\w\[$*{.-])")
_WEBHOOK = re.compile(
    r"://(?:hooks\.slack\.com/(?:services|workflows)/|(?:\w+\.)?discord(?:app)?\.com/api/webhooks/)([\w/-]{20,256}+)(?!\[)"
)
_LEAST_PASSWORD = 3


def url_spans(text: str) -> Iterator[Span]:
    """Passwords and tokens before the host of a URL, and webhooks, whose path is the secret."""
    if "://" not in text:
        return
    if "@" in text:
        for found in _USERINFO.finditer(text):
            user, password = found[1], found[2][1:]
            if password:
                if len(password) >= _LEAST_PASSWORD and not is_placeholder(password):
                    yield Span(found.start(2) + 1, found.end(2), "url_password")
            elif is_opaque(user, 16) and not is_placeholder(user):
                yield Span(*found.span(1), "url_password")
    if "hooks" in text:
        for found in _WEBHOOK.finditer(text):
            if not is_placeholder(found[1]):
                yield Span(*found.span(1), "webhook")
