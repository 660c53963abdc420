"""Secrets in commands that take them in a short flag or by their place: ``curl -u me:secret``, ``mysql -psecret``.

What a short flag means depends on the command, so each has a pattern of its own, which ends where a value begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.keys import Proof
from trajcompress.redact.rules.headers import cookies
from trajcompress.redact.rules.literals import NOT_LITERAL, closing
from trajcompress.redact.spans import MARK_START, Span
from trajcompress.redact.values import PATH, Style, is_secret

_NEXT = r"(?:[ \t]+|\\*[\"'][ \t]*,\s*(?=\\*[\"']))"  # between the arguments of a shell, or of a list in JSON
_GAP = rf"(?:=|{_NEXT})"
_OPEN = r"(?P<quote>\\*[\"'])?"
_OTHER = rf"{_NEXT}(?:\\*[\"'])?[^\s\"'`\\-][^\s\"'`\\]{{0,128}}"  # an argument that is no flag


_QUOTES = ("'", *("\\" * slashes + '"' for slashes in (0, 1, 3, 7)))  # in JSON in JSON


def _flag(flags: str, then: str = f"{_GAP}{_OPEN}") -> re.Pattern[str]:
    """A command's flags, each without its first dash: a search finds that at once, if nothing stands before it."""
    return late_re(rf"-(?<![\w-]-)(?:{flags}){then}")


_OF_USER = _flag("[A-Za-z]*[uU]|-user|-proxy-user", rf"{_GAP}?{_OPEN}[^\s:%+\"'\\][^\s:%\"'\\]{{0,128}}:")
_OTHER_FLAGS = "ort|rotocol|thread|ipe|rint|ath|erm|id|lugin|refix|arents|rofile|ager"  # -port, -print and others
_JOINED = _flag(f"p(?!{_OTHER_FLAGS})", _OPEN)
_DASH_P = _flag("p|-pass")
_OF_DOMAIN = r"(?:\\*[\"'])?[^\s/:@\"'\\]{1,128}/[^\s/:@\"'\\]{1,128}:"
_IMPACKET = late_re(rf"{_NEXT}{_OF_DOMAIN}{_OPEN}(?=[^@\n]{{1,128}}@)")
_LOGIN = tuple(f"docker{quote},{blank}{quote}login{quote}" for quote in _QUOTES for blank in ("", " "))
_FLAGS = {
    **dict.fromkeys(_LOGIN, _DASH_P),
    "curl": _OF_USER,
    "mysql": _JOINED,
    "mariadb": _JOINED,
    "7z": _JOINED,
    "sshpass": _flag("p", f"{_GAP}?{_OPEN}"),
    "docker login": _DASH_P,
    "podman login": _DASH_P,
    "registry login": _DASH_P,
    "az login": _DASH_P,
    "mongo ": _DASH_P,
    "mongosh": _DASH_P,
    "mongodump": _DASH_P,
    "mongorestore": _DASH_P,
    "cqlsh": _DASH_P,
    "sqlcmd": _flag("P"),
    "zip ": _flag("P", f"{_GAP}?{_OPEN}"),
    "ssh-keygen": _flag("N"),
    "openssl enc": _flag("k|K"),
    "nmcli": late_re(rf"\bpassword{_NEXT}{_OPEN}"),
    "mysqladmin": late_re(rf"\bpassword{_NEXT}{_OPEN}"),
    "xfreerdp": late_re(rf"/p:{_OPEN}"),
    "wfreerdp": late_re(rf"/p:{_OPEN}"),
    "lftp": _flag("u", rf"{_GAP}?[^\s,\"'\\]{{1,128}},{_OPEN}"),
    "gh secret set": _flag("b|-body"),
    "evil-winrm": _flag("p"),
    "crackmapexec": _flag("p"),
    "smbmap": _flag("p"),
    "psexec": _flag("p"),
    "htpasswd ": _flag(r"[A-Za-z]*b[A-Za-z]*(?:[ \t]+-\w+)*", f"{_OTHER}{_OTHER}{_NEXT}{_OPEN}"),
    **dict.fromkeys(("impacket-", "secretsdump", "wmiexec", "smbexec", "atexec", "mssqlclient"), _IMPACKET),
    "redis-cli": _flag("a|-pass"),
    "ldap": _flag("w"),
    "smbclient": _flag("U|-user", rf"{_GAP}?{_OPEN}[^\s%\"']{{1,128}}%"),
    "rpcclient": _flag("U|-user", rf"{_GAP}?{_OPEN}[^\s%\"']{{1,128}}%"),
    "htpasswd": _flag(r"[A-Za-z]*n[A-Za-z]*", f"{_OTHER}{_NEXT}{_OPEN}"),
    "openssl": late_re(rf"(?<!\w){_OPEN}pass:"),
}
_WITHIN = {"mysql": "-p", "mariadb": "-p", "7z": "-p", "zip ": "-P", "openssl": "pass:", "nmcli": "password"}
_WITHIN |= dict.fromkeys(("impacket-", "secretsdump", "wmiexec", "smbexec", "atexec", "mssqlclient"), "@")
_WITHIN |= {"mysqladmin": "password", "xfreerdp": "/p:", "wfreerdp": "/p:"}
"""What must stand after one that texts are full of, or after any that takes no flag; a dash after the others."""
"""What follows a command, anywhere among its arguments, up to its secret."""
_SECOND = late_re(rf"(?:[ \t]+-\w+)*{_OTHER}{_NEXT}{_OPEN}")
_AT_ONCE = {
    "--password-command": late_re(rf"(?:=|{_NEXT})\\*[\"']?echo[ \t]+{_OPEN}"),
    "net user ": late_re(rf"[^\s\"'`\\/]{{1,64}}{_NEXT}{_OPEN}(?=[^\s\"'`]{{3,128}}[ \t]+/add)", re.IGNORECASE),
    "net use ": late_re(
        rf"(?:\w:[ \t]+)?\\{{2,8}}[\w.$\\-]{{1,128}}{_NEXT}{_OPEN}(?=[^\s/*][^\s\"'`]{{2,128}}[ \t]+/user:)"
    ),
    "mqctl add_user": _SECOND,
    "mqctl change_password": _SECOND,
    "wpa_passphrase": _SECOND,
    "http -a": late_re(rf"{_NEXT}{_OPEN}[^\s:\"'\\]{{1,128}}:"),
    "https -a": late_re(rf"{_NEXT}{_OPEN}[^\s:\"'\\]{{1,128}}:"),
    "sqlplus": late_re(rf"(?:[ \t]+-\w+)*{_NEXT}{_OPEN}[^\s/\"'\\]{{1,128}}/(?=[^\s@/]{{1,128}}@)"),
    "identified": late_re(r"\s+(?:with\s+\w{1,64}\s+)?by\s+(?P<quote>\\*[\"'])", re.IGNORECASE),
}
"""What follows directly."""

