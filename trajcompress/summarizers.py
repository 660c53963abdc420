"""What a summariser of one's own is given, and what it is: a function, or an object that has a name and a version.

A package offers one under a name in the entry-point group ``trajcompress.summarizers``; ``--summarizer NAME`` and
``Compressor(summarizer="NAME")`` find it there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryInput:
    """What is to be summarised, as text, secrets already taken out unless ``redact`` is ``off``.

    Attributes:
        turns: The turns that the summary replaces, one after the other, each with who speaks. Of a turn of more than
            3,000 characters the first and last 1,500, and lines of ``facts`` that would stand nowhere else; marks
            count what is elided.
        goal: What the user asked for, which stays in the row and needs no repeating.
        previous: A summary of what came before ``turns``; the new one takes its place. None where there is none.
        facts: What the turns after the summary rely on, the most important first; to stand in it verbatim, beside
            what they mean.
        target_tokens: How long it may be, in tokens of the model to be trained.
        focus: A topic that gets the larger share. None where none is asked for.
        note: Why the last answer to the same request could not be used, or could be better. None the first time.
        count_tokens: Counts the tokens of a text as the model to be trained does.
    """

    turns: str
    goal: str
    previous: str | None
    facts: tuple[str, ...]
    target_tokens: int
    focus: str | None
    note: str | None
    count_tokens: Callable[[str], int] = field(repr=False, compare=False)


class Summarizer(Protocol):
    """A summariser of one's own, as an object, or as a class that makes one without arguments.

    One that is made of a class is made for the first call; its ``aclose`` or ``close`` is called at the end.

    Name and version are its identity: a summary is kept under them, and a run goes on with the same alone. So change
    the version whenever it would write something else.
    """

    @property
    def name(self) -> str:
        """Its name in the metrics."""

    @property
    def version(self) -> str:
        """What of it is in use."""

    def summarize(self, given: SummaryInput, /) -> str | Awaitable[str]:
        """Return the text of a summary; may be ``async``, and is called for many rows at once.

        A plain method runs in a thread of its own; one that is ``async`` must not block.

        Raises:
            SummaryError: there is none for this row; it keeps its original, or gets that of ``on_failure``.
            SummarizerUnusableError: there will be none for any row: the run stops, and can go on later.
        """
        ...


SummarizerFunction: TypeAlias = Callable[[SummaryInput], str | Awaitable[str]]
"""A summariser of one's own, as a function. Its identity is its name, and its attribute ``version`` or a digest of
its source code."""
