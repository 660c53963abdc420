"""Secrets in commands that take them in a short flag or by their place: ``curl -u me:secret``, ``mysql -psecret``.

What a short flag means depends on the command, so each has a pattern of its own for what follows its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trajcompress.redact.keys import Proof
from trajcompress.redact.spans import MARK_START, Span
from trajcompress.redact.values import Style, is_secret

_GAP = r"(?:[ \t=]+|\\*[\"'][ \t]*,\s*)"  # between the arguments of a shell, or of a list in JSON
_QUOTE = r"(?:\\*[\"'])?"
_VALUE = r"([^\s\"'`\\<>]{3,256})"
_OTHER = rf"{_GAP}{_QUOTE}[^\s\"'`\\-][^\s\"'`\\]{{0,256}}"  # an argument that is no flag


def _flag(flags: str, value: str = rf"{_GAP}{_QUOTE}{_VALUE}") -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{flags}){value}")


_OF_USER = _flag("-u|-U|--user|--proxy-user", rf"{_GAP}?{_QUOTE}[^\s:\"'\\]{{1,128}}:{_VALUE}")
_JOINED = _flag("-p(?!ort|rotocol)", _VALUE)
_DASH_P = _flag("-p|--pass")
_AFTER = {
    "curl": _OF_USER,
    "mysql": _JOINED,
    "mariadb": _JOINED,
    "7z ": _JOINED,
    "sshpass": _flag("-p", rf"{_GAP}?{_QUOTE}{_VALUE}"),
    "docker login": _DASH_P,
    "podman login": _DASH_P,
    "registry login": _DASH_P,
    "az login": _DASH_P,
    "mongo ": _DASH_P,
    "mongosh": _DASH_P,
    "mongodump": _DASH_P,
    "mongorestore": _DASH_P,
    "cqlsh": _DASH_P,
    "sqlcmd": _flag("-P"),
    "zip ": _flag("-P"),
    "redis-cli": _flag("-a|--pass"),
    "ldap": _flag("-w"),
    "smbclient": _flag("-U|--user", rf"{_GAP}?{_QUOTE}[^\s%\"'\\]{{1,128}}%{_VALUE}"),
    "htpasswd": _flag(r"-[A-Za-z]*n[A-Za-z]*", rf"{_OTHER}{_GAP}{_QUOTE}{_VALUE}"),
    "htpasswd -b": re.compile(rf"{_OTHER}{_OTHER}{_GAP}{_QUOTE}{_VALUE}"),
    "openssl": re.compile(rf"(?<=pass:){_VALUE}"),
    "identified": re.compile(rf"(?i:\s(?:with\s+\S{{1,64}}\s+)?by\s+)\\*[\"']{_VALUE}"),
}
_ECHOED = rf"\becho\s+(?:-\w+\s+)?{_QUOTE}"
_PIPED = re.compile(rf"{_ECHOED}{_VALUE}{_QUOTE}\s*\|[^|\n\[]*\Z")
_BEFORE = {
    "sudo -s": _PIPED,
    "--password-stdin": _PIPED,
    "passwd --stdin": _PIPED,
    "chpasswd": re.compile(rf"{_ECHOED}[^\s:\"'\\]{{1,128}}:{_VALUE}{_QUOTE}\s*\|[^|\n\[]*\Z"),
}
COMMANDS = tuple(name.encode() for name in (*_AFTER, *_BEFORE))
"""The names of these commands, in lower case; what a text is searched for."""

_LONGEST = 400  # characters of a command on either side of its name
# Arguments may go on in the next line. A mark is an end: it may be shorter than its secret, and redacting again would
# look further.
_END = re.compile(rf"(?<![\\,])\n|\\n|\s(?:&&|\|\|?)\s|{re.escape(MARK_START)}")


def command_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The secrets of commands; ``places`` are where ``COMMANDS`` start and end, in order of the ends."""
    read: dict[str, int] = {}  # how far each command's name has been followed: a text may repeat it without end
    for start, end in places:
        name = text[start:end].lower()
        if name in _BEFORE:
            found = _BEFORE[name].search(text, max(0, start - _LONGEST), start)
            yield from _secrets([found] if found else [])
            continue
        at = max(end, read.get(name, 0))
        stop = _END.search(text, at, at + _LONGEST)
        read[name] = stop.start() if stop else min(at + _LONGEST, len(text))
        yield from _secrets(_AFTER[name].finditer(text, at, read[name]))


def _secrets(found: Iterable[re.Match[str]]) -> Iterator[Span]:
    for value in found:
        cut = value.string.startswith(MARK_START, value.end())  # a secret of another kind is in it
        if not cut and is_secret(value[1], Proof.ANY, Style.QUOTED):
            yield Span(*value.span(1), "password")
