"""The form of chat messages: ``role`` and ``content``, calls in ``tool_calls``, one result a message."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from trajcompress.dataset.shape import List, Scalar, Shape, Struct
from trajcompress.formats.content import json_text
from trajcompress.formats.turns import says_more_than_calls
from trajcompress.forms.calls import Ids, IdsAs, give_ids, write_calls
from trajcompress.forms.form import Draft, UnfitError
from trajcompress.forms.images import COLUMN, as_marks, as_objects, as_parts
from trajcompress.forms.text import results_apart, text_of, words_beside_calls
from trajcompress.forms.tools import ToolsAs, ToolsInSystem, pop_tools, write_tools
from trajcompress.settings.choices import ArgumentsAs
from trajcompress.transcript.roles import CALL_ROLES, is_known
from trajcompress.transcript.tool_groups import match_results
from trajcompress.transcript.trajectory import Message, Turn

_MAPPED = frozenset({"role", "from", "content", "value"})
_JOINT = "\n\n"


class ChatForm(msgspec.Struct, frozen=True):
    """How one target wants chat messages.

    Args:
        role_names: the names that it reads.
        arguments: whether those of calls are JSON text or objects; unseen where calls are shown as text alone.
        ids: what ids of calls may be.
        tools: whether the tool definitions are a list or its JSON text.
        sharegpt_names: role names with which it reads ``from`` and ``value`` in column ``conversations`` as they are.
        legacy_calls: whether it reads ``function_call``.
        reserved: columns whose mere presence has the target take another way.
        parts: whether it reads content in parts.
        images: whether it shows images, which are parts.
        images_as: how it finds images: by ``marks`` in the text, by parts that stand for those of the ``column``, but
            in results, or as parts that have them (``own``).
        null_content: whether content beside calls may be null.
        strict_calls: whether each result has to answer a call by id, and calls made at once are of one message.
        one_of_each: whether user and assistant turns that stand side by side are to be one.
        same_keys: whether every message has the same keys, as a struct in Parquet does; others are left out.
        tools_in_system: writes the tools into the system prompt, for a target that can hold them nowhere else.
    """

    role_names: frozenset[str]
    arguments: ArgumentsAs = "text"
    ids: IdsAs = "any"
    tools: ToolsAs = "text"
    sharegpt_names: frozenset[str] = frozenset()
    legacy_calls: bool = False
    reserved: frozenset[str] = frozenset()
    parts: bool = False
    images: bool = True
    images_as: Literal["marks", "column", "own"] | None = None
    null_content: bool = False
    strict_calls: bool = False
    one_of_each: bool = False
    same_keys: bool = False
    tools_in_system: ToolsInSystem | None = None

    def write(self, turns: Sequence[Turn], draft: Draft) -> None:
        """Write turns as chat messages."""
        turns = self._with_images(turns, draft)
        if self.tools_in_system:
            turns = _with_tools(turns, draft, self.tools_in_system)
        else:
            write_tools(draft, self.tools)
        shown = {COLUMN} if self.images and self.images_as == "column" else set()
        for name in sorted(self.reserved & draft.columns.keys() - {draft.column} - shown):
            _rename(draft, name)
        if draft.column == "conversations" and all(map(self._is_read_as_sharegpt, turns)):
            draft.messages = [turn.raw for turn in turns]
            return
        if draft.column != "messages":
            draft.changes.add("column")
            draft.column = "messages"
        worded = self._answering_words(turns)
        turns = [replace(turn, calls=()) if self._is_worded(turn) else turn for turn in turns]
        ids = give_ids(turns, self.ids)
        messages: list[Message] = []
        for index, turn in enumerate(turns):
            messages += self._messages(turn, index, ids, draft, worded=index in worded)
        if self.strict_calls:
            messages = _joined(messages, draft, _with_calls_of)
        if self.one_of_each:
            messages = _joined(messages, draft, _with_words_of)
        if self.images_as == "column" and any(isinstance(each.get("content"), list) for each in messages):
            messages = [_in_parts(message) for message in messages]  # all images would go into the first text
        draft.messages = [_with_all_keys(message, draft) for message in messages] if self.same_keys else messages

    def _with_images(self, turns: Sequence[Turn], draft: Draft) -> Sequence[Turn]:
        if self.images_as == "marks":
            as_objects(draft)
            return as_marks(turns, draft)
        if self.images_as is None or not self.images:
            return turns
        turns = as_parts(turns, draft, holds=lambda turn: self.images_as == "own" or turn.role == "tool")
        if self.images_as == "own" and draft.columns.get(COLUMN) == []:
            draft.changes.add("columns")
            draft.columns = {name: value for name, value in draft.columns.items() if name != COLUMN}
        return turns

    def _is_read_as_sharegpt(self, turn: Turn) -> bool:
        raw = turn.raw
        plain = raw.keys().isdisjoint(("role", "content", "tool_calls", "function_call"))
        return plain and raw.get("from") in self.sharegpt_names and isinstance(raw.get("value"), str)

    def _messages(self, turn: Turn, index: int, ids: Ids, draft: Draft, *, worded: bool) -> Iterator[Message]:
        calls = tuple((call, ids.calls[index, n]) for n, call in enumerate(turn.calls))
        if apart := results_apart(turn):
            draft.changes.add("calls")
            results, said = apart
            for n, text in enumerate(results):
                yield {"role": "tool", "tool_call_id": ids.results.get((index, n)), "content": text}
            if said:
                yield {"role": "user", "content": said}
            return
        raw = turn.raw
        name = self._role_name(turn, worded=worded)
        content = self._content(turn, draft, has_calls=bool(calls))
        if raw.get("role") == name and "content" in raw:
            message = {**raw, "content": content}
        else:
            draft.changes.add("roles")
            message = {"role": name, "content": content}
            message |= {key: value for key, value in raw.items() if key not in _MAPPED}
        if turn.reasoning and not any(raw.get(key) for key in ("reasoning_content", "reasoning")):
            message["reasoning_content"] = turn.reasoning
            draft.changes.add("reasoning")
        if calls and not (self.legacy_calls and raw.get("function_call")):
            if message.pop("function_call", None):
                draft.changes.add("calls")
            message["tool_calls"] = write_calls(raw.get("tool_calls"), calls, self.arguments, draft)
        if name == "user" and turn.role == "tool":
            message = {key: value for key, value in message.items() if key not in {"tool_call_id", "name"}}
        if name == "tool":
            _answer(message, ids.results.get((index, 0)), draft)
        yield raw if message == raw else message  # as it was written, where nothing of it changed

    def _answering_words(self, turns: Sequence[Turn]) -> set[int]:
        """Return the turns that answer what was asked for in words: no call that is written so waits for them."""
        matches = match_results(turns)
        return {
            index
            for (index, _), call, _ in matches
            if call and (self._is_worded(turns[call[0]]) or not turns[call[0]].calls)
        }

    def _is_worded(self, turn: Turn) -> bool:
        """Tell whether the calls of a turn are words to whoever takes the row, as ``<tool_call>`` tags are.

        So is what a ``function_call`` of ShareGPT says that is no call, or more than one, or where the chat template
        shows no calls: as a call it would be lost.
        """
        if not turn.calls or not turn.calls[0].in_text:
            return turn.in_text
        tagged = turn.own_role.lower() not in CALL_ROLES
        return turn.in_text or tagged or self.arguments == "unseen" or says_more_than_calls(turn)

    def _role_name(self, turn: Turn, *, worded: bool) -> str:
        if turn.role == "tool" and worded and (self.strict_calls or not is_known(turn.own_role, {})):
            return "user"
        own = turn.raw.get("role")
        return own if isinstance(own, str) and own in self.role_names else turn.role

    def _content(self, turn: Turn, draft: Draft, *, has_calls: bool) -> Any:
        content = turn.raw.get("content", turn.raw.get("value"))
        only_a_call = has_calls and turn.own_role.lower() in CALL_ROLES and turn.calls[0].in_text
        if isinstance(content, str) and not only_a_call:
            return content
        if content is None and has_calls and self.null_content:
            return None
        keeps_parts = self.parts or (self.images and turn.images)
        if keeps_parts and isinstance(content, list) and _are_standard(content):
            return content
        draft.changes.add("content")
        return words_beside_calls(text_of(turn)) if only_a_call else text_of(turn)


def _in_parts(message: Message) -> Message:
    content = message.get("content")
    return {**message, "content": [{"type": "text", "text": content}]} if isinstance(content, str) else message


def _with_tools(turns: Sequence[Turn], draft: Draft, show: ToolsInSystem) -> Sequence[Turn]:
    """Return the turns with the tools of the row in their system prompt."""
    if not (tools := pop_tools(draft)):
        return turns
    system = turns[0] if turns and turns[0].role == "system" else None
    text = show(system.text if system else None, tools)
    if text is None:
        raise UnfitError("tools_shape: the chat template shows the tools in no system prompt")
    raw = {**(system.raw if system else {}), "role": "system", "content": text}
    shown = Turn("system", text, {key: raw[key] for key in raw if key not in {"from", "value"}}, own_role="system")
    return [shown, *(turns[1:] if system else turns)]


def as_read(name: str) -> str:
    """Return the name of a column whose own means something else to a target."""
    return f"{name}_as_read"


def _rename(draft: Draft, name: str) -> None:
    """Give a column another name, which no other has."""
    draft.changes.add("columns")
    other = as_read(name)
    while other in draft.columns:
        other += "_"
    draft.columns = {other if key == name else key: value for key, value in draft.columns.items()}


def _answer(message: Message, call_id: str | None, draft: Draft) -> None:
    if call_id is not None and call_id != message.get("tool_call_id"):
        message["tool_call_id"] = call_id
        draft.changes.add("ids")


def _are_standard(content: list[Any]) -> bool:
    """Tell whether all parts are as the Chat Completions API has them."""
    return all(isinstance(part, dict) and _is_standard(part) for part in content)


def _is_standard(part: Message) -> bool:
    kind = str(part.get("type"))
    if kind in {"text", "refusal"}:
        return isinstance(part.get(kind), str)
    return kind == "image" or (kind in {"image_url", "input_audio", "file"} and isinstance(part.get(kind), dict))


def _joined(
    messages: list[Message], draft: Draft, join: Callable[[Message, Message], Message | None]
) -> list[Message]:
    """Make one message of two side by side wherever ``join`` makes one of them."""
    joined: list[Message] = []
    for message in messages:
        made = join(joined[-1], message) if joined else None
        if made is None:
            joined.append(message)
        else:
            draft.changes.add("merged")
            joined[-1] = made
    return joined


def _with_words_of(before: Message, message: Message) -> Message | None:
    """Join user turns, and assistant turns, side by side; calls go behind the words."""
    if before["role"] != message["role"] or before["role"] == "tool" or before.get("tool_calls"):
        return None
    texts = [each.get("content") for each in (before, message)]
    if not all(isinstance(text, str | None) for text in texts):
        return None
    filled = {key: value for key, value in before.items() if value is not None}
    return {**message, **filled, "content": _JOINT.join(text for text in texts if text)}


def _with_calls_of(before: Message, message: Message) -> Message | None:
    """Join the calls of a message that says nothing else with those of the message before it."""
    if not (before.get("tool_calls") and message.get("tool_calls")) or message.get("content"):
        return None
    return {**before, "tool_calls": [*before["tool_calls"], *message["tool_calls"]]}


def _struct(*names: str, **others: Shape) -> Struct:
    return Struct((*((name, Scalar.STR) for name in names), *others.items()))


_CALL_TYPE = _struct("id", "type", function=_struct("name", "arguments"))
_MESSAGE_TYPE = Struct(
    (
        ("role", Scalar.STR),
        ("content", Scalar.STR),
        ("reasoning_content", Scalar.STR),
        ("tool_calls", List(_CALL_TYPE)),
        ("tool_call_id", Scalar.STR),
        ("name", Scalar.STR),
    )
)
_TEXTS = ("reasoning_content", "tool_call_id", "name")
MESSAGES_TYPE = List(_MESSAGE_TYPE)
"""The type of a column of messages that all have the same keys."""


def _with_all_keys(message: Message, draft: Draft) -> Message:
    """Return the message with these keys alone: with others in some messages a column could not be of structs."""
    made = {name: message.get(name) for name in _MESSAGE_TYPE.names}
    made |= {name: json_text(made[name]) for name in _TEXTS if made[name] is not None}
    if not isinstance(made["content"], str):
        raise UnfitError(f"content_shape: the content of a {made['role']} turn is no text")
    if calls := made["tool_calls"]:
        made["tool_calls"] = [
            {name: call.get(name) for name in _CALL_TYPE.names}
            | {"function": {name: call["function"].get(name) for name in ("name", "arguments")}}
            for call in calls
        ]
        if not all(isinstance(call["function"]["arguments"], str) for call in calls):
            raise UnfitError(
                "tool_call_shape: the chat template takes arguments as objects, which its Parquet cannot hold; "
                "--chat-template names another"
            )
    if repr(made) == repr(message):  # the order of keys, too
        return message
    draft.changes.add("fields")
    return made
