"""Turns as text for a summariser: who spoke, what was called, what came back; also in plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trajcompress.facts import facts_in
from trajcompress.facts.reading import mentions, readable
from trajcompress.facts.telling import telling_place
from trajcompress.settings.choices import Role
from trajcompress.summarize.base import MAX_TURN_CHARS, SummaryRequest
from trajcompress.transcript.observations import said_beside, without_aside
from trajcompress.transcript.summary_marks import elided
from trajcompress.transcript.text_protocol import action_label, part_of
from trajcompress.transcript.trajectory import Turn

MIN_PIECE_CHARS = 40  # what is left of each of very many pieces
_AHEAD, _BEHIND = 80, 160  # characters of its line around a fact

_LABELS: dict[Role, str] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool result"}


def elide(text: str, limit: int, facts: Sequence[str] = ()) -> str:
    r"""Keep the first and last characters of a text longer than ``limit``, ``limit`` in all, and count what goes.

    Besides, the lines of ``facts`` stay in their places.

    >>> elide("abcdefghij", 4)
    'ab\n[… 6 characters elided …]\nij'
    """
    if len(text) <= limit:
        return text
    end = (limit + 1) // 2
    kept, lines = text[:end], sorted(_lines_of(facts, text))
    for start, stop in (*lines, (len(text) - limit + end, len(text))):
        gap = start - end
        if gap > (MIN_PIECE_CHARS if lines else 0):
            kept += f"\n{elided(gap)}\n{text[start:stop]}"
        else:  # what goes would be no longer than the mark
            kept += text[end:stop]
        end = max(end, stop)
    return kept


def _lines_of(facts: Sequence[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield where the lines of facts stand in a text; of a long one what is near."""
    for fact in facts:
        if (at := _place(fact, text)) < 0:
            continue
        end = at + len(fact)
        start = max(text.rfind("\n", 0, at) + 1, at - _AHEAD)
        if text[max(start - 1, 0) : start].strip():  # not within a word
            start = max(text.find(" ", start, at) + 1, start)
        yield start, end + len(text[end : end + _BEHIND].partition("\n")[0])


def _place(fact: str, text: str) -> int:
    """Return where a text tells a fact, as it stands or behind an escape of JSON; -1 where it does not."""
    if fact not in text:
        return -1
    at = telling_place(fact, text)
    return text.rfind(fact) if at < 0 and mentions(readable(text), fact) else at


def shown_turns(request: SummaryRequest) -> str:
    """Render the turns of a request as a summariser is shown them."""
    return render_turns(request.region, max_turn_chars=request.turn_chars, facts=request.facts)


def render_turns(turns: Sequence[Turn], *, max_turn_chars: int = MAX_TURN_CHARS, facts: Sequence[str] = ()) -> str:
    """Render turns one after the other, numbered from 1, each elided in the middle beyond ``max_turn_chars``.

    Of ``facts``, those that would stand in no turn so keep their lines, in the turn that tells them last.
    """
    names = call_names(turns)
    shown = [render_turn(turn, max_chars=max_turn_chars) for turn in turns]
    for index, lost in _lost(facts, turns, shown).items():
        shown[index] = render_turn(turns[index], max_chars=max_turn_chars, facts=lost)
    return "\n\n".join(
        f"[{number}] {_encodable(_label(turn, before, names))}\n{text}"
        for number, (before, turn, text) in enumerate(zip((None, *turns), turns, shown, strict=False), start=1)
    )


def _lost(facts: Sequence[str], turns: Sequence[Turn], shown: Sequence[str]) -> dict[int, list[str]]:
    """Return the facts that stand nowhere in what is shown, each by the last turn that tells it.

    What others tell comes before what the agent says, as in the notes on facts.
    """
    left = list(facts)
    for text in shown if left else ():
        told = facts_in(left, readable(text))
        left = [fact for fact in left if fact not in told]
    latest = sorted(range(len(turns)), key=lambda index: (turns[index].role == "assistant", -index)) if left else ()
    lost: dict[int, list[str]] = {}
    for fact in left:
        tells = (index for index in latest if any(_place(fact, text) >= 0 for text in _texts(turns[index])))
        if (index := next(tells, None)) is not None:
            lost.setdefault(index, []).append(fact)
    return lost


def _texts(turn: Turn) -> tuple[str, ...]:
    return (turn.text, turn.reasoning, *(call.arguments for call in turn.calls))


def render_turn(turn: Turn, *, max_chars: int = MAX_TURN_CHARS, facts: Sequence[str] = ()) -> str:
    """Render what a turn says and calls. Names of tools are kept whatever ``max_chars`` says, and lines of ``facts``.

    Reasoning stands in only where the turn says nothing else, or has such lines: it is long, and what it led to is in
    the turn. What a person says in an observation's turn stands on its own, and is said to be a person's.
    """
    said, reasoning = _encodable(turn.text.strip()), _encodable(turn.reasoning.strip())
    if not said and reasoning:
        said, reasoning = f"(reasoning) {reasoning}", ""
    person = _encodable(said_beside(turn)) if turn.in_text or turn.role == "tool" else ""
    said = _encodable(without_aside(turn).strip()) if person else said
    if not turn.calls and not turn.images and not person and not facts:  # most turns
        return elide(said, max(max_chars, MIN_PIECE_CHARS)) or "(empty)"
    calls = [call for call in turn.calls if not call.in_text]
    share = _share([len(said), len(person), *(len(call.arguments) for call in calls)], max_chars)
    thoughts = [f"(reasoning) {reasoning[start:stop]}" for start, stop in sorted(_lines_of(facts, reasoning))]
    lines = [*dict.fromkeys(thoughts), *([elide(said, share, facts)] if said else ())]
    lines += [f"call {_encodable(call.name)}: {elide(_encodable(call.arguments), share, facts)}" for call in calls]
    if turn.images:
        lines.append(f"({turn.images} image{'s' if turn.images > 1 else ''})")
    if person:
        lines.append(f"a person adds: {elide(person, share, facts)}")
    return "\n".join(lines) or "(empty)"


def call_names(turns: Sequence[Turn]) -> dict[str, str]:
    """Map the ids of calls to the names of their tools."""
    return {call.id: call.name for turn in turns for call in turn.calls if call.id is not None}


def _label(turn: Turn, before: Turn | None, names: dict[str, str]) -> str:
    if turn.in_text and turn.answers:
        ran = action_label(before.calls) if before and before.role == "assistant" else ""
        part = part_of(turn) or "observation"
        return f"{part} ({ran})" if ran else part
    if not turn.answers and turn.role != "tool":
        label = f"{_LABELS[turn.role]} ({turn.name})" if turn.name else _LABELS[turn.role]
        if turn.example:
            return f"{label}: worked example or manual"
        return f"{label}, action: {action_label(turn.calls)}" if turn.in_text and turn.calls else label
    found = [names[answer] for answer in turn.answers if answer in names] if turn.name is None else [turn.name]
    return f"tool result ({', '.join(found)})" if found else "tool result"


def _share(sizes: list[int], limit: int) -> int:
    """Return the size at which to cut pieces of ``sizes`` so that they come to ``limit``, the short ones whole."""
    if sum(sizes) <= limit:
        return limit
    left = limit
    for done, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - done)
        if size > share:
            return max(share, MIN_PIECE_CHARS)
        left -= size
    return limit


def _encodable(text: str) -> str:
    if text.isascii():  # mostly, before it has marks of what is elided
        return text
    return text.encode("utf-8", "replace").decode("utf-8")  # half an emoji, cut by a tool, cannot be sent
