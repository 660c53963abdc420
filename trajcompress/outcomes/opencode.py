"""What OpenCode says around the lines of a file, or of a directory, that it read."""

from __future__ import annotations

from trajcompress.processes.late_patterns import late_re

_OPENED = late_re(  # only the newer form shows directories
    r"\s{0,8}(?:<path>[^\n]{1,1000}</path>\n<type>(?:file|directory)</type>\n<(content|entries)>\n?"
    r"|<(file)>\n(?=\d{5}\| ))"
)
_END_OF_FILE = late_re(r"\n\n\(End of file - total \d{1,9} lines\)\Z")
_END_CHARS = 60


def lines_read(text: str) -> str:
    """Give the lines alone, which say themselves how many they are; nothing of another result."""
    opened = _OPENED.match(text)
    if opened is None:
        return ""
    end = text.rfind(f"</{opened[1] or opened[2]}>")
    shown = text[opened.end() : end if end >= opened.end() else len(text)].rstrip()
    last = _END_OF_FILE.search(shown, max(len(shown) - _END_CHARS, 0))
    return shown[: last.start()] if last and last.start() else shown
