"""What the tests of pruning and of eliding share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from operator import mul
from pathlib import Path

from hypothesis import strategies as st
from reading import source_of

from trajcompress.compaction.text.cut import is_json
from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row
from trajcompress.errors import RowError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.formats.rewrite import map_arguments, map_results
from trajcompress.transcript.tool_groups import tool_groups
from trajcompress.transcript.trajectory import Turn

LISTING = "\n".join(f"{number}\timport module_{number}" for number in range(1, 213))
ASK = {"role": "user", "content": "Mend it."}
END = {"role": "assistant", "content": "Done."}


def call(name="read_file", call_id="a", **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": call_id, "function": function}]}


def shape(turns):
    return [
        (
            turn.role,
            turn.answers,
            turn.name,
            turn.reasoning,
            turn.images,
            [(made.id, made.name) for made in turn.calls],
        )
        for turn in turns
    ]


def words(turn):
    """What a turn says besides results and arguments."""
    return map_arguments(map_results(turn, lambda _number, _text: "R"), lambda _arguments: "A").text


def tokens(text):
    return len(re.findall(r"\w+|\S", text))


_text = st.text(max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.builds(mul, _text, st.integers(0, 200)),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(_text, inner, max_size=4),
    max_leaves=20,
)  # fmt: skip
json_styles = st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 2}, {"ensure_ascii": False}])


def assert_kept(before, after):
    assert shape(after) == shape(before)
    assert tool_groups(after) == tool_groups(before)
    assert [words(turn) for turn in after] == [words(turn) for turn in before]
    assert all(len(two.text) <= len(one.text) for one, two in zip(before, after, strict=True))
    for one, two in zip(before, after, strict=True):
        assert two.raw.keys() == one.raw.keys()
        for old, new in zip(one.calls, two.calls, strict=True):
            assert not is_json(old.arguments) or is_json(new.arguments)


def assert_outline(after, before, *, lists):
    if isinstance(before, dict):
        assert list(after) == list(before)
        for key, value in before.items():
            assert_outline(after[key], value, lists=lists)
    elif isinstance(before, list):
        assert isinstance(after, list)
        marked = [item for item in after if isinstance(item, str) and re.search(r"items? elided", item)]
        if lists or not marked:
            for one, two in zip(after, before, strict=True):
                assert_outline(one, two, lists=lists)
        else:
            gone = int(re.search(r"[\d,]+", marked[0])[0].replace(",", ""))
            assert len(after) - 1 + gone == len(before)
    elif isinstance(before, str):
        assert isinstance(after, str)
        assert len(after) <= len(before)
    else:
        assert repr(after) == repr(before)


def real_rows(folder: Path) -> Iterator[tuple[Turn, ...]]:
    """Yield the turns of rows from all over each file, of some thirty at most."""
    for path in sorted(folder.glob("*.*")):
        rows = list(read_rows(source_of(path))) if path.suffix in {".jsonl", ".parquet"} else []
        for row in rows[:: 1 + len(rows) // 30]:
            if isinstance(row, Row):
                try:
                    yield read_trajectory(row.value, "x", FormatOptions()).turns
                except RowError:
                    continue
