"""The form of each target: a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.calls import ArgumentsAs
from trajcompress.forms.chat import ChatForm
from trajcompress.forms.form import Form, Write
from trajcompress.forms.llama_factory import write_llama_factory
from trajcompress.settings.choices import MistralVersion, Target
from trajcompress.transcript.targets import DEMANDS

_CHAT = frozenset({"system", "user", "assistant", "tool"})

_CHATS: Mapping[Target, ChatForm] = {
    "template": ChatForm(_CHAT | {"developer"}),
    # It maps ``from`` and ``value``, but not the names of ShareGPT's roles.
    "trl": ChatForm(_CHAT | {"developer"}, sharegpt_names=_CHAT),
    # It maps these names, and decodes arguments and tools that are JSON text.
    "axolotl": ChatForm(_CHAT | {"human", "gpt"}),
    # Messages are a list of structs in Parquet, which have all keys.
    "verl": ChatForm(_CHAT, same_keys=True),
    "openai": ChatForm(
        _CHAT | {"developer", "function"},
        tools="list",
        legacy_calls=True,
        parts=True,
        null_content=True,
        strict_calls=True,
    ),
    "mistral": ChatForm(_CHAT, ids="nine", tools="list", null_content=True, strict_calls=True, one_of_each=True),
}


def form_for(
    target: Target,
    options: FormatOptions,
    *,
    arguments: ArgumentsAs = "text",
    trim_end: bool = False,
    mistral: MistralVersion = "v3",
) -> Form:
    """Return the form of a target.

    Args:
        target: it.
        options: how rows are read.
        arguments: as what its chat template renders the arguments of calls right.
        trim_end: whether turns after the last assistant turn are cut.
        mistral: the version of the tokenizer where the target is mistral.
    """
    write: Write
    if target == "llama-factory":
        write = write_llama_factory
    else:
        chat = _CHATS[target]
        write = (replace(chat, arguments=arguments) if DEMANDS[target].renders else chat).write
    return Form(target, write, options, trim_end, mistral)
