"""``docs/sft.md`` and ``docs/rl.md``: their blocks run, and what comes out is what the trainers named there read."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from documented import ROOT, ROWS, blocks, make_workspace, run_blocks
from shared import tokenizer_folder
from verdicts import converters

SFT, RL = ROOT / "docs" / "sft.md", ROOT / "docs" / "rl.md"


@pytest.fixture
def run_page(tmp_path, monkeypatch):
    def run(page):
        monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / ".datasets")
        workspace = tmp_path / "workspace"
        workspace.mkdir()
        run_blocks(blocks(page, "sh", "python"), make_workspace(workspace, page))
        return workspace

    return run


def converted(described, row):
    """What LLaMA-Factory's own converter makes of a row, by an entry of ``dataset_info.json``."""
    columns = dict.fromkeys(("messages", "system", "tools", "images", "videos", "audios", "kto_tag"))
    attributes = SimpleNamespace(
        **{**columns, **described["columns"]}, **described["tags"], ranking=False, load_from="file"
    )
    return converters().DATASET_CONVERTERS[described["formatting"]](attributes, SimpleNamespace())(row)


@pytest.mark.wants("llamafactory")
def test_the_page_on_fine_tuning(run_page):
    workspace = run_page(SFT)
    described = json.loads((workspace / "llama" / "dataset_info.json").read_text())
    assert len(described) > 3
    for entry in described.values():
        rows = [json.loads(line) for line in (workspace / "llama" / entry["file_name"]).read_bytes().splitlines()]
        assert rows
        for row in rows:
            made = converted(entry, row)
            assert made["_prompt"]
            assert made["_response"][0]["role"] in {"assistant", "function"}


def test_the_settings_on_the_page_are_those_that_a_run_leaves(run_page):
    workspace = run_page(SFT)
    pages = [yaml.safe_load(block.text) for block in blocks(SFT, "yaml")]
    for page, name in zip(pages, ("for-axolotl/axolotl.yaml", "llama/llama_factory.yaml"), strict=True):
        assert page.items() <= yaml.safe_load((workspace / name).read_text()).items()


def test_the_page_on_rl(run_page):
    workspace = run_page(RL)
    from datasets import load_dataset
    from transformers import AutoTokenizer

    prompts = load_dataset("parquet", data_files=str(workspace / "train.parquet"), split="train")
    assert len(prompts) == ROWS
    assert all(row["prompt"][-1]["role"] != "assistant" for row in prompts)
    assert any(" characters]" in str(row["prompt"]) for row in prompts)  # old results are cleared
    assert not any("tool_calls" in message for message in prompts[0]["prompt"] if message["role"] == "user")
    frame = pd.read_parquet(workspace / "train.parquet")
    assert json.loads(frame["prompt"][0][0]) == prompts[0]["prompt"][0]

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder("chatml"))
    (path,) = (workspace / "sft" / "data").glob("*.parquet")
    structs = pd.read_parquet(path, dtype_backend="pyarrow")["messages"].tolist()
    assert len(structs) == ROWS
    for messages in structs:
        assert "read_file" in messages[0]["content"], "the tools stand in the system prompt"
        rendered = tokenizer.apply_chat_template(messages, tokenize=False)
        assert all(message["content"].strip() in rendered for message in messages)
