"""Secrets by their place in a line whose other fields make it known: ``.pgpass``, query strings, ``user/secret@``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.keys import Proof
from trajcompress.redact.rules.dumps import DUMPED
from trajcompress.redact.rules.guessers import GUESSED
from trajcompress.redact.spans import Span
from trajcompress.redact.values import Style, is_secret

_PGPASS = (
    r"(?:\A|(?<=[\s\"'`])|(?<=\\n))(?:[\w.*-]{1,128}|/[\w./-]{1,128}|\[[\da-f:]{2,40}\]):(?:\d{2,5}|\*):[\w.*-]{1,64}:"
    r"[\w.*@-]{1,64}:((?:[^\s\"'`\\:]|\\++[^\w\s\"'`\\]){4,128})"
)
_NAMED = r"(?i:creds:|credentials:|login:|log in as) [\w.@-]{2,40} ?[/:|] ?([^\s\"'`\\,;]{6,64})"
_Q = r"\\*[\"']"
_GAP = r"(?:\s|\\+[nrt])*"  # in JSON, which may be in JSON
_TYPE = rf"{_Q}type{_Q}:\s?(?:{_Q}\w{{1,40}}{_Q}|\[[^\[\]]{{0,100}}\]),{_GAP}"
_VALUE = rf"{_Q}value{_Q}:\s?{_Q}([^\s\"'\\]{{3,200}}){_Q}"
_IN_JSON = ("", "\\", "\\\\\\")  # what stands before quotes
_DECLARED = {
    # outputs of Terraform; parameters of AWS
    tuple(f'sensitive{slash}": true,' for slash in _IN_JSON): rf"(?i:sensitive{_Q}: true,{_GAP}(?:{_TYPE})?{_VALUE})",
    tuple(
        f'sensitive{slash}": true' for slash in _IN_JSON
    ): rf"(?i:{_VALUE},{_GAP}(?:{_TYPE})?{_Q}sensitive{_Q}: true)",
    ("securestring",): rf"(?i:{_Q}SecureString{_Q},{_GAP}{_VALUE})",
    ("unseal key ", "recovery key "): r"(?:Unseal|Recovery) Key \d{1,2}: ([\w+/=]{20,128})",
}
"""What is declared to be secret beside it."""
_CODE = r"(?P<token>(?=[^\d\s]{0,64}\d)(?=[^A-Z\s]{0,64}[A-Z])[\w%.~+/-]{16,512})"
_OF_OAUTH = {
    ("?code=", "&code="): (
        r"(?i:callback|redirect|oauth|auth|login|sign-?in|authorization_code|state)[^\s\"'`<>\[\]]{0,40}?[?&]"
        rf"code={_CODE}|[?&]code=(?P<code>(?=[^\d\s]{{0,64}}\d)[\w%.~+/-]{{16,512}})&state="
    ),
    ("authorization_code",): rf"authorization_code{_Q},{_GAP}{_Q}code{_Q}:\s?{_Q}{_CODE}",
}
"""Codes that a client changes for a token."""
_RECORDS = {
    **GUESSED,
    **DUMPED,
    **_DECLARED,
    **_OF_OAUTH,
    (":5432:", ":5433:", ":6432:", ":3306:", ":*:"): _PGPASS,
    ("&p=",): r"[?&]u=[^&\s\"']{1,64}&p=([^&\s\"'`\\<>]{4,128})",
    ("@tcp(", "@unix("): r"[\w.-]{1,64}:([^\s:@\"'`\\]{4,128})@(?:tcp|unix)\(",
    (":thin:",): r"oracle:thin:[\w.-]{1,64}/([^\s/@\"'`\\]{4,128})@",
    ("password={", "pwd={"): r"(?i:password|pwd)=\{((?=[^{}\s]{0,64}\d)[^{}\s\"'`]{6,128})\}",
    ("creds: ", "credentials: ", "login: ", "log in as "): _NAMED,
    ("password</",): r">(?i:password)</\w{1,40}>\s*<\w{1,40} name=\\*\"(?:text|value|content)\\*\">([^<\s]{6,64})<",
    ("flyv1 ",): r"FlyV1 ([\w+/=,.-]{20,})",
    (":::",): r":\d{1,6}:([0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::",
}
_PATTERNS = {known: late_re(pattern) for knowns, pattern in _RECORDS.items() for known in knowns}
RECORDS = tuple(known.encode() for known in _PATTERNS)
"""What a text is searched for that may be within such a line."""

_KINDS: dict[str | int, str] = {"token": "token", "code": "token", "secret": "secret"}
_BEFORE = 160
_AFTER = 320
_LONGEST_REST = 260


def record_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The secrets of such lines; ``places`` are where ``RECORDS`` start and end."""
    read: dict[re.Pattern[str], int] = {}  # where each pattern was last found to end
    seen: dict[re.Pattern[str], int] = {}  # how far it has been looked for: a text may repeat one without end
    for start, end in places:
        pattern = _PATTERNS[text[start:end].lower()]
        if end + _LONGEST_REST <= seen.get(pattern, 0):
            continue
        seen[pattern] = end + _AFTER
        begin = max(0, start - _BEFORE, read.get(pattern, 0))
        for found in pattern.finditer(text, begin, end + _AFTER):
            read[pattern] = found.end()
            which = found.lastgroup or 1
            if which == "secret" or is_secret(found[which], Proof.ANY, Style.QUERY):
                yield Span(*found.span(which), _KINDS.get(which, "password"))
