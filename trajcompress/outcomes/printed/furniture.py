"""What a result has around what it tells: rules, tags, progress, and lines that other results have as well."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from trajcompress.facts.markup import unlinked
from trajcompress.outcomes.repeated import Repeated, keys_of
from trajcompress.outcomes.text import is_empty_row, one_line
from trajcompress.processes.late_patterns import late_re

_NOISE = late_re(  # rules, tags alone, keys, progress of a download, the head of a page, of `ls -l`
    r"(?:(?:[\W_]|<[^<>]{1,80}>)*|\"?(?:success|ok)\"?: true,?"
    r"|total \d{1,12}|\[… (?:as in the (?:first turns|call), )?[\d,]{1,15} characters elided …\]"
    r"|\[\.{3} output limited to \d{1,12} bytes; \d{1,12} interior bytes omitted \.{3}\])$"
    r"|\s*% Total\s+% Received|\s*Dload\s+Upload|\s*<(?:!DOCTYPE|\?xml|meta|link)\b"
    r"|(?:real|user|sys)\s{1,4}\d{1,4}m[\d.]{1,8}s$|;[;< ]|(?:Name: [^\n]{0,60}, )?dtype: \w{1,20}$|(?:URL|Link): https?://\S{1,300}$"
    r"|\s{0,8}\(use \"git |([-=~*#])\1{3,40} ?[^\W\d][^\n\d]{0,60}?\1{4,100}\s{0,8}$"
    r"|\s{0,8}(?:©|\(c\) \d{4}|copyright (?:©|\d))|\s{0,8}\d{1,9}K [. ]{8}"
    r"|>>>>>>>> (?:USING AUTO REPLY|EXECUTING (?:CODE|FUNCTION))"  # AutoGen, as the next
    r"|[\w.-]{1,60} \(to [\w.-]{1,60}\):$"
    r"|(?:[^\w\n\[]{0,8}\[[^\]\n]{0,40}\]\([^()\n]{0,300}\)[^\w\n\[]{0,8}){3,40}$",
    re.IGNORECASE,
)
_RULE = late_re(r"(?:^|(?<=\n))[ \t]{0,20}([-=_*~#+─━])(?: ?\1){4,400}[ \t\r]{0,20}(?:\n|\Z)")
_CHATTER = late_re(  # of what finds no terminal, and of a build
    r"(?:Warning: _curses\.error: |Terminal features will not be available|TERM environment variable not set"
    r"|\W*No entry for terminal type |tput: No value for |WARNING: terminal is not fully functional"
    r"|WARNING: Running pip as the 'root' user |\[notice\] (?:A new release of pip|To update, run)"
    r"|\W{0,2}[\w.-]{1,40}\W{0,2}: unknown terminal type|Invalid -W option ignored: "  # and by Python
    r"|\[\d{1,6}/\d{1,6}\] (?:Generating|Scanning|Re-running)\b|\+ \S{0,200}/ninja\b)"
)
_UNREADABLE, _MOST_UNREADABLE = "\ufffd", 0.1  # of a line
_LEADS_IN = late_re(r"[\w ,.'\"*#-]{1,120}:\**")
_CLOCK, _BAR, _PROGRESS = "--:--:--", "%|", late_re(r"\d%\|")

_LABEL = late_re(r"(?:[-*+•] )?[^\s\d=:;.!?]{1,24}(?: [^\s\d=:;.!?]{1,20}){0,2}")
_SENTENCE_SPACES, _LEAST_SENTENCES = 6, 3


def telling_lines(
    lines: Iterable[str], repeated: Repeated, *, with_last: bool = False, kept: Collection[str] = ()
) -> list[str]:
    """Return the lines that tell something; those that other results have as well only where there are no others.

    Args:
        lines: those of a result.
        repeated: what other results have.
        with_last: its last line counts all the same where other runs of the same action end so: it is the outcome.
        kept: those that count whoever has them.
    """
    found = list(dict.fromkeys(one_line(line) for line in lines if not _is_noise(line)))
    often = repeated.lines
    own = found
    if often:
        keys = keys_of(found)
        own = [line for line, key in zip(found, keys, strict=True) if key not in often or line in kept]
        if own and with_last and own[-1] != found[-1] and often[keys[-1]]:
            own.append(found[-1])
    bare = (each if (text := unlinked(each)) == each else one_line(text) for each in own or found)
    shown = list(filter(None, bare))
    return _without_labels(shown)


def between_rules(text: str) -> list[str]:
    r"""Return what stands between the rules of a text, which say nothing; a text of nothing else is what it draws.

    >>> between_rules("=======\nResults\n=======\nnone\n")
    ['Results\n', 'none\n']
    """
    parts: list[str] = []
    at = 0
    for rule in _RULE.finditer(text):
        parts.append(text[at : rule.start()])
        at = rule.end()
    parts = [part for part in (*parts, text[at:]) if any(map(str.isalnum, part))] if at else []
    return parts or [text]


def _is_noise(line: str) -> bool:
    if _NOISE.match(line) or _CHATTER.match(line) or (line.rstrip().endswith(" …") and is_empty_row(line)):
        return True
    if _CLOCK in line or (_BAR in line and _PROGRESS.search(line)):
        return True
    if _UNREADABLE in line and line.count(_UNREADABLE) > _MOST_UNREADABLE * len(line):
        return True
    return line.rstrip("*").endswith(":") and _LEADS_IN.fullmatch(line) is not None


def _without_labels(lines: list[str]) -> list[str]:
    """Drop menus and buttons of a page: lines of a few words each, in a text of sentences."""
    if sum(line.count(" ") >= _SENTENCE_SPACES for line in lines) < _LEAST_SENTENCES:  # no label has so many
        return lines
    telling = [line for place, line in enumerate(lines) if not place or not _LABEL.fullmatch(line)]
    return telling if len(telling) <= len(lines) / 2 else lines
