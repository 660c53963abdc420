"""Rows as axolotl's ``chat_template`` strategy tokenizes them: ``python -m trainers.axolotl FILE...``.

``--setup``: axolotl's YAML; its first dataset says how to read, and each file takes the place of its path.
``--option rows=alone``: rows are handed to the strategy one by one, without loading the file, which is quicker.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ |= {"AXOLOTL_DO_NOT_TRACK": "1"}

import yaml
from axolotl.prompt_strategies.chat_template import StrategyLoader
from axolotl.utils.data.sft import _load_and_process_single_dataset
from axolotl.utils.dict import DictDefault
from datasets import disable_progress_bars
from transformers import AutoTokenizer

from trainers.lines import arguments, forget_fingerprints, options, read_file, result_of, told, write_lines

WINDOW = 10_000_000


def main() -> None:
    """Load files as ``axolotl preprocess`` does, without dropping what is long."""
    asked = arguments(__doc__).parse_args()
    forget_fingerprints()
    disable_progress_bars()
    tokenizer = AutoTokenizer.from_pretrained(str(asked.tokenizer))
    given = yaml.safe_load(asked.setup.read_text(encoding="utf-8")) if asked.setup else {}
    with tempfile.TemporaryDirectory() as folder:

        def load(file: Path) -> Sequence[dict[str, Any] | None]:
            described = dict(given["datasets"][0]) if given.get("datasets") else derived(file)
            described |= {"path": str(file), "ds_type": "parquet" if file.suffix == ".parquet" else "json"}
            described |= {"split": "train"}
            if asked.chat_template:
                described |= {"chat_template": "jinja"}
                described |= {"chat_template_jinja": asked.chat_template.read_text(encoding="utf-8")}
            settings = {
                "chat_template": "tokenizer_default",
                "seed": 42,
                "dataset_num_proc": 1,
                "is_preprocess": True,
            }
            settings |= {"train_on_inputs": False} | given | {"sequence_len": WINDOW, "datasets": [described]}
            if options(asked).get("rows") == "alone":
                strategy = StrategyLoader()(tokenizer, DictDefault(settings), ds_cfg=DictDefault(described))
                return [_alone(strategy, tokenizer, row) for row in _values(file)]
            os.environ["HF_DATASETS_CACHE"] = tempfile.mkdtemp(dir=folder)
            dataset, _ = _load_and_process_single_dataset(
                DictDefault(described), DictDefault(settings), tokenizer, "train", 42
            )
            made = list(dataset)
            if len(made) != len(read_file(file)) and len(read_file(file)) > 1:
                raise RowsDropped(f"{len(read_file(file)) - len(made)} rows dropped")
            return [result_of(tokenizer, row["input_ids"], row["labels"]) for row in made] or [None]

        write_lines(asked, load)


def _values(file: Path) -> list[dict[str, Any]]:
    rows = read_file(file)
    return rows.to_pylist() if file.suffix == ".parquet" else [json.loads(line) for line in rows]


def _alone(strategy: Any, tokenizer: Any, row: dict[str, Any]) -> dict[str, Any] | None:
    try:
        made = strategy.tokenize_prompt(row)
    except Exception as raised:  # noqa: BLE001  whatever a trainer raises is its answer
        return {"error": told(raised)}
    return result_of(tokenizer, made["input_ids"], made["labels"]) if made.get("input_ids") else None


class RowsDropped(Exception):  # noqa: N818  no error of ours
    """Fewer rows came out: pieces show which."""


def derived(file: Path) -> dict[str, Any]:
    """A dataset's settings by the columns of its first rows."""
    rows = read_file(file)
    columns = rows.column_names if file.suffix == ".parquet" else str(rows[0])
    described: dict[str, Any] = {"type": "chat_template", "roles_to_train": ["assistant"]}
    if "messages" in columns:
        return described | {"field_messages": "messages"}
    mappings = {"role": "from", "content": "value"}
    return described | {"field_messages": "conversations", "message_property_mappings": mappings}


if __name__ == "__main__":
    main()
