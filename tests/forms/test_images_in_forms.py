"""Images of a column in the forms of trainers, as their own loaders pair them."""

from __future__ import annotations

from typing import Any

import pytest

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.form import Form
from trajcompress.forms.targets import form_for
from trajcompress.transcript.trajectory import Trajectory

PART = {"type": "image"}
SAID = {"role": "assistant", "content": "Done."}
PLACES = ["0.png", "1.png"]
BYTES = {"bytes": b"\xff\xd8\xff\xe0", "path": None}


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def person(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def formed(target: str, messages: list[dict[str, Any]], **others: Any) -> Trajectory:
    form: Form = form_for(target, FormatOptions())
    return form.of(read_trajectory({"messages": messages, **others}, "r", FormatOptions()))


def shown(result: Any) -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    acted = {"role": "assistant", "content": "I look.", "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "c1", "content": result}
    return [person("<image>Look."), acted, answer, SAID]


@pytest.mark.parametrize("column", ["conversations", "messages"])
def test_parts_become_marks_where_these_are_counted(column):
    target = "llama-factory" if column == "conversations" else "verl"
    messages = [person([text("Here:"), PART, text("a"), text("b"), PART, text("c")]), SAID]
    row = formed(target, messages, images=[BYTES, BYTES]).row
    said = row[column][0].get("value") or row[column][0]["content"]
    assert said == "Here:<image>a\nb<image>c"
    assert row["images"] == [BYTES, BYTES]


def test_verl_is_given_objects_and_never_null():
    assert formed("verl", [person("<image>a<image>"), SAID], images=PLACES).row["images"] == [
        {"image": "0.png"},
        {"image": "1.png"},
    ]
    in_place = [{"bytes": None, "path": "0.png"}]
    assert formed("verl", [person("<image>a"), SAID], images=in_place).row["images"] == [{"image": "0.png"}]
    assert formed("verl", [person("a"), SAID], images=None).row["images"] == []


@pytest.mark.parametrize("target", ["llama-factory", "verl", "trl", "axolotl"])
def test_a_row_with_other_images_than_marks_is_unfit(target):
    assert formed(target, [person("<image>a"), SAID], images=PLACES).formed.unfit.startswith("media_mismatch: ")
    assert formed(target, [person([PART, text("a")]), SAID], images=PLACES).formed.unfit


@pytest.mark.parametrize("target", ["llama-factory", "verl"])
def test_images_without_a_mark_are_unfit_where_marks_are_counted(target):
    assert formed(target, [person("a"), SAID], images=PLACES).formed.unfit == (
        "media_mismatch: 2 in 'images', 0 marks in the messages"
    )


def test_trl_fills_parts_and_puts_all_images_before_the_first_text():
    row = formed("trl", [person("<image>a<image>b"), SAID, person("c"), SAID], images=PLACES).row
    assert row["messages"][0]["content"] == [PART, text("a"), PART, text("b")]
    assert [message["content"] for message in row["messages"][1:3]] == [[text("Done.")], [text("c")]]
    assert row["images"] == PLACES
    assert formed("trl", [person("a"), SAID], images=PLACES).row["messages"][0]["content"] == [PART, PART, text("a")]


def test_trl_fills_no_part_of_a_result_so_it_has_the_image_itself():
    row = formed("trl", shown("<image>A page."), images=["0.png", BYTES]).row
    assert row["messages"][2]["content"] == [PART | {"image": "data:image/jpeg;base64,/9j/4A=="}, text("A page.")]
    assert row["images"] == ["0.png"]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "path": "a.png"},
        {"type": "image", "image": "a.png", "text": None},
        {"type": "image_url", "image_url": {"url": "a.png"}},
        {"type": "input_image", "image_url": "a.png"},
    ],
)
def test_trl_sees_images_that_parts_have_where_there_is_a_column(part):
    row = formed("trl", [person([part, text("a")]), SAID]).row
    assert row["messages"][0]["content"] == [PART | {"image": "a.png"}, text("a")]
    assert row["images"] == []


def test_axolotl_takes_one_image_of_a_column_so_parts_have_them():
    row = formed("axolotl", shown("<image>A page."), images=PLACES).row
    assert row["messages"][0]["content"] == [PART | {"image": "0.png"}, text("Look.")]
    assert row["messages"][2]["content"] == [PART | {"image": "1.png"}, text("A page.")]
    assert "images" not in row
    assert "images" not in formed("axolotl", [person("a"), SAID], images=[]).row or True


def test_an_image_within_a_part_or_of_no_known_shape_is_unfit():
    nested = {"type": "tool_result", "tool_use_id": "c1", "content": [PART, text("a")]}
    for target in ("trl", "axolotl"):
        for messages, images in (([person([nested]), SAID], ["0.png"]), ([person("<image>a"), SAID], [7])):
            done = formed(target, messages, images=images)
            assert (target == "trl" and images == [7]) or done.formed.unfit.startswith("content_shape: ")


def test_a_system_prompt_may_tell_of_marks():
    told = {"role": "system", "content": "A screen is an <image>."}
    done = formed("trl", [told, person("<image>a"), SAID], images=["0.png"])
    assert done.row["messages"][0]["content"] == [text("A screen is an <image>.")]
    assert done.row["messages"][1]["content"] == [PART, text("a")]
    assert formed("llama-factory", [told, person("<image>a"), SAID], images=["0.png"]).formed.unfit is None
    assert formed("verl", [told, person("<image>a"), SAID], images=["0.png"]).formed.unfit.startswith("media_")
