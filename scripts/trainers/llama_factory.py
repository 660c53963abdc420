"""Rows as LLaMA-Factory encodes them: ``python -m trainers.llama_factory FILE... --tokenizer DIR --output FILE``.

``--setup``: a ``dataset_info.json`` whose ``file_name`` names the file or its folder; without, one is derived from
the columns. ``--option template=NAME`` (``qwen3``) and any other argument of LLaMA-Factory, as in its YAML.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ |= {"DISABLE_VERSION_CHECK": "1", "USE_MODELSCOPE_HUB": "0"}
sound = sys.modules["torchaudio"] = ModuleType("torchaudio")  # asked for at import, used for sound alone
sound.__spec__ = ModuleSpec("torchaudio", None)

from datasets import disable_progress_bars
from llamafactory.data.loader import _get_dataset_processor, _get_merged_dataset
from llamafactory.data.template import get_template_and_fix_tokenizer
from llamafactory.hparams import get_train_args
from llamafactory.model import load_tokenizer

from trainers.lines import arguments, forget_fingerprints, options, read_file, result_of, told, write_lines

NAME = "rows"
SHAREGPT = {"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt"}
OPENAI = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}
OPENAI["observation_tag"] = "tool"
BOTH = {"observation_tag": "observation", "function_tag": "function_call", "system_tag": "system"}


def main() -> None:
    """Load files by a dataset_info.json, and encode row by row."""
    asked = arguments(__doc__).parse_args()
    forget_fingerprints()
    disable_progress_bars()
    logging.disable(logging.WARNING)
    given: dict[str, Any] = {"template": "qwen3", "cutoff_len": 10_000_000} | options(asked)

    with tempfile.TemporaryDirectory() as folder:
        model_args, data_args, training_args, _, _ = get_train_args(
            given
            | {"model_name_or_path": str(asked.tokenizer), "stage": "sft", "do_train": True, "dataset": NAME}
            | {"dataset_dir": folder, "output_dir": f"{folder}/out", "report_to": "none", "overwrite_cache": True}
            | {"bf16": False, "use_cpu": True}
        )
        tokenizer = load_tokenizer(model_args)["tokenizer"]
        template = get_template_and_fix_tokenizer(tokenizer, data_args)
        processor = _get_dataset_processor(data_args, "sft", template, tokenizer, None)

        def load(file: Path) -> Sequence[dict[str, Any] | None]:
            entry = described(file, asked.setup) | {"file_name": str(file.resolve())}
            (Path(folder) / "dataset_info.json").write_text(json.dumps({NAME: entry}), encoding="utf-8")
            model_args.cache_dir = tempfile.mkdtemp(dir=folder)
            aligned = _get_merged_dataset([NAME], model_args, data_args, training_args, "sft")
            return [_encoded(processor, tokenizer, row) for row in aligned]

        write_lines(asked, load)


def _encoded(processor: Any, tokenizer: Any, row: dict[str, Any]) -> dict[str, Any] | None:
    try:
        made = processor.preprocess_dataset({name: [value] for name, value in row.items()})
    except Exception as raised:  # noqa: BLE001  whatever a trainer raises is its answer
        return {"error": told(raised)}
    if not made.get("input_ids"):
        return None
    return result_of(tokenizer, made["input_ids"][0], made["labels"][0])


def described(file: Path, setup: Path | None) -> dict[str, Any]:
    """The entry of dataset_info.json for a file: that of the setup, or one by its columns."""
    if setup:
        entries = json.loads(setup.read_text(encoding="utf-8"))
        for given in entries.values():
            if file.resolve().is_relative_to((setup.parent / given["file_name"]).resolve()):
                return dict(given)
        return dict(next(iter(entries.values())))
    columns = _columns(file)
    sharegpt = "conversations" in columns
    entry: dict[str, Any] = {
        "formatting": "sharegpt" if sharegpt else "openai",
        "columns": {"messages": "conversations" if sharegpt else "messages"},
        "tags": BOTH | (SHAREGPT if sharegpt else OPENAI),
    }
    for name in ("tools", "system"):
        if name in columns:
            entry["columns"][name] = name
    return entry


def _columns(file: Path) -> set[str]:
    rows = read_file(file)
    if file.suffix == ".parquet":
        return {name for name in rows.column_names if rows.column(name).null_count < len(rows)}
    return {name for line in rows for name, value in json.loads(line).items() if value is not None}


if __name__ == "__main__":
    main()
