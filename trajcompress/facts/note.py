"""The note at the end of a summary, with the facts that it leaves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_NOTE = "Also needed later:"


def facts_note(lines: Sequence[str], budget_tokens: int, count: Callable[[str], int]) -> str:
    """Write facts, each in the words that it stands in, to append to a summary.

    Args:
        lines: these words, of the most important fact first.
        budget_tokens: what the note may take; the least important facts that do not fit are left out.
        count: counts the tokens of a text.

    Returns:
        The note, or nothing where not even one fact fits.
    """
    low, high = 0, len(lines) + 1
    while low < high - 1:
        middle = high - 1 if low == 0 and high > len(lines) else (low + high) // 2  # mostly all of them fit
        if count(facts_lines(lines[:middle])) <= budget_tokens:
            low = middle
        else:
            high = middle
    return facts_lines(lines[:low])


def facts_lines(lines: Sequence[str]) -> str:
    """Write facts, each in the words that it stands in, or nothing where there are none."""
    return "\n".join((_NOTE, *(f"- {line}" for line in dict.fromkeys(lines)))) if lines else ""


def without_note(text: str) -> str:
    """Return a summary without the facts that were appended to it."""
    body, header, rest = text.partition(f"\n{_NOTE}\n")
    is_note = header and all(line.startswith("- ") or line == _NOTE for line in rest.splitlines())
    return body.rstrip() if is_note else text
