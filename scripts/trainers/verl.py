"""Rows as verl's MultiTurnSFTDataset gives them: ``python -m trainers.verl FILE... --tokenizer DIR --output FILE``.

A row that raises for its input ids is taken again with ``ignore_input_ids_mismatch``, and says ``mismatch``.
``--setup``: YAML or JSON of its config (``messages_key``, ``tools_key``, …), at the top or under ``data``.
``--option dataset=rlhf``: its RLHFDataset in their place, which hands on messages as prompts (``prompt_key``,
``messages`` unless given); a rollout renders them, with the tools of the row's column as those of its configuration,
and nothing is trained: all of a prompt counts as what the model is shown.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("VERL_LOGGING_LEVEL", "ERROR")

from omegaconf import OmegaConf
from transformers import AutoTokenizer
from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
from verl.utils.dataset.rl_dataset import RLHFDataset

from trainers.lines import NOT_TRAINED, arguments, options, result_of, told, write_lines


def main() -> None:
    """Make the dataset of a file, and take its items one by one."""
    asked = arguments(__doc__).parse_args()
    tokenizer = AutoTokenizer.from_pretrained(str(asked.tokenizer))
    if asked.chat_template:
        tokenizer.chat_template = asked.chat_template.read_text(encoding="utf-8")
    config = {"pad_mode": "no_padding", "max_length": 10_000_000, "truncation": "error"} | options(asked)
    if asked.setup:
        given = OmegaConf.load(asked.setup)
        config |= dict(given.get("data", given))

    def load(file: Path) -> Sequence[dict[str, Any] | None]:
        if config.get("dataset") == "rlhf":
            return _prompts(file, tokenizer, config)
        found = []
        dataset = MultiTurnSFTDataset([str(file)], tokenizer, OmegaConf.create(config))
        for number in range(len(dataset)):
            dataset.ignore_input_ids_mismatch = config.get("ignore_input_ids_mismatch", False)
            found.append(_item(dataset, tokenizer, number))
        return found

    write_lines(asked, load)


def _prompts(file: Path, tokenizer: Any, config: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Rows as RLHFDataset hands them to a rollout, and what the chat template makes of them."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = {"prompt_key": "messages", "filter_overlong_prompts": False, "cache_dir": folder} | config
        dataset = RLHFDataset([str(file)], tokenizer, OmegaConf.create(wanted))
        found = []
        for number in range(len(dataset)):
            item = dataset[number]
            tools = item.get("tools")
            tools = json.loads(tools) if isinstance(tools, str) else tools
            text = tokenizer.apply_chat_template(item["raw_prompt"], tools=tools or None, tokenize=False)
            found.append(result_of(tokenizer, tokenizer(text, add_special_tokens=False)["input_ids"]))
        return found


def _item(dataset: Any, tokenizer: Any, number: int) -> dict[str, Any]:
    try:
        item = dataset[number]
    except AssertionError as raised:
        if dataset.ignore_input_ids_mismatch or "ignore_input_ids_mismatch" not in str(raised):
            return {"error": told(raised)}
        dataset.ignore_input_ids_mismatch = True
        return _item(dataset, tokenizer, number) | {"mismatch": True}
    except Exception as raised:  # noqa: BLE001  whatever a trainer raises is its answer
        return {"error": told(raised)}
    ids, mask = item["input_ids"].tolist(), item["loss_mask"].tolist()
    return result_of(tokenizer, ids, [token if kept else NOT_TRAINED for token, kept in zip(ids, mask, strict=True)])


if __name__ == "__main__":
    main()
