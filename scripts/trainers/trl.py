"""Rows as TRL's SFTTrainer prepares them: ``python -m trainers.trl FILE... --tokenizer DIR --output FILE``.

``--setup``: JSON with ``columns`` (to select before training) and ``config`` (arguments of SFTConfig), both optional.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datasets import disable_progress_bars, load_dataset
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM
from trl import SFTConfig, SFTTrainer

from trainers.lines import arguments, forget_fingerprints, result_of, write_lines

TINY = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
HEADS = {"num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 8}


def main() -> None:
    """Load files as a script without code of its own would: load_dataset, then SFTTrainer."""
    asked = arguments(__doc__).parse_args()
    forget_fingerprints()
    disable_progress_bars()
    setup = json.loads(asked.setup.read_text(encoding="utf-8")) if asked.setup else {}
    tokenizer = AutoTokenizer.from_pretrained(str(asked.tokenizer))
    if asked.chat_template:
        tokenizer.chat_template = asked.chat_template.read_text(encoding="utf-8")
    model = Qwen3ForCausalLM(Qwen3Config(vocab_size=len(tokenizer), **TINY, **HEADS))
    with tempfile.TemporaryDirectory() as folder:
        settings = {"max_length": None, "shuffle_dataset": False, "use_cpu": True, "report_to": "none", "bf16": False}
        settings |= {"output_dir": folder, "assistant_only_loss": asked.assistant_only} | setup.get("config", {})

        def load(file: Path) -> Sequence[dict[str, Any] | None]:
            kind = "parquet" if file.suffix == ".parquet" else "json"
            cache = tempfile.mkdtemp(dir=folder)
            dataset = load_dataset(kind, data_files=str(file), split="train", cache_dir=cache)
            if "columns" in setup:
                dataset = dataset.select_columns([name for name in setup["columns"] if name in dataset.column_names])
            trainer = SFTTrainer(
                model=model, args=SFTConfig(**settings), train_dataset=dataset, processing_class=tokenizer
            )
            prepared = trainer.train_dataset
            return [
                result_of(tokenizer, ids, labels)
                for ids, labels in zip(prepared["input_ids"], prepared["labels"], strict=True)
            ]

        write_lines(asked, load)


if __name__ == "__main__":
    main()
