"""Rendering a trajectory the way a trainer renders it.

A trainer hands the row's messages and tools to ``apply_chat_template``. So does this, with the messages as they are
but for what a trainer's own preparation maps: role names, ShareGPT keys, legacy calls. Where the template refuses
that, plainer forms are tried in turn: content as text, arguments as text, arguments as an object. A form of our own
making that loses calls is no rendering, and is refused like an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

from msgspec.structs import replace

from trajcompress.errors import TrajcompressError, UncountableTextError
from trajcompress.json_values import is_plain
from trajcompress.settings.choices import ArgumentsAs, Role, Target
from trajcompress.tokens.rendering import Renderer
from trajcompress.tokens.row_options import options_of
from trajcompress.tokens.template_messages import (
    Arguments,
    ChatMessages,
    Names,
    message_of,
    names_all,
    parsed,
    plain_message,
    structured_calls,
)
from trajcompress.transcript.trajectory import Message, ToolCall, Trajectory, Turn

_SHAREGPT_ROLES = frozenset({"human", "gpt", "function_call", "observation"})
"""Names of ShareGPT, which trainers that read it map before they render."""
_BEFORE: dict[Role, ChatMessages] = {
    "system": [],
    "user": [],
    "assistant": [{"role": "user", "content": "x"}],
    "tool": [
        {"role": "user", "content": "x"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"type": "function", "id": "call00000", "function": {"name": "x", "arguments": {}}}],
        },
    ],
}
"""What a template may want to see before a message of each role."""
_WORD = "probe"
_ANSWER: Message = {"role": "assistant", "content": _WORD}
_TALK: ChatMessages = [{"role": "user", "content": _WORD}, _ANSWER]
_WORK: ChatMessages = [
    {"role": "user", "content": _WORD},
    _BEFORE["tool"][1] | {"content": _WORD},
    {"role": "tool", "tool_call_id": "call00000", "content": _WORD},
    _ANSWER,
]


class TemplateRefusedError(TrajcompressError):
    """The chat template refuses every form of a trajectory; the message is the template's own."""


class Rendered(NamedTuple):
    """The texts that trainers may tokenize; ``as_it_is``: the first is of the row's own messages, none changed."""

    texts: list[str]
    as_it_is: bool


