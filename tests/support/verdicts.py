"""What other people's code says of a row: validators, types, converters, and chat templates that trainers use."""

from __future__ import annotations

import copy
import json
import sys
from functools import cache
from importlib import metadata, util
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from pydantic import TypeAdapter, ValidationError
from shared import tokenizer_folder

from trajcompress.transcript.trajectory import Trajectory


@cache
def _mistral(version: str) -> SimpleNamespace:
    from mistral_common.exceptions import MistralCommonException
    from mistral_common.protocol.instruct.messages import ChatMessage
    from mistral_common.protocol.instruct.normalize import get_normalizer
    from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
    from mistral_common.tokens.tokenizers.base import TokenizerVersion
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    number = TokenizerVersion(version)
    brought = MistralTokenizer.v3() if number < TokenizerVersion.v7 else MistralTokenizer.v7()
    return SimpleNamespace(
        validator=get_validator(number, ValidationMode.finetuning),
        messages=TypeAdapter(list[ChatMessage]),
        normalizer=get_normalizer(number, None),
        encode=brought.instruct_tokenizer.encode_instruct,
        error=MistralCommonException,
    )


def mistral_refusal(trajectory: Trajectory, version: str = "v3") -> str | None:
    """Why it is not validated, or not encoded: by the last tokenizer that mistral-common brings."""
    from mistral_common.protocol.instruct.request import ChatCompletionRequest

    mistral = _mistral(version)
    wanted = ("role", "content", "tool_calls", "tool_call_id", "name", "function_call")
    given = [
        {
            key: turn.raw[key]
            for key in wanted
            if turn.raw.get(key) is not None and (key != "name" or turn.role == "tool")
        }
        for turn in trajectory.turns
    ]
    try:
        read = mistral.messages.validate_python(given)
        mistral.validator.validate_messages(read)
        mistral.encode(mistral.normalizer.from_chat_completion_request(ChatCompletionRequest(messages=read)))
    except (ValidationError, ValueError, mistral.error) as error:
        return str(error)
    return None


@cache
def _openai() -> TypeAdapter[Any]:
    from openai.types.chat import ChatCompletionMessageParam

    return TypeAdapter(list[ChatCompletionMessageParam])


def _read_all(value: Any) -> None:
    """Look at everything: pydantic checks what the types call iterable when it is iterated."""
    if isinstance(value, dict):
        for inner in value.values():
            _read_all(inner)
    elif not isinstance(value, str | int | float | None):
        for inner in value:
            _read_all(inner)


def openai_refusal(trajectory: Trajectory) -> str | None:
    # Nulls of a struct column are left out, as any export to JSON lines for the API leaves them out.
    given = [
        {key: value for key, value in turn.raw.items() if value is not None or key == "content"}
        for turn in trajectory.turns
    ]
    try:
        _read_all(_openai().validate_python(given))
    except ValidationError as error:
        return str(error)
    return None


def installed(package: str, ending: str) -> list[Path]:
    """Find files of an installed package without importing it, which would take torch."""
    files = metadata.files(package) or []
    return [Path(str(file.locate())) for file in files if file.as_posix().endswith(ending)]


@cache
def converters() -> Any:
    (path,) = installed("llamafactory", "llamafactory/data/converter.py")
    silent = SimpleNamespace(warning_rank0=lambda _: None)
    roles = {"USER": "user", "ASSISTANT": "assistant", "SYSTEM": "system"}
    roles |= {"FUNCTION": "function", "OBSERVATION": "observation"}
    role = SimpleNamespace(**{name: SimpleNamespace(value=value) for name, value in roles.items()})
    around = {"": {}, ".extras": {"logging": SimpleNamespace(get_logger=lambda _: silent)}, ".data": {}}
    around[".data.data_utils"] = {"Role": role}
    for name, members in around.items():
        module = ModuleType(f"llamafactory_oracle{name}")
        module.__path__ = []
        vars(module).update(members)
        sys.modules[module.__name__] = module
    spec = util.spec_from_file_location("llamafactory_oracle.data.converter", path)
    module = sys.modules[spec.name] = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def llama_factory_refusal(trajectory: Trajectory) -> str | None:
    module = converters()
    messages = [turn.raw for turn in trajectory.turns]
    in_messages_form = "role" in messages[0]
    result_tag = next((name for turn in messages if (name := turn.get("from")) == "tool"), "observation")
    names = ("role", "content", "user", "assistant", "tool") if in_messages_form else ()
    names = names or ("from", "value", "human", "gpt", result_tag)
    tags = dict(zip(("role", "content", "user", "assistant", "observation"), names, strict=True))
    columns = dict.fromkeys(("system", "tools", "images", "videos", "audios", "kto_tag"))
    attributes = SimpleNamespace(
        **{f"{key}_tag": value for key, value in tags.items()},
        **columns,
        function_tag="function_call",
        system_tag="system",
        messages="messages",
        ranking=False,
        load_from="file",
    )
    converter = module.OpenAIDatasetConverter if in_messages_form else module.SharegptDatasetConverter
    try:
        made = converter(attributes, SimpleNamespace())({"messages": messages})
        texts = [message["content"] for message in made["_prompt"] + made["_response"]]
        for message in made["_prompt"] + made["_response"]:
            if message["role"] == "function":
                json.loads(message["content"])  # as its formatter does
    except (KeyError, TypeError, ValueError) as error:
        return repr(error)
    if not texts:
        return "skipped"
    return None if all(isinstance(text, str) for text in [*texts, made["_system"] or ""]) else "expected a string"


@cache
def tokenizer_of(name: str) -> Any:
    import transformers

    return transformers.AutoTokenizer.from_pretrained(tokenizer_folder(name))  # no engine: nothing is counted here


@cache
def templated(name: str) -> Any:
    (path,) = installed("trl", f"chat_templates/{name}.jinja")
    tokenizer = copy.copy(tokenizer_of("chatml"))
    tokenizer.chat_template = path.read_text()
    return tokenizer


def rendering_refusal(tokenizer: Any, trajectory: Trajectory) -> str | None:
    try:
        tokenizer.apply_chat_template(
            [
                {key: value for key, value in turn.raw.items() if key not in {"from", "value"}}
                | {
                    "role": turn.raw.get("role", turn.raw.get("from")),
                    "content": turn.raw.get("content", turn.raw.get("value")),
                }
                for turn in trajectory.turns
            ],
            tools=trajectory.tools,
            tokenize=False,
        )
    except Exception as error:  # noqa: BLE001  whatever a template raises is its refusal
        return repr(error)
    return None
