"""The facts that the rest of a trajectory needs from the turns that a summary replaces. Pure.

This tool is offline, so it knows the future: the kept turns after the region name paths, ids, figures and the like.
What only the region tells them, in no turn that is kept before, must survive in the summary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from trajcompress.facts.copied import flat, is_copied
from trajcompress.facts.lookup import facts_told
from trajcompress.facts.reading import Reader, is_whole, mentions, words
from trajcompress.facts.telling import around, brief, telling_lines, words_around
from trajcompress.facts.uses import read_uses, tools_speak
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.trajectory import Turn

__all__ = [
    "MAX_FACTS",
    "around",
    "brief",
    "facts_in",
    "facts_kept",
    "facts_lines",
    "facts_missing",
    "facts_needed",
    "facts_note",
    "without_note",
    "words_around",
]

MAX_FACTS = 40
_NAMES = late_re(r"(?!(?:[\da-fA-F]{3}){1,2}\Z)[A-Za-z_][\w.]*|\S*\w/\S+")
_NOTE = "Also needed later:"

_MAX_VERIFIED = 4  # times the limit: what is looked up in full


def facts_needed(
    head: Sequence[Turn], region: Sequence[Turn], tail: Sequence[Turn], *, limit: int = MAX_FACTS
) -> tuple[str, ...]:
    """Return what the tail relies on and only the region tells it, the most important first.

    A fact is used by an assistant turn of the tail (in words or in a call's arguments) or by what a user says there,
    stands in the region, and neither in the head nor in a tool's result between the region and its first use.
    Where no turn is a tool's, user turns may hold what commands printed: then they bring facts in, and use none.

    Args:
        head: the kept turns before the region.
        region: the turns that a summary replaces.
        tail: the kept turns after it.
        limit: the most facts to return.
    """
    reader = Reader()
    used = read_uses(reader, tail, users_speak=tools_speak((*head, *region, *tail)))
    if not used.weights:
        return ()
    given, told = reader.text(head), reader.text(region)
    likely = [fact for fact in used.weights if fact not in reader.schema]
    if len(likely) > _MAX_VERIFIED * limit:  # fewer are all looked up, which is quicker than reading all words
        told_words = set(words(told))
        likely = [fact for fact in likely if told_words.issuperset(words(fact))]
    likely.sort(key=used.weights.__getitem__, reverse=True)  # stable: equals in order of first use
    before = (given, *used.supplies)
    joined, ends = "\n".join(before), list(accumulate(len(text) + 1 for text in before))

    def is_known(fact: str) -> bool:
        supplied = used.supplied[fact]
        at = joined.find(fact, 0, ends[supplied])
        if at < 0 or is_whole(joined, at, at + len(fact)):  # mostly it is nowhere, else as a whole
            return at >= 0
        return any(mentions(text, fact) for text in before[: supplied + 1])

    found = [fact for fact in facts_told(likely[: _MAX_VERIFIED * limit], told) if not is_known(fact)]
    kept = flat(reader.text(turn for turn in tail if turn.role == "assistant")) if found else ""
    # Where a result gives it, that line must be kept: the agent may have copied what it wrote itself.
    by_results = reader.text(turn for turn in region if turn.role != "assistant") if found else ""
    found = [fact for fact in found if not is_copied(fact, by_results if fact in by_results else told, kept)]
    own = {fact for fact in used.in_bodies.intersection(found) if not _NAMES.fullmatch(fact)}
    if own:  # figures and phrases that an agent writes again are its own, unless somebody told them
        others = reader.text(region, bodies=False)
        found = [fact for fact in found if fact not in own or mentions(others, fact)]
    return tuple(_merged(found)[:limit])


def facts_in(facts: Sequence[str], text: str) -> tuple[str, ...]:
    """Return those of the facts that stand in a text, verbatim and as a whole."""
    return tuple(fact for fact in facts if fact in text and mentions(text, fact))


def facts_kept(facts: Sequence[str], summary_text: str) -> tuple[str, ...]:
    """Return those of the facts that a summary tells: verbatim, as a whole, and not in a bare list of names."""
    telling = telling_lines(summary_text)
    return facts_in(facts, telling)


def facts_missing(facts: Sequence[str], summary_text: str) -> tuple[str, ...]:
    """Return those of the facts that a summary leaves out, in their order."""
    kept = frozenset(facts_kept(facts, summary_text))
    return tuple(fact for fact in facts if fact not in kept)


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


def without_note(text: str) -> str:
    """Return a summary without the facts that were appended to it."""
    body, header, rest = text.partition(f"\n{_NOTE}\n")
    is_note = header and all(line.startswith("- ") or line == _NOTE for line in rest.splitlines())
    return body.rstrip() if is_note else text


def facts_lines(lines: Sequence[str]) -> str:
    """Write facts, each in the words that it stands in, or nothing where there are none."""
    return "\n".join((_NOTE, *(f"- {line}" for line in dict.fromkeys(lines)))) if lines else ""


def _merged(facts: Sequence[str]) -> list[str]:
    """Leave out what stands in another fact, and give that one its place."""
    kept: dict[str, None] = {}
    lines = "\n".join(facts)
    for fact in facts:
        alone = lines.find(fact, lines.find(fact) + 1) < 0  # mostly
        longest = fact if alone else max((each for each in facts if fact in each and mentions(each, fact)), key=len)
        kept[longest] = None
    return list(kept)
