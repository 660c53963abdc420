"""What was read, such as a file, a page or a log: errors that stand in it befell somebody else, some other time."""

from __future__ import annotations

import re

from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.printed.matches import searches
from trajcompress.outcomes.reports.errors import errors
from trajcompress.processes.late_patterns import late_re

_SHORT_CHARS = 300  # of a result that may be no more than the complaint of a tool
_HEADINGS = late_re(r"\A\s*+(?:#{1,6} [^\n]{0,200}\n\s*+)+")  # as a reply in Markdown has them above what it says
_LOG = late_re(
    r"(?<![a-z])(?:\w{0,30}logs?|stderr|stdout|syslog|journalctl|dmesg|nohup|traceback)\b|\.(?:out|err|trace)\b"
)
_MARKUP = late_re(
    r"\.(?:x?html?|php|[aj]spx?|vue|svelte|erb|ejs|xml|xslt?|svg|md|p[lmy]|rb|[cm]?[jt]sx?)$", re.IGNORECASE
)
_CODE = late_re(
    r"\.(?:pyx?|[cm]?[jt]sx?|java|kt|scala|swift|cs|php|rb|lua|go|rs|cc?|cpp|hh?|hpp|vue|svelte)$", re.IGNORECASE
)


def is_content(body: str, action: Action | None) -> bool:
    """Whether a result is what some file or page holds, and not how an attempt to read one failed."""
    if action is None or action.kind != "read" or len(body) <= _SHORT_CHARS:
        return False
    return not errors(_HEADINGS.sub("", body, count=1).lstrip().partition("\n")[0])


def is_code(action: Action | None) -> bool:
    """Whether what is read is the source of a program."""
    if action is None or action.kind != "read" or searches(action):
        return False
    return any(map(_CODE.search, action.files))


def reads_markup(action: Action | None) -> bool:
    """Whether files were printed as they are, of whose text tags are a part."""
    return action is not None and action.kind == "read" and any(map(_MARKUP.search, action.files))


def is_log(action: Action | None) -> bool:
    """Whether what is read is a log, of which errors tell the most."""
    return action is not None and _LOG.search(f"{action.name} {action.target}".lower()) is not None
