"""Files that a change brings in: in a diff they go before what is changed in others, as scripts to try it out do."""

from __future__ import annotations

import re

from trajcompress.compaction.text.middle import LEAST_CUT, cut_out
from trajcompress.facts.parts import Part, Wanted
from trajcompress.facts.taken import STRONG
from trajcompress.processes.late_patterns import late_re

_NEEDED = 2 * STRONG
_BEGINS = "diff --git "
_NEW = late_re(  # the head of such a file, and its lines
    r"^diff --git [^\n]{1,400}\r?\nnew file mode \d{6}\r?\n"
    r"((?:index [^\n]{1,90}\n)?(?:--- [^\n]{1,400}\n)?(?:(?:@@|[+\\])[^\n]*+(?:\n|\Z))*+)",
    re.MULTILINE,
)


def without_new_files(text: str, limit: int, keep: Wanted) -> str:
    """Cut what new files hold out of a diff that changes others as well, no more of them than a ``limit`` takes.

    Each stays with its name, and whole where later calls quote it, or need what it alone tells.
    """
    if _BEGINS not in text:
        return text
    new = list(_NEW.finditer(text))
    if len(new) == text.count(f"\n{_BEGINS}") + text.startswith(_BEGINS):  # they are all that there is
        return text
    needed = [word for word, weight in keep.items() if "\n" in word or weight >= _NEEDED]
    gone: list[Part] = []
    excess = len(text) - limit
    for start, end in (found.span(1) for found in new):
        alone = (word for word in needed if word in text[start:end] and word not in text[:start] + text[end:])
        if excess > 0 and end - start >= LEAST_CUT and not any(alone):
            gone.append(Part(start, end))
            excess -= end - start
    return cut_out(text, gone) if gone else text
