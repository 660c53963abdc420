"""The dataset card that a run leaves beside its data, as the hub expects it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trajcompress.run.totals import Totals

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def dataset_card(record: dict[str, Any], totals: Totals) -> str:
    """Return the card as Markdown with YAML front matter."""
    settings = record["settings"]
    figures = totals.as_dict()
    size = next((name for most, name in _SIZES if totals.rows < most), "1M<n<10M")
    rows = [
        ("rows read", totals.rows),
        ("compressed", figures["compressed"]),
        ("under the target already", figures["skipped_under_target"]),
        ("over the target, unchanged", figures["unchanged"]),
        ("failed, original kept", figures["failed"]),
        ("rejected, not in the dataset", figures["rejected"]),
        ("still over the target", figures["still_over_limit"]),
        ("tokens before", totals.original_tokens),
        ("tokens after", totals.compressed_tokens),
    ]
    table = "\n".join(f"| {name} | {value:,} |" for name, value in rows)
    data_format = settings["output.format"]
    size_of_summary = settings["compression.summary_target_tokens"]
    tokenizer = record["tokenizer"]["name"]
    tokenizer = Path(tokenizer).name if Path(tokenizer).is_dir() else tokenizer  # a card is published, paths are not
    room = "a fifth as many" if size_of_summary == "auto" else f"about {size_of_summary:,}"
    loader = "parquet" if data_format == "parquet" else "json"
    return f"""---
configs:
- config_name: default
  data_files:
  - split: train
    path: data/*.{data_format}
size_categories:
- {size}
tags:
- agent
- trajectories
- trajcompress
---

# Compressed agent trajectories

Made by trajcompress {record["versions"]["trajcompress-cli"]}: trajectories of more than
{settings["compression.target_max_tokens"]:,} tokens had just enough of their middle replaced by one summary of
{room} tokens. Tokens are counted with {tokenizer}. A
summary begins with `[CONTEXT SUMMARY]:`. `metrics.parquet` says for each input row what became of it.

| | |
|---|---|
{table}

```python
from datasets import load_dataset

dataset = load_dataset("{loader}", data_files="data/*.{data_format}", split="train")
```
"""
