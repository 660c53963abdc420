"""The naive tool's way of the same job, as a process of its own: what the ratios of bench_run.py are relative to.

Load everything, count each turn with ``len(tokenizer.encode(turn))``, replace the oldest turns of the middle by one
summary, with a new client for each call, count everything again, and write all rows at the end. No guards at all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]

TARGET, SUMMARY = 15_250, 750
HEAD, TAIL = 4, 4  # turns that stay
AT_ONCE = 50


def main() -> None:
    """Parse the options and do the job."""
    parser = argparse.ArgumentParser(description="Compress trajectories the naive way.")
    parser.add_argument("inputs", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--base-url", help="of an OpenAI-compatible server; without one the summary is a dummy")
    options = parser.parse_args()
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(options.tokenizer)
    rows = [json.loads(line) for path in options.inputs for line in path.read_text(encoding="utf-8").splitlines()]
    results = asyncio.run(_Naive(tokenizer, options.base_url).compress_all(rows))
    with options.output.open("w", encoding="utf-8") as file:
        for row, _ in results:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    metrics = [metrics for _, metrics in results]
    options.output.with_suffix(".metrics.json").write_text(json.dumps(metrics))
    print(json.dumps({"rows": len(metrics), "compressed": sum(one["compressed"] for one in metrics)}))


class _Naive:
    def __init__(self, tokenizer: Any, base_url: str | None) -> None:
        self._tokenizer = tokenizer
        self._base_url = base_url

    async def compress_all(self, rows: list[Row]) -> list[tuple[Row, dict[str, int]]]:
        at_once = asyncio.Semaphore(AT_ONCE)

        async def one(row: Row) -> tuple[Row, dict[str, int]]:
            async with at_once:
                return await self._compress(row)

        return await asyncio.gather(*map(one, rows))

    async def _compress(self, row: Row) -> tuple[Row, dict[str, int]]:
        field = "messages" if "messages" in row else "conversations"
        turns = row[field]
        sizes = self._count(turns)
        excess = sum(sizes) - TARGET
        if excess <= 0:
            return row, {"tokens": sum(sizes), "compressed": 0}
        end, freed = HEAD, 0
        while freed < excess + SUMMARY and end < len(turns) - TAIL:
            freed += sizes[end]
            end += 1
        text = "\n\n".join(f"[{number}] {_text(turn)[:3_000]}" for number, turn in enumerate(turns[HEAD:end]))
        summary = f"[CONTEXT SUMMARY]: {await self._summarize(text)}"
        turn = {"role": "user", "content": summary} if field == "messages" else {"from": "human", "value": summary}
        kept = [*turns[:HEAD], turn, *turns[end:]]
        return row | {field: kept}, {"tokens": sum(self._count(kept)), "compressed": 1}

    def _count(self, turns: list[Row]) -> list[int]:
        return [len(self._tokenizer.encode(_text(turn))) for turn in turns]

    async def _summarize(self, text: str) -> str:
        if self._base_url is None:
            return "what happened before " * (SUMMARY // 4)
        from openai import AsyncOpenAI

        client = AsyncOpenAI(base_url=self._base_url, api_key="sk-none", timeout=3600)  # counting holds up the loop
        answer = await client.chat.completions.create(
            model="loopback",
            messages=[{"role": "user", "content": f"Summarise in {SUMMARY} tokens:\n{text}"}],
            max_tokens=2 * SUMMARY,
        )
        return answer.choices[0].message.content or ""


def _text(turn: Row) -> str:
    calls = [json.dumps(call.get("function", call)) for call in turn.get("tool_calls") or ()]
    return "\n".join([turn.get("value") or turn.get("content") or "", *calls])


if __name__ == "__main__":
    main()
