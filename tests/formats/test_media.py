"""Columns of images: each mark in the messages keeps the image that it stood for."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.compaction.text.cut import cut
from trajcompress.formats.adapter import FormatOptions, read_trajectory, replace_turns
from trajcompress.formats.rewrite import map_results

MARK = "<image>"
PART = {"type": "image"}


def row(results: list[str], images: int | None = None) -> dict[str, object]:
    messages: list[dict[str, object]] = [{"role": "user", "content": f"{MARK}Book a flight."}]
    for number, result in enumerate(results):
        messages += [
            {"role": "assistant", "content": f"```bash\nclick {number}\n```"},
            {"role": "user", "content": f"<returncode>0</returncode>\n<output>\n{result}\n</output>"},
        ]
    marks = json.dumps(messages).count(MARK) if images is None else images
    return {"messages": messages, "images": [f"{number}.png" for number in range(marks)]}


def read(given_row):
    return read_trajectory(given_row, "a", FormatOptions())


def test_the_images_of_turns_that_go_go_with_them():
    trajectory = read(row([f"{MARK} page {number}" for number in range(5)]))
    assert [turn.media for turn in trajectory.turns] == [1, *[0, 1] * 5]
    kept = (*trajectory.turns[:3], *trajectory.turns[7:])
    made = replace_turns(trajectory, kept, [*range(3), *range(7, 11)])
    assert made["images"] == ["0.png", "1.png", "4.png", "5.png"]
    assert replace_turns(trajectory, trajectory.turns, range(11)) == trajectory.row


def test_images_stay_as_they_are_where_they_are_not_as_many_as_the_marks():
    for images in (1, 9):
        trajectory = read(row([f"{MARK} page {number}" for number in range(5)], images))
        assert not any(turn.marks for turn in trajectory.turns)
        assert len(replace_turns(trajectory, trajectory.turns[:3], range(3))["images"]) == images


def test_parts_that_have_their_image_with_them_need_none_of_a_column():
    own = {"type": "image", "image": "a.png"}
    messages = [{"role": "user", "content": [PART, own, {"type": "text", "text": "Look."}]}] * 2
    trajectory = read({"messages": messages, "images": ["0.png", "1.png"]})
    assert [turn.media for turn in trajectory.turns] == [2, 2]
    assert replace_turns(trajectory, trajectory.turns[1:], [1])["images"] == ["1.png"]


@given(st.lists(st.lists(st.integers(1, 400), max_size=4), min_size=1, max_size=5), st.data())
def test_whatever_is_cut_each_mark_keeps_its_image(sizes: list[list[int]], data: st.DataObject):
    names = iter(range(1, 100))
    results = ["\n".join(f"{MARK}shot {next(names)}\n" + "word " * size for size in each) or "ok" for each in sizes]
    trajectory = read(row(results))

    def shorter(_number: int, text: str) -> str:
        return cut(text, data.draw(st.integers(96, 3_000)))

    turns = [map_results(turn, shorter) for turn in trajectory.turns]
    made = replace_turns(trajectory, turns, range(len(turns)))
    assert sum(turn.media for turn in turns) == len(made["images"])
    said = "".join(turn.text for turn in turns).split(MARK)[1:]
    assert [f"{piece.split()[1]}.png" for piece in said[1:] if piece.startswith("shot ")] == [
        name for name, piece in zip(made["images"][1:], said[1:], strict=True) if piece.startswith("shot ")
    ]


@pytest.mark.parametrize("content", [None, 3, [], [3, None], {"type": "text"}])
def test_content_of_any_shape_has_no_marks(content):
    messages = [{"role": "user", "content": content}, {"role": "assistant", "content": "a"}]
    trajectory = read({"messages": messages, "images": ["0.png"]})
    assert replace_turns(trajectory, trajectory.turns[1:], [1])["images"] == ["0.png"]


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 300)), min_size=1, max_size=6), st.integers(96, 2_000))
def test_images_in_parts_go_with_what_is_cut_around_them(shots: list[tuple[bool, int]], size: int):
    content: list[dict[str, str]] = []
    for number, (own, words) in enumerate(shots):
        content += [PART | ({"image": f"{number}.png"} if own else {}), {"type": "text", "text": f"shot {number}\n"}]
        content[-1]["text"] += "word " * words
    column = [f"{number}.png" for number, (own, _) in enumerate(shots) if not own]
    calls = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "f"}}]}
    result = {"role": "tool", "tool_call_id": "a", "content": content}
    trajectory = read({"messages": [calls, result], "images": column})
    turns = [map_results(turn, lambda _, text: cut(text, size)) for turn in trajectory.turns]
    written = replace_turns(trajectory, turns, range(2))
    left = iter(written["images"])
    parts = written["messages"][1]["content"]
    shown = [part.get("image") or next(left) for part in parts if part["type"] == "image"]
    assert next(left, None) is None
    said = [part["text"].split() for part in parts if part["type"] == "text"]
    named = [f"{words[1]}.png" for words in said if words[0] == "shot"]
    assert set(named) <= set(shown)
    assert turns[1].images == len(shown)


def test_a_cleared_result_loses_its_image():
    content = [PART, {"type": "text", "text": "A page."}]
    messages = [{"role": "user", "content": "Look."}, {"role": "tool", "content": content}]
    trajectory = read({"messages": messages, "images": ["0.png"]})
    turns = [map_results(turn, lambda *_: "[cleared]") for turn in trajectory.turns]
    written = replace_turns(trajectory, turns, range(2))
    assert written["messages"][1]["content"] == [{"type": "text", "text": "[cleared]"}]
    assert written["images"] == []
