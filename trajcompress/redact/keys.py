"""Names that say what they hold is secret."""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from trajcompress.processes.late_patterns import late_re


class Proof(Enum):
    """What a value must be like, given its name, to count as a secret."""

    ANY = auto()  # a password may be any word
    OPAQUE = auto()  # a token is no word
    LONG = auto()  # the name says little
    HEADER = auto()  # a scheme, then the credentials
    COOKIES = auto()  # pairs
    GENERATED = auto()  # the name is a word of any sort: what it holds is long, and of letters and digits


class Secret(NamedTuple):
    """What a name promises."""

    kind: str
    proof: Proof


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


# How the names below end, in lower case and UTF-8; what a text is searched for.
ENDINGS = (
    *(b"password", b"passwd", b"passphrase", b"passcode", b"pwd", b"_pass", b"sshpass", b"token", b"secret", b"key"),
    *(b"passwort", b"kennwort", b"wachtwoord", b"mot de passe", "contraseña".encode(), b"contrasena", b"senha"),
    *(b"contrase" + b"\\" * slashes + b"u00f1a" for slashes in (1, 2, 4)),  # as in JSON
    *(b"_pat", b"psk", b"pw", b"secret_key_base", b"essionid", b"sessid", b"mnemonic", b"masterauth"),
    *(b"creds", b"_salt", b"authtok", b"epass", b"keypass"),
    *(b"connect.sid", b"seed_phrase", b"device_code", b"code_verifier"),
    *(b"authorization", b"auth", b"cookie", b"credential", b"credentials", b"signature", b"sig"),
)

_PASSWORDS = (
    *("password", "passwd", "passphrase", "passcode", "pwd", "sshpass"),
    *("requirepass", "storepass", "keypass", "bindpw", "rootpw", "userpw"),
    *("passwort", "kennwort", "wachtwoord", "contraseña", "contrasena", "senha", "u00f1a"),
)
_KEYS = late_re(
    r"(?:api|secret|access|private|encryption|signing|auth|authentication|master|account|service|admin|app|client|"
    r"consumer|license|deploy|storage|webhook|session|jwt|preshared|subscription|ssh|functions|openai|anthropic|stripe|azure)key"
)
# Tokens and keys that are part of a program's ordinary business.
_ORDINARY_TOKENS = words(
    """
    pad eos bos unk cls sep mask next prev previous page continuation cancel cancellation stop special start
    end image audio video last first current new sync delta lookahead peek parse lexer eof sos text word sub
    extra control separator newline cursor resume marker placeholder role tool begin open close nextpage
    starting idempotency lock change
    """
)
_ORDINARY_KEYS = words(
    """
    public primary foreign sort partition cache idempotency row hash group dict map hot shortcut unique natural
    object storage config state query index route resource bucket i18n translation message column field sorting
    """
)
_LONGEST_NAME = 80
_EMAN = late_re(r"(?:a1f00u\\+)?[\w.$-]*", re.IGNORECASE)  # a name, read backwards
_FLAG = late_re(r"--?(?!(?:no|ask|skip|prompt|reset|change|without|force|use|with)-)[A-Za-z]", re.IGNORECASE)
_CAMEL = late_re(r"(?<=[a-z0-9])(?=[A-Z])")


def name_that_ends(text: str, end: int) -> tuple[int, str]:
    """Where the name begins that ends there, and the name."""
    backwards = _EMAN.match(text[max(0, end - _LONGEST_NAME) : end][::-1])
    name = backwards[0][::-1] if backwards else ""
    start = end - len(name)
    if text[max(0, start - 1) : start] == "\\":  # an escaped line end, or the null between variables
        escaped = 5 if name.startswith("u0000") else name[:1] in {"n", "r", "t"}
        return start + escaped, name[escaped:]
    return start, name


def is_flag(name: str) -> bool:
    """Whether a name is that of a command-line flag that takes a value."""
    return _FLAG.match(name) is not None


@lru_cache(maxsize=4096)  # names recur
def secret_of(name: str) -> Secret | None:
    """What the name of a variable, field, header or parameter promises; None where it promises no secret."""
    plain = name.rpartition(".")[2]
    parts = [word for word in re.split(r"[_\W]+", _CAMEL.sub("_", plain).lower()) if word]
    if not parts:
        return None
    if (whole := _WHOLE.get("_".join(parts))) is not None:
        return whole
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last.endswith(_PASSWORDS) or (last == "pass" and before) or last == "passe":
        return Secret("password", Proof.ANY)
    if last.endswith("token") and (before in _ORDINARY_TOKENS or last[:-5] in _ORDINARY_TOKENS):
        return None
    for ending in ("secret", "token"):
        if last.endswith(ending):
            return Secret(ending, Proof.OPAQUE)
    return _key(before, last, plain) if last.endswith("key") else _OTHERS.get(last)


def _key(before: str, last: str, plain: str) -> Secret | None:
    if last != "key":
        return Secret("api_key", Proof.OPAQUE) if _KEYS.fullmatch(last) else None
    if before == "account" or plain.lower().endswith("sharedaccesskey"):
        return Secret("azure_key", Proof.OPAQUE)
    if plain.lower().endswith("secret_access_key"):
        return Secret("aws_key", Proof.OPAQUE)
    if _KEYS.fullmatch(f"{before}key"):
        return Secret("api_key", Proof.OPAQUE)
    if before and plain.isupper() and before not in _ORDINARY_KEYS:
        return Secret("api_key", Proof.LONG)
    return None


_WHOLE = {
    "refresh": Secret("token", Proof.GENERATED),
    "access": Secret("token", Proof.GENERATED),
    "device_code": Secret("token", Proof.GENERATED),
    "code_verifier": Secret("token", Proof.GENERATED),
}
_OTHERS = {
    "pass": Secret("password", Proof.OPAQUE),
    "base": Secret("secret", Proof.LONG),  # Rails' secret_key_base
    "salt": Secret("secret", Proof.LONG),
    "masterauth": Secret("password", Proof.ANY),
    "psk": Secret("password", Proof.ANY),
    "pw": Secret("password", Proof.ANY),
    "authtok": Secret("password", Proof.ANY),
    "pat": Secret("token", Proof.LONG),
    "jsessionid": Secret("session", Proof.LONG),
    "phpsessid": Secret("session", Proof.LONG),
    "sid": Secret("session", Proof.LONG),
    "authorization": Secret("authorization", Proof.HEADER),
    "auth": Secret("authorization", Proof.LONG),
    "cookie": Secret("cookie", Proof.COOKIES),
    "credential": Secret("secret", Proof.LONG),
    "credentials": Secret("secret", Proof.LONG),
    "signature": Secret("signature", Proof.LONG),
    "sig": Secret("signature", Proof.LONG),
}
