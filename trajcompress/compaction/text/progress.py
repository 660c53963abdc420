"""Lines in which programs say how far they are: meters of downloads, bars, each package that is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trajcompress.compaction.text.cut import is_json
from trajcompress.compaction.text.middle import LEAST_CUT
from trajcompress.processes.late_patterns import Signs, holds_any, late_re
from trajcompress.transcript.summary_marks import elided

_SIGNS = Signs(  # of these each has one
    *("% Total", "--:--:--", "%|", "━━━", "K ..."),
    *("already satisfied: ", "Collecting ", "Downloading ", "Using cached "),
    *("Get:1 ", "Unpacking ", "Setting up ", "objects: "),
)
_PROGRESS = late_re(
    r"\s*% Total\s+% Received|\s*Dload\s+Upload|[\s\d.kMGT]{16,90}(?:--|\d+):(?:--|\d\d):(?:--|\d\d)\s"  # curl
    r"|[^\n]{0,120}?(?:\d%\||━━━)|\s{0,8}\d{1,9}K [. ]{8}"  # tqdm, pip, wget
    r"|\s{0,8}(?:Requirement already satisfied: |Stored in directory: "
    r"|(?:Collecting|Downloading|Using cached) \S{1,300}(?: \(|\s{0,8}$)"
    r"|(?:Obtaining|Installing|Getting|Preparing|Checking|Building|Created) (?:file:|build|dependency|editable"
    r"|if build|metadata|requirements to build|wheel)"
    r"|Attempting uninstall: |Found existing installation: |Uninstalling \S)"  # pip
    r"|(?:Get|Hit|Ign):\d{1,5} \w{3,10}:|Selecting previously unselected package |Preparing to unpack "
    r"|(?:Unpacking|Setting up) \S{1,200} \(|Processing triggers for |\(Reading database \.\.\."  # apt
    r"|(?:remote: )?\w{7,12} (?:objects|deltas): {1,3}\d"  # git
)
_LEAST_LINES = 3
_LINE_ENDS = "\n\r"  # half of all results have none, most of them JSON


def without_progress(text: str, is_said: Callable[[str], bool]) -> str:
    r"""Put a mark in the place of lines of progress; those that are said later stay, and so does JSON.

    Args:
        text: a result.
        is_said: says whether a later turn has a line, or a number that tells it from others.

    >>> log = "".join(f"Requirement already satisfied: {name} in /a\n" for name in "attrs idna six tox yarl".split())
    >>> without_progress(f"{log}Successfully installed a-1", lambda _: False)
    '[… 208 characters elided …]\nSuccessfully installed a-1'
    """
    if len(text) < LEAST_CUT or not holds_any(text, _LINE_ENDS) or not _SIGNS.stand_in(text):
        return text
    lines = text.split("\n")
    written: list[str] = []
    run: list[str] = []
    for line in lines:
        if (_is_progress(line) and not is_said(line)) or (run and not line.strip()):
            run.append(line)
            continue
        written += _told(run)
        run = []
        written.append(line)
    written += _told(run)
    return "\n".join(written) if written != lines and not is_json(text) else text


def _is_progress(line: str) -> bool:
    """Whether a line is progress, and so is all that was written over it."""
    if _PROGRESS.match(line) is None:
        return False
    return "\r" not in line or all(_PROGRESS.match(part) for part in line.split("\r") if part.strip())


def _told(run: Sequence[str]) -> Sequence[str]:
    """Return a mark for a run of lines, with the blank ones behind it; the lines themselves where they are few."""
    end = len(run)
    while end and not run[end - 1].strip():
        end -= 1
    size = sum(map(len, run[:end])) + end - 1
    mark = elided(size)
    lines = end + sum(line.rstrip().count("\r") for line in run[:end])
    return run if lines < _LEAST_LINES or size < LEAST_CUT else [mark, *run[end:]]
