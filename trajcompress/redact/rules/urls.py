"""Secrets that are part of a URL's authority or path; those in its query are named, see fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.spans import Span
from trajcompress.redact.values import is_opaque, is_placeholder

# scheme://user:password@host: the last @ before the path ends the password.
_USERINFO = late_re(r"://([^\s/:@\"'`<>\\(),{}?#]{0,256}+)(:[^\s/\"'`<>\\?#]{1,512}|)@(?=[\w\[$*{.-])")
_WEBHOOK = late_re(
    r"://(?:hooks\.slack\.com/(?:services|workflows)/|(?:\w+\.)?discord(?:app)?\.com/api/webhooks/)([\w/-]{20,256}+)(?!\[)"
)
_LEAST_PASSWORD = 3


def url_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """Passwords and tokens before the host of a URL, and webhooks, whose path is the secret.

    ``places`` are where ``://`` starts and ends.
    """
    if "@" not in text and "hooks" not in text:
        return
    for start, _ in places:
        if found := _USERINFO.match(text, start):
            user, password = found[1], found[2][1:]
            if password:
                if len(password) >= _LEAST_PASSWORD and not is_placeholder(password):
                    yield Span(found.start(2) + 1, found.end(2), "url_password")
            elif is_opaque(user, 16) and not is_placeholder(user):
                yield Span(*found.span(1), "url_password")
        elif (found := _WEBHOOK.match(text, start)) and not is_placeholder(found[1]):
            yield Span(*found.span(1), "webhook")
