"""The protocol of a transcript, stated once: which turns may follow which, by target. Pure.

Every target demands what holds for a transcript anywhere: known roles, every result behind its call, every call
answered before anything else is said (at the end it may stay open), arguments that are JSON. The rest is a table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from trajcompress.json_values import parse_json
from trajcompress.settings.choices import Target
from trajcompress.transcript.message_shape import Fault, llama_factory_faults, mistral_faults, openai_faults
from trajcompress.transcript.roles import ALIASES, CALL_ROLES
from trajcompress.transcript.trajectory import ToolCall, Turn
from trajcompress.transcript.violation import Violation

Refuses: TypeAlias = Callable[[Sequence[Turn]], str | None]
"""Renders turns with a chat template; returns its words where it refuses them, None where it takes them."""


@dataclass(frozen=True, slots=True)
class Demands:
    """What a target demands beyond what all do.

    ``role_names`` None takes every name that is read as a role. ``order``: ``alternates`` is user and assistant in
    turns, tool use left aside; ``parity`` counts tool use too. ``renders``: it feeds a chat template, which has its
    own say. ``calls_in_a_row``: calls made at once may stand in several assistant turns.
    """

    role_names: frozenset[str] | None
    order: Literal["free", "alternates", "parity"] = "free"
    role_and_content: bool = False
    leading_system: bool = False
    ends_with_assistant: bool = False
    needs_assistant: bool = False
    calls_in_a_row: bool = True
    renders: bool = False
    message_faults: Callable[[Turn], Iterator[Fault]] | None = None


_CHAT_ROLES = frozenset({"system", "user", "assistant", "tool"})

DEMANDS: Mapping[Target, Demands] = {
    # Role names and keys are mapped before rendering, as in counting; all else is the template's to say.
    "template": Demands(None, renders=True),
    # SFTTrainer renames from/value to role/content, but not the role names, and renders.
    "trl": Demands(_CHAT_ROLES | {"developer"}, renders=True),
    # type: chat_template. The default ``roles`` know these names; arguments are parsed, and raise where they cannot be.
    "axolotl": Demands(_CHAT_ROLES | {"human", "gpt"}, renders=True),
    # data/README and the ShareGPT and OpenAI converters: user and observation in odd places, gpt and function_call in
    # even ones, an even count, the system turn before them; other rows are skipped with a warning. Content is text.
    "llama-factory": Demands(
        _CHAT_ROLES | {"human", "gpt", "observation", "function_call"},
        order="parity",
        leading_system=True,
        ends_with_assistant=True,
        message_faults=llama_factory_faults,
    ),
    # MultiTurnSFTDataset raises on any other role, and on a system message that is not the first.
    "verl": Demands(_CHAT_ROLES, role_and_content=True, leading_system=True, renders=True),
    # The API reference, and its errors on tool messages; the fine-tuning guide wants an assistant message.
    "openai": Demands(
        _CHAT_ROLES | {"developer", "function"},
        role_and_content=True,
        needs_assistant=True,
        calls_in_a_row=False,
        message_faults=openai_faults,
    ),
    # mistral-common's validator for fine-tuning with tokenizer version 3, which mistral-finetune uses, and the order
    # that the models' chat templates add to it: an optional system turn, then user and assistant in turns.
    "mistral": Demands(
        _CHAT_ROLES,
        order="alternates",
        role_and_content=True,
        leading_system=True,
        ends_with_assistant=True,
        calls_in_a_row=False,
        message_faults=mistral_faults,
    ),
}


def violations(
    turns: Sequence[Turn], target: Target, *, mapped_roles: Collection[str] = (), refuses: Refuses | None = None
) -> tuple[Violation, ...]:
    """Return what the target would refuse in a transcript, in the order of the turns; empty where it is valid.

    Args:
        turns: the transcript.
        target: whose rules apply.
        mapped_roles: role names that the caller has given a meaning, so no longer unknown.
        refuses: renders the turns, for targets that feed a chat template; None leaves the template out.
    """
    if not turns:
        return (Violation("empty_trajectory", None, "no turns"),)
    demands = DEMANDS[target]
    found = [*_keys(turns)] if demands.role_and_content else []
    if not found:  # whoever mends the keys mends names and content with them
        found += _names(turns, demands, mapped_roles)
        if demands.message_faults is not None:
            found += _per_message(turns, demands.message_faults)
    found += _order(turns, demands)
    found += _tool_groups(turns, demands)
    found += _unparseable(turns)
    found.sort(key=lambda violation: violation.turn or 0)
    if refuses and demands.renders and (words := refuses(turns)) is not None:
        found.append(Violation("template_refuses", None, words))
    return tuple(found)


def fits_between(left: Turn | None, right: Turn | None, target: Target) -> bool:
    """Tell whether one human turn may stand between two neighbours of a seam; None is the end of the transcript.

    Judged by the neighbours alone: what a chat template says to it shows when the whole is rendered.
    """
    demands = DEMANDS[target]
    if any(turn is not None and turn.role == "user" for turn in (left, right)):
        return False
    if left is not None and (
        (left.calls and not left.answers) or (left.role == "tool" and not takes_user_after_tool(target))
    ):
        return False
    if right is None:
        return not demands.ends_with_assistant
    return not right.answers and not (right.role == "system" and demands.leading_system)


def takes_user_after_tool(target: Target) -> bool:
    """Tell whether a user turn may stand right after a tool result."""
    return DEMANDS[target].order == "free"


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
        systems = [i for i, turn in enumerate(turns) if turn.role == "system"]
        for index in systems:
            if index > systems[0]:
                yield Violation("two_system_turns", index, f"the first is turn {systems[0]}")
            elif index > 0:
                yield Violation("system_not_first", index, f"behind a {turns[0].role} turn")
    if demands.order != "free":
        spoken = [(i, turn) for i, turn in enumerate(turns) if turn.role != "system"]
        yield from _alternation(spoken) if demands.order == "alternates" else _parity(spoken)
    if demands.ends_with_assistant and turns[-1].role != "assistant":
        yield Violation("ends_without_assistant", len(turns) - 1, f"it is a {turns[-1].role} turn")
    if demands.needs_assistant and all(turn.role != "assistant" for turn in turns):
        yield Violation("no_assistant_turn", None, "no assistant turn")


def _alternation(spoken: list[tuple[int, Turn]]) -> Iterator[Violation]:
    if spoken and spoken[0][1].role == "assistant":
        yield Violation("starts_with_assistant", spoken[0][0], "no user turn before it")
    plain = [(i, turn.role) for i, turn in spoken if not turn.answers and not turn.calls]
    for (before, role), (index, next_role) in pairwise(plain):
        if role == next_role == "user" and index - before == 1:
            yield Violation("user_side_by_side", index, "after a user turn")
        elif role == next_role == "assistant" and index - before == 1:
            yield Violation("assistant_side_by_side", index, "after an assistant turn")
        elif role == next_role:
            yield Violation("does_not_alternate", index, f"{role} again, as in turn {before}")


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


def _tool_groups(turns: Sequence[Turn], demands: Demands) -> Iterator[Violation]:
    waiting: list[tuple[int, ToolCall]] = []
    results_began = False
    for index, turn in enumerate(turns):
        joins = turn.calls and demands.calls_in_a_row and not results_began
        if waiting and not turn.answers and not joins:
            yield from (Violation("unanswered_tool_call", i, _described(call)) for i, call in waiting)
            waiting = []
        for call in turn.calls:
            if call.id is not None and any(call.id == other.id for _, other in waiting):
                yield Violation("duplicate_tool_call_id", index, repr(call.id)[:80])
            waiting.append((index, call))
        for answer in turn.answers:
            if not waiting:
                yield Violation("orphan_tool_result", index, f"answers {answer!r}"[:80])
                continue
            match = _match(answer, waiting)
            if match is None:
                yield Violation("tool_result_id_mismatch", index, f"{answer!r}, not {waiting[0][1].id!r}"[:100])
            waiting.pop(match or 0)
        results_began = bool(turn.answers)


def _match(answer: str | None, waiting: list[tuple[int, ToolCall]]) -> int | None:
    """Return which call an id answers: by id, else by position among those that could be it."""
    if answer is None:
        return 0
    for place, (_, call) in enumerate(waiting):
        if call.id == answer:
            return place
    return next((place for place, (_, call) in enumerate(waiting) if call.id is None), None)


def _unparseable(turns: Sequence[Turn]) -> Iterator[Violation]:
    for index, turn in enumerate(turns):
        for call in turn.calls:
            if call.in_text and turn.own_role.lower() not in CALL_ROLES:
                continue  # tags among words are text to everyone but the model
            try:
                parse_json(call.arguments)
            except ValueError as error:
                yield Violation("arguments_not_json", index, f"{_described(call)}: {error}"[:120])


def _described(call: ToolCall) -> str:
    return f"{call.name!r} ({call.id})"[:80] if call.id else repr(call.name)[:80]
