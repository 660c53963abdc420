"""Rows with images as verl's MultiTurnSFTDataset gives them: ``python -m images.verl PATH... --processor DIR``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

os.environ.setdefault("VERL_LOGGING_LEVEL", "ERROR")

from omegaconf import OmegaConf
from transformers import AutoProcessor
from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset

from images.lines import WINDOW, arguments, parts_of, seen, write_lines

SETTINGS = {"pad_mode": "no_padding", "max_length": WINDOW, "truncation": "error", "ignore_input_ids_mismatch": True}
"""For rows as made; a run says its own."""


def main() -> None:
    """Make the dataset of a path, and take its items one by one."""
    asked = arguments(__doc__)
    processor = AutoProcessor.from_pretrained(str(asked.processor))

    def load(path: Path) -> Iterable[dict[str, Any]]:
        given = dict(OmegaConf.load(path / "verl.yaml").data) if path.is_dir() else SETTINGS
        dataset = MultiTurnSFTDataset(
            parts_of(path), processor.tokenizer, OmegaConf.create(given), processor=processor
        )
        for number in range(len(dataset)):
            item = dataset[number]
            yield seen(processor, item["input_ids"], item.get("multi_modal_inputs") or {})

    write_lines(asked, load)


if __name__ == "__main__":
    main()
