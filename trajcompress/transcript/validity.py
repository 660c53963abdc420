"""Validity of a transcript: what a target would refuse in it. Pure.

Every target demands what holds for a transcript anywhere: known roles, every result behind its call, every call
answered before anything else is said (at the end it may stay open), arguments that are JSON. The rest is in the table
of what each demands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from math import inf

from msgspec.structs import replace

from trajcompress.json_values import parse_json
from trajcompress.settings.choices import MistralVersion, Target
from trajcompress.transcript.message_shape import Fault, content_of
from trajcompress.transcript.roles import ALIASES, CALL_ROLES
from trajcompress.transcript.targets import Demands, demands_of
from trajcompress.transcript.tool_groups import Place, answers_each_call, match_results
from trajcompress.transcript.trajectory import ToolCall, Turn
from trajcompress.transcript.violation import Violation


def violations(
    turns: Sequence[Turn],
    target: Target,
    *,
    mapped_roles: Collection[str] = (),
    mistral: MistralVersion = "v3",
    assistant_only: bool = False,
) -> tuple[Violation, ...]:
    """Return what the target would refuse in a transcript, in the order of the turns; empty where it is valid.

    Args:
        turns: the transcript.
        target: whose demands apply.
        mapped_roles: role names that the caller has given a meaning, so no longer unknown.
        mistral: the version of the tokenizer where the target is mistral.
        assistant_only: whether the target learns from assistant turns alone.
    """
    if not turns:
        return (Violation("empty_trajectory", None, "no turns"),)
    if any(turn.in_text for turn in turns):  # calls and results that no target reads as such
        turns = [replace(turn, calls=(), answers=()) if turn.in_text else turn for turn in turns]
    demands = demands_of(target, mistral, assistant_only=assistant_only)
    found = [*_keys(turns)] if demands.role_and_content else []
    if not found:  # whoever mends the keys mends names and content with them
        found += _names(turns, demands, mapped_roles)
        if demands.message_faults is not None:
            found += _per_message(turns, demands.message_faults)
    found += _order(turns, demands)
    found += _tool_use(turns, demands)
    found += _unparseable(turns)
    found.sort(key=lambda violation: violation.turn or 0)
    return tuple(found)


def _keys(turns: Sequence[Turn]) -> Iterator[Violation]:
    foreign = next((i for i, turn in enumerate(turns) if turn.raw.get("role") is None), None)
    if foreign is not None:
        yield Violation("message_keys", foreign, f"keys {', '.join(map(repr, turns[foreign].raw))}"[:100])


def _names(turns: Sequence[Turn], demands: Demands, mapped_roles: Collection[str]) -> Iterator[Violation]:
    names = {turn.own_role for turn in turns}
    unknown = {name for name in names if not _is_known(name, demands) and name not in mapped_roles}
    return (
        Violation("unknown_role", index, repr(turn.own_role)[:80])
        for index, turn in enumerate(turns)
        if turn.own_role in unknown
    )


def _is_known(name: str, demands: Demands) -> bool:
    return name.strip().lower() in ALIASES if demands.role_names is None else name in demands.role_names


def _per_message(turns: Sequence[Turn], faults: Callable[[Turn], Iterator[Fault]]) -> Iterator[Violation]:
    return (Violation(kind, index, detail) for index, turn in enumerate(turns) for kind, detail in faults(turn))


def _order(turns: Sequence[Turn], demands: Demands) -> Iterator[Violation]:
    if demands.leading_system:
        yield from _systems(turns, demands.system_behind)
    if demands.order == "alternates" and len(turns) == 1 and turns[0].role == "assistant":
        yield Violation("starts_with_assistant", 0, "no other turn")
    if demands.order != "free":
        spoken = [(i, turn) for i, turn in enumerate(turns) if turn.role != "system"]
        yield from _alternation(spoken) if demands.order == "alternates" else _parity(spoken)
    if demands.joins:
        yield from _joined(turns, demands)
    if demands.ends_with_assistant and turns[-1].role != "assistant":
        yield Violation("ends_without_assistant", len(turns) - 1, f"it is a {turns[-1].role} turn")
    if demands.needs_assistant and all(turn.role != "assistant" for turn in turns):
        yield Violation("no_assistant_turn", None, "no assistant turn")


def _systems(turns: Sequence[Turn], behind: Collection[str]) -> Iterator[Violation]:
    """Find system turns that are not the first, and stand behind none of the roles that one may stand behind."""
    systems = [i for i, turn in enumerate(turns) if turn.role == "system"]
    for index in systems:
        if index == 0 or turns[index - 1].role in behind:
            continue
        if index > systems[0] and not behind:
            yield Violation("two_system_turns", index, f"the first is turn {systems[0]}")
        else:
            yield Violation("system_not_first", index, f"behind turn {index - 1} ({turns[index - 1].role})")


def _alternation(spoken: list[tuple[int, Turn]]) -> Iterator[Violation]:
    plain = [(i, turn.role) for i, turn in spoken if not turn.answers and not turn.calls]
    for (before, role), (index, next_role) in pairwise(plain):
        if role == next_role == "user" and index - before == 1:
            yield Violation("user_side_by_side", index, "after a user turn")
        elif role == next_role == "assistant" and index - before == 1:
            yield Violation("assistant_side_by_side", index, "after an assistant turn")
        elif role == next_role:
            yield Violation("does_not_alternate", index, f"{role} again, as in turn {before}")


def _joined(turns: Sequence[Turn], demands: Demands) -> Iterator[Violation]:
    """Find assistant turns that in a row have words and calls, or nothing; of one by itself its message tells."""
    for role, run in groupby(enumerate(turns), key=lambda each: each[1].role):
        if role != "assistant":
            continue
        joined = list(run)
        index = joined[0][0]
        says = any(_says_something(turn) for _, turn in joined)
        calls = any(not call.in_text for _, turn in joined for call in turn.calls)
        if demands.words_beside_calls and not says and not calls:
            yield Violation("empty_assistant", index, "neither text nor calls")
        elif not demands.words_beside_calls and len(joined) > 1 and says and calls:
            yield Violation("tool_calls_with_content", index + 1, "of assistant turns in a row, which are joined")


def _says_something(turn: Turn) -> bool:
    content = content_of(turn)
    parts = content if isinstance(content, list) else []
    return bool(turn.text) or any(isinstance(part, dict) and part.get("type") != "text" for part in parts)


def _parity(spoken: list[tuple[int, Turn]]) -> Iterator[Violation]:
    """Find the first turn out of place; results in messages form count as one while they stand side by side."""
    place = 0
    before: Turn | None = None
    for index, turn in spoken:
        if before is not None and before.role == turn.role == "tool" and turn.raw.get("role"):
            continue
        if (turn.role == "assistant") != (place % 2 == 1):
            expected = "assistant" if place % 2 else "user or tool"
            yield Violation("parity", index, f"{turn.own_role!r} where {expected} belongs"[:100])
            return
        place += 1
        before = turn


def _tool_use(turns: Sequence[Turn], demands: Demands) -> Iterator[Violation]:
    for start, end in _exchanges(turns, demands):
        exchange, may_stay_open = turns[start:end], end == len(turns)
        if not demands.pairs_results and _answers_words(exchange):
            yield from _of_words(exchange, start)
        elif not answers_each_call(exchange, may_stay_open=may_stay_open):  # as in most rows
            yield from exchange_faults(exchange, start, may_stay_open=may_stay_open)


def _answers_words(exchange: Sequence[Turn]) -> bool:
    """Tell whether results stand behind an assistant's turn that calls nothing, and name no call that they answer."""
    first, *rest = exchange
    asks = first.role == "assistant" and not first.answers
    return asks and not any(turn.calls or any(turn.answers) for turn in exchange) and bool(rest)