_ECHO = rf"\becho\s+(?:-\w+\s+)?{_OPEN}"
_INTO = r"(?=[^|\n\[]{3,256}\|[^|\n\[]*\Z)"
_PIPED = late_re(_ECHO + _INTO)
_PIPES = {
    "sudo -s": _PIPED,
    "--password-stdin": _PIPED,
    "passwd --stdin": _PIPED,
    "passwd ": _PIPED,
    "chpasswd": late_re(rf"{_ECHO}[^\s:\"'\\]{{1,128}}:{_INTO}"),
}
"""What stands before a command that reads its secret, up to that."""

COMMANDS = tuple(name.encode() for name in (*_FLAGS, *_AT_ONCE, *_PIPES, "<<<"))
"""The names of these commands, in lower case; what a text is searched for."""

_HERE = late_re(rf"[ \t]*{_OPEN}")
_ASKED = late_re(r"(?:pass(?:word|wd|phrase)?|secret|token|login|key|openssl|gpg)\b[^\n]*\Z", re.IGNORECASE)
_COOKIES = late_re(r"-(?<![\w-]-)(?:b|-cookie)[ \t=]*\\*[\"']?")
_LONGEST = 400  # characters of a command on either side of its name
_LONGEST_PATTERN = 600
_NAME_ENDS = late_re(r"(?:\w*\.(?:exe|py)|\w*)(?=[\s\"'\\,])|(?<=\s)")
_STATEMENT = late_re(r"\b(?:create|alter|grant)\b[^;]*\Z", re.IGNORECASE)
# Arguments may go on in the next line. A mark is an end: it may be shorter than its secret, and redacting again would
# look further.
_LINE_ENDS = r"\n(?<![\\,]\n)|\\(?<!\\\\)(?:\\|\\{3}|\\{7})?n"
_END = late_re(rf"{_LINE_ENDS}|\s(?:&&|\|\|?)\s|{re.escape(MARK_START)}")
_NEXT_COMMAND = late_re(r";\s")
_BARE = late_re(r"(?:[^\s\"'`\\<>|;()]|\\+(?:u[0-9a-f]{4}|[^\w\s\"'`\\]))+", re.IGNORECASE)
_NO_SECRET = late_re(rf"{PATH.pattern}|%\w.*")
_KEY = late_re(r"\\*[\"']\s*:")
_PORTS = late_re(r"(?:[\d.]+:)?\d{1,5}(?::\d{1,5})?(?:/(?:tcp|udp))?")


