"""Results by which somebody says that a call was not to be made: it did nothing, and what follows goes round it."""

from __future__ import annotations

from trajcompress.processes.late_patterns import holds_any, late_re

_BEGIN_CHARS = 400
_HINTS = ("denied", "rejected", "declined", "refused", "want to proceed")  # one is in all of it
_REFUSED = late_re(
    r"\buser (?:(?:has )?(?:denied|declined|rejected|refused) (?:this|the|to|your|permission)\b"
    r"|(?:doesn't|does not) want to proceed\b)"
    r"|\b(?:tool use|tool call|operation|command|edit) (?:was|has been) (?:denied|declined|rejected|refused)\b"
    r"|\bstatus=(?:denied|declined|rejected|refused)\b|\bpermission to use \w{1,60} (?:was|has been) denied\b"
    r"|\b(?:denied|declined|rejected|refused) by (?:the )?user\b"
)


def denied_by_person(said: str) -> bool:
    """Whether a result, or what is told of it, begins with the refusal of a person who was asked.

    >>> denied_by_person("The user denied this operation."), denied_by_person("Permission denied (publickey).")
    (True, False)
    """
    begin = said[:_BEGIN_CHARS].lower()
    return holds_any(begin, _HINTS) and _REFUSED.search(begin) is not None
