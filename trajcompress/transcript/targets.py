"""What each target demands of a transcript: which turns it takes, and in which order. A table, and no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.settings.choices import MistralVersion, Target
from trajcompress.transcript.message_shape import (
    Fault,
    llama_factory_faults,
    mistral_faults,
    openai_faults,
    takes_words_beside_calls,
)
from trajcompress.transcript.trajectory import Turn
from trajcompress.transcript.violation import Kind


class Demands(Struct, frozen=True):
    """What one target demands beyond what all do.

    ``fatal`` are the kinds of violation for which its loader drops the row, or refuses the file; None is all.
    ``role_names`` None takes every name that is read as a role. ``order``: ``alternates`` is user and assistant in
    turns, tool use left aside, of which there are notes alone; ``parity`` counts tool use too. ``leading_system``: a
    system turn is the first, or stands behind one of ``system_behind``. ``renders``: it feeds a chat template, which
    has its own say. ``calls_in_a_row``: calls made at once may stand in several assistant turns.
    ``pairs_results``: a result has to answer a call; others take one that answers words, as of agents called by name.
    ``joins``: assistant turns in a row are one to it, which has to say something; ``words_beside_calls``: it may have
    calls, too. ``turn_by_turn``: it renders each turn alone, and compares that with the whole.
    ``stops_at_refusal``: a row that the chat template refuses stops the load of all.
    """

    role_names: frozenset[str] | None
    order: Literal["free", "alternates", "parity"] = "free"
    role_and_content: bool = False
    leading_system: bool = False
    system_behind: frozenset[str] = frozenset()
    ends_with_assistant: bool = False
    needs_assistant: bool = False
    calls_in_a_row: bool = True
    pairs_results: bool = False
    joins: bool = False
    words_beside_calls: bool = True
    renders: bool = False
    turn_by_turn: bool = False
    stops_at_refusal: bool = False
    message_faults: Callable[[Turn], Iterator[Fault]] | None = None
    fatal: frozenset[Kind] | None = frozenset()


CHAT_ROLES = frozenset({"system", "user", "assistant", "tool"})

DEMANDS: Mapping[Target, Demands] = {
    # Role names and keys are mapped before rendering, as in counting; all else is the template's to say.
    "template": Demands(None, renders=True),
    # SFTTrainer renames from/value to role/content, but not the role names, and renders.
    "trl": Demands(CHAT_ROLES | {"developer"}, renders=True, stops_at_refusal=True),
    # Of type chat_template. The default ``roles`` know these names; arguments are parsed, and raise where that fails.
    "axolotl": Demands(
        CHAT_ROLES | {"human", "gpt"},
        renders=True,
        stops_at_refusal=True,
        fatal=frozenset({"arguments_not_json"}),
    ),
    # data/README and the ShareGPT and OpenAI converters: user and observation in odd places, gpt and function_call in
    # even ones, an even count, the system turn before them; other rows are skipped with a warning. Content is text.
    "llama-factory": Demands(
        CHAT_ROLES | {"human", "gpt", "observation", "function_call"},
        order="parity",
        leading_system=True,
        ends_with_assistant=True,
        message_faults=llama_factory_faults,
        fatal=frozenset(
            {
                "parity",
                "system_not_first",
                "two_system_turns",
                "ends_without_assistant",
                "content_shape",
                "null_content",
            }
        ),
    ),
    # MultiTurnSFTDataset raises on any other role, and on a system message that is not the first.
    "verl": Demands(
        CHAT_ROLES,
        role_and_content=True,
        leading_system=True,
        renders=True,
        turn_by_turn=True,
        stops_at_refusal=True,
        fatal=frozenset({"system_not_first", "two_system_turns"}),
    ),
    # The API reference, and its errors on tool messages; the fine-tuning guide wants an assistant message.
    "openai": Demands(
        CHAT_ROLES | {"developer", "function"},
        role_and_content=True,
        needs_assistant=True,
        calls_in_a_row=False,
        pairs_results=True,
        message_faults=openai_faults,
        fatal=None,
    ),
    # mistral-common's validator for fine-tuning with tokenizer version 3 (of others see demands_of), whoever begins.
    # Turns side by side it joins; the models' chat templates refuse them.
    "mistral": Demands(
        CHAT_ROLES,
        order="alternates",
        role_and_content=True,
        leading_system=True,
        system_behind=frozenset({"system", "user"}),
        ends_with_assistant=True,
        calls_in_a_row=False,
        pairs_results=True,
        joins=True,
        words_beside_calls=False,
        message_faults=mistral_faults,
        fatal=None,
    ),
}


def demands_of(target: Target, mistral: MistralVersion = "v3", *, assistant_only: bool = False) -> Demands:
    """Return what a target demands, of mistral what tokenizers of that version do.

    TRL refuses a row without assistant tokens, and its file with it, where it learns from these alone.
    """
    demands = DEMANDS[target]
    if target == "mistral" and mistral != "v3":
        faults = partial(mistral_faults, version=mistral)
        return replace(demands, message_faults=faults, words_beside_calls=takes_words_beside_calls(mistral))
    if target == "trl" and assistant_only:
        return replace(demands, needs_assistant=True, fatal=frozenset({"no_assistant_turn"}))
    return demands


def fits_between(left: Turn | None, right: Turn | None, target: Target, *, beside_users: bool = False) -> bool:
    """Tell whether one human turn may stand between two neighbours of a seam; None is the end of the transcript.

    Judged by the neighbours alone: what a chat template says to it shows when the whole is rendered. With
    ``beside_users`` it may stand next to another user turn where the target takes such.
    """
    demands = DEMANDS[target]
    alone = not (beside_users and demands.order == "free")
    if alone and any(turn is not None and turn.role == "user" for turn in (left, right)):
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


def ends_with_what_follows(target: Target) -> bool:
    """Tell whether the part of a transcript that ends with an assistant turn should have what follows that turn, too.

    Chat templates that render the last assistant turn in another way than alone (Qwen3's adds an empty think block)
    would make such a part differ from its turns where the transcript did not.
    """
    return DEMANDS[target].turn_by_turn
