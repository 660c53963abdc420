"""Drop bulk before any observation is cleared: encoded data, long addresses, progress, what is said again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import accumulate

from trajcompress.compaction.order import summarised_anyway
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.repeated_results import repeated_lines
from trajcompress.compaction.state import State
from trajcompress.compaction.strategies.clear_observations import CLEARED
from trajcompress.compaction.text.bulk import without_bulk
from trajcompress.compaction.text.copies import without_copy
from trajcompress.compaction.text.cut import is_json
from trajcompress.compaction.text.padding import without_padding
from trajcompress.compaction.text.progress import without_progress
from trajcompress.compaction.text.runs import without_runs
from trajcompress.compaction.text.tails import constant_tails, without_tail
from trajcompress.formats.rewrite import map_results, result_texts
from trajcompress.outcomes.compact import parse
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.notes import without_state
from trajcompress.transcript.sent_again import CALL, FIRST_TURNS, Standing, first_turns
from trajcompress.transcript.tool_groups import Place
from trajcompress.transcript.trajectory import Turn

_LINE = late_re(r"\S[^\n]*")
_LONG_NUMBER = late_re(r"\d{3,}|\d+\.\d+")


def drop_bulk(state: State, policy: Policy) -> Asking[State | Skip]:
    """Drop what nobody reads, of observations and examples; a person's words, and what later turns quote, stay."""
    yield from ()
    free = len(state.turns) - state.original.fixed_turns
    spared = {state.shared_turn, *summarised_anyway(state, policy)}
    observed = [i for i, turn in enumerate(state.turns[:free]) if turn.answers and i not in spared]
    said, standing = _Said(state.turns), _standing(state.turns)
    lines = repeated_lines(state, observed, policy)
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
                turn = turns[index] = map_results(turn, partial(_without_standing, texts, where))
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


def _without_standing(texts: Standing, where: str, _number: int, text: str) -> str:
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