class ChatTemplate:
    """The chat template of a tokenizer. Safe to use from several threads."""

    target: ClassVar[Target] = "template"
    """Who renders, so that of a row's columns those are read that it reads."""

    def __init__(self, tokenizer: Any) -> None:
        self._apply = Renderer(tokenizer).render
        self._takes_parts = {role: self._probe_parts(role) for role in _BEFORE}

    def render(self, trajectory: Trajectory) -> str:
        """Return the text that a trainer would tokenize, special tokens included: the first of :meth:`renderings`."""
        return self.renderings(trajectory)[0]

    def renderings(self, trajectory: Trajectory) -> list[str]:
        """Return the texts that trainers may tokenize. Raises as :meth:`rendered`."""
        return self.rendered(trajectory).texts

    def rendered(self, trajectory: Trajectory) -> Rendered:
        """Render what trainers may tokenize: several texts where the row has names of its own for roles.

        Some trainers map such names, some hand them over as they are. So there is one text with roles as they are
        read, and one with the row's own names where the template takes these, too. And one with its lists of parts as
        they are, where the template prints these instead of reading their text.

        Raises:
            TemplateRefusedError: the template refuses the row in every form.
            UncountableTextError: the row holds lone surrogates that the template cannot carry.
        """
        trajectory = _with_system_turn(trajectory)
        own = _own_names(trajectory)
        read: list[str] = [turn.role for turn in trajectory.turns]
        known = ["developer" if name == "developer" else role for name, role in zip(own, read, strict=True)]
        found: list[tuple[str, bool]] = []
        refusal = ""
        for names in [known] if known == read else [known, read]:
            try:
                found.append(self._render(trajectory, names))
            except TemplateRefusedError as error:
                refusal = refusal or str(error)
        if not found:
            raise TemplateRefusedError(refusal)
        if own not in (known, read):
            with suppress(TemplateRefusedError):
                found.append(self._render(trajectory, own))
        if (printed := self._printed_parts(trajectory, known)) is not None:
            found.append((printed, False))
        return Rendered([text for text, _ in found], as_it_is=found[0][1])

    def _render(self, trajectory: Trajectory, names: Names) -> tuple[str, bool]:
        """Return the text of the first form that is rendered, and whether that is the row as it is."""
        refusal = ""  # not the exception, which holds this frame, and so the row until cycles are looked for
        for messages, calls in self._forms(trajectory.turns, names):
            try:
                handed = self.handed_over(messages)
                known_plain = handed is messages and _are_plain(messages, trajectory)
                text = self._apply(
                    handed, trajectory.tools, options_of(trajectory.row, self.target), known_plain=known_plain
                )
            except UnicodeEncodeError as error:
                raise UncountableTextError("the chat template meets a lone surrogate") from error
            except Exception as error:  # noqa: BLE001  a template is a program; whatever it raises is its refusal
                refusal = refusal or _first_line(error)
                continue
            if names_all(text, calls):
                pairs = zip(handed, trajectory.turns, strict=True)
                return text, all(message is turn.raw for message, turn in pairs)
        raise TemplateRefusedError(refusal or "it leaves out the tool calls")

    def _printed_parts(self, trajectory: Trajectory, names: Names) -> str | None:
        """Return the text of a row with lists as content that the template prints; None for any other row.

        Rows with images go to a processor, which reads the lists.
        """
        turns = trajectory.turns
        if self._reads_content(turns) or any(turn.media for turn in turns):
            return None
        messages = self.handed_over([message_of(turn, name) for turn, name in zip(turns, names, strict=True)])
        with suppress(Exception):  # a template is a program; whatever it raises is its refusal
            return self._apply(messages, trajectory.tools, options_of(trajectory.row, self.target))
        return None

    def _reads_content(self, turns: Sequence[Turn]) -> bool:
        """Tell whether the template reads the text of each content that is a list."""
        return all(self._takes_parts[turn.role] or not isinstance(turn.raw.get("content"), list) for turn in turns)

    def messages(self, trajectory: Trajectory) -> ChatMessages:
        """Return the messages that a trainer takes a row for."""
        trajectory = _with_system_turn(trajectory)
        names = [turn.role for turn in trajectory.turns]
        return self.handed_over(next(self._forms(trajectory.turns, names))[0])

    def handed_over(self, messages: ChatMessages) -> ChatMessages:
        """Return the messages as the template gets them."""
        return messages

    def fault(self) -> str | None:
        """Say why the template renders nothing of what people say to each other; None where it does."""
        refusal = None
        parts = [message | {"content": [{"type": "text", "text": _WORD}]} for message in _TALK]
        for messages in (_TALK, [{"role": "system", "content": _WORD}, *_TALK], parts):
            try:
                if _WORD in self._apply(messages, None):
                    return None
            except Exception as error:  # noqa: BLE001  a template is a program; whatever it raises is its refusal
                refusal = refusal or f"it refuses a conversation: {_first_line(error)}"
        return refusal or "it writes nothing of what is said in a conversation"

    def gaps(self) -> list[str]:
        """Return what the template writes between the texts of a conversation, with a call where it takes one."""
        for messages in ([*_WORK, *_TALK], [*_TALK, *_TALK]):
            with suppress(Exception):  # a template is a program; whatever it raises is its refusal
                return self._apply(messages, None).split(_WORD)[1:-1]
        return []

    @property
    def takes_parts(self) -> bool:
        """Whether the content of a user may be a list of parts, as it is with images."""
        return self._takes_parts["user"]

    def takes_arguments_as(self) -> ArgumentsAs:
        """Return how calls hold their arguments so that they are rendered right: as JSON text where that does."""
        for content in (_WORD, ""):
            if '{"a": "b"}' in self._rendered_call(content, '{"a": "b"}'):
                return "text"
            if _WORD * 2 in self._rendered_call(content, {"a": _WORD * 2}):
                return "object"
        return "unseen"

    def _rendered_call(self, content: str, arguments: Any) -> str:
        """Return a call as it is rendered, nothing where the template refuses it."""
        asked, call, *_ = _WORK
        function = {"name": _WORD, "arguments": arguments}
        calls = [{"type": "function", "id": "call00000", "function": function}]
        messages = [asked, call | {"content": content, "tool_calls": calls}]
        with suppress(Exception):  # a template is a program; whatever it raises is its refusal
            return self._apply(messages, None)
        return ""

    def system_with_tools(self, system: str | None, tools: list[dict[str, Any]]) -> str | None:
        """Return the system prompt that is rendered without tools as this one is with them; None where none is."""
        asked: Message = {"role": "user", "content": _WORD}
        before: ChatMessages = [] if system is None else [{"role": "system", "content": system}]
        with suppress(Exception):  # a template is a program; whatever it raises is its refusal
            start, end = self._apply([{"role": "system", "content": _WORD * 2}, asked], None).split(_WORD * 2)
            wanted = self._apply([*before, asked], tools)
            made = wanted.removeprefix(start).removesuffix(end)
            if self._apply([{"role": "system", "content": made}, asked], None) == wanted:
                return made
        return None

    def _forms(self, turns: Sequence[Turn], names: Names) -> Iterator[tuple[ChatMessages, list[ToolCall]]]:
        """Yield forms to try, with ``names`` as roles, each with the calls that its rendering must not lose."""
        named = list(zip(turns, names, strict=True))
        if self._reads_content(turns):
            messages = [message_of(turn, name) for turn, name in named]
            ours = (turn for turn, message in zip(turns, messages, strict=True) if message is not turn.raw)
            yield messages, structured_calls(ours)
        calls = structured_calls(turns)
        conversions: tuple[Arguments | None, ...] = (None, str, parsed) if calls else (None,)
        for convert in conversions:
            yield [plain_message(turn, name, convert) for turn, name in named], calls

    def _probe_parts(self, role: Role) -> bool:
        """Tell whether the template reads the text in list content, rather than failing, printing or dropping it."""

        def rendered(content: Any) -> str:
            return self._apply([*_BEFORE[role], {"role": role, "content": content}, *after], None)

        after: ChatMessages = [{"role": "user", "content": "x"}] if role == "system" else []
        try:
            return rendered([{"type": "text", "text": "probe"}]) == rendered("probe")
        except Exception:  # noqa: BLE001  a template is a program; whatever it raises says no
            return False


def _with_system_turn(trajectory: Trajectory) -> Trajectory:
    if trajectory.system is None:
        return trajectory
    turn = Turn("system", trajectory.system, {"role": "system", "content": trajectory.system})
    return replace(trajectory, turns=(turn, *trajectory.turns))


def _own_names(trajectory: Trajectory) -> list[str]:
    """Return the row's own names for roles, those aside that trainers map which read ShareGPT."""
    mapped = _SHAREGPT_ROLES if trajectory.format == "sharegpt" else frozenset()
    return [turn.role if turn.own_role in mapped else turn.own_role or turn.role for turn in trajectory.turns]


def _are_plain(messages: ChatMessages, trajectory: Trajectory) -> bool:
    """Tell whether a form of a plain trajectory is plain, too: arguments that were read from text may be deep."""
    pairs = zip(messages, trajectory.turns, strict=True)
    return trajectory.is_plain and is_plain(
        message for message, turn in pairs if message.get("tool_calls") is not turn.raw.get("tool_calls")
    )


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
