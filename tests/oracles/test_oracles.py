"""Our verdicts against other people's: validators, types, converters and chat templates that trainers really use.

For each oracle two things hold on real rows and on made ones. What we call valid, it takes. What it takes and we do
not, we refuse for one of the named reasons: there we are stricter on purpose.
"""

from __future__ import annotations

import copy
import json
import sys
from functools import cache
from importlib import metadata, util
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_rows import made_rows, quick, real_rows
from pydantic import TypeAdapter, ValidationError
from shared import CHAT_TOKENIZERS, tokenizer_folder
from trajectories import read

from trajcompress.results.check import RowRenderer
from trajcompress.transcript.targets import violations
from trajcompress.transcript.trajectory import Trajectory

TOOL_USE = {"orphan_tool_result", "unanswered_tool_call", "duplicate_tool_call_id", "tool_result_id_mismatch"}
PROTOCOL = TOOL_USE | {"arguments_not_json"}
"""What no transcript should do, though most programs do not look."""


def agrees(trajectory: Trajectory, target: str, refusal: str | None, stricter: set[str], **options: Any) -> None:
    """Fail where the verdicts differ for a reason that is not a named one."""
    kinds = {violation.kind for violation in violations(trajectory.turns, target, **options)}
    assert kinds or refusal is None, f"the oracle refuses what we take: {refusal}"
    assert refusal is not None or kinds <= stricter, f"we refuse what the oracle takes: {kinds - stricter}"


# --- mistral-common: the validator for fine-tuning, tokenizer version 3 ---

# The chat templates ask for turns in order, which the validator does not; it reads calls that are no JSON, and user
# turns between a call and its result. Keys and names of ours are mapped for it.
MISTRAL_STRICTER = PROTOCOL | {
    "user_side_by_side",
    "assistant_side_by_side",
    "does_not_alternate",
    "starts_with_assistant",
    "system_not_first",
    "two_system_turns",
    "message_keys",
}


@cache
def _mistral() -> tuple[Any, TypeAdapter[Any], type[Exception]]:
    pytest.importorskip("mistral_common", reason="mistral-common is not installed")
    from mistral_common.exceptions import MistralCommonException
    from mistral_common.protocol.instruct.messages import ChatMessage
    from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
    from mistral_common.tokens.tokenizers.base import TokenizerVersion

    validator = get_validator(TokenizerVersion.v3, ValidationMode.finetuning)
    return validator, TypeAdapter(list[ChatMessage]), MistralCommonException


def mistral_refusal(trajectory: Trajectory) -> str | None:
    validator, messages, refused = _mistral()
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
        validator.validate_messages(messages.validate_python(given))
    except (ValidationError, refused) as error:
        return str(error)
    return None


def mistral_agrees(trajectory: Trajectory) -> None:
    agrees(trajectory, "mistral", mistral_refusal(trajectory), MISTRAL_STRICTER)


def test_mistral_on_real_rows():
    for trajectory in real_rows():
        mistral_agrees(trajectory)


@quick
@given(made_rows)
def test_mistral_on_made_rows(trajectory):
    mistral_agrees(trajectory)


# --- openai: the types of the Chat Completions API ---

# Types say nothing of what stands beside a message, of names, or of a turn that says nothing.
OPENAI_STRICTER = PROTOCOL | {"no_assistant_turn", "tool_name_format", "null_content"}


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


def openai_agrees(trajectory: Trajectory) -> None:
    agrees(trajectory, "openai", openai_refusal(trajectory), OPENAI_STRICTER)


def test_openai_on_real_rows():
    for trajectory in real_rows():
        openai_agrees(trajectory)


@quick
@given(made_rows)
def test_openai_on_made_rows(trajectory):
    openai_agrees(trajectory)


# --- LLaMA-Factory: its own converters ---

# Results at the very end are dropped without a word, and calls may hold anything.
LLAMA_FACTORY_STRICTER = PROTOCOL | {"ends_without_assistant"}


def _installed(package: str, ending: str) -> list[Path]:
    """Find files of an installed package without importing it, which would take torch."""
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed: pip install --no-deps {package}")
    return [Path(str(file.locate())) for file in files if file.as_posix().endswith(ending)]


@cache
def _converters() -> Any:
    (path,) = _installed("llamafactory", "llamafactory/data/converter.py")
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
    module = _converters()
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


def llama_factory_agrees(trajectory: Trajectory) -> None:
    agrees(trajectory, "llama-factory", llama_factory_refusal(trajectory), LLAMA_FACTORY_STRICTER)


def test_llama_factory_on_real_rows():
    for trajectory in real_rows():
        if not any("from" in turn.raw and "role" in turn.raw for turn in trajectory.turns):
            llama_factory_agrees(trajectory)


@quick
@given(made_rows)
def test_llama_factory_on_made_rows(trajectory):
    llama_factory_agrees(trajectory)


# --- chat templates: apply_chat_template of real tokenizers, and the templates that TRL ships ---

# The keys, names and tool use of a row are judged beside its rendering.
RENDERED_STRICTER = PROTOCOL | {"unknown_role"}


@cache
def _tokenizer(name: str) -> Any:
    import transformers

    return transformers.AutoTokenizer.from_pretrained(tokenizer_folder(name))  # no engine: nothing is counted here


@cache
def _templated(name: str) -> Any:
    (path,) = _installed("trl", f"chat_templates/{name}.jinja")
    tokenizer = copy.copy(_tokenizer("chatml"))
    tokenizer.chat_template = path.read_text()
    return tokenizer


def rendering_refusal(tokenizer: Any, trajectory: Trajectory) -> str | None:
    try:
        tokenizer.apply_chat_template(
            [
                {key: value for key, value in turn.raw.items() if key not in {"from", "value"}}
                | {
                    "role": turn.raw.get("role", turn.role),
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


def renders_alike(tokenizer: Any, trajectory: Trajectory) -> None:
    refuses = RowRenderer(tokenizer, "trl").of(trajectory)
    agrees(trajectory, "trl", rendering_refusal(tokenizer, trajectory), RENDERED_STRICTER, refuses=refuses)


@pytest.mark.parametrize("name", CHAT_TOKENIZERS)
def test_templates_of_tokenizers_on_real_rows(name):
    for trajectory in real_rows()[::8]:
        renders_alike(_tokenizer(name), trajectory)


@pytest.mark.parametrize("name", ["gemma", "gemma3", "cohere", "llama3_1", "qwen3_6", "gptoss"])
@settings(quick, max_examples=40)
@given(trajectory=made_rows)
def test_templates_of_trl_on_made_rows(name, trajectory):
    renders_alike(_templated(name), trajectory)


_order_kinds = {
    "starts_with_assistant",
    "user_side_by_side",
    "assistant_side_by_side",
    "does_not_alternate",
}


@pytest.mark.parametrize("name", ["gemma", "gemma3", "cohere"])
@quick
@given(roles=st.lists(st.sampled_from(["user", "assistant"]), min_size=1, max_size=6))
def test_our_alternation_is_that_of_strict_templates(name, roles):
    trajectory = read([{"role": role, "content": "hello"} for role in roles])
    kinds = {violation.kind for violation in violations(trajectory.turns, "mistral")}
    assert bool(kinds & _order_kinds) == (rendering_refusal(_templated(name), trajectory) is not None)
