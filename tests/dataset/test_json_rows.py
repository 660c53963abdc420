from __future__ import annotations

import bz2
import gzip
import json
import lzma
import math
import os

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reading import lines, read, values

from trajcompress.dataset.json_split import ValueSplitter
from trajcompress.dataset.json_text import JsonTextError, parse_json, parse_row
from trajcompress.dataset.rows import Unreadable
from trajcompress.json_values import DEEPEST_PLAIN, MAX_DEPTH, is_plain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.booleans())
@settings(deadline=None)
def test_json_text_reads_as_the_standard_library_reads_it(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raw = json.dumps(value).encode()
    assert repr(parse_json(raw)) == repr(json.loads(raw))


@given(st.from_regex(r"-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?", fullmatch=True))
@example("-0")
@example("1e400")
@example("18446744073709551616")
@example("2.2250738585072011e-308")
@settings(deadline=None)
def test_numbers_are_exact(text):
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(JsonTextError):
            parse_json(text.encode())
    else:
        assert repr(parse_json(text.encode())) == repr(expected)


@given(JSON, st.integers(0, 2 * DEEPEST_PLAIN))
@settings(deadline=None)
def test_a_row_is_known_to_be_plain_where_it_is(value, levels):
    row = parse_row(b'{"a":' * levels + json.dumps({"b": value}).encode() + b"}" * levels, source="x", index=0)
    assert row.is_plain == is_plain([row.value])


def test_what_json_dialects_add_is_kept():
    row = parse_json(
        b'{"a": NaN, "b": -Infinity, "c": "\\ud800", "d": 1, "d": 2, "e": 123456789012345678901234567890}'
    )
    assert math.isnan(row.pop("a"))
    assert row == {"b": -math.inf, "c": "\ud800", "d": 2, "e": 123456789012345678901234567890}


@pytest.mark.parametrize("value", [b"1", b'"[{"', b"[]", b"[1,{}]"])
def test_as_many_levels_as_are_allowed_can_be_read(value):
    levels = MAX_DEPTH - value.count(b"]") - value.count(b"}")
    assert parse_json(b"[" * levels + value + b"]" * levels)
    with pytest.raises(JsonTextError, match="nested deeper"):
        parse_json(b"[" * (levels + 1) + value + b"]" * (levels + 1))


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"a":' * 100_000, "nested_too_deep"),
        (b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1), "nested_too_deep"),
        (b'{"n": ' + b"9" * 5000 + b"}", "number_too_long"),
        (b'{"a": "\xff"}', "invalid_utf8"),
        (b'{"a": "\xed\xa0\x80"}', "invalid_utf8"),
        (b'{"a": "\x00"}', "invalid_json"),
        (b"\x00", "invalid_json"),
        (b'{"a": 1', "invalid_json"),
        (b"[1, 2]", "not_an_object"),
        (b"3", "not_an_object"),
        (b"null", "not_an_object"),
    ],
)
def test_a_line_that_is_no_row_is_reported_with_its_text(tmp_path, raw, reason):
    good = b'{"good": 1}'
    before, bad, after = read(tmp_path / "a.jsonl", good + b"\n" + raw + b"\n" + good)
    assert isinstance(bad, Unreadable)
    assert (bad.reason, bad.line, bad.raw) == (reason, 2, raw.decode("utf-8", "surrogateescape"))
    assert values([before, after]) == [{"good": 1}, {"good": 1}]


def test_a_string_that_does_not_end_is_told_in_whole_words(tmp_path):
    (bad,) = read(tmp_path / "a.jsonl", b'{"a": "b')
    assert bad.detail == "Unterminated string starting at character 6"


def test_utf_16_is_called_by_its_name(tmp_path):
    bad, *_ = read(tmp_path / "a.jsonl", '{"a": 1}\n'.encode("utf-16"))
    assert bad.reason == "invalid_utf8"
    assert bad.detail.endswith("it looks like UTF-16")


@pytest.mark.parametrize(
    ("packed", "ending"),
    [(gzip.compress, ".gz"), (zstandard.compress, ".zst"), (lzma.compress, ".xz"), (bz2.compress, ".bz2")],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_compressed_file_without_its_ending_is_told_of_once(tmp_path, packed, ending, name):
    (bad,) = read(tmp_path / name, packed(os.urandom(5000)))
    assert bad.reason == "invalid_utf8"
    assert bad.detail.endswith(f", so its name should end in {ending}")


def test_nesting_up_to_the_limit_is_read():
    parse_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)


@given(st.lists(JSON, max_size=6), st.sampled_from([None, 0, 2]), st.integers(1, 40), st.booleans())
@settings(deadline=None)
def test_an_array_comes_apart_as_json_loads_reads_it(elements, indent, size, ascii_only):
    text = json.dumps(elements, indent=indent, ensure_ascii=ascii_only)
    content = text.encode("utf-8", "surrogatepass")
    splitter = ValueSplitter(content[at : at + size] for at in range(0, len(content), size))
    got = [json.loads(piece.decode("utf-8", "surrogatepass")) for piece in splitter]
    assert repr(got) == repr(json.loads(text))
    assert not splitter.unfinished


