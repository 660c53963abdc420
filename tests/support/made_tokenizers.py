"""Small tokenizers of the usual kinds, trained when first asked for, some with a chat template of a usual shape."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROWS = Path(__file__).parent / "data" / "rows"
MADE_TOKENIZERS = ("chatml", "llama3", "unigram", "wordpiece")
MADE_CHAT_TOKENIZERS = ("chatml", "llama3", "alternating", "strict-roles")
MADE_FAMILIES = {
    "like-qwen3": "qwen3",
    "like-deepseek": "deepseek3",
    "like-smollm2": "smollm2",
    "like-mistral": "mistral",
}
"""Tokenizers that do as those of well-known models do, and what LLaMA-Factory calls the template of such a model."""

_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_TAGGED_CALLS = """\
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
"""

_CHATML = (
    """\
{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{% endif %}
{{- '# Tools\\n\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{% endfor %}
{{- '\\n</tools><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\\n' }}
{%- if message.reasoning_content %}{{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}{% endif %}
{{- message.content or '' }}
"""
    + _TAGGED_CALLS
    + """\
{%- elif message.role == 'tool' %}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{% endif %}
{{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\\n' }}{% endif %}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""
)

_LLAMA3 = """\
{{- '<|begin_of_text|>' }}
{%- if tools %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\nEnvironment: ipython' }}
{%- for tool in tools %}{{- '\\n\\n' + (tool | tojson(indent=4)) }}{% endfor %}{{- '<|eot_id|>' }}
{%- endif %}
{%- for message in messages %}
{%- if message.tool_calls %}
{%- if message.tool_calls | length != 1 %}{{- raise_exception('only single tool calls at once') }}{% endif %}
{%- set call = message.tool_calls[0].function %}
{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- if message.content %}{{- message.content | trim + '\\n' }}{% endif %}
{{- '{"name": "' + call.name + '", "parameters": ' }}
{{- call.arguments if call.arguments is string else call.arguments | tojson }}{{- '}<|eot_id|>' }}
{%- elif message.role == 'tool' %}
{{- '<|start_header_id|>ipython<|end_header_id|>\\n\\n' }}
{{- message.content | tojson if message.content is mapping else message.content }}{{- '<|eot_id|>' }}
{%- else %}
{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' + message.content | trim + '<|eot_id|>' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"""

_ALTERNATING = """\
{%- if messages[0].role == 'system' %}{% set system = messages[0].content %}{% set rest = messages[1:] %}
{%- else %}{% set system = none %}{% set rest = messages %}{% endif %}
{{- '<s>' }}
{%- for message in rest %}
{%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('roles must alternate user/assistant/user/assistant/...') }}
{%- endif %}
{%- if message.role == 'user' %}
{{- '[INST] ' }}{% if loop.first and system %}{{- system + '\\n\\n' }}{% endif %}{{- message.content + '[/INST]' }}
{%- elif message.role == 'assistant' %}{{- ' ' + message.content + '</s>' }}
{%- else %}{{- raise_exception('only user and assistant roles are supported') }}
{%- endif %}
{%- endfor %}"""

_STRICT_ROLES = """\
{%- for message in messages %}
{%- if message.role not in ['system', 'user', 'assistant', 'tool'] %}
{{- raise_exception('unexpected role ' + message.role) }}
{%- endif %}
{%- if message.role == 'system' and not loop.first %}{{- raise_exception('a system turn comes first') }}{% endif %}
{{- '<|' + message.role + '|>' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '<|call|>' + call.function.name + '\\n' + call.function.arguments }}
{%- endfor %}
{{- '<|end|>' }}
{%- endfor %}"""


_LIKE_QWEN3 = (
    """\
{%- if tools %}
{{- '<|im_start|>system\\n<tools>' }}{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{% endfor %}
{{- '\\n</tools><|im_end|>\\n' }}
{%- endif %}
{%- set asked = namespace(last=messages | length - 1) %}
{%- for message in messages %}{% if message.role == 'user' %}{% set asked.last = loop.index0 %}{% endif %}{% endfor %}
{%- for message in messages %}
{%- set said = message.content or '' %}
{{- '<|im_start|>' + ('user' if message.role == 'tool' else message.role) + '\\n' }}
{%- if message.role == 'assistant' %}
{%- set thought = said.split('</think>')[0].split('<think>')[-1].strip('\\n') if '</think>' in said else '' %}
{%- set said = said.split('</think>')[-1].lstrip('\\n') %}
{%- if loop.index0 > asked.last and (loop.last or thought) %}
{{- '<think>\\n' + thought + '\\n</think>\\n\\n' }}
{%- endif %}
{%- endif %}
{{- said }}
"""
    + _TAGGED_CALLS
    + """\
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""
)

_LIKE_DEEPSEEK = """\
{{- bos_token }}
{%- for message in messages %}
{%- if message.role == 'user' %}{{- '<｜User｜>' + message.content }}
{%- elif message.role == 'assistant' and message.content is none %}
{%- for call in message.tool_calls %}
{{- '<｜Assistant｜>' + call.function.name + '\\n' + call.function.arguments }}
{%- endfor %}
{{- eos_token }}
{%- elif message.role == 'assistant' %}{{- '<｜Assistant｜>' + message.content + eos_token }}
{%- else %}{{- message.content }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<｜Assistant｜>' }}{% endif %}"""

_LIKE_SMOLLM2 = """\
{%- for message in messages %}
{%- if loop.first and message.role != 'system' %}
{{- '<|im_start|>system\\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\\n' }}
{%- endif %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""


def _texts() -> Iterator[str]:
    for name in ("swe-agent", "languages", "calls-openai"):
        yield from (ROWS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


def _byte_level(*special: str) -> Tokenizer:
    """Train a byte-level BPE that splits digits one by one, over NFC text, as Qwen's does."""
    made = Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        _texts(),
        trainers.BpeTrainer(
            vocab_size=2000, special_tokens=list(special), initial_alphabet=alphabet, show_progress=False
        ),
    )
    return made


def _unigram() -> Tokenizer:
    """Train a Unigram model over text with ▁ for spaces, as SentencePiece does."""
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=1000, special_tokens=["<unk>", "<s>", "</s>"], unk_token="<unk>", show_progress=False
    )
    made.train_from_iterator(_texts(), trainer)
    return made


def _wordpiece() -> Tokenizer:
    """Train a WordPiece, with truncation and padding in its file, as BERT's models have it."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(
        _texts(), trainers.WordPieceTrainer(vocab_size=1500, special_tokens=special, show_progress=False)
    )
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.enable_truncation(128)
    made.enable_padding(length=128)
    return made


_DEEPSEEK_ENDS = ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>")
_BYTE_LEVEL: dict[str, tuple[tuple[str, ...], str | None, dict[str, str]]] = {
    "chatml": (("<|endoftext|>", "<|im_start|>", "<|im_end|>"), _CHATML, {"eos_token": "<|im_end|>"}),
    "llama3": (
        ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
        _LLAMA3,
        {"eos_token": "<|eot_id|>"},
    ),
    "alternating": (
        ("<s>", "</s>", "[INST]", "[/INST]"),
        _ALTERNATING,
        {"bos_token": "<s>", "eos_token": "</s>"},
    ),
    "strict-roles": (
        ("<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|call|>", "<|end|>"),
        _STRICT_ROLES,
        {"eos_token": "<|end|>"},
    ),
    "like-qwen3": (
        ("<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>"),
        _LIKE_QWEN3,
        {"eos_token": "<|im_end|>"},
    ),
    "like-deepseek": (
        (*_DEEPSEEK_ENDS, "<｜User｜>", "<｜Assistant｜>"),
        _LIKE_DEEPSEEK,
        {"bos_token": _DEEPSEEK_ENDS[0], "eos_token": _DEEPSEEK_ENDS[1]},
    ),
    "like-smollm2": (
        ("<|im_start|>", "<|im_end|>"),
        _LIKE_SMOLLM2,
        {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"},
    ),
    "like-mistral": (
        (
            *("<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
            *("[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
        ),
        None,
        {"bos_token": "<s>", "eos_token": "</s>"},
    ),
}
"""Special tokens, the chat template, and what else the configuration says."""


def _made(name: str) -> tuple[Tokenizer, dict[str, Any]]:
    if name == "unigram":
        return _unigram(), {"eos_token": "</s>", "unk_token": "<unk>"}
    if name == "wordpiece":
        return _wordpiece(), {"unk_token": "[UNK]", "pad_token": "[PAD]", "mask_token": "[MASK]"}
    special, template, config = _BYTE_LEVEL[name]
    return _byte_level(*special), {**config, **({} if template is None else {"chat_template": template})}


@cache
def made_tokenizer(name: str) -> Path:
    """Return the folder of a tokenizer; it is gone when the tests end."""
    folder = Path(tempfile.mkdtemp(prefix="made-tokenizer-")) / name
    atexit.register(shutil.rmtree, folder.parent)
    folder.mkdir()
    trained, config = _made(name)
    trained.save(str(folder / "tokenizer.json"))
    written = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False, **config}
    (folder / "tokenizer_config.json").write_text(json.dumps(written))
    return folder
