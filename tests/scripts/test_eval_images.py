"""The measure of images: its made rows are what they say, and an image in the place of another is told."""

from __future__ import annotations

import importlib
import json
import re
import zlib
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

MEASURE = "eval_images"
ROOM = 16
RIGHT = [(0, 0), (1, 1), (2, 2)]


@pytest.fixture(scope="module")
def images(measure):
    assert measure.TARGETS
    names = ("colours", "files", "judge", "lines")
    return SimpleNamespace(**{name: importlib.import_module(f"images.{name}") for name in names})


@pytest.fixture(scope="module")
def made(images, tmp_path_factory):
    return images.files.write_files(tmp_path_factory.mktemp("images") / "made")


def flat(row):
    """Give the content of a row as one text, with the mark of an image wherever a part has one."""
    messages = [*row.get("messages", ()), *row.get("conversations", ())]
    messages += [*row.get("prompt", ()), *row.get("completion", ())]
    contents = [message.get("content", message.get("value")) for message in messages]
    listed = [[content] if isinstance(content, str) else content for content in contents]
    parts = [part for content in listed for part in content]
    return "".join(part if isinstance(part, str) else part.get("text", "<image>") for part in parts)


def seen(shown, room=ROOM):
    """Give what a loader says of a row whose images stand so."""
    return {"places": [[said, room] for said, _ in shown], "pictures": [[page, ROOM] for _, page in shown]}


def test_before_the_words_of_each_page_stands_the_mark_of_its_picture(made):
    assert len(made) == 17
    for rows in made.values():
        for each in rows:
            marked = [(int(page), int(page)) for page in re.findall(r"<image>page (\d+) lists", flat(each.row))]
            assert marked == (list(each.shown) if each.row["id"] != "bare" else [])
            assert flat(each.row).count("<image>") == len(marked)


def test_the_nth_picture_of_a_row_is_that_of_its_nth_mark(made):
    for rows in made.values():
        for each in rows:
            own = re.findall(r'"path": "([^"]*)"', json.dumps(each.row))
            places = [Path(place).name for place in each.row.get("images", own)]
            assert places == [f"{page}.png" for _, page in each.shown]


def test_files_hold_the_made_rows_and_parquet_the_pictures(images, made):
    for file, rows in made.items():
        if file.suffix == ".jsonl":
            assert [json.loads(line) for line in file.read_text().splitlines()] == [each.row for each in rows]
            continue
        table = pq.read_table(file)
        features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
        assert features["images"]["feature"]["_type"] == "Image"
        for each, row in zip(rows, table.to_pylist(), strict=True):
            drawn = [images.colours.png(images.colours.colour(page)) for _, page in each.shown]
            assert [image["bytes"] for image in row["images"]] == drawn


def test_a_picture_is_of_one_colour_and_known_by_it(images):
    colours = images.colours
    for page in range(colours.PAGES):
        picture = colours.png(colours.colour(page))
        line = b"\0" + bytes(colours.colour(page)) * colours.SIDE
        assert zlib.decompress(picture[picture.index(b"IDAT") + 4 : -16]) == line * colours.SIDE
        assert colours.nearest(tuple(value + 2.0 for value in colours.colour(page))) == page


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        ([(0, 0), (1, 2), (2, 1)], "image 1 is that of page 2 before the words of page 1, not that of page 1"),
        ([(0, 0), (None, 1), (2, 2)], "image 1 is that of page 1 before no words of a page, not"),
        ([(0, 0), (2, 2)], "image 1 is that of page 2 before the words of page 2, not that of page 1"),
        ([(0, 0), (1, 1)], "image 2 is none, not that of page 2"),
        ([*RIGHT, (2, 2)], "image 3 is that of page 2 before the words of page 2, not none"),
    ],
)
def test_images_swapped_moved_lost_or_twice_are_wrong(images, shown, told):
    assert images.judge.fault(RIGHT, seen(RIGHT)) is None
    assert images.judge.fault(RIGHT, seen(shown)).startswith(told)


def test_places_have_to_be_as_many_and_as_large_as_the_images(images):
    assert images.judge.fault(RIGHT, seen(RIGHT) | {"pictures": []}) == "3 places for 0 images"
    assert images.judge.fault(RIGHT, seen(RIGHT, room=4)) == "image 0 takes 16 tokens, and its place has 4"


def test_words_that_went_take_their_image_with_them_and_a_quote_of_them_has_none(images):
    turns = [
        {"role": "user", "content": "<image>page 0 lists the flights of day 0."},
        {"role": "user", "content": '[CONTEXT SUMMARY]:\n- "page 1 lists the flights of day 1."'},
        {"role": "tool", "content": [{"type": "image"}, {"type": "text", "text": "page 2 lists the flights."}]},
        {"role": "tool", "content": "[click 3 → page 3 lists the flights of day 3. …; 1 line, 99 characters]"},
    ]
    shown = [(page, page) for page in range(4)]
    for row in ({"messages": turns}, {"messages": list(map(json.dumps, turns))}):
        assert images.judge.expected(shown, row) == [(0, 0), (2, 2)]
    assert images.judge.expected(shown, {"prompt": turns[:2], "completion": turns[2:]}) == [(0, 0), (2, 2)]
    assert images.judge.expected([(None, 0), (0, 1)], {"messages": turns[2:]}) == [(None, 0)]


def test_files_are_counted_that_load_and_that_are_right(measure):
    row = [RIGHT]
    wanted = {Path(name): row for name in ("right", "swapped", "raises", "stops")} | {Path("drops"): row * 2}
    swapped = seen([(0, 1), (1, 0), (2, 2)])
    lines = {
        "right": {"error": None, "rows": [seen(RIGHT)]},
        "swapped": {"error": None, "rows": [swapped]},
        "raises": {"error": None, "rows": [{"error": "ValueError: no"}]},
        "stops": {"error": "KeyError: images", "rows": []},
        "drops": {"error": None, "rows": [seen(RIGHT)]},
    }
    found, told = measure.count(wanted, {Path(name): line for name, line in lines.items()})
    assert (found["load"], found["right"], found["images right"], found["images"]) == (3, 1, 3, 18)
    assert [line.partition(":")[0] for line in told] == ["swapped", "raises", "stops", "drops"]
    assert told[1:] == [
        "raises: does not load: ValueError: no",
        "stops: does not load: KeyError: images",
        "drops: 1 of 2 rows",
    ]


def test_places_are_told_by_the_words_behind_them(images):
    pieces = ["<pad>", "Look:", "page 7", "<end>", "lists"]
    tokenizer = SimpleNamespace(
        convert_tokens_to_ids=lambda _: 0, decode=lambda ids: " ".join(pieces[number] for number in ids)
    )
    found = images.lines.seen(SimpleNamespace(tokenizer=tokenizer), [1, 0, 0, 3, 2, 4, 0, 3, 4, 0], {})
    assert found == {"tokens": 10, "places": [(7, 2), (None, 1), (None, 1)], "pictures": []}
