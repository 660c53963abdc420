"""Rows with images as TRL's SFTTrainer hands them to a model: ``python -m images.trl PATH... --processor DIR``."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from images.decoding import ensure_decoder

ensure_decoder()
import yaml
from datasets import disable_progress_bars, load_dataset
from trainers.lines import forget_fingerprints
from transformers import AutoModelForImageTextToText, AutoProcessor
from trl import SFTConfig, SFTTrainer

from images.lines import arguments, kind_of, parts_of, seen, write_lines


def main() -> None:
    """Load paths as a script without code of its own would: load_dataset, SFTTrainer, and its batches of one row."""
    asked = arguments(__doc__)
    forget_fingerprints()
    disable_progress_bars()
    logging.disable(logging.WARNING)
    processor = AutoProcessor.from_pretrained(str(asked.processor))
    model = AutoModelForImageTextToText.from_pretrained(str(asked.processor))
    with tempfile.TemporaryDirectory() as folder:
        settings = {"output_dir": folder, "use_cpu": True, "bf16": False, "report_to": "none"}
        settings |= {"per_device_train_batch_size": 1, "train_sampling_strategy": "sequential"}

        def load(path: Path) -> Iterable[dict[str, Any]]:
            given: dict[str, Any] = {"max_length": None}
            if path.is_dir():
                written = yaml.safe_load((path / "trl.yaml").read_text(encoding="utf-8"))
                given = {name: value for name, value in written.items() if name != "datasets"}
            parts, cache = parts_of(path), tempfile.mkdtemp(dir=folder)
            dataset = load_dataset(kind_of(parts[0]), data_files=parts, split="train", cache_dir=cache)
            trainer = SFTTrainer(
                model=model, args=SFTConfig(**settings | given), train_dataset=dataset, processing_class=processor
            )
            for batch in trainer.get_train_dataloader():
                yield seen(processor, batch["input_ids"][0], batch)

        write_lines(asked, load)


if __name__ == "__main__":
    main()
