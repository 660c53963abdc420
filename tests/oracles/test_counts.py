"""Our counts against what the trainers themselves make of a row, where they can be imported."""

from __future__ import annotations

import json
import sys
from functools import cache
from importlib import util
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from shared import HAS_SHARED, rows_of, tokenizer_folder

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.sources import find_sources
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.targets import form_for
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.tokens.trained_template import Rendering

pytestmark = [
    pytest.mark.skipif(not HAS_SHARED, reason="needs the real rows and tokenizers beside the project"),
    pytest.mark.filterwarnings("ignore"),
]
FILES = ("livemcpbench", "tau-bench-airline", "llamafactory-toolcall", "webdancer", "functionchat-ko")
needs_torch = pytest.mark.skipif(util.find_spec("torch") is None, reason="torch is not installed")


def rows_for(target):
    """Return rows of every kind in the form of a target."""
    form = form_for(target, FormatOptions())
    for name in FILES:
        (source,) = find_sources([str(rows_of("shared") / f"{name}.jsonl")])
        for read in list(read_rows(source))[:12]:
            made = form.of(read_trajectory(read.value, "x", FormatOptions()))
            if not (made.formed and made.formed.unfit):
                yield made


def counter_for(tokenizer, rendering):
    return TokenCounter(load_tokenizer(str(tokenizer_folder(tokenizer)), rendering=rendering))


@needs_torch
@pytest.mark.skipif(util.find_spec("trl") is None, reason="trl is not installed")
@pytest.mark.parametrize("assistant_only", [False, True])
def test_tokens_are_those_of_trl(assistant_only):
    from trl import chat_template_utils
    from trl.trainer.sft_trainer import _tokenize

    base = Path(chat_template_utils.__file__).parent / "chat_templates" / "qwen3.jinja"
    counter = counter_for("qwen3", Rendering("trl", str(base), assistant_only=assistant_only))
    tokenizer = load_tokenizer(str(tokenizer_folder("qwen3"))).hf
    tokenizer.chat_template = base.read_text(encoding="utf-8")
    swapped = chat_template_utils.get_training_chat_template(tokenizer) if assistant_only else None
    seen = 0
    for made in rows_for("trl"):
        if made.messages_field != "messages" or any(turn.images for turn in made.turns):
            continue
        tools = made.row.get("tools")
        given = {"tools": json.loads(tools) if tools else None, "chat_template": swapped}
        theirs = _tokenize(tokenizer, made.row["messages"], **given)["input_ids"]
        assert counter.count(made).tokens == len(theirs)
        seen += 1
    assert seen > 40


@cache
def llama_factory():
    """Return LLaMA-Factory's package of data, without what its other modules want."""
    spec = util.find_spec("llamafactory")
    for name in ("data", "extras"):
        package = sys.modules.setdefault(f"llamafactory.{name}", ModuleType(f"llamafactory.{name}"))
        package.__path__ = [str(Path(spec.origin).parent / name)]
    if util.find_spec("torchaudio") is None:
        sys.modules["torchaudio"] = ModuleType("torchaudio")
        sys.modules["torchaudio"].__spec__ = ModuleSpec("torchaudio", None)
    from llamafactory.data import template

    return template


@needs_torch
@pytest.mark.skipif(util.find_spec("llamafactory") is None, reason="llamafactory is not installed")
@pytest.mark.parametrize(
    ("tokenizer", "name"),
    [("qwen3", "qwen3"), ("deepseek-v3", "deepseek3"), ("smollm2", "smollm2"), ("mistral-v3", "mistral")],
)
def test_tokens_are_those_of_llama_factory(tokenizer, name):
    theirs = llama_factory()
    counter = counter_for(tokenizer, Rendering("llama-factory"))
    hf = load_tokenizer(str(tokenizer_folder(tokenizer))).hf
    arguments = SimpleNamespace(
        template=name,
        train_on_prompt=False,
        tool_format=None,
        default_system=None,
        enable_thinking=True,
        preserve_thinking=False,
    )
    template = theirs.get_template_and_fix_tokenizer(hf, arguments)
    roles = {"human": "user", "gpt": "assistant", "observation": "observation", "function_call": "function"}
    seen = 0
    for made in rows_for("llama-factory"):
        turns = made.row["conversations"]
        system = turns[0]["value"] if turns[0]["from"] == "system" else ""
        messages = [{"role": roles[t["from"]], "content": t["value"]} for t in turns if t["from"] != "system"]
        try:
            pairs = template.encode_multiturn(hf, messages, system, made.row.get("tools") or "")
        except (RuntimeError, KeyError):  # words beside a call, tools without properties: not all templates take them
            continue
        assert counter.count(made).tokens == sum(len(ids) for pair in pairs for ids in pair)
        seen += 1
    assert seen > 20
