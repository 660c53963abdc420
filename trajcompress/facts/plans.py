"""What an agent only means to do: of what it says of itself that is nothing that came of anything."""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.facts.parts import part_at
from trajcompress.facts.reading import mentions, readable
from trajcompress.facts.telling import last_place
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.trajectory import Turn

_MEANS = late_re(r"\bI(?:['’]ll| will|['’]m going to| am going to| need to| should| plan to)\b|\b[Ll]et (?:me|us)\b")
_COMES = late_re(r"\b(?:will|might|should|could|would)\b|['’]ll\b")


def only_planned(facts: Sequence[str], region: Sequence[Turn]) -> set[str]:
    """Return the facts that nothing tells but sentences of the agent on what it is going to do.

    Beside a call whatever is to come is such a sentence; to people an agent also says what holds for them.

    Args:
        facts: what no result and no person tells.
        region: the turns that tell them.
    """
    acts = [turn for turn in reversed(region) if turn.role == "assistant"]
    said = [(bool(turn.calls), readable(text)) for turn in acts for text in (turn.text, turn.reasoning)]
    passed = "\n".join(readable(call.arguments) for turn in acts for call in turn.calls)
    return {fact for fact in facts if fact not in passed and _is_planned(fact, said)}


def _is_planned(fact: str, said: Sequence[tuple[bool, str]]) -> bool:
    """Whether the last sentence that tells a fact is a plan; of each text it is said whether a call is beside it."""
    acts, text = next(((acts, text) for acts, text in said if mentions(text, fact)), (False, ""))
    if not text:
        return False
    place = last_place(fact, text)
    start, end = part_at(text, place, place + len(fact))
    return (_COMES if acts else _MEANS).search(text, start, end) is not None
