"""Drop bulk before any observation is cleared: encoded data, long addresses, and results that stand again later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate

from trajcompress.compaction.order import recent_observations
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.state import State
from trajcompress.compaction.strategies.clear_observations import CLEARED
from trajcompress.compaction.text.bulk import without_bulk
from trajcompress.compaction.text.line import is_line, repeat_line
from trajcompress.compaction.text.steps import LONG_CHARS
from trajcompress.facts.taken import PLAIN, telling_words
from trajcompress.formats.rewrite import map_results
from trajcompress.summarize.extractive.actions import Action
from trajcompress.summarize.extractive.steps import action_of
from trajcompress.transcript.tool_groups import match_results
from trajcompress.transcript.trajectory import Turn


def drop_bulk(state: State, policy: Policy) -> Asking[State | Skip]:
    """Drop what nobody reads, of all observations; a person's words, and what later turns quote, stay."""
    yield from ()
    free = len(state.turns) - state.original.fixed_turns
    observed = [i for i, turn in enumerate(state.turns[:free]) if turn.answers and i != state.shared_turn]
    said = _Said(state.turns)
    lines = _repeated(state, observed, policy)
    turns = list(state.turns)
    for index in observed:
        turn, is_quoted = turns[index], partial(said.after, index)
        if index in lines:
            turns[index] = map_results(turn, partial(_replaced, lines[index]))
        elif without_bulk(turn.text, is_quoted) != turn.text:
            turns[index] = map_results(turn, partial(_thinned, is_quoted))
    changed = frozenset(index for index in observed if turns[index] is not state.turns[index])
    if not changed:
        return NOTHING_TO_DO
    dropped = state.with_turns(tuple(turns))
    if dropped.tokens >= state.tokens or dropped.count.method != state.count.method:
        return NOTHING_TO_DO
    reason = CLEARED if dropped.tokens <= policy.target_max_tokens else state.reason
    return replace(dropped, thinned=changed, reason=reason)


def _replaced(line: str, _number: int, _text: str) -> str:
    return line


def _thinned(is_quoted: Callable[[str], bool], _number: int, text: str) -> str:
    return without_bulk(text, is_quoted)


class _Said:
    """What the assistant says and calls, from any turn on."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._text = ""
        self._starts: list[int] = []

    def after(self, index: int, text: str) -> bool:
        """Whether a turn behind this one has a text."""
        if not self._starts:
            said = [
                "\n".join((turn.text, *(call.arguments for call in turn.calls), ""))
                if turn.role == "assistant"
                else ""
                for turn in self._turns
            ]
            self._text, self._starts = "".join(said), list(accumulate(map(len, said)))
        return self._text.find(text, self._starts[index]) >= 0


def _repeated(state: State, observed: Sequence[int], policy: Policy) -> dict[int, str]:
    """Return lines for results that one of the last observations, which stay, gives again.

    A result stays where the assistant takes something from it before that.
    """
    turns = state.turns
    last = recent_observations(state, policy).last
    again = {turns[index].text: index for index in observed if index in last}
    found = {
        index: again[text]
        for index in observed
        if len(text := turns[index].text) > LONG_CHARS and again.get(text, index) > index and not is_line(text)
    }
    if not found:
        return {}
    calls = {match.result[0]: match.call for match in match_results(turns) if match.call}

    def action(index: int) -> Action | None:
        call = calls.get(index)
        return action_of(turns[call[0]], call[1]) if call else None

    return {
        index: repeat_line(turns[index].text, turns[index].name, action(index), action(later))
        for index, later in found.items()
        if len(turns[index].answers) == 1 and not _takes_before(turns, index, later)
    }


def _takes_before(turns: Sequence[Turn], index: int, later: int) -> bool:
    """Whether the assistant takes a name or a figure from a result before a later one gives the same."""
    between = _words(turn for turn in turns[index + 1 : later] if turn.role == "assistant")
    told = [word for word in between if word in turns[index].text]
    return bool(told) and not _words(turn for turn in turns[:index] if not turn.answers).issuperset(told)


def _words(turns: Iterable[Turn]) -> set[str]:
    said = "\n".join(text for turn in turns for text in (turn.text, *(call.arguments for call in turn.calls)))
    return {word for word, weight in telling_words(said) if weight > PLAIN}
