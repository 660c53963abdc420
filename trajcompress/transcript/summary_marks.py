"""The marks around a summary in a row, by which a later run knows it."""

from trajcompress.processes.late_patterns import holds_any, late_re

PROVENANCE_COLUMN = "trajcompress"
"""The column that says of a row what its summary replaced."""

SUMMARY_PREFIX = "[CONTEXT SUMMARY]:"
SUMMARY_END = "[END OF CONTEXT SUMMARY]"
"""Stands behind a summary that shares a turn with other text."""

_CLEARED_LINE = late_re(  # by this version or an earlier one, or of one that was bulk alone
    r"\[(?:[^\n]* [\d,]{1,15} characters(?:; with [^\n]*)?|(?>[^\n]*? → )[^\n]*; [\d,]{1,15} lines)\]"
    r"|\[(?:[^\n]{1,36}? → |the same result as )[^\n]* …\]"
    r"|\[… (?:[\d,]{1,15} (?:encoded|NUL)|as in the (?:first turns|call), [\d,]{1,15}) characters elided …\]"
)
_CLEARED_SIGNS = (" characters", " lines]", "…")
_STEPS = "\nSteps:\n"


def elided(size: int, what: str = "characters", where: str = "") -> str:
    """Return the mark that stands for what went, and says ``where`` it stands, if it does."""
    return f"[… {where}{size:,} {what} elided …]"


def is_cleared_line(text: str) -> bool:
    """Whether a text is what is left of an observation that was cleared, and nothing else."""
    line = text.strip()
    may_be = line.startswith("[") and "\n" not in line and holds_any(line, _CLEARED_SIGNS)  # long JSON is not
    return may_be and _CLEARED_LINE.fullmatch(line) is not None


def tells_of_steps(text: str) -> bool:
    """Whether a text holds a summary of ours by which an agent took steps."""
    return SUMMARY_PREFIX in text and _STEPS in text.partition(SUMMARY_PREFIX)[2]


def is_whole_summary(text: str) -> bool:
    """Whether a text is a summary of ours and nothing else."""
    return text.startswith(SUMMARY_PREFIX) and SUMMARY_END not in text


def without_summary(text: str) -> str:
    """Return a text without the summary that begins or ends it."""
    if SUMMARY_PREFIX not in text:
        return text
    before, _, rest = text.partition(SUMMARY_PREFIX)
    after = rest.rpartition(SUMMARY_END)[2] if SUMMARY_END in rest else ""
    return before.rstrip() + after.removeprefix("\n\n")
