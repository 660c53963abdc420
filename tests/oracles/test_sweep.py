"""What is promised of every row, on real trajectories and in the eyes of other people's code.

Budgets, validity, causes, and that a second run stacks nothing: over targets, tokenizers, trainers, and summarisers.
The slow tests take all real rows where there are some, else all of our own; the quick one takes a few of these.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from loopback import LoopbackServer
from made_tokenizers import MADE_CHAT_TOKENIZERS
from shared import HAS_SHARED, OWN, SHARED_CHAT_TOKENIZERS, rows_of
from sweeping import (
    CAUSES,
    Swept,
    chat_tokenizer,
    content_tokens,
    is_plain,
    oracle_of,
    rendered_tokens,
    summaries_in,
    sweep,
    tokenizer_of,
    trajectory_of,
    twice_as_long,
)

BUDGETS = (2000, 8000, 15250)
EVERYTHING_ALLOWED = {"compression__fit": "strict", "compression__prune": "all"}


def settings_of(server: LoopbackServer | None) -> dict[str, Any]:
    if server is None:
        return {}
    return {"summarization__model": "twice", "summarization__base_url": server.base_url}


def faults_of(swept: Swept, target: str, tokenizer: Path) -> list[str]:
    """Return everything that is not as it should be in a run."""
    counter, refuses = tokenizer_of(tokenizer), oracle_of(target, tokenizer)
    found = []
    for metrics, row, original in swept:
        where = f"{metrics['source_file']}:{metrics['source_row']}"
        rendered = rendered_tokens(counter, row) if counter.chat_template else None
        tokens = content_tokens(counter, row) if rendered is None else rendered
        if metrics["outcome"] not in {"compressed", "skipped_under_target", "unchanged"}:
            found.append(f"{where}: {metrics['outcome']}: {metrics['error']}")
        if not metrics["still_over_limit"] and tokens > swept.target:
            found.append(f"{where}: called under the limit, has {tokens} tokens")
        if metrics["still_over_limit"] and metrics["reason"] not in CAUSES:
            found.append(f"{where}: is over for no known cause: {metrics['reason']}")
        if metrics["still_over_limit"] and None in {metrics["head_tokens"], metrics["tail_tokens"]}:
            found.append(f"{where}: is over, and its parts are not measured")
        if rendered is not None and is_plain(row) and rendered != metrics["compressed_tokens"]:
            found.append(f"{where}: has {tokens} tokens, not {metrics['compressed_tokens']}")
        if summaries_in(row) - summaries_in(original) != (metrics["summarizer"] is not None):
            found.append(f"{where}: has {summaries_in(row)} summaries")
        if metrics["was_compressed"] and refuses(trajectory_of(original)) is None:
            refusal = refuses(trajectory_of(row))
            found += [f"{where}: was valid, and now: {refusal}"] if refusal is not None else []
    return found


def faults_when_done_again(first: Swept, folder: Path, **settings: Any) -> list[str]:
    """Compress a dataset of ours again, to the same target and to half; return what is not as it should be."""
    parts = sorted((first.folder / "data").glob("*.parquet"))
    found = []
    same = sweep(parts, folder / "same", first.target, **settings)
    for (metrics, row, given), before in zip(same, first.metrics, strict=True):
        where = f"{metrics['source_file']}:{metrics['source_row']}"
        if metrics["outcome"] == "compressed" and not before["still_over_limit"]:
            found.append(f"{where}: fitted, and was compressed again")
        if metrics["outcome"] != "compressed" and row != given:
            found.append(f"{where}: was not compressed again, and changed")
        if metrics["compressed_tokens"] > before["compressed_tokens"]:
            found.append(f"{where}: grew to {metrics['compressed_tokens']} tokens")
    half = sweep(parts, folder / "half", first.target // 2, **settings)
    for metrics, row, given in (*same, *half):
        had, has = summaries_in(given), summaries_in(row)
        if has != max(had, metrics["summarizer"] is not None) or has > 1:
            found.append(f"{metrics['source_file']}:{metrics['source_row']}: had {had} summaries, has {has}")
    return found


def check(
    inputs: list[Path], folder: Path, name: str, budget: int, *, target: str = "template", twice: bool, **more: Any
) -> None:
    tokenizer = chat_tokenizer(name)
    with LoopbackServer(twice_as_long) if twice else nullcontext() as server:
        chosen = {"tokenizer__name": str(tokenizer), "compression__target": target, **settings_of(server), **more}
        swept = sweep(inputs, folder / "out", budget, **chosen)
        assert any(metrics["was_compressed"] for metrics in swept.metrics)
        faults = faults_of(swept, target, tokenizer)
        faults += faults_when_done_again(swept, folder, **chosen)
    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults)


@pytest.fixture
def few(tmp_path: Path) -> list[Path]:
    """Write some rows of our own in either format: short ones, long ones."""
    files = []
    for name in ("code-agent-openai.jsonl", "code-agent-sharegpt.jsonl"):
        rows = (OWN / name).read_text().splitlines()
        files.append(tmp_path / name)
        files[-1].write_text("\n".join(rows[i] for i in (1, 2, 3, 9)) + "\n")
    return files


@pytest.mark.parametrize(("twice", "more"), [(True, {}), (False, EVERYTHING_ALLOWED)], ids=["twice", "strict-pruned"])
def test_rows_of_our_own_are_as_promised(few, tmp_path, twice, more):
    check(few, tmp_path, "orderly", 3000, twice=twice, **more)


@pytest.fixture(scope="module")
def everything() -> list[Path]:
    folders = [rows_of("shared")] if HAS_SHARED else [rows_of("made"), OWN]
    files = [path for folder in folders for path in folder.iterdir() if path.suffix in {".jsonl", ".parquet"}]
    return sorted(files, key=lambda path: path.stem)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", SHARED_CHAT_TOKENIZERS or MADE_CHAT_TOKENIZERS)
def test_every_tokenizer_gets_what_is_promised(everything, tmp_path, name, budget):
    check(everything, tmp_path, name, budget, twice=True)


@pytest.mark.slow
@pytest.mark.wants("trl")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ["trl:gemma", "trl:cohere"])
def test_templates_that_want_turns_to_alternate_get_what_is_promised(everything, tmp_path, name):
    check(everything, tmp_path, name, 8000, twice=True)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("twice", [False, True], ids=["extractive", "twice"])
def test_strict_and_pruned_rows_are_as_promised(everything, tmp_path, twice):
    check(everything, tmp_path, "qwen3" if HAS_SHARED else "chatml", 8000, twice=twice, **EVERYTHING_ALLOWED)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("target", ["trl", "axolotl", "llama-factory", "verl", "openai", "mistral"])
def test_every_trainer_gets_what_is_promised(everything, tmp_path, target):
    names = ("mistral-v3", "qwen3") if HAS_SHARED else ("unigram", "chatml")
    name = names[target != "mistral"]
    check(everything, tmp_path, name, 2000, target=target, twice=target != "trl")
