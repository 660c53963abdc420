"""Starter files: what the trainer of ``--for`` needs beside the data to begin with it, made for its own commands.

Paths in them are seen from the run folder, so that it can be moved and published.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from trajcompress.formats.media import MEDIA
from trajcompress.settings.choices import Target

DataFiles: TypeAlias = Mapping[str, Collection[str]]
"""The names of data files, in order, and the columns of each."""

_Make: TypeAlias = Callable[[Mapping[str, Any], DataFiles], str]

TEMPLATE = "template"
"""The key, beside those of settings, of the trainer's own template by which rows were counted."""

_SHAREGPT_TAGS = {
    "role_tag": "from",
    "content_tag": "value",
    "user_tag": "human",
    "assistant_tag": "gpt",
    "observation_tag": "observation",
    "function_tag": "function_call",
    "system_tag": "system",
}


_SHOW_IMAGES = {"qwen": "qwen2_vl", "qwen3": "qwen3_vl", "qwen3_nothink": "qwen3_vl_nothink"}
"""Its templates of the same words that take images: by others a row with images stops the load."""


def starter_files(settings: Mapping[str, Any], data: DataFiles) -> dict[str, str]:
    """Return the text of each starter file by its name; empty where rows are in no trainer's form.

    Args:
        settings: those of the run, by dotted key, and :data:`TEMPLATE`.
        data: the files of the dataset.
    """
    if settings.get("compression.form") != "target":
        return {}
    return {name: make(settings, data) for name, make in _BY_TARGET.get(settings["compression.target"], {}).items()}


def _dataset_info(_: Mapping[str, Any], data: DataFiles) -> str:
    """Return an entry for each data file: files of other columns can not be one dataset in JSON lines."""
    info = {
        name: {
            "file_name": f"data/{file}",
            "formatting": "sharegpt",
            "columns": {
                "messages": "conversations",
                "tools": "tools",
                **{name: name for name in MEDIA if name in data[file]},
            },
            "tags": _SHAREGPT_TAGS,
        }
        for name, file in _names(data).items()
    }
    return json.dumps(info, indent=2, ensure_ascii=False) + "\n"


def _names(data: DataFiles) -> dict[str, str]:
    """Return the data files by a name for each: that of its input where it is the only file of that."""
    stems = {file: file.rpartition(".")[0] for file in data}
    parts = Counter(stem.rpartition("-")[0] for stem in stems.values())
    names = {
        file: stem.rpartition("-")[0] if parts[stem.rpartition("-")[0]] == 1 else stem for file, stem in stems.items()
    }
    return {name.replace(",", "_"): file for file, name in names.items()}


def _llama_factory(settings: Mapping[str, Any], data: DataFiles) -> str:
    named = settings.get(TEMPLATE)
    if any(name in columns for columns in data.values() for name in MEDIA):
        named = _SHOW_IMAGES.get(named or "")
    others, template = ("", f"template: {named}\n") if named else (", template", "")
    return f"""\
# llamafactory-cli train llama_factory.yaml, in this folder; add model{others} and training options
{template}dataset_dir: .
dataset: {json.dumps(",".join(_names(data)), ensure_ascii=False)}
cutoff_len: {settings["compression.target_max_tokens"]}
train_on_prompt: {str(settings.get("compression.train_on") == "all").lower()}
mask_history: false
"""


def _axolotl(settings: Mapping[str, Any], _: DataFiles) -> str:
    roles = "[user, tool, assistant]" if settings.get("compression.train_on") == "all" else "[assistant]"
    return f"""\
# axolotl train, in this folder; add base_model{_and_template(settings, "chat_template_jinja")} and training options
sequence_len: {settings["compression.target_max_tokens"]}
datasets:
  - path: data
    data_files: {_files(settings)}
    ds_type: {_kind(settings)}
    split: train
    type: chat_template
    field_messages: messages
    roles_to_train: {roles}
    message_field_training: train
"""


_ALL_TOKENS = """\
# With false every token is trained, summaries too (summary_in_loss in the metrics). With true rows are longer, by a
# template of TRL's: compress with --assistant-only, which counts by that one.
"""


def _trl(settings: Mapping[str, Any], _: DataFiles) -> str:
    template, assistant_only = (
        _and_template(settings, "chat_template_path"),
        settings.get("compression.assistant_only"),
    )
    loss = "" if assistant_only else _ALL_TOKENS
    return f"""\
# trl sft --config trl.yaml, in this folder; add model_name_or_path, output_dir{template} and training options
datasets:
  - path: {_kind(settings)}
    data_files: {_files(settings)}
    split: train
max_length: {settings["compression.target_max_tokens"]}
{loss}assistant_only_loss: {str(bool(assistant_only)).lower()}
"""


def _verl(settings: Mapping[str, Any], data: DataFiles) -> str:
    files = json.dumps([f"data/{file}" for file in data], ensure_ascii=False)
    return f"""\
# Settings of verl's SFT trainer, in this folder. It renders message by message; a template that treats the last
# message in another way than those before it, as Qwen3's does, differs from the whole, which is no error.
data:
  train_files: {files}
  messages_key: messages
  max_length: {settings["compression.target_max_tokens"]}
  truncation: error
  pad_mode: no_padding
  ignore_input_ids_mismatch: true
"""


def _and_template(settings: Mapping[str, Any], key: str) -> str:
    """Return what else is to be added where rows were counted with another chat template than the model's own."""
    file = settings.get("tokenizer.chat_template")
    return f", {key} ({Path(file).name}, by which rows are counted)" if file else ""


def _files(settings: Mapping[str, Any]) -> str:
    """Name all data files: of a folder alone `datasets` takes those named as `val` or `test` for other splits."""
    return f"data/*.{settings['output.format']}"


def _kind(settings: Mapping[str, Any]) -> str:
    return "parquet" if settings["output.format"] == "parquet" else "json"


_BY_TARGET: Mapping[Target, Mapping[str, _Make]] = {
    "trl": {"trl.yaml": _trl},
    "axolotl": {"axolotl.yaml": _axolotl},
    "llama-factory": {"dataset_info.json": _dataset_info, "llama_factory.yaml": _llama_factory},
    "verl": {"verl.yaml": _verl},
}

STARTER_NAMES = tuple(name for files in _BY_TARGET.values() for name in files)
