"""Rows with images as LLaMA-Factory encodes them: ``python -m images.llama_factory PATH... --processor DIR``."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trainers.llama_factory import described  # it sets what LLaMA-Factory reads when it is imported

# isort: split
import yaml
from datasets import disable_progress_bars
from llamafactory.data.loader import _get_dataset_processor, _get_merged_dataset
from llamafactory.data.template import get_template_and_fix_tokenizer
from llamafactory.hparams import get_train_args
from llamafactory.model import load_tokenizer
from trainers.lines import forget_fingerprints, told

from images.lines import WINDOW, arguments, seen, write_lines

TEMPLATE = "qwen3_vl_nothink"
"""For rows as made; a run says which."""


def main() -> None:
    """Load paths by their dataset_info.json, encode row by row, and take the images as its collator does."""
    asked = arguments(__doc__)
    forget_fingerprints()
    disable_progress_bars()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:

        def load(path: Path) -> Iterable[dict[str, Any]]:
            given = _of_run(path) if path.is_dir() else _of_file(path, tempfile.mkdtemp(dir=folder))
            model_args, data_args, training_args, _, _ = get_train_args(
                given
                | {"model_name_or_path": str(asked.processor), "stage": "sft", "do_train": True}
                | {"output_dir": f"{folder}/out", "report_to": "none", "overwrite_cache": True}
                | {"bf16": False, "use_cpu": True, "preprocessing_num_workers": 1}
            )
            loaded = load_tokenizer(model_args)
            tokenizer, processor = loaded["tokenizer"], loaded["processor"]
            template = get_template_and_fix_tokenizer(tokenizer, data_args)
            encoder = _get_dataset_processor(data_args, "sft", template, tokenizer, processor)
            model_args.cache_dir = tempfile.mkdtemp(dir=folder)
            aligned = _get_merged_dataset(data_args.dataset, model_args, data_args, training_args, "sft")
            return [_seen(encoder, template.mm_plugin, processor, row) for row in aligned]

        write_lines(asked, load)


def _of_run(path: Path) -> dict[str, Any]:
    given: dict[str, Any] = yaml.safe_load((path / "llama_factory.yaml").read_text(encoding="utf-8"))
    return given | {"dataset_dir": str(path)}


def _of_file(path: Path, folder: str) -> dict[str, Any]:
    entry = described(path, None) | {"file_name": str(path.resolve())}
    entry["columns"]["images"] = "images"
    (Path(folder) / "dataset_info.json").write_text(json.dumps({"rows": entry}), encoding="utf-8")
    return {"template": TEMPLATE, "cutoff_len": WINDOW, "dataset": "rows", "dataset_dir": folder}


def _seen(encoder: Any, plugin: Any, processor: Any, row: dict[str, Any]) -> dict[str, Any]:
    try:
        made = encoder.preprocess_dataset({name: [value] for name, value in row.items()})
        if not made.get("input_ids"):
            return {"error": "dropped"}
        ids, images = made["input_ids"][0], made["images"][0] or []
        given = plugin.get_mm_inputs(images, [], [], [len(images)], [0], [0], [ids], processor) if images else {}
    except Exception as raised:  # noqa: BLE001  whatever a trainer raises is its answer
        return {"error": told(raised)}
    return seen(processor, ids, given)


if __name__ == "__main__":
    main()
