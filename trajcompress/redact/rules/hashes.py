"""Hashes of passwords as crypt, web frameworks and directories store them: whoever has one may guess the password."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trajcompress.redact.spans import Span

HASHES = (
    *(b"$1$", b"$2a$", b"$2b$", b"$2x$", b"$2y$", b"$5$", b"$6$", b"$7$", b"$y$", b"$gy$", b"$p$", b"$h$", b"$apr1$"),
    *(b"$argon2", b"$scrypt$", b"$pbkdf2", b"$sha1$", b"$md5", b"$nt$", b"{ssha", b"{smd5}", b"{crypt}", b"{sha}"),
    *(b"pbkdf2_sha", b"bcrypt_sha256$", b"scrypt:", b"pbkdf2:sha", b"scram-sha-256$", b"$bcrypt$", b"$krb5"),
    b"$ansible_vault;",
)
"""How they begin, in lower case; what a text is searched for."""

_TEXT = r"[A-Za-z0-9./+=,_:$@-]"
_HASH = (
    rf"\$(?:1|2[abxy]|5|6|7|y|gy|[pPhH]|apr1|argon2(?:id|i|d)|scrypt|bcrypt(?:-sha256)?|pbkdf2[\w-]{{0,16}}|sha1|md5|NT)\$"
    rf"[A-Za-z0-9./+=,_$-]{{20,}}"
    r"|\$krb5(?:tgs|asrep|pa)\$(?:[^\s\"'`:\\]{4,128}:[^\s\"'`:\\]{40,}|[^\s\"'`:\\]{40,})"
    r"|\$ANSIBLE_VAULT;1\.\d;AES256(?:;[\w.-]{1,64})?(?:(?:\s|\\+[nr]){1,40}[0-9a-f]{2,160}(?![0-9A-Za-z_]))+"
    rf"|\{{(?:SSHA\d{{0,3}}|SMD5|CRYPT|SHA)\}}{_TEXT}{{16,}}"
    r"|(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))(?:"
    rf"(?:pbkdf2_sha\d{{1,3}}|bcrypt_sha256|argon2|scrypt)\$[A-Za-z0-9./+=,_$-]{{20,}}"
    rf"|(?:scrypt|pbkdf2:sha\d{{1,3}}):[\d:]{{1,24}}\$[A-Za-z0-9./+=$-]{{20,}}"
    rf"|SCRAM-SHA-256\${_TEXT}{{40,}})"
)


def hash_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The hashes of passwords in a text; ``places`` are where ``HASHES`` start and end."""
    done = 0
    for start, _ in places:
        if start >= done and (found := re.compile(_HASH, re.IGNORECASE).match(text, start)):
            done = found.end()
            yield Span(found.start(), done, "password_hash")
