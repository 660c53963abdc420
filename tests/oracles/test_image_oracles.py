"""Images in the forms of trainers against the trainers' own code that pairs them, after turns went, too."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import util
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verdicts import installed

from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.formats.turns import new_user_turn
from trajcompress.forms.media_faults import media_faults
from trajcompress.forms.targets import form_for
from trajcompress.settings.choices import Target
from trajcompress.transcript.trajectory import Trajectory

PART = {"type": "image"}
rows = st.tuples(
    st.booleans(),  # parts, or marks in the text
    st.lists(st.tuples(st.sampled_from(["user", "tool"]), st.integers(0, 3)), min_size=1, max_size=5),
    st.sampled_from([0, 0, 0, 1, -1]),  # images too many
)


def made(given_row: Any) -> dict[str, Any]:
    """Make a row whose n-th mark has the word shot-n behind it, and n.png as its image."""
    parts, steps, more = given_row
    messages: list[dict[str, Any]] = []
    shots = 0
    for number, (role, images) in enumerate(steps):
        said = [f"shot-{shots + image} of step {number}." for image in range(images)] or ["Nothing to see."]
        shots += images
        listed = [part for text in said for part in (PART, {"type": "text", "text": text})][0 if images else 1 :]
        content = listed if parts else "".join(f"<image>{text}" if images else text for text in said)
        call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        acted = {"role": "assistant", "content": "I look.", "tool_calls": [call]}
        if role == "tool":
            messages += [*([] if messages else [{"role": "user", "content": "Look."}]), acted]
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
        else:
            messages.append({"role": "user", "content": content})
        messages.append({"role": "assistant", "content": "I see."})
    return {"messages": messages, "images": [f"{number}.png" for number in range(max(shots + more, 0))]}


def compressed(trajectory: Trajectory, data: st.DataObject) -> dict[str, Any]:
    """Put a summary in the place of some turns."""
    count = len(trajectory.turns)
    start = data.draw(st.integers(0, count - 1))
    end = data.draw(st.integers(start, count - 1))
    turns = [*trajectory.turns[:start], new_user_turn(trajectory, "A summary."), *trajectory.turns[end:]]
    return replace_turns(trajectory, turns, [*range(start), None, *range(end, count)])


def judged(row: dict[str, Any], target: Target) -> bool:
    """Tell whether check takes the images of a row."""
    trajectory = read_trajectory(row, "r", FormatOptions())
    return not any(media_faults(trajectory, target))


@cache
def trl() -> Any:
    """Its module that prepares messages, without the package, which would take torch."""
    (path,) = installed("trl", "trl/data_utils.py")
    spec = util.spec_from_file_location("trl_data_utils_oracle", path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def trl_pairs(row: dict[str, Any]) -> list[tuple[str, str]] | None:
    """The images that TRL puts into the parts of messages, and the words behind each; None where it raises."""
    try:
        messages = trl().prepare_multimodal_messages(row["messages"], images=row.get("images") or [])
    except ValueError:
        return None
    parts = [part for message in messages for part in message["content"]]
    behind = [*parts[1:], {}]
    return [
        (part.get("image", ""), after.get("text", "").split(" ")[0])
        for part, after in zip(parts, behind, strict=True)
        if part["type"] == "image"
    ]


def are_right(pairs: list[tuple[str, str]]) -> bool:
    return all(word == f"shot-{image.removesuffix('.png')}" for image, word in pairs)


@pytest.mark.wants("trl")
@settings(deadline=None)
@given(rows, st.data())
def test_trl_puts_each_image_where_it_was(given_row, data):
    row = made(given_row)
    shots = str(row["messages"]).count("shot-")  # without any, all images stand before the first text
    assert not (judged(row, "trl") and shots) or are_right(trl_pairs(row))
    form = form_for("trl", FormatOptions()).of(read_trajectory(row, "r", FormatOptions()))
    if form.formed and form.formed.unfit:
        assert len(row["images"]) != shots
        return
    for each in (form.row, compressed(form, data)):
        assert judged(each, "trl")
        pairs = trl_pairs(each)
        assert pairs is not None
        assert are_right(pairs) or not shots


@cache
def llama_factory() -> Any:
    """Its function that counts marks, alone: its module would take torch."""
    (path,) = installed("llamafactory", "llamafactory/data/mm_plugin.py")
    function = next(
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == "_validate_messages"
    )
    for argument in function.args.args:
        argument.annotation = None
    names = {f"{kind.upper()}_PLACEHOLDER": f"<{kind}>" for kind in ("image", "video", "audio")}
    exec(compile(ast.Module([function], []), str(path), "exec"), names)  # noqa: S102 - a function of theirs
    return names["_validate_messages"]


def llama_factory_takes(row: dict[str, Any]) -> bool:
    messages = [{"content": each["value"]} for each in row["conversations"] if each["from"] != "system"]
    columns = [row.get(name) or [] for name in ("images", "videos", "audios")]
    try:
        llama_factory()(SimpleNamespace(), messages, *columns)
    except ValueError:
        return False
    return True


@pytest.mark.wants("llamafactory")
@settings(deadline=None)
@given(rows, st.sampled_from(["", "A <video> tag.", "Told of <image>."]), st.data())
def test_llama_factory_has_an_image_for_each_mark(given_row, told, data):
    row = made(given_row)
    if told:
        row["messages"].insert(0, {"role": "system", "content": told})
    form = form_for("llama-factory", FormatOptions()).of(read_trajectory(row, "r", FormatOptions()))
    if form.formed.unfit:
        assert len(row["images"]) != str(row["messages"]).count("shot-")
        return
    for each in (form.row, compressed(form, data)):
        assert llama_factory_takes(each) is judged(each, "llama-factory") is True
        shots = re.findall(r"<image>shot-(\d+)", str(each["conversations"]))
        assert [f"{shot}.png" for shot in shots] == each["images"]
