"""Private-key blocks: PEM and PGP, with real or escaped line ends, whole or cut off."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.spans import MARK, Span

_KIND = "private_key"
_OWN_MARK = f"[REDACTED:{_KIND}]"
_LINE = late_re(r"-----(BEGIN|END) (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_BODY = late_re(r"[^\"'`{}]*")
_PIECE = late_re(  # behind an escape or at a start; not a number or a key of JSON
    r"(?:\\(?<!\\\\)\\*+(?:u[0-9a-fA-F]{4}|.)|(?<![\\A-Za-z0-9+/=]))"
    r"(?!\d+\s*[],}])(?P<piece>[A-Za-z0-9+/=]{8,}+)(?!\\*[\"']\s*:)"
)
_ESCAPED = late_re(r"(?<=\\)(?:u[0-9a-fA-F]{4}|.)")

# Between the lines of a block that was cut off: line ends, quoting and line numbers of whatever printed it.
_GAP = r"(?:[\s>|]|\\+[nrt]|(?<![A-Za-z0-9+/])\d{1,6}[\t:|→])*+"
_CUT_BODY = late_re(
    rf"(?:{_GAP}[A-Za-z0-9+/=]{{24,}}+)++(?:{_GAP}(?=[A-Za-z]{{0,23}}[0-9+/])[A-Za-z0-9+/=]{{1,23}})?"
)
_LONGEST = 16_384
_LEAST_REST = 24
_BACKWARDS = late_re(  # lines of a key, from the last to the first
    r"(?:(?:[\s>|]|[nrt]\\++|[\t:|→]\d{1,6}(?=[\s]|[nrt]\\))*+(?:(?![nrt]\\)[A-Za-z0-9+/=]){1,80}+)++"
)
_PUTTY = late_re(rf"Private-Lines:[ ]\d{{1,3}}({_CUT_BODY.pattern})")


def private_key_spans(text: str) -> Iterator[Span]:
    """The private-key blocks in a text; a first line with no key after it, as in code, is not one."""
    lines = list(_LINE.finditer(text))
    if lines and lines[0][1] == "END":  # the end of one that began in another turn
        end = lines[0].start()
        rest = _BACKWARDS.match(text[max(0, end - _LONGEST) : end][::-1])
        was_first = _OWN_MARK not in text[:end]  # else it is what was left when another was taken out
        if rest and len(rest[0]) > _LEAST_REST and was_first and not MARK.search(text, end - rest.end(), end):
            begin = end - rest.end()
            escaped = _ESCAPED.match(text, begin)  # what a backslash before it needs stays
            yield Span(escaped.end() if escaped else begin, lines[0].end(), _KIND)
    yield from (Span(*found.span(1), _KIND) for found in _PUTTY.finditer(text))
    for line, following in pairwise((*lines, None)):
        if line is None or line[1] == "END":
            continue
        if following is not None and following[1] == "END":
            body = text[line.end() : following.start()]
            if not _PIECE.search(body) or MARK.search(body):
                continue
            if _BODY.fullmatch(body):
                yield Span(line.start(), following.end(), _KIND)
            else:  # a literal in several strings: what is between the quotes, so that the code stays whole
                offset = line.end()
                yield from (
                    Span(offset + m.start("piece"), offset + m.end("piece"), _KIND) for m in _PIECE.finditer(body)
                )
        elif body_match := _CUT_BODY.match(text, line.end()):
            yield Span(line.start(), body_match.end(), _KIND)