def command_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The secrets of commands; ``places`` are where ``COMMANDS`` start and end, in order of the ends."""
    read: dict[str, int] = {}  # how far each command's name has been followed: a text may repeat it without end
    for start, end in places:
        name = text[start:end].lower()
        if name in _PIPES:
            found = _PIPES[name].search(text, max(0, start - _LONGEST), start)
            yield from _secrets(text, [found] if found else [])
        elif name in _AT_ONCE:
            found = _AT_ONCE[name].match(text, end)
            yield from _secrets(text, [found] if found and _is_command(text, name, start, end) else [])
        elif name == "<<<":
            alone = text[start - 1 : start] != "<" != text[end : end + 1]  # more of them mark a conflict of versions
            if alone and _ASKED.search(text, max(0, start - _LONGEST), start):
                yield from _secrets(text, filter(None, [_HERE.match(text, end)]))
        elif _WITHIN.get(name, "-") in text[end : end + _LONGEST] and _is_command(text, name, start, end):
            if name == "curl":
                yield from _cookies(text, end)
            at = max(end, read.get(name, 0))
            read[name] = _end_of(text, name, at)
            found_all = _FLAGS[name].finditer(text, at, min(read[name] + _LONGEST_PATTERN, len(text)))
            yield from _secrets(text, (found for found in found_all if found.end() <= read[name]))


def _cookies(text: str, at: int) -> Iterator[Span]:
    for found in _COOKIES.finditer(text, at, min(at + _LONGEST, len(text))):
        if span := cookies(text, found.end()):
            yield span


def _is_command(text: str, name: str, start: int, end: int) -> bool:
    if name == "identified":
        return _STATEMENT.search(text, max(0, start - _LONGEST), start) is not None
    before = text[start - 1 : start] if start else ""
    begins = not (before.isalnum() or before in "_.-") if before else True
    return (begins or text.endswith(("un", "rabbit"), 0, start)) and _NAME_ENDS.match(text, end) is not None


def _end_of(text: str, name: str, at: int) -> int:
    limit = min(at + _LONGEST, len(text))
    if stop := _END.search(text, at, limit):
        limit = stop.start()
    if name != "curl" and (stop := _NEXT_COMMAND.search(text, at, limit)):  # headers hold semicolons
        limit = stop.start()
    return limit


def _secrets(text: str, found: Iterable[re.Match[str]]) -> Iterator[Span]:
    for place in found:
        start = place.end()
        end = _value_end(text, start, place["quote"])
        value = text[start:end]
        plain = place["quote"] is None and _NO_SECRET.fullmatch(value)
        if not plain and not _PORTS.fullmatch(value) and is_secret(value, Proof.ANY, Style.QUOTED):
            yield Span(start, end, "password")


def _value_end(text: str, start: int, quote: str | None) -> int:
    """Where a value ends, at its start where there is none."""
    end = closing(text, start, quote) if quote else None
    if end is not None and (NOT_LITERAL.fullmatch(text, start, end) or _KEY.match(text, end)):
        return start  # the quote ends what was before, or begins the next key
    if end is None:
        bare = _BARE.match(text, start)
        end = bare.end() if bare else start
    return start if text.startswith(MARK_START, end) else end  # a secret of another kind is in it
