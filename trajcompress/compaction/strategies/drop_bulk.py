"""Drop bulk before any observation is cleared: encoded data, long addresses, progress, what is said again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import accumulate
from typing import Literal

from trajcompress.compaction.order import recent_observations, summarised_anyway
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.state import State
from trajcompress.compaction.strategies.clear_observations import CLEARED
from trajcompress.compaction.text.bulk import without_bulk
from trajcompress.compaction.text.copies import without_copy
from trajcompress.compaction.text.cut import is_json
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
from trajcompress.compaction.text.padding import without_padding
from trajcompress.compaction.text.progress import without_progress
from trajcompress.compaction.text.result_lines import LONG_CHARS
from trajcompress.compaction.text.runs import without_runs
from trajcompress.compaction.text.tails import constant_tails, without_tail
from trajcompress.facts import facts_in, facts_needed
from trajcompress.facts.reading import readable
from trajcompress.formats.rewrite import map_results, result_texts
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.compact import parse
from trajcompress.outcomes.outcome import Reading
from trajcompress.outcomes.steps import Calls, action_of, calls_of
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.notes import without_state
from trajcompress.transcript.sent_again import CALL, FIRST_TURNS, Standing, first_turns
from trajcompress.transcript.tool_groups import Place, match_results
from trajcompress.transcript.trajectory import Turn

_MORE_CHARS = 40  # that a line may take to say what a short result was, rather than that it was the same
_MOST_USED = 3  # are named of a result that is the same as another
_NEAR = 8  # calls of a turn, and turns behind a result: more of them would be read again and again
_LINE = late_re(r"\S[^\n]*")
_LONG_NUMBER = late_re(r"\d{3,}|\d+\.\d+")


def drop_bulk(state: State, policy: Policy) -> Asking[State | Skip]:
    """Drop what nobody reads, of observations and examples; a person's words, and what later turns quote, stay."""
    yield from ()
    free = len(state.turns) - state.original.fixed_turns
    spared = {state.shared_turn, *summarised_anyway(state, policy)}
    observed = [i for i, turn in enumerate(state.turns[:free]) if turn.answers and i not in spared]
    said, standing = _Said(state.turns), _standing(state.turns)
    lines = _repeated(state, observed, policy)
    turns = list(state.turns)
    thinned = [*observed, *(i for i, turn in enumerate(turns[:free]) if turn.example and i not in spared)]
    tails = constant_tails(
        ((index, number), text) for index in observed for number, text in enumerate(result_texts(turns[index]))
    )
    tailed = {index for index, _ in tails}
    states = [index for index in observed if without_state(turns[index].text) != turns[index].text]
    told_anew = frozenset(states[:-1])
    for index in thinned:
        turn, thin = turns[index], partial(_thinned, said, index, told_anew)
        for texts, where in standing.get(index, ()):
            if texts.marked_in(turn.text, where) != turn.text:
                turn = turns[index] = map_results(turn, partial(_told_once, texts, where))
        if index in tailed:
            turn = turns[index] = map_results(turn, partial(_without_tail, tails, index))
        if index in lines:
            turns[index] = map_results(turn, partial(_replaced, lines[index]))
        elif thin(0, turn.text) != turn.text:
            turns[index] = map_results(turn, thin)
    if all(turns[index] is state.turns[index] for index in thinned):
        return NOTHING_TO_DO
    dropped = state.with_turns(tuple(turns), target=policy.target_max_tokens)
    if dropped.tokens >= state.tokens or dropped.count.method != state.count.method:
        return NOTHING_TO_DO
    dropped = _with_repeats(state, dropped, lines, policy)
    changed = frozenset(index for index in thinned if dropped.turns[index] is not state.turns[index])
    reason = CLEARED if dropped.tokens <= policy.target_max_tokens else state.reason
    return replace(dropped, thinned=changed, reason=reason)


def _with_repeats(state: State, dropped: State, lines: Collection[int], policy: Policy) -> State:
    """Put results that repeat an earlier one back where there is room for them, the latest first."""
    room = policy.target_max_tokens - dropped.tokens
    turns = list(dropped.turns)
    for index in sorted(lines, reverse=True):
        more = state.sizes[index] - dropped.sizes[index]
        if more <= room:
            turns[index] = state.turns[index]
            room -= more
    back = dropped.with_turns(tuple(turns), target=policy.target_max_tokens) if lines else dropped
    fits = back.tokens <= policy.target_max_tokens and back.count.method == state.count.method
    return back if fits else dropped


def _replaced(line: str, _number: int, _text: str) -> str:
    return line


def _without_tail(tails: Mapping[Place, int], index: int, number: int, text: str) -> str:
    return without_tail(text, tails.get((index, number), 0))


def _standing(turns: Sequence[Turn]) -> dict[int, Sequence[tuple[Standing, str]]]:
    """Return what each result may tell again: a harness the task in each of its turns, and what was called before."""
    first, called = first_turns(turns), Standing(())
    found: dict[int, Sequence[tuple[Standing, str]]] = {}
    for index, turn in enumerate(turns):
        if turn.role == "assistant":
            called = Standing(_called_with(turn))
        elif turn.answers:
            found[index] = [(first, FIRST_TURNS)] * turn.in_text + [(called, CALL)]
    return found


def _called_with(turn: Turn) -> Iterator[str]:
    if any(call.in_text for call in turn.calls):
        yield turn.text
    for call in turn.calls:
        given = parse(call.arguments)
        yield from (value for value in given.values() if isinstance(value, str)) if isinstance(given, dict) else ()


def _told_once(texts: Standing, where: str, _number: int, text: str) -> str:
    return text if is_json(text) else texts.marked_in(text, where)


def _thinned(said: _Said, index: int, told_anew: Collection[int], _number: int, text: str) -> str:
    text = without_state(text) if index in told_anew else text
    thin = without_bulk(without_copy(text), partial(said.after, index))
    thin = without_padding(thin, partial(said.same_line_after, index))
    is_said = partial(said.line_after, index)
    return without_runs(without_progress(thin, is_said), is_said)


class _Said:
    """What the assistant says and calls, from any turn on."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns

    def after(self, index: int, text: str) -> bool:
        """Whether a turn behind this one has a text."""
        return self._text.find(text, self._starts[index]) >= 0

    def same_line_after(self, index: int, line: str) -> bool:
        """Whether a turn behind this one has a line, but for the space around it."""
        return self._last.get(line.strip(), -1) >= self._starts[index]

    def line_after(self, index: int, line: str) -> bool:
        """Whether a turn behind this one has a line, or a long number of it."""
        last, start = self._last, self._starts[index]
        return self.same_line_after(index, line) or any(
            last.get(number, -1) >= start for number in _LONG_NUMBER.findall(line)
        )

    @cached_property
    def _said(self) -> list[str]:
        return [
            "\n".join((turn.text, *(call.arguments for call in turn.calls), "")) if turn.role == "assistant" else ""
            for turn in self._turns
        ]

    @cached_property
    def _text(self) -> str:
        return "".join(self._said)

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate(map(len, self._said)))

    @cached_property
    def _last(self) -> dict[str, int]:
        """The lines and long numbers that are said, and where each begins last."""
        text = self._text.replace("\\n", " \n")  # of arguments; as many characters
        found = (*_LINE.finditer(text), *_LONG_NUMBER.finditer(text))
        return {match[0].rstrip(): match.start() for match in found}


def _repeated(state: State, observed: Sequence[int], policy: Policy) -> dict[int, str]:
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
