"""Results that an earlier one gave already, and the lines that say so."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache, partial
from typing import Literal

from trajcompress.compaction.order import recent_observations
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.state import State
from trajcompress.compaction.text.elide import SHORT_CHARS
from trajcompress.compaction.text.line import (
    FAILS,
    LABEL_CHARS,
    LONG_LABEL_CHARS,
    SAYS,
    is_line,
    repeat_line,
    result_line,
)
from trajcompress.compaction.text.result_lines import LONG_CHARS
from trajcompress.facts import facts_in, facts_needed
from trajcompress.facts.reading import readable
from trajcompress.formats.rewrite import result_texts
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.outcome import Reading
from trajcompress.outcomes.steps import Calls, action_of, calls_of
from trajcompress.transcript.tool_groups import Place, match_results
from trajcompress.transcript.trajectory import Turn

_MORE_CHARS = 40  # that a line may take to say what a short result was, rather than that it was the same
_MOST_USED = 3  # are named of a result that is the same as another
_NEAR = 8  # calls of a turn, and turns behind a result: more of them would be read again and again


def repeated_lines(state: State, observed: Sequence[int], policy: Policy) -> dict[int, str]:
    """Return lines for results that an earlier one gave already, which stays until it is cleared itself."""
    turns, clean = state.turns, state.takes_secrets_out
    found = _given_before(turns, observed, recent_observations(state, policy).last)
    if not found:
        return {}
    calls = {match.result[0]: match.call for match in match_results(turns) if match.call}
    found = {index: first for index, first in found.items() if index in calls and first in calls}
    known = calls_of(turns, clean)

    @cache  # the same calls give the same results
    def reading(text: str, action: Action | None, needed: Sequence[str]) -> Reading:
        return Reading(text, Asked(action, needed))

    repeated_line, own_line = cache(partial(repeat_line, clean=clean)), cache(partial(result_line, clean=clean))
    results = [index for index, turn in enumerate(turns[: max(found, default=-1) + 1]) if turn.answers]
    said_to = {index: _said_to(turns, calls.get(index)) for index in results}
    action_at = cache(lambda index: _action_at(turns, calls.get(index), known))
    # Mostly they are, so nobody asks what ran.
    are_same = all(said_to[index] == said_to[first] for index, first in found.items())
    gave: dict[tuple[str, str] | str, str] = {}  # each call last, and all that are told alike
    differ: set[tuple[str, str] | str] = set()
    lines: dict[int, str] = {}
    came_last = ""
    for index in results:
        text, name = turns[index].text, turns[index].name
        said = said_to[index]
        action = None if are_same and index not in found else action_at(index)
        ran = (action.name, action.target) if action else ("", "")
        if index in found:
            before, is_same = action_at(found[index]), said == said_to[found[index]]
            result = "\n".join(result_texts(turns[index]))  # without what its protocol puts around it
            call = said if is_same else ran
            is_last = gave.get(call, text) == text
            is_just = came_last == text
            when: Literal["just", "last", "before"] = "last" if is_last and call in differ else "before"
            shown = clean(result)  # half of a secret, or one alone, would not be known for one
            used = facts_in(_used_next(turns, calls[index][0], index), readable(shown))
            read = reading(shown, action, tuple(used))
            when = "just" if is_just else when
            line = repeated_line(read, name, before, is_same=is_same, when=when, whole=result)
            # Where it is not clear which of the earlier results is meant, or to point to it takes about as long.
            more = _MORE_CHARS if len(result) <= SHORT_CHARS else 0
            most = 0 if FAILS in line else len(line) + more if is_last or is_just else len(result)
            label_chars = (LONG_LABEL_CHARS, LABEL_CHARS) if most else ()
            own = (own_line(read, name, whole=result, label_chars=chars) for chars in label_chars)
            lines[index] = next((each for each in own if SAYS in each and len(each) <= most), line)
        differ.update(call for call in (ran, said) if gave.get(call, text) != text)
        gave[ran] = gave[said] = came_last = text
    return lines


def _used_next(turns: Sequence[Turn], called: int, index: int) -> tuple[str, ...]:
    """Return what the next turn of the assistant uses of a result, such as an id, that the call did not say."""
    near = turns[index + 1 : index + 1 + _NEAR] if len(turns[called].calls) <= _NEAR else ()
    ahead = next((turn for turn in near if turn.role == "assistant"), None)
    return facts_needed(turns[called : called + 1], (turns[index],), (ahead,), limit=_MOST_USED) if ahead else ()


def _given_before(turns: Sequence[Turn], observed: Sequence[int], last: Collection[int]) -> dict[int, int]:
    """Return which results an earlier one gave, and which that is.

    Of the last observations all but the first of these, of the others those between the first and the last; the very
    last stays. None points to a later result: the turns before that would do without what they were told.
    """
    places: dict[str, list[int]] = {}
    for index in observed:
        if len(turns[index].answers) == 1 and len(turns[index].text) > LONG_CHARS:
            places.setdefault(turns[index].text, []).append(index)
    found: dict[int, int] = {}
    for text, given in places.items():
        if len(given) > 1 and not is_line(text):
            late = [index for index in given if index in last]
            others = [*(index for index in given if index not in last), *late[:1]]
            for first, *again in filter(None, (late, others[:-1])):
                found |= {index: first for index in again if index != observed[-1]}
    return found


def _said_to(turns: Sequence[Turn], call: Place | None) -> str:
    """Return all that the action at a place was called with."""
    if call is None:
        return ""
    turn = turns[call[0]]
    return turn.calls[call[1]].arguments if turn.calls else turn.text


def _action_at(turns: Sequence[Turn], call: Place | None, known: Calls) -> Action | None:
    return action_of(turns[call[0]], call[1], known) if call else None
