"""The templates of LLaMA-Factory that are known here, which of them a tokenizer's model takes, and rendering with it.

Each part of a row is tokenized by itself there. So what is rendered holds a cut wherever one part ends.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from typing import Any, Literal, TypeAlias

from trajcompress.errors import UncountableTextError
from trajcompress.settings.choices import ArgumentsAs
from trajcompress.tokens.chat_template import TemplateRefusedError
from trajcompress.tokens.llama_factory.rows import Aligned, align
from trajcompress.tokens.pieces import CUT
from trajcompress.tokens.quick_template import quick_compiled
from trajcompress.transcript.trajectory import Trajectory

ToolStyle: TypeAlias = Literal["default", "qwen", "mistral", "llama3"]


@dataclass(frozen=True)
class LlamaFactoryTemplate:
    """A template by its name there; ``special`` are the special tokens of the tokenizer.

    ``thinks``: each assistant turn without a thought is given an empty one. ``is_bound``: it is none of theirs, but
    exceeds all of them.
    """

    name: str
    file: str
    tool_style: ToolStyle = "default"
    thinks: bool = False
    default_system: str = ""
    special: dict[str, str] = field(default_factory=dict)

    @property
    def is_bound(self) -> bool:
        """Whether it is none of theirs."""
        return self.file == "any.jinja"

    @property
    def tools_as_prose(self) -> bool:
        """Whether it writes out names and parameters of tools, which have to be there; some of a bound do."""
        return self.tool_style == "default"

    @property
    def title(self) -> str:
        """What it is called."""
        return "an upper bound of LLaMA-Factory's templates" if self.is_bound else f"LLaMA-Factory's {self.name}"

    @property
    def note(self) -> str:
        """What to say of counts by it."""
        if self.is_bound:
            return f"tokens are counted by {self.title}: none is known for this tokenizer's family"
        other = "; rows are shorter by its qwen3_nothink" if self.name == "qwen3" else ""
        return f"tokens are those of {self.title} (template: {self.name}){other}"

    @cached_property
    def source(self) -> str:
        """The template in Jinja."""
        folder = resources.files("trajcompress.tokens.llama_factory")
        return "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in ("tools.jinja", self.file))

    def renderings(self, trajectory: Trajectory) -> list[str]:
        """Return the texts that may be tokenized, part by part: several where the row may be read in several ways.

        Raises:
            UncountableTextError: the row holds lone surrogates that the template cannot carry.
            TemplateRefusedError: the template raises, as at a tool without a name.
        """
        rows = align(trajectory, words_in_calls=self.file != "mistral.jinja")
        try:
            return [self._render(row) for row in rows]
        except UnicodeEncodeError as error:
            raise UncountableTextError("the chat template meets a lone surrogate") from error
        except Exception as error:  # whatever a template raises is its refusal
            raise TemplateRefusedError(str(error)) from error

    def takes_arguments_as(self) -> ArgumentsAs:
        """Return how calls hold their arguments: it parses them."""
        return "object"

    def system_with_tools(self, system: str | None, tools: list[dict[str, Any]]) -> str | None:  # noqa: ARG002
        """Return no system prompt with tools: it takes them in a column."""
        return None

    def gaps(self) -> list[str]:
        """Return what the template writes between the texts of a conversation."""
        roles = ("user", "assistant", "observation", "assistant", "user", "assistant")
        messages = [{"role": role, "content": _PROBE} for role in roles]
        return self._render(Aligned(messages, "", [], has_tools=False)).split(_PROBE)[1:-1]

    def _render(self, row: Aligned) -> str:
        compiled = quick_compiled(self.source)
        context = compiled.new_context(
            {
                "bos_token": "",
                "eos_token": "<|endoftext|>",  # which it adds where there is none
                **self.special,
                **row._asdict(),
                "tool_style": self.tool_style,
                "thinks": self.thinks,
                "default_system": self.default_system,
                "cut": CUT,
            }
        )
        return str(compiled.environment.concat(compiled.root_render_func(context)))


_PROBE = "probe"
_QWEN = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
_SMOLLM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face."
KNOWN = {
    each.name: each
    for each in (
        LlamaFactoryTemplate("qwen", "chatml.jinja", "qwen", default_system=_QWEN),
        LlamaFactoryTemplate("qwen3", "chatml.jinja", "qwen", thinks=True),
        LlamaFactoryTemplate("qwen3_nothink", "chatml.jinja", "qwen"),
        LlamaFactoryTemplate("smollm2", "chatml.jinja", default_system=_SMOLLM),
        LlamaFactoryTemplate("deepseek3", "deepseek.jinja"),
        LlamaFactoryTemplate("deepseekr1", "deepseek.jinja", thinks=True),
        LlamaFactoryTemplate("llama3", "llama3.jinja", "llama3"),
        LlamaFactoryTemplate("mistral", "mistral.jinja", "mistral"),
        LlamaFactoryTemplate("any", "any.jinja"),
    )
}
"""The templates that are known, and the bound ``any``, by name."""


def template_for(tokenizer: Any) -> LlamaFactoryTemplate:
    """Return the template that LLaMA-Factory names for a tokenizer's family; a bound where none is known."""
    special = {name: token for name, token in tokenizer.special_tokens_map.items() if isinstance(token, str)}
    return replace(KNOWN[_family(tokenizer)], special=special)


def _family(tokenizer: Any) -> str:
    """Tell the name of the template by what the tokenizer's own template writes, and by its tokens."""
    added = tokenizer.get_added_vocab()
    own = tokenizer.chat_template
    if not own:
        is_mistral = {"[INST]", "[TOOL_CALLS]"} <= added.keys() and "[SYSTEM_PROMPT]" not in added
        is_deepseek = {"<｜User｜>", "<｜Assistant｜>"} <= added.keys()
        return "mistral" if is_mistral else "deepseek3" if is_deepseek else "any"
    talk, asked = _rendered(tokenizer)
    is_qwen3 = "<|im_start|>" in talk and {"<think>", "<tool_call>"} <= added.keys() and "<tools>" in str(own)
    signs = {
        "qwen": "created by Alibaba Cloud" in talk,
        "smollm2": "named SmolLM" in talk,
        "qwen3": is_qwen3 and "<think>" in talk + asked,
        "qwen3_nothink": is_qwen3,
        "deepseekr1": "<｜User｜>" in talk and "<think>" in asked,
        "deepseek3": "<｜User｜>" in talk,
        "llama3": "<|start_header_id|>" in talk,
        "mistral": "[INST] probe[/INST]" in talk and "[TOOL_CALLS]" in added,
    }
    return next((name for name, is_it in signs.items() if is_it), "any")


def _rendered(tokenizer: Any) -> tuple[str, str]:
    """Return a conversation by the tokenizer's own template, and a question with what begins the answer."""
    talk: list[dict[str, str]] = [{"role": "user", "content": _PROBE}, {"role": "assistant", "content": _PROBE}]
    with suppress(Exception):  # a template is a program; whatever it raises is its refusal
        apply = tokenizer.apply_chat_template
        return apply(talk, tokenize=False), apply(talk[:1], tokenize=False, add_generation_prompt=True)
    return "", ""
