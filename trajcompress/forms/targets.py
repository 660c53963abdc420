"""The form of each target: a table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from trajcompress.dataset.shape import Columns, Scalar
from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.chat import MESSAGES_TYPE, ChatForm
from trajcompress.forms.form import Form, Write
from trajcompress.forms.llama_factory import write_llama_factory
from trajcompress.forms.tools import ToolsInSystem, written_out
from trajcompress.settings.choices import ArgumentsAs, MistralVersion, Target
from trajcompress.transcript.targets import CHAT_ROLES, DEMANDS

_OF_OTHER_KINDS = frozenset(
    {"prompt", "completion", "chosen", "rejected", "text", "input_ids", "labels", "assistant_masks"}
    | {"completion_mask", "image", "images"}
)
"""Columns by which TRL tells other kinds of datasets, whatever they hold."""

_CHATS: Mapping[Target, ChatForm] = {
    "template": ChatForm(CHAT_ROLES),
    # It maps ``from`` and ``value``, but not the names of ShareGPT's roles.
    "trl": ChatForm(CHAT_ROLES, sharegpt_names=CHAT_ROLES, reserved=_OF_OTHER_KINDS, images_as="column"),
    # It maps these names, and decodes arguments and tools that are JSON text. Of a column it takes the first image.
    "axolotl": ChatForm(CHAT_ROLES | {"human", "gpt"}, images_as="own"),
    # It reads Parquet with pandas: messages are structs, which have all keys, and tools cannot be any.
    "verl": ChatForm(CHAT_ROLES, same_keys=True, images_as="marks"),
    "openai": ChatForm(
        CHAT_ROLES | {"developer", "function"},
        tools="list",
        legacy_calls=True,
        parts=True,
        null_content=True,
        strict_calls=True,
    ),
    "mistral": ChatForm(CHAT_ROLES, ids="nine", tools="list", null_content=True, strict_calls=True, one_of_each=True),
}

_TYPES: Mapping[Target, Columns] = {
    "verl": {"messages": MESSAGES_TYPE},
    # It unpacks this column wherever it is there, and stops at a null.
    "trl": {"chat_template_kwargs": Scalar.OBJECTS},
}


def form_for(
    target: Target,
    options: FormatOptions,
    *,
    arguments: ArgumentsAs = "text",
    tools_in_system: ToolsInSystem = written_out,
    images: bool = True,
    tools_as_prose: bool = False,
    trim_end: bool = False,
    mistral: MistralVersion = "v3",
    assistant_only: bool = False,
) -> Form:
    """Return the form of a target.

    Args:
        target: the trainer or API whose form it is.
        options: how rows are read.
        arguments: as what its chat template renders the arguments of calls right.
        tools_in_system: shows tools as its chat template does.
        images: whether its chat template takes content in parts, as images are.
        tools_as_prose: whether LLaMA-Factory's template writes out names and parameters of tools, not their JSON.
        trim_end: whether turns after the last assistant turn are cut.
        mistral: the version of the tokenizer where the target is mistral.
        assistant_only: whether the target learns from assistant turns alone.
    """
    write: Write
    if target == "llama-factory":
        write = partial(write_llama_factory, tools_as_prose=tools_as_prose)
    else:
        chat = _CHATS[target]
        chat = replace(chat, arguments=arguments, images=images) if DEMANDS[target].renders else chat
        chat = replace(chat, tools_in_system=tools_in_system) if target == "verl" else chat
        write = chat.write
    return Form(target, write, options, trim_end, _TYPES.get(target, {}), mistral, assistant_only)
