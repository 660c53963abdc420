"""What can be wrong with a transcript: the kinds, by name, and what each means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal[
    "empty_trajectory",
    "message_keys",
    "unknown_role",
    "system_not_first",
    "two_system_turns",
    "starts_with_assistant",
    "user_side_by_side",
    "assistant_side_by_side",
    "does_not_alternate",
    "parity",
    "ends_without_assistant",
    "no_assistant_turn",
    "orphan_tool_result",
    "result_of_words",
    "unanswered_tool_call",
    "duplicate_tool_call_id",
    "tool_result_id_mismatch",
    "tool_call_id_missing",
    "tool_call_id_format",
    "tool_name_format",
    "tool_call_shape",
    "tool_calls_with_content",
    "arguments_not_json",
    "null_content",
    "content_shape",
    "empty_assistant",
    "lone_surrogate",
    "template_refuses",
    "content_not_rendered",
    "call_not_rendered",
    "arguments_encoded_twice",
    "mask_prefix_mismatch",
    "thoughts_not_rendered",
    "wrong_column",
    "messages_as_text",
    "tools_shape",
    "tools_not_standard",
    "tools_for_some_templates",
    "null_system",
    "template_kwargs_shape",
    "media_mismatch",
    "types_differ",
    "not_parquet",
]

TEMPLATE_REFUSES: Kind = "template_refuses"

MEANINGS: Mapping[str, str] = {
    "empty_trajectory": "no turns",
    "message_keys": "messages do not have the keys role and content",
    "unknown_role": "a role name that the target does not know",
    "system_not_first": "a system turn behind other turns",
    "two_system_turns": "a second system turn",
    "starts_with_assistant": "an assistant turn and no other",
    "user_side_by_side": "two user turns in a row, which mistral-common joins and chat templates refuse",
    "assistant_side_by_side": "two assistant turns in a row, which mistral-common joins and chat templates refuse",
    "does_not_alternate": "user and assistant do not take turns, tool use left aside, which chat templates refuse",
    "parity": "user and tool results belong in odd places, assistant and calls in even ones",
    "ends_without_assistant": "the last turn is not the assistant's",
    "no_assistant_turn": "no assistant turn to learn from",
    "orphan_tool_result": "a tool result that no call waits for",
    "result_of_words": "a tool result behind an assistant turn that calls nothing, which the target shows as any "
    "other",
    "unanswered_tool_call": "a call without a result before the next turn",
    "duplicate_tool_call_id": "two calls at once with the same id",
    "tool_result_id_mismatch": "a result whose id is of no waiting call",
    "tool_call_id_missing": "a call or a result without an id",
    "tool_call_id_format": "an id of a form that the target refuses",
    "tool_name_format": "a tool name that is missing or not of letters, digits, _ and -, 64 at most",
    "tool_call_shape": "a call that is not {id, type, function: {name, arguments}}",
    "tool_calls_with_content": "text beside calls",
    "arguments_not_json": "call arguments that are no JSON",
    "null_content": "no content where some is needed",
    "content_shape": "content of a shape that the target does not read",
    "empty_assistant": "an assistant turn with neither text nor calls",
    "lone_surrogate": "half of a surrogate pair, which no tokenizer can encode",
    "template_refuses": "the chat template does not render the row",
    "content_not_rendered": "words of a turn that are nowhere in what is trained on",
    "call_not_rendered": "a call whose name or arguments are nowhere in what is trained on",
    "arguments_encoded_twice": "call arguments that are trained on as a JSON text within JSON",
    "mask_prefix_mismatch": "the turns rendered one by one, as verl does, are not the whole conversation",
    "thoughts_not_rendered": "thoughts of an assistant turn that are nowhere in what is trained on",
    "wrong_column": "a column that the target does not read, or reads in the place of the messages",
    "messages_as_text": "the messages or tools are JSON text where the target reads a list",
    "tools_shape": "tools that are no list of {type: function, function: {name, parameters}}",
    "tools_not_standard": "tools of another shape than OpenAI's, which the model is shown as they are",
    "tools_for_some_templates": "tools that some of LLaMA-Factory's templates show and others raise at: name the "
    "model's tokenizer (--tokenizer)",
    "null_system": "a null in column system, where the loader needs text",
    "template_kwargs_shape": "chat_template_kwargs that are no object, or that only some rows have: TRL stops there; "
    "in Parquet, as compress --for trl writes it, the others have {}",
    "media_mismatch": "marks of images, videos or sounds that are not as many as their column has items",
    "types_differ": "a value of another type than in rows before it, at which loaders of JSON lines stop",
    "not_parquet": "rows of a file that verl does not open: it reads Parquet alone, which --fix writes",
}

NOTES: frozenset[str] = frozenset(
    {"result_of_words", "thoughts_not_rendered", "tools_not_standard", "tools_for_some_templates", "not_parquet"}
    | {"user_side_by_side", "assistant_side_by_side", "does_not_alternate"}
)
"""Kinds that are told and fail nothing: templates leave out earlier thoughts by design, and show any tools; rows are
right that only have to be written into another kind of file, or whose turns the target joins. Agents that an agent
asks in words, by name, answer no call."""


OF_RENDERING: frozenset[str] = frozenset(
    {"content_not_rendered", "call_not_rendered", "arguments_encoded_twice", "mask_prefix_mismatch", "tools_shape"}
)
"""Kinds that show only in what is rendered, so not in a row that the template refuses."""


class Violation(Struct, frozen=True):
    """One unmet demand: at which turn, counted from 0 (None for the row as a whole), and a few words of detail."""

    kind: Kind
    turn: int | None
    detail: str
