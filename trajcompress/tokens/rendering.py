"""Rendering messages as ``apply_chat_template`` does, without what it does for objects that no row has.

transformers rebuilds all messages and tools out of plain types, as callers may hand it images or tensors. Rows are
plain already, so finding that out is enough. What the template then sees is compared with what transformers shows it
before this is used; where they differ, or a value is not plain, transformers renders.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any, TypeAlias

from trajcompress.json_values import is_plain
from trajcompress.tokens.quick_template import quick_compiled, quicken
from trajcompress.transcript.trajectory import Message

Options: TypeAlias = Mapping[str, Any]
"""What a template is given besides messages and tools, by name, such as ``enable_thinking``."""

_REASONING = ("reasoning_content", "thinking", "reasoning")
_REASONING_FIELDS = frozenset(_REASONING)

_PROBE: list[Message] = [
    {"role": "system", "content": None, "name": "x"},
    {"role": "user", "content": [{"type": "text", "text": "é"}, {"type": "image", "image": None}]},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "f", "arguments": {"b": 1.0, "a": 1}}}],
    },
    *({"role": "assistant", key: "r", "content": "<|im_end|>"} for key in _REASONING),
    {"reasoning": "a", "role": "assistant", "thinking": None, "content": ""},
    {"reasoning_content": "", "thinking": "b", "tool_calls": None, "role": "assistant"},
]
_PROBE_TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"b": None, "a": [True, 1]}}}]
_NO_OPTIONS: Options = {}
_SHOWS_ALL = "{{ messages | tojson }}{{ tools | tojson }}{{ documents is none }}{{ add_generation_prompt is false }}"


class Renderer:
    """Renders with the chat template of a tokenizer. Safe to use from several threads."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        for template in _templates(tokenizer):
            quicken(template)
        self._is_exact = self._shows_templates_the_same()
        self._own_parameters = frozenset(signature(tokenizer.apply_chat_template).parameters)

    def render(
        self,
        messages: list[Message],
        tools: list[dict[str, Any]] | None,
        options: Options | None = None,
        *,
        known_plain: bool = False,
    ) -> str:
        """Return what ``apply_chat_template`` returns. Raises whatever the template raises.

        ``known_plain`` says that :func:`is_plain` holds, so that nobody needs to find out.
        """
        options = options or {}
        is_exact = self._is_exact and self._own_parameters.isdisjoint(options)
        if is_exact and messages and (known_plain or (is_plain(messages) and is_plain(tools or ()))):
            return self._render(messages, tools, self._tokenizer.get_chat_template(tools=tools), options)
        given = {"tools": tools, **options, "tokenize": False}
        return str(self._tokenizer.apply_chat_template(messages, **given))

    def _render(
        self,
        messages: list[Message],
        tools: list[dict[str, Any]] | None,
        template: str,
        options: Options = _NO_OPTIONS,
    ) -> str:
        compiled = quick_compiled(template)
        context = compiled.new_context(
            {
                "messages": [_shown(message) for message in messages],
                "tools": tools,
                "documents": None,
                "add_generation_prompt": False,
                **self._tokenizer.special_tokens_map,
                **options,
            }
        )
        return str(compiled.environment.concat(compiled.root_render_func(context)))

    def _shows_templates_the_same(self) -> bool:
        from transformers import PreTrainedTokenizerBase

        tokenizer = self._tokenizer
        if type(tokenizer).apply_chat_template is not PreTrainedTokenizerBase.apply_chat_template:
            return False
        template = _SHOWS_ALL + "".join(f"|{{{{ {name} }}}}" for name in tokenizer.special_tokens_map)
        try:
            return all(
                self._render(_PROBE, tools, template)
                == tokenizer.apply_chat_template(_PROBE, tools=tools, tokenize=False, chat_template=template)
                for tools in (_PROBE_TOOLS, [], None)
            )
        except Exception:  # noqa: BLE001  another version of transformers, which does it in another way
            return False


def _shown(message: Message) -> Message:
    """Return the message as transformers shows it to templates: without nulls, reasoning under the names in use."""
    shown = message
    if None in message.values():
        shown = {key: value for key, value in message.items() if value is not None}
    if _REASONING_FIELDS.isdisjoint(shown):
        return shown
    reasoning = next(shown[key] for key in _REASONING if key in shown)
    return {"thinking": reasoning, **shown, "reasoning_content": reasoning}


def _templates(tokenizer: Any) -> Iterable[str]:
    """Return the template, or those for different uses that some tokenizers have."""
    chosen = tokenizer.chat_template
    return chosen.values() if isinstance(chosen, dict) else [chosen]
