"""The façade as its users call it, checked by ``mypy --strict``: what must type-check, and what must not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

from trajcompress import CompressedRow, Compressor, RowMetrics, RunResult, compress_dataset, count_tokens

row: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}

assert_type(count_tokens(row, tokenizer="Qwen/Qwen3-8B", count="content"), int)

with Compressor(target_max_tokens=8000, model="gpt-5-mini", rpm=500) as compressor:
    compressed = compressor.compress(row)
    assert_type(compressed, CompressedRow)
    assert_type(compressed.row, dict[str, Any])
    assert_type(compressed.metrics, RowMetrics)
    assert_type(compressed.metrics.compression_ratio, float | None)
    assert_type(compressor.count_tokens(row), int)

result = compress_dataset([Path("data"), "more.jsonl"], "out", output_format="jsonl", limit=10, max_failed="5%")
assert_type(result, RunResult)
assert_type(result.totals.rows, int)
assert_type(result.stopped, str | None)

Compressor(target_max_token=8000)  # type: ignore[call-arg]  # an option that there is not
Compressor(target_max_tokens="8000")  # type: ignore[arg-type]  # text is no number
Compressor(placement="middle")  # type: ignore[arg-type]  # none of the choices
compress_dataset("data")  # type: ignore[call-arg]  # the output has no default here
count_tokens(row, model="gpt-5-mini")  # type: ignore[call-arg]  # counting calls no model
compressed.metrics = RowMetrics("", 0)  # type: ignore[misc]  # results are frozen
