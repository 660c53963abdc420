"""Secrets that are an argument of a function, by the argument's place: ``FTP(host, user, secret)``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.keys import Proof
from trajcompress.redact.spans import Span
from trajcompress.redact.values import APP_PASSWORD, Style, is_secret

_PLACES = {
    "password(": 1,  # set_password, check_password
    "pw(": 1,  # hashpw, checkpw
    "password_hash(": 1,
    "fernet(": 1,
    "totp(": 1,
    "hmac.new(": 1,
    "auth(": 2,  # HTTPBasicAuth, basic_auth
    "credentials(": 2,
    "credential(": 2,
    "authentication(": 2,
    "jwt.encode(": 2,
    "jwt.decode(": 2,
    "jwt.sign(": 2,
    "auth=(": 2,
    "auth = (": 2,
    "login(": 2,
    "ftp(": 3,
    "ftp_tls(": 3,
    "tconnection(": 3,  # DriverManager.getConnection
    "pdo(": 3,
    "create_user(": 3,
    "create_superuser(": 3,
    "mysqli(": 3,
    "mysqli_connect(": 3,
}
"""By how a function ends, which of its arguments is secret."""
_COMMAND = "convertto-securestring"
CALLS = tuple(name.encode() for name in (*_PLACES, _COMMAND))
"""The functions, in lower case; what a text is searched for."""

_ARGUMENT = r"(?:[^,()\n\"']|\\*[\"'][^\"'\n]{0,200}?\\*[\"']|\([^()\n]{0,80}\)){1,200}+"
_LITERAL = (
    r"\s*+(?:(?!(?i:user|e?mail|name|host))[a-zA-Z]{1,10}[ \t]*=[ \t]*)?(?:[bBrRuUnN@]{1,2})?"
    r"(?P<quote>\\*[\"'])(?P<value>[^\"'\n\\]{6,256})(?P=quote)(?!\s*:)"  # a key of JSON is no argument
)
_AT = {place: late_re(rf"(?:{_ARGUMENT},){{{place - 1}}}{_LITERAL}") for place in (1, 2, 3)}
_ADDRESS = late_re(r"[\w.+-]{1,80}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,5}")
_AFTER_COMMAND = late_re(rf"(?:\s+-\w+)*{_LITERAL}")


def call_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The secrets that are arguments; ``places`` are where ``CALLS`` start and end."""
    for start, end in places:
        name = text[start:end].lower()
        found = _AFTER_COMMAND.match(text, end) if name == _COMMAND else _AT[_PLACES[name]].match(text, end)
        if found is None and name == "login(":
            found = _AT[1].match(text, end)
            found = None if found and _ADDRESS.fullmatch(found["value"]) else found  # of the user; the rest was cut
        if found is None or not is_secret(found["value"], Proof.ANY, Style.QUOTED):
            continue
        if " " not in found["value"] or APP_PASSWORD.fullmatch(found["value"]):
            yield Span(*found.span("value"), "password")
