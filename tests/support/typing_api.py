"""The façade as its users call it, checked by ``mypy --strict``: what must type-check, and what must not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

from trajcompress import (
    CompactedMessages,
    Compactor,
    CompressedBatch,
    CompressedDataset,
    CompressedMessages,
    CompressedRow,
    Compressor,
    RowMetrics,
    RunningSummary,
    RunResult,
    SummaryInput,
    compress_dataset,
    count_tokens,
)

row: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}

assert_type(count_tokens(row, tokenizer="Qwen/Qwen3-8B", count="content"), int)

with Compressor(target_max_tokens=8000, model="gpt-5-mini", rpm=500) as compressor:
    compressed = compressor.compress(row)
    assert_type(compressed, CompressedRow)
    assert_type(compressed.row, dict[str, Any])
    assert_type(compressed.metrics, RowMetrics)
    assert_type(compressed.metrics.compression_ratio, float | None)
    assert_type(compressor.count_tokens(row), int)

    messages: list[dict[str, str]] = [{"role": "user", "content": "hi"}]
    assert_type(compressor.compress(messages), CompressedMessages)
    assert_type(list(compressor.compress_many([row])), list[CompressedRow])
    assert_type(list(compressor.compress_many(messages for _ in range(2))), list[CompressedMessages])
    assert_type(compressor.compress_batch({"messages": [messages]}), CompressedBatch)


async def beside_a_loop() -> None:
    async with Compressor() as compressor:
        assert_type(await compressor.acompress(row), CompressedRow)
        async for each in compressor.acompress_many([row], concurrency=2):
            assert_type(each, CompressedRow)


def heard(event: str, **figures: str | float | None) -> None:
    assert event, figures


async def while_it_runs() -> None:
    async with Compactor(context_window=8000, model="gpt-5-mini", on_event=heard) as compactor:
        done = await compactor.compact(messages, tools=[{"type": "function"}], previous=None)
        assert_type(done, CompactedMessages)
        assert_type(done.messages, list[dict[str, Any]])
        assert_type(done.summary, RunningSummary | None)
        assert_type(compactor.compact_sync(done.messages, previous=done.summary).reason, str | None)
        assert_type(compactor.pressure(messages), float)


def brief(given: SummaryInput) -> str:
    return given.turns[: given.target_tokens]


async def slow(given: SummaryInput) -> str:
    return brief(given)


class Local:
    name = "local"
    version = "1"

    async def summarize(self, given: SummaryInput) -> str:
        return brief(given)


def wrong(given: int) -> str:
    return str(given)


for own in (brief, slow):
    Compressor(summarizer=own)
Compressor(summarizer=Local())
Compressor(summarizer=Local)
Compressor(summarizer="my_module:brief")
Compressor(summarizer=wrong)  # type: ignore[arg-type]  # it takes no SummaryInput

in_memory = compress_dataset([row], target_max_tokens=8000)
assert_type(in_memory, CompressedDataset[list[dict[str, Any]]])
assert_type(in_memory.rows, list[dict[str, Any]])
assert_type(compress_dataset([row], "out", limit=2), RunResult)

result = compress_dataset([Path("data"), "more.jsonl"], "out", output_format="jsonl", limit=10, max_failed="5%")
assert_type(result, RunResult)
assert_type(result.totals.rows, int)
assert_type(result.stopped, str | None)

Compressor(limit=3)  # type: ignore[call-arg]  # that is one of compress_dataset
Compressor(target_max_token=8000)  # type: ignore[call-arg]  # an option that there is not
Compressor(target_max_tokens="8000")  # type: ignore[arg-type]  # text is no number
Compressor(placement="middle")  # type: ignore[arg-type]  # none of the choices
Compactor(last_n_turns=3)  # type: ignore[call-arg]  # that is one of Compressor
compress_dataset("data")  # type: ignore[type-var]  # files go into a folder
count_tokens(row, model="gpt-5-mini")  # type: ignore[call-arg]  # counting calls no model
compressed.metrics = RowMetrics("", 0)  # type: ignore[misc]  # results are frozen
