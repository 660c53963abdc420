"""Secrets that only what was said before gives away: what a command was asked to print, a field, half of a key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from trajcompress.redact.keys import Proof, Secret, secret_of
from trajcompress.redact.known import is_telling

ASKS = (
    *(b"printenv", b"echo $", b'echo "$', b"echo '$", b'echo \\"$', b"echo -n", b"$env:", b"echo %", b"os.getenv"),
    *(b"os.environ", b"process.env", b"/secrets/", b"pass show", b"pass ls", b"base64 -d", b"base64 --decode"),
    *(
        b"-field",
        b"secretsmanager",
        b"versions access",
        b"generic-password",
        b"config:get",
        b"auth token",
        b"op read",
    ),
    *(b"keyvault secret", b"get-parameter", b"print-access-token", b"cat ", b"-from-keychain", b"config get"),
)
"""What a text is searched for that may ask for a secret."""
FIELDS = (b"textbox", b"textfield", b"edittext", b"<input", b"secure")
"""What a text is searched for that may number a field for a secret."""

_NAME = r"[A-Za-z_][\w.-]{2,63}"
_QUOTES = r"[\"'\\]{0,4}"
_NAMED = re.compile(
    rf"\bprintenv\s+{_QUOTES}({_NAME})"
    rf"|\becho\s+(?:-\w+\s+)?{_QUOTES}\$\{{?({_NAME})"
    rf"|\$env:({_NAME})|\becho\s+%({_NAME})%"
    rf"|\b(?:print|log|puts|echo)\b[^\n]{{0,40}}(?:environ(?:\.get)?[\[(]|getenv\(|process\.env[.\[])\W{{0,4}}({_NAME})"
    rf"|\bcat\s+(?:-\w+\s+)?{_QUOTES}[\w./~-]*?([\w.-]+?)(?:\.(?:txt|key|conf))?(?=[\s\"'\\;|&)`]|\Z)"
    rf"|\bpass\s+(?:show\s+)?[\w./-]*?({_NAME})"
    rf"|-field[= ]{_QUOTES}({_NAME})|\bconfig(?:[: ]get)\s+{_QUOTES}({_NAME})|\bop\s+read\s+\S*/({_NAME})"
)
_UNNAMED = re.compile(
    r"\bget\s+secrets?\b[^\n]*base64\s+(?:-d|--decode)|\bsecretsmanager\s+get-secret|\bsecrets\s+versions\s+access"
    r"|generic-password[^\n]*-w|\bgh\s+auth\s+token|\bkeyvault\s+secret\s+show|print-(?:access|identity)-token"
    r"|\bpass\s+show\b|get-parameter\b[^\n]*with-decryption|/run/secrets/"
)
_ANY = Secret("secret", Proof.ANY)
_WRAPPED = re.compile(r"</?[\w-]+>|^\s*(?:Observation|OBSERVATION|Output|OUTPUT|stdout|Result)\s*:", re.MULTILINE)
_ANSWERS = 4  # turns after a question that may answer it
_LONGEST_ANSWER = 2000
_MOST_LINES = 12
_BARE = re.compile(r"[^\s\"'`<>{}()\[\]]+")
_FIELD = re.compile(r"\[(\w{1,8})\][^\n\]]{0,60}(?i:pass(?:word|wd|code|phrase)|secret|api.key|token)")
_TYPED = r"\b(?:type|fill|input(?:_text)?|set_text|type_text)\b[^\n\]\w]{{1,4}}{}\b\W{{1,8}}([^\s\"'\]\)\\]+)"
_OPENED = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_CLOSED = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY")
_KEY_LINE = re.compile(r"^\W{0,3}(?:\d{1,6}[\t:| →]{1,3})?([A-Za-z0-9+/]{40,76}={0,2})\s*$", re.MULTILINE)


def asked_for(texts: Sequence[str], asks: Iterable[int]) -> Iterator[tuple[str, str]]:
    """The secrets that answer a command, each with its kind.

    Args:
        texts: what each turn says and calls.
        asks: the turns that have one of ``ASKS``.
    """
    for index in asks:
        if wanted := _wanted(texts[index]):
            for answer in texts[index + 1 : index + 1 + _ANSWERS]:
                yield from ((value, wanted.kind) for value in _bare_lines(answer))


def _wanted(text: str) -> Secret | None:
    named = (secret_of(next(filter(None, found.groups()), "").replace("-", "_")) for found in _NAMED.finditer(text))
    wanted = next(filter(None, named), None)
    return wanted or (_ANY if _UNNAMED.search(text) else None)


def _bare_lines(answer: str) -> Iterator[str]:
    """The lines of a short answer that are one value each."""
    if len(answer) > _LONGEST_ANSWER:
        return
    lines = [line.strip() for line in _WRAPPED.sub("\n", answer).splitlines() if line.strip()]
    if len(lines) > _MOST_LINES:
        return
    for line in lines:
        if _BARE.fullmatch(line) and is_telling(line):
            yield line


def typed_into(texts: Sequence[str], fields: Iterable[int]) -> Iterator[tuple[str, str]]:
    """What is typed into fields that a page numbers, and names for a secret.

    Args:
        texts: what each turn says and calls.
        fields: the turns that have one of ``FIELDS``.
    """
    for index in fields:
        numbers = {found[1] for found in _FIELD.finditer(texts[index])}
        for number in sorted(numbers)[:8]:
            typed = re.compile(_TYPED.format(re.escape(number)))
            for text in texts[index + 1 : index + 1 + _ANSWERS]:
                for found in typed.finditer(text[:_LONGEST_ANSWER]):
                    yield found[1], "password"


def continued_keys(texts: Sequence[str], blocks: Iterable[int]) -> Iterator[tuple[str, str]]:
    """The lines of private keys that go on in later turns, as pagers print them.

    Args:
        texts: what each turn says and calls.
        blocks: the turns that speak of a private key.
    """
    for index in blocks:
        opened = [found.end() for found in _OPENED.finditer(texts[index])]
        if not opened or _CLOSED.search(texts[index], opened[-1]):
            continue
        for text in texts[index + 1 : index + 1 + 2 * _ANSWERS]:
            lines = _KEY_LINE.findall(text)
            yield from ((line, "private_key") for line in lines)
            if _CLOSED.search(text):
                break
