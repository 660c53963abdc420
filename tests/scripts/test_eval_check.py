"""The measure of ``check`` against trainers: what it calls lost of made rows, and the files that it hands to both."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
SAID = [
    {"type": "thinking", "thinking": "Where may he live?", "signature": "c2ln"},
    {"type": "text", "text": "I look."},
    {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": {"path": "/notes"}},
]
ROW = {
    "messages": [{"role": "user", "content": "Where do I live?"}, {"role": "assistant", "content": SAID}],
    "tools": None,
}


@pytest.fixture(scope="module")
def measure():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        yield importlib.import_module("eval_check")


def wrong(measure, rendered, **line):
    return measure._wrong(ROW, {"loaded": True, "rendered": rendered, "trained": rendered} | line)


def test_a_vendors_call_has_to_show_and_its_thoughts_need_not(measure):
    assert wrong(measure, 'Where do I live? I look. memory {"path": "/notes"}') is None
    assert wrong(measure, "Where do I live? I look.") == "turn 1 lacks of a block 'memory'"
    assert wrong(measure, "Where do I live? I look. memory {}") == "turn 1 lacks of a block '/notes'"
    # What stands before it is of another turn.
    assert wrong(measure, "memory /notes Where do I live? I look.") == "turn 1 lacks of a block 'memory'"


def test_a_row_that_a_trainer_takes_only_with_a_setting_is_wrong(measure):
    assert "ignore_input_ids_mismatch" in wrong(measure, 'Where do I live? I look. memory "/notes"', mismatch=True)


def test_verl_gets_parquet_where_the_rows_are_a_table_and_axolotl_its_settings(measure, tmp_path):
    table, mixed = tmp_path / "table.jsonl", tmp_path / "mixed.jsonl"
    plain = {"messages": [{"role": "user", "content": "Why?"}], "meta": {"a": 1}}
    table.write_text(json.dumps(plain) + "\n" + json.dumps(plain | {"meta": "none"}) + "\n", encoding="utf-8")
    mixed.write_text(json.dumps(plain) + "\n" + json.dumps(ROW) + "\n", encoding="utf-8")
    run = measure._as_read([table, mixed], tmp_path / "verl", "verl")
    assert sorted(path.name for path in (run / "data").iterdir()) == ["mixed-00000.jsonl", "table-00000.parquet"]
    assert pq.read_table(run / "data" / "table-00000.parquet").column_names == ["messages"]
    assert not (run / "axolotl.yaml").exists()
    run = measure._as_read([table], tmp_path / "axolotl", "axolotl")
    assert (run / "data" / "table-00000.jsonl").read_bytes() == table.read_bytes()
    assert "chat_template" in (run / "axolotl.yaml").read_text(encoding="utf-8")