@given(st.binary(max_size=60) | st.text('[]{}",:\\ a1\n', max_size=60).map(str.encode), st.integers(1, 9))
@settings(deadline=None)
def test_no_text_is_lost_when_json_comes_apart(content, size):
    splitter = ValueSplitter(content[at : at + size] for at in range(0, len(content), size))
    got = b"".join(splitter) + (splitter.tail if splitter.unfinished else b"")
    structure = b"[], \t\n\r\x0b\x0c"  # what only separates values
    assert got.translate(None, structure) == content.translate(None, structure)


ROWS = [{"messages": [{"role": "user", "content": 'a "quoted" \\ [{'}]}, {"messages": []}, {"id": 3, "data": [1]}]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(json.dumps(ROWS), id="array"),
        pytest.param(json.dumps(ROWS, indent=0), id="array over lines"),
        pytest.param("\ufeff \n" + json.dumps(ROWS, indent=2), id="array after a byte order mark"),
        pytest.param(lines(ROWS).decode(), id="JSON lines"),
        pytest.param("\n".join(json.dumps(row, indent=2) for row in ROWS), id="objects over lines"),
        pytest.param(json.dumps({"data": ROWS}), id="wrapped"),
        pytest.param(
            json.dumps({"n": {"x": [1]}, "rows": ROWS, "info": "[{", "end": 1}, indent=1), id="wrapped deeper"
        ),
        pytest.param(json.dumps(ROWS).replace("}, {", "} {"), id="commas forgotten"),
        pytest.param(json.dumps(ROWS[:1]) + "\n" + json.dumps(ROWS[1:]), id="two arrays"),
    ],
)
def test_the_ways_a_json_file_holds_rows(tmp_path, content):
    assert values(read(tmp_path / "a.json", content.encode())) == ROWS


@pytest.mark.parametrize(
    "row",
    [
        {"id": 1},
        {},
        {"messages": [{"role": "user", "content": "x"}]},
        {"data": [{"x": 1}], "messages": [{"role": "user"}]},
        {"messages": [{"role": "user"}], "data": [{"x": 1}]},
        {"data": [{"role": "user", "content": "x"}]},
        {"data": [{"from": "human", "value": "x"}]},
        {"data": ["x"]},
        {"data": []},
        {"steps": [{"x": 1}]},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_an_object_that_is_itself_a_row(tmp_path, row, indent):
    assert values(read(tmp_path / "a.json", json.dumps(row, indent=indent).encode())) == [row]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('[{"a":1},{"a":2', [{"a": 1}, "truncated_input"]),
        ('[{"a":1},{"a":2}', [{"a": 1}, {"a": 2}, "truncated_input"]),
        ('{"data":[{"a":1},{"a":2}', [{"a": 1}, {"a": 2}, "truncated_input"]),
        ('{"a":\n"x', ["truncated_input"]),
        ('[{"a":1},{"a":nope},{"a":3}]', [{"a": 1}, "invalid_json", {"a": 3}]),
        ('[{"a":1}},{"a":3}]', [{"a": 1}, "invalid_json", {"a": 3}]),
        ('[{"a":1}],{"a":3}]', [{"a": 1}, {"a": 3}, "invalid_json"]),
        ('[1,"x",null,[{"a":1}],{"a":3},]', ["not_an_object"] * 4 + [{"a": 3}]),
        ('{"a":1}\n{"a":"cut\n{"a":3}', [{"a": 1}, "invalid_json", {"a": 3}]),
        ('{"a":"cut\n{"a":2}\n{"a":3}', ["invalid_json", {"a": 2}, {"a": 3}]),
        ('{\n"data":[{"a":1}]}\n{"a":3}', [{"data": [{"a": 1}]}, {"a": 3}]),
        ("{ {} [1]", ["truncated_input"]),
        ("hello", ["invalid_json"]),
        ('"hello"', ["not_an_object"]),
    ],
)
def test_damaged_json_files_lose_no_neighbour(tmp_path, content, expected):
    assert values(read(tmp_path / "a.json", content.encode())) == expected


TURNS = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]
SHARED = [{"from": "human", "value": "go"}, {"from": "gpt", "value": "done"}]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (TURNS, [{"messages": TURNS}]),
        (SHARED, [{"conversations": SHARED}]),
        ([{"messages": TURNS}, {"messages": TURNS}], [{"messages": TURNS}] * 2),
        (
            [{"role": "coder", "content": "c", "messages": TURNS}],
            [{"role": "coder", "content": "c", "messages": TURNS}],
        ),
        ([{"role": "user"}], [{"role": "user"}]),
    ],
)
def test_a_file_of_messages_alone_is_one_row(tmp_path, content, expected):
    for text in (json.dumps(content), f"\n {json.dumps(content, indent=1)}\n"):
        assert values(read(tmp_path / "a.traj", text.encode())) == expected


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b'[{"role": "user", "content": "go"}, {"ro', "truncated_input"),
        (b'[{"role": "u", "content": 1}, x]', "invalid_json"),
    ],
)
def test_a_broken_file_of_messages_is_one_row_that_cannot_be_read(tmp_path, broken, reason):
    (row,) = read(tmp_path / "a.json", broken)
    assert isinstance(row, Unreadable)
    assert (row.reason, row.raw.encode()) == (reason, broken)
