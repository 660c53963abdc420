"""Secrets that are an argument of a function, by the argument's place: ``FTP(host, user, secret)``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trajcompress.redact.keys import Proof
from trajcompress.redact.spans import Span
from trajcompress.redact.values import APP_PASSWORD, Style, is_secret

_FUNCTIONS = {
    1: "set_password setpassword check_password fernet totp hotp hashpw checkpw generate_password_hash "
    "convertto-securestring pyotp.totp hmac.new make_password client.login bot.run",
    2: "httpbasicauth httpdigestauth httpproxyauth basicauth basic_auth setbasicauth withbasicauth basicauthentication "
    "plaincredentials networkcredential usernamepasswordcredentials passwordauthentication pscredential "
    "check_password_hash smtp.login imap.login server.login mail.login conn.login ftp.login .login( jwt.encode "
    "jwt.decode jwt.sign",
    3: "ftp( ftp_tls( getconnection smtptransport pdo( create_user create_superuser mysqli( mysqli_connect mysql_connect",
}
_PLACES = {name.removesuffix("("): place for place, names in _FUNCTIONS.items() for name in names.split()}
CALLS = tuple(f"{name}(".encode() for name in _PLACES if name != "convertto-securestring") + (
    b"auth=(",
    b"auth = (",
    b"convertto-securestring",
)
"""The functions, in lower case; what a text is searched for."""

_ARGUMENT = r"(?:[^,()\n\"']|\\*[\"'][^\"'\n]{0,200}?\\*[\"']|\([^()\n]{0,80}\)){1,200}+"
_LITERAL = r"\s*(?:[a-zA-Z]{0,10}[ \t]*=[ \t]*)?(?:[bBrRuUnN@]{1,2})?(?P<quote>\\*[\"'])(?P<value>[^\"'\n\\]{6,256})(?P=quote)"
_AT = {place: re.compile(rf"(?:{_ARGUMENT},){{{place - 1}}}{_LITERAL}") for place in (1, 2, 3)}
_AFTER_COMMAND = re.compile(rf"(?:\s+-\w+)*{_LITERAL}")


def call_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The secrets that are arguments; ``places`` are where ``CALLS`` start and end."""
    for start, end in places:
        name = text[start:end].lower().rstrip("(").strip()
        if name.startswith("auth"):
            found = _AT[2].match(text, end)
        elif name == "convertto-securestring":
            found = _AFTER_COMMAND.match(text, end)
        else:
            found = _AT[_PLACES[name]].match(text, end)
        if (
            found
            and is_secret(found["value"], Proof.ANY, Style.QUOTED)
            and (" " not in found["value"] or APP_PASSWORD.fullmatch(found["value"]))
        ):
            yield Span(*found.span("value"), "password")
