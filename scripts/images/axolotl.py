"""Rows with images as axolotl's collator gives them: ``python -m images.axolotl PATH... --processor DIR``."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from images.decoding import ensure_decoder

ensure_decoder()
from trainers.axolotl import derived  # it sets what axolotl reads when it is imported

# isort: split
import yaml
from axolotl.processing_strategies import get_processing_strategy
from axolotl.utils.collators.mm_chat import MultiModalChatDataCollator
from axolotl.utils.data.sft import _load_and_process_single_dataset
from axolotl.utils.dict import DictDefault
from datasets import disable_progress_bars
from trainers.lines import forget_fingerprints
from transformers import AutoProcessor

from images.lines import WINDOW, arguments, kind_of, parts_of, seen, write_lines

SETTINGS: dict[str, Any] = {"chat_template": "tokenizer_default", "seed": 42, "dataset_num_proc": 1}
SETTINGS |= {"skip_prepare_dataset": True, "remove_unused_columns": False, "processor_type": "AutoProcessor"}
SETTINGS |= {"is_multimodal": True, "sequence_len": WINDOW}
"""What a user says of rows with images; what a run says goes before."""


def main() -> None:
    """Load paths as a training with images does, and collate row by row."""
    asked = arguments(__doc__)
    forget_fingerprints()
    disable_progress_bars()
    logging.disable(logging.WARNING)
    processor = AutoProcessor.from_pretrained(str(asked.processor))
    with tempfile.TemporaryDirectory() as folder:

        def load(path: Path) -> Iterable[dict[str, Any]]:
            given: dict[str, Any] = {"datasets": [derived(path)]} if path.is_file() else _of_run(path)
            for part in parts_of(path):
                dataset_as = given["datasets"][0] | {"path": part, "ds_type": kind_of(part), "split": "train"}
                settings = DictDefault(SETTINGS | given | {"datasets": [dataset_as]})
                os.environ["HF_DATASETS_CACHE"] = tempfile.mkdtemp(dir=folder)
                dataset, _ = _load_and_process_single_dataset(
                    DictDefault(dataset_as), settings, processor.tokenizer, "train", 42, processor=processor
                )
                collator = _collator(processor, dataset_as.get("field_messages"))
                for row in dataset:
                    batch = collator([row])
                    yield seen(processor, batch["input_ids"][0], batch)

        write_lines(asked, load)


def _of_run(path: Path) -> dict[str, Any]:
    given: dict[str, Any] = yaml.safe_load((path / "axolotl.yaml").read_text(encoding="utf-8"))
    return given


def _collator(processor: Any, column: str | None) -> Any:
    strategy = get_processing_strategy(
        processor,
        processor.chat_template,
        None,
        roles_to_train=["assistant"],
        field_messages=column,
        model_type="qwen3_vl",
    )
    return MultiModalChatDataCollator(tokenizer=processor.tokenizer, processing_strategy=strategy)


if __name__ == "__main__":
    main()
