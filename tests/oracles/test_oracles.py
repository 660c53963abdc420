"""Our verdicts against other people's: validators, types, converters and chat templates that trainers really use.

For each oracle two things hold on real rows and on made ones. What we call valid, it takes. What it takes and we do
not, we refuse for one of the named reasons: there we are stricter on purpose.
"""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_rows import made_rows, quick, real_rows
from made_tokenizers import MADE_CHAT_TOKENIZERS
from shared import CHAT_TOKENIZERS
from trajectories import read
from verdicts import (
    llama_factory_refusal,
    mistral_refusal,
    openai_refusal,
    rendering_refusal,
    templated,
    tokenizer_of,
)

from trajcompress.results.check.rendered import RowRenderer
from trajcompress.settings.choices import MistralVersion
from trajcompress.transcript.trajectory import Trajectory
from trajcompress.transcript.validity import violations
from trajcompress.transcript.violation import NOTES, Violation

TOOL_USE = {"orphan_tool_result", "unanswered_tool_call", "duplicate_tool_call_id", "tool_result_id_mismatch"}
PROTOCOL = TOOL_USE | {"arguments_not_json"}
"""What no transcript should do, though most programs do not look."""


def agrees(
    trajectory: Trajectory, target: str, refusal: str | None, stricter: set[str], *others: Violation, **options: Any
) -> None:
    """Fail where the verdicts differ for a reason that is not a named one."""
    kinds = {violation.kind for violation in (*violations(trajectory.turns, target, **options), *others)} - NOTES
    assert kinds or refusal is None, f"the oracle refuses what we take: {refusal}"
    assert refusal is not None or kinds <= stricter, f"we refuse what the oracle takes: {kinds - stricter}"


# --- mistral-common: the validator for fine-tuning, of each version of its tokenizers ---

# The validator reads calls that are no JSON, and user turns between a call and its result. Later ones read calls
# without ids. Keys and names of ours are mapped for it.
MISTRAL_STRICTER = PROTOCOL | {"tool_call_id_missing", "message_keys"}


VERSIONS = get_args(MistralVersion)


def mistral_agrees(trajectory: Trajectory, version: str) -> None:
    agrees(trajectory, "mistral", mistral_refusal(trajectory, version), MISTRAL_STRICTER, mistral=version)


@pytest.mark.wants("mistral-common")
@pytest.mark.parametrize("version", VERSIONS)
def test_mistral_on_real_rows(version):
    for trajectory in real_rows():
        mistral_agrees(trajectory, version)


@pytest.mark.wants("mistral-common")
@pytest.mark.parametrize("version", VERSIONS)
@quick
@given(trajectory=made_rows)
def test_mistral_on_made_rows(version, trajectory):
    mistral_agrees(trajectory, version)


# --- openai: the types of the Chat Completions API ---

# Types say nothing of what stands beside a message, of names, or of a turn that says nothing.
OPENAI_STRICTER = PROTOCOL | {"no_assistant_turn", "tool_name_format", "null_content"}


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


def llama_factory_agrees(trajectory: Trajectory) -> None:
    agrees(trajectory, "llama-factory", llama_factory_refusal(trajectory), LLAMA_FACTORY_STRICTER)


@pytest.mark.wants("llamafactory")
def test_llama_factory_on_real_rows():
    for trajectory in real_rows():
        if not any("from" in turn.raw and "role" in turn.raw for turn in trajectory.turns):
            llama_factory_agrees(trajectory)


@pytest.mark.wants("llamafactory")
@quick
@given(made_rows)
def test_llama_factory_on_made_rows(trajectory):
    llama_factory_agrees(trajectory)


# --- chat templates: apply_chat_template of real tokenizers, and the templates that TRL ships ---

# The keys, names and tool use of a row are judged beside its rendering, and what is rendered of it.
RENDERED_STRICTER = PROTOCOL | {
    "unknown_role",
    "content_not_rendered",
    "content_shape",  # a list that is printed
    "call_not_rendered",
    "arguments_encoded_twice",
    "tools_shape",
}


def renders_alike(tokenizer: Any, trajectory: Trajectory) -> None:
    rendered = RowRenderer(tokenizer, "trl").violations(trajectory)
    agrees(trajectory, "trl", rendering_refusal(tokenizer, trajectory), RENDERED_STRICTER, *rendered)


@pytest.mark.parametrize("name", CHAT_TOKENIZERS)
def test_templates_of_tokenizers_on_real_rows(name):
    for trajectory in real_rows()[::8]:
        renders_alike(tokenizer_of(name), trajectory)


def of_trl(*names: str) -> list[Any]:
    return [pytest.param(f"trl:{name}", marks=pytest.mark.wants("trl")) for name in names]


ALTERNATING = of_trl("gemma", "gemma3", "cohere")
OTHERS = of_trl("llama3_1", "qwen3_6", "gptoss")


def template_of(name: str) -> Any:
    return templated(name.removeprefix("trl:")) if name.startswith("trl:") else tokenizer_of(name)


@pytest.mark.parametrize("name", [*MADE_CHAT_TOKENIZERS, *ALTERNATING, *OTHERS])
@settings(quick, max_examples=40)
@given(trajectory=made_rows)
def test_templates_on_made_rows(name, trajectory):
    renders_alike(template_of(name), trajectory)


_order_kinds = {
    "user_side_by_side",
    "assistant_side_by_side",
    "does_not_alternate",
}


@pytest.mark.parametrize("name", ["alternating", *ALTERNATING])
@quick
@given(roles=st.lists(st.sampled_from(["user", "assistant"]), max_size=5))
def test_our_alternation_is_that_of_strict_templates_behind_a_user_turn(name, roles):
    trajectory = read([{"role": role, "content": "hello"} for role in ("user", *roles)])
    kinds = {violation.kind for violation in violations(trajectory.turns, "mistral")}
    assert bool(kinds & _order_kinds) == (rendering_refusal(template_of(name), trajectory) is not None)
