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

_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_CHATML = """\
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
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{% endif %}
{{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\\n' }}{% endif %}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""

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


def _made(name: str) -> tuple[Tokenizer, dict[str, Any]]:
    match name:
        case "chatml":
            special = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
            return _byte_level(*special), {"eos_token": "<|im_end|>", "chat_template": _CHATML}
        case "llama3":
            marks = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
            return _byte_level(*marks), {"eos_token": "<|eot_id|>", "chat_template": _LLAMA3}
        case "alternating":
            marks = ("<s>", "</s>", "[INST]", "[/INST]")
            return _byte_level(*marks), {"bos_token": "<s>", "eos_token": "</s>", "chat_template": _ALTERNATING}
        case "strict-roles":
            marks = ("<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|call|>", "<|end|>")
            return _byte_level(*marks), {"eos_token": "<|end|>", "chat_template": _STRICT_ROLES}
        case "unigram":
            return _unigram(), {"eos_token": "</s>", "unk_token": "<unk>"}
        case "wordpiece":
            return _wordpiece(), {"unk_token": "[UNK]", "pad_token": "[PAD]", "mask_token": "[MASK]"}
        case _:
            raise KeyError(name)


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
