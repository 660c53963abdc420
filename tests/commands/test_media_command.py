"""Rows with a column of images: what is written has an image for each mark, whatever was cleared or summarised."""

from __future__ import annotations

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from attacked import message
from commands import read_metrics, read_rows, run_here
from datasets import Image, load_dataset
from loopback import LoopbackServer

from trajcompress.run.folder.starters import TEMPLATE, starter_files

STEPS = 9


def _screens(*, parts: bool):
    """Make the messages of an agent that is shown its screen after each click, and their images."""
    messages = [{"role": "user", "content": "Book a flight from Oslo to Rome."}]
    for step in range(STEPS):
        call = {"id": f"c{step}", "type": "function", "function": {"name": "click", "arguments": f'{{"x": {step}}}'}}
        shown = f"page {step} with the flights of day {step}. " * 12
        content = [{"type": "image"}, {"type": "text", "text": shown}] if parts else f"<image>\n{shown}"
        messages += [
            {"role": "assistant", "content": f"I click on {step}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{step}", "content": content},
        ]
    messages.append({"role": "assistant", "content": "The flight is booked."})
    return {"id": "a", "messages": messages, "images": [f"{step}.png" for step in range(STEPS)]}


def _steps_shown(row):
    """Return the step of each page that stands with its mark in a row."""
    messages = row.get("messages") or row["conversations"]
    texts = json.dumps([message.get("content", message.get("value")) for message in messages])
    pieces = re.sub(r'\{"type": "image".*?\}', "<image>", texts).split("<image>")[1:]
    return [int(piece.partition("page ")[2].partition(" ")[0]) for piece in pieces]


def _images(row):
    """Return the images of a row, whether of the column or of the parts."""
    return row.get("images") or re.findall(r'"image": "(.*?)"', json.dumps(row["messages"]))


@pytest.mark.parametrize(
    ("parts", "options"),
    [
        (False, ()),
        (False, ("--for", "axolotl")),
        (False, ("--for", "llama-factory")),
        (False, ("--for", "trl")),
        (True, ("--for", "axolotl")),
        (True, ("--for", "llama-factory")),
        (True, ("--for", "trl")),
        (True, ("--for", "trl", "--mode", "segments")),
        (True, ("--prune", "off", "--fit", "lenient")),
        (False, ("--mode", "segments")),
        (True, ()),
        (True, ("--mode", "segments")),
    ],
)
def test_each_mark_that_is_left_has_its_image(desk, parts, options):
    desk.write("a.jsonl", [_screens(parts=parts)])
    assert desk.compress("a.jsonl", "-o", "out", "--target-max-tokens", "7000", *options).code == 0
    (metrics,) = read_metrics(desk.path("out"))
    assert metrics["original_tokens"] > STEPS * 1024
    assert (metrics["outcome"], metrics["still_over_limit"]) == ("compressed", False)
    for row in read_rows(desk.path("out")):
        assert 0 < len(_images(row)) < STEPS
        assert [f"{step}.png" for step in _steps_shown(row)] == _images(row)


def test_llama_factory_finds_the_images(desk):
    desk.write("a.jsonl", [_screens(parts=False)])
    assert desk.compress("a.jsonl", "-o", "out", "--target-max-tokens", "7000", "--for", "llama-factory").code == 0
    info = json.loads((desk.path("out") / "dataset_info.json").read_text())
    assert [entry["columns"]["images"] for entry in info.values()] == ["images"]
    assert "add model, template and" in (desk.path("out") / "llama_factory.yaml").read_text()
    assert run_here("check", "out", cwd=desk.folder).code == 0


@pytest.mark.parametrize(("counted", "said"), [("qwen3_nothink", "qwen3_vl_nothink"), ("llama3", None)])
def test_llama_factory_is_told_a_template_that_takes_images(counted, said):
    settings = {"compression.form": "target", "compression.target": "llama-factory"}
    settings |= {"compression.target_max_tokens": 7000, TEMPLATE: counted}
    for columns, name in ((("conversations", "images"), said), (("conversations",), counted)):
        made = yaml.safe_load(starter_files(settings, {"a-00000.jsonl": columns})["llama_factory.yaml"])
        assert made.get("template") == name


def test_check_finds_marks_without_an_image(desk):
    row = _screens(parts=False)
    desk.write("a.jsonl", [row, row | {"images": row["images"][:-1]}, row | {"images": []}])
    ran = run_here("check", "a.jsonl", "--for", "llama-factory", "--json", cwd=desk.folder)
    found = ran.json["violations"]["media_mismatch"]["examples"]
    assert [(each["row"], each["detail"]) for each in found] == [
        (1, "8 in 'images', 9 marks in the messages"),
        (2, "0 in 'images', 9 marks in the messages"),
    ]


@pytest.mark.parametrize("target", ["llama-factory", "verl", "trl"])
def test_images_in_parquet_keep_their_type(desk, target):
    row = _screens(parts=False)
    images = [{"bytes": b"\x89PNG", "path": None}] * STEPS
    kind = pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
    names = {"tool": "user"}  # TRL fills no part of a result
    messages = [
        [{"role": names.get(each["role"], each["role"]), "content": each["content"]} for each in row["messages"]]
    ]
    pq.write_table(pa.table({"messages": messages, "images": pa.array([images], kind)}), desk.path("a.parquet"))
    given = ("--for", target, "--output-format", "parquet", "--target-max-tokens", "7000", "--save-unfit")
    assert desk.compress("a.parquet", "-o", "out", *given).code == 0
    (file,) = (desk.path("out") / "data").iterdir()
    written = pq.read_table(file)
    assert written.schema.field("images").type == kind
    assert 0 < len(written["images"][0]) < STEPS
    assert isinstance(load_dataset("parquet", data_files=str(file), split="train").features["images"].feature, Image)


@pytest.mark.parametrize("parts", [False, True])
def test_a_mark_that_a_model_writes_stands_for_no_image(desk, parts):
    desk.write("a.jsonl", [_screens(parts=parts)])
    said = "The flights of days 1 to 5 were shown, each as an <image> beside the words of its page, and no other."
    with LoopbackServer(lambda _: message(said)) as server:
        options = ("--target-max-tokens", "7000", "--prune", "off", "--fit", "lenient", "--no-facts")
        model = ("--model", "writer", "--base-url", server.base_url)
        ran = desk.compress("a.jsonl", "-o", "out", *options, *model, env={"OPENAI_API_KEY": "k"})
    (row,) = read_rows(desk.path("out"))
    if parts:  # it read none, so what it wrote is no quote
        assert (ran.code, row["images"], read_metrics(desk.path("out"))[0]["reason"]) == (
            1,
            [f"{step}.png" for step in range(STEPS)],
            "marked_answer",
        )
        return
    assert ran.code == 0
    assert "each as an < image> beside" in json.dumps(row["messages"])
    assert [f"{step}.png" for step in _steps_shown(row)] == row["images"]