def _of_words(exchange: Sequence[Turn], start: int) -> Iterator[Violation]:
    for index, turn in enumerate(exchange):
        if turn.answers:
            yield Violation("result_of_words", start + index, _unasked(turn, None))


def _unasked(turn: Turn, answer: str | None) -> str:
    """Describe a result that no call waits for, with the remedy where its role was taken for a tool's."""
    name = turn.own_role
    if not _is_known(name, demands_of("template")):
        return f"{name!r} is read as a tool; --role-map {name!r}=user reads it as a request"[:160]
    return f"{name!r} without an id, and no call is open" if answer is None else f"answers {answer!r}"[:80]


def _exchanges(turns: Sequence[Turn], demands: Demands) -> Iterator[tuple[int, int]]:
    """Yield the spans within which calls must be answered: calls, made at once, and the results right behind them."""
    start = 0
    results_began = uses_tools = False
    for index, turn in enumerate(turns):
        joins = turn.calls and demands.calls_in_a_row and not results_began
        if not turn.answers and not joins:
            if uses_tools:
                yield start, index
            start, uses_tools = index, False
        uses_tools = uses_tools or bool(turn.calls or turn.answers)
        results_began = bool(turn.answers)
    if uses_tools:
        yield start, len(turns)


def exchange_faults(turns: Sequence[Turn], start: int, *, may_stay_open: bool) -> Iterator[Violation]:
    """Yield what a target would refuse in an exchange that begins at ``start``."""
    answered: dict[Place, int] = {}
    faults: list[Violation] = []
    for (index, number), place, by in match_results(turns, repeats=False):
        answer = turns[index].answers[number]
        if place is None or by not in {"id", "position"}:
            faults.append(Violation("orphan_tool_result", start + index, _unasked(turns[index], answer)))
            continue
        answered[place] = index
        call_id = turns[place[0]].calls[place[1]].id
        if None not in {answer, call_id} and answer != call_id:
            detail = f"{answer!r}, not {call_id!r}"[:100]
            faults.append(Violation("tool_result_id_mismatch", start + index, detail))
    made = {(i, n): call for i, turn in enumerate(turns) for n, call in enumerate(turn.calls)}
    if len(made) > 1:
        yield from _duplicates(made, answered, start)
    yield from faults
    if not may_stay_open:
        for place, call in made.items():
            if place not in answered:
                yield Violation("unanswered_tool_call", start + place[0], _described(call))


def _duplicates(made: Mapping[Place, ToolCall], answered: Mapping[Place, int], start: int) -> Iterator[Violation]:
    """Find calls with the id of one that still waits."""
    answered_by: dict[str, float] = {}  # of each id, when the last of its calls has its result
    for place, call in made.items():
        if call.id is None:
            continue
        if answered_by.get(call.id, -1) >= place[0]:
            yield Violation("duplicate_tool_call_id", start + place[0], repr(call.id)[:80])
        answered_by[call.id] = max(answered_by.get(call.id, -1), answered.get(place, inf))


def _unparseable(turns: Sequence[Turn]) -> Iterator[Violation]:
    for index, turn in enumerate(turns):
        for call in turn.calls:
            if call.in_text and turn.own_role.lower() not in CALL_ROLES:
                continue  # tags among words are text to everyone but the model
            try:
                if call.in_text and "<function=" in turn.text and "<tool_call>" not in turn.text:
                    parse_json(turn.text.rpartition("</think>")[2])  # converters read all that it says
                parse_json(call.arguments)
            except ValueError as error:
                yield Violation("arguments_not_json", index, f"{_described(call)}: {error}"[:120])


def _described(call: ToolCall) -> str:
    return f"{call.name!r} ({call.id})"[:80] if call.id else repr(call.name)[:80]
