"""A page that is shown as a tree of its elements: where it is, how it is called, and what it says."""

from __future__ import annotations

import re
from itertools import islice

from trajcompress.facts.next_turns import Later
from trajcompress.outcomes.printed.furniture import telling_lines
from trajcompress.outcomes.printed.later import lines_used
from trajcompress.outcomes.repeated import Repeated
from trajcompress.outcomes.text import one_line, shorten
from trajcompress.processes.late_patterns import late_re

_WITHIN = 12_000
_MOST_USED, _MOST_ELEMENTS = 2, 4
_LINE_CHARS = 120
_TREE = late_re(  # as browsers give it, with an element below
    r"^[ \t]{0,8}(?:\[\w{1,12}\] )?RootWebArea (?:'((?:[^'\\\n]|\\.){1,200})'|\"((?:[^\"\\\n]|\\.){1,200})\")"
    r"(?=[\s,])[^\n]*(?=\n[ \t]{1,8}(?:\[\w{1,12}\] )?\w+ ['\"])",
    re.MULTILINE,
)
_SNAPSHOT = late_re(  # as Playwright writes it, in YAML, with an element below
    r"^[ \t]{0,8}- (?:generic|document|main|banner|navigation|dialog|region|complementary|heading|text|alert"
    r"|article)\b[^\n]{0,200}\[ref=\w{1,16}\][^\n]{0,200}(?=\n[ \t]{0,16}- [\w/]+)",
    re.MULTILINE,
)
_ADDRESS = late_re(
    r"^[ \t#-]{0,8}(?:(?:Current )?page |current )?URL: {0,4}(\S{1,300})\s*$", re.MULTILINE | re.IGNORECASE
)
_TITLE = late_re(r"^[ \t#-]{0,8}(?:Page )?Title: {0,4}(\S[^\n]{0,200})$", re.MULTILINE | re.IGNORECASE)
_CODE = late_re(r"^```js\n.{0,2000}?^```$", re.MULTILINE | re.DOTALL)
_ELEMENT = late_re(r"(?:- )?(?:\[\w+\] )?\w+ ['\"]\w|- \w+(?: \[[^\]\n]{1,40}\]){0,6}: ['\"]?\w")
_ROLE = late_re(r"(?:- )?(?:\[\w+\] )?(\w+)")
_MARKS = late_re(r"^- | \[(?:ref=\w{1,16}|cursor=\w{1,16}|active|level=\d)\]")
_ROLES = {  # as ARIA names them
    "alert": 0,
    **dict.fromkeys(("status", "heading", "statictext", "text", "cell", "gridcell", "row", "paragraph"), 1),
    **dict.fromkeys(("generic", "strong", "emphasis"), 1),  # with a text
}
_OTHER_ROLE = 2
_DONE = late_re(
    r"\b(?:you (?:have )?(?:successfully )?(?:saved|added|removed|deleted|updated|placed|signed|logged|sent|created)"
    r"|successful(?:ly)?|has been (?:\w{1,20} )?\w{1,20}ed|thank you)\b",
    re.IGNORECASE,
)
_OF_ACTION = late_re(r"^(?=\S)[^\n]{0,80}\b(?:[Ll]ast|[Pp]revious) action\b[^\n]{4,300}$", re.MULTILINE)
_HEADING = late_re(
    r"#|[^\n]{1,60}:$|Tab \d|(?:[- ]{0,4}(?:Current )?page |current )?(?:URL|Title): |```|- (?:Page )?Snapshot",
    re.IGNORECASE,
)


def in_tree(body: str, repeated: Repeated, later: Later) -> list[str]:
    """Return the address and the title of a page that is shown as a tree of its elements, and some of these.

    An alert, those that later turns take up, then headings and texts before links; before that what came of the
    action, where it is said around the tree. Nothing of another text.
    """
    tree, title = _TREE.search(body, 0, _WITHIN) if "RootWebArea " in body else None, ""
    if tree is not None:
        before, inside, title = body[: tree.start()], body[tree.end() :], (tree[1] or tree[2]).replace("\\", "")
    elif "[ref=" in body and (tree := _SNAPSHOT.search(body, 0, _WITHIN)) is not None:
        before, inside = _CODE.sub("", body[: tree.start()]), body[tree.start() :]
        title = named[1] if (named := _TITLE.search(before)) else ""
    else:
        return []
    said = [line for line in map(one_line, before.splitlines()) if any(map(str.isalnum, line))]
    said = [line for line in said if not _HEADING.match(line)]
    said = [line for line in said if line not in repeated][:_MOST_USED] + _OF_ACTION.findall(inside)[:1]
    addresses = _ADDRESS.findall(before)
    address = addresses if len(addresses) == 1 else []  # of several tabs it is not said which
    elements = [line for line in telling_lines(inside.splitlines(), repeated) if _ELEMENT.match(line)]
    used = [one_line(each.part) for each in lines_used(inside, later, _MOST_USED)]
    ranked = sorted(elements, key=_rank)
    alerts = [line for line in ranked[:1] if not _rank(line)]
    told = dict.fromkeys((*alerts, *used, *ranked))
    shown = [
        line.removeprefix("- ") if line in used else _MARKS.sub("", line).rstrip(":")
        for line in islice(told, _MOST_ELEMENTS)
    ]
    return [shorten(line, _LINE_CHARS) for line in map(one_line, (*said, *address, title, *shown)) if line]


def _rank(element: str) -> int:
    """Rank an element by what it says of how things stand."""
    role = _ROLE.match(element)
    if role and role[1].lower() not in {"link", "button", "menuitem"} and _DONE.search(element):
        return 0
    return _ROLES.get(role[1].lower(), _OTHER_ROLE) if role else _OTHER_ROLE
