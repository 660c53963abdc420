"""The facts that the rest of a trajectory needs from the turns that a summary replaces."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from trajcompress.facts.copied import flat, is_copied
from trajcompress.facts.lookup import facts_told
from trajcompress.facts.parts import defined_in
from trajcompress.facts.plans import only_planned
from trajcompress.facts.reading import Reader, is_whole, mentions, words
from trajcompress.facts.uses import TurnReader
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.trajectory import Turn

MAX_FACTS = 40
_MAX_VERIFIED = 4  # times the limit: what is looked up in full
_PATH = late_re(r"\S*\w/\S+")


def facts_needed(
    head: Sequence[Turn],
    region: Sequence[Turn],
    tail: Sequence[Turn],
    *,
    limit: int = MAX_FACTS,
    turns: TurnReader | None = None,
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
        turns: what read turns of the row before.
    """
    turns = turns or TurnReader((*head, *region, *tail))
    used, reader = turns.uses(tail), Reader()
    if not used.weights:
        return ()
    given, told = reader.text(head), reader.text(region)
    names = used.names | reader.schema
    likely = [fact for fact in used.weights if fact not in names]
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
    defined = defined_in(told) if found else {}
    own = {fact for fact in used.in_bodies.intersection(found) if fact not in defined and not _PATH.fullmatch(fact)}
    if own:  # what an agent writes again is its own, unless somebody told it
        others = "\n".join(map(reader.brief, region))
        found = [fact for fact in found if fact not in own or mentions(others, fact)]
    if alone := [fact for fact in found if not mentions(by_results, fact)]:
        planned = only_planned(alone, region)
        found = [fact for fact in found if fact not in planned]
    return tuple(_merged(found)[:limit])


def _merged(facts: Sequence[str]) -> list[str]:
    """Leave out what stands in another fact, and give that one its place."""
    kept: dict[str, None] = {}
    lines = "\n".join(facts)
    for fact in facts:
        alone = lines.find(fact, lines.find(fact) + 1) < 0  # mostly
        longest = fact if alone else max((each for each in facts if fact in each and mentions(each, fact)), key=len)
        kept[longest] = None
    return list(kept)
