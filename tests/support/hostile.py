"""Rows, lines and files from an alphabet of everything that real files get wrong."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import strategies as st

from trajcompress.dataset.json_text import JsonTextError, parse_json

WORDS = "The parser of src/parse.py fails at line 7 with ValueError: unexpected token in '{}' "

texts = st.one_of(
    st.sampled_from(["", " ", "ok", WORDS, WORDS * 4, "\0", "a\0b", "\ud800", "x\udfffy", "\ufeff", "\u2028", "😀"]),
    st.text(max_size=12),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**63, 2**64, -(2**63) - 1, 10**30, math.nan, math.inf, -math.inf, 1e308, -0.0]),
    texts,
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "text", "", "\0"]), inner),
    max_leaves=6,
)
parts = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, texts | st.none()),
    st.just({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}),
    st.just({"type": "hologram", "beam": [1, 2]}),
    st.just({"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": WORDS}]}),
    anything,
)
contents = st.one_of(texts, st.none(), st.lists(parts, max_size=3), anything)
roles = st.one_of(
    st.sampled_from(
        ["system", "user", "assistant", "tool", "human", "gpt", "observation", "function_call", "developer"]
    ),
    st.sampled_from(["agent", "Orchestrator (-> WebSurfer)", "", "\ud800", None, 7, ["user"], {"name": "user"}]),
)
arguments = st.one_of(st.just('{"path": "."}'), st.just({"path": "."}), texts, anything)
functions = st.one_of(st.builds(lambda made: {"name": "ls", "arguments": made}, arguments), anything)
calls = st.one_of(
    st.builds(
        lambda key, made: {"id": key, "type": "function", "function": made}, st.just("c1") | scalars, functions
    ),
    functions,
)
openai_messages = st.fixed_dictionaries(
    {"role": roles, "content": contents},
    optional={
        "tool_calls": st.lists(calls, max_size=3) | anything,
        "tool_call_id": st.just("c1") | scalars,
        "name": texts | scalars,
        "reasoning_content": texts | anything,
        "weight": st.sampled_from([0, 1, 0.5, None]),
        "function_call": functions,
    },
)
sharegpt_messages = st.fixed_dictionaries(
    {"from": roles, "value": contents | st.just('<tool_call>\n{"name": "ls"}\n</tool_call>')},
    optional={"loss": st.booleans(), "tool_calls": anything},
)
broken_messages = st.one_of(scalars, st.just({}), st.just([]), st.just({"role": "user"}), st.just({"content": WORDS}))
plain = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": WORDS},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "ls", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": WORDS * 3},
    {"role": "assistant", "content": WORDS},
    {"role": "user", "content": "[CONTEXT SUMMARY]: ## Goal\n- mend it\n"},
]
long_runs = st.builds(
    lambda turns, more: [*plain, *turns, *more], st.lists(st.sampled_from(plain), min_size=6), st.just(plain)
)
message_lists = st.one_of(
    st.lists(openai_messages, max_size=8),
    st.lists(sharegpt_messages, max_size=8),
    st.lists(openai_messages | sharegpt_messages | broken_messages, max_size=5),
    long_runs,
    st.builds(lambda head, tail: [*head, *plain, *plain, *tail], st.lists(openai_messages, max_size=2), long_runs),
    st.lists(st.sampled_from([plain[3], {"from": "observation", "value": WORDS}]), max_size=12),  # orphans
)
columns = st.sampled_from(["messages", "conversations", "prompt", "rollout"])


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


others = st.dictionaries(
    st.sampled_from(["id", "score", "tools", "meta", "", "n\0l", "\ud800"]),
    st.one_of(anything, st.just("same-id"), st.sampled_from([10, 200, 300]).map(_nested)),
    max_size=3,
)
rows = st.builds(
    lambda before, name, messages, after: {**before, name: messages, **after},
    others,
    columns,
    st.one_of(
        message_lists.map(list),
        message_lists.map(tuple),
        long_runs,
        st.builds(json.dumps, message_lists),
        anything,
        st.builds(lambda one: [one], message_lists),
    ),
    others,
)


def _as_line(row: dict[str, Any], ascii_only: bool) -> bytes:
    text = json.dumps(row, ensure_ascii=ascii_only)
    return text.encode("utf-8", "backslashreplace")  # a lone surrogate can only be written as an escape


row_lines = st.builds(_as_line, rows, st.booleans())
broken_lines = st.one_of(
    st.sampled_from(
        [
            b"",
            b"  \t ",
            b"\xef\xbb\xbf{}",
            b"\0",
            b"[]",
            b"[1, {}]",
            b"null",
            b"7",
            b'"text"',
            b"NaN",
            b"{}",
            b'{"messages": [{"role": "user", "content": "\xff\xfe"}]}',
            b'{"messages": [{"role": "user", "content": "\xed\xa0\x80"}]}',
            b'{"messages": [], "messages": [{"role": "user", "content": "the last key wins"}]}',
            b'{"messages": [{"role": "user", "role": "assistant", "content": "twice"}]}',
            b'{"a": 1} {"a": 2}',
            b"[" * 3000,
            b'{"a":' * 3000,
            b'{"messages": ' + b"[" * 400 + b"]" * 400 + b"}",
            b'{"n": ' + b"9" * 5000 + b"}",
            b"{'messages': []}",
            b"<html>",
        ]
    ),
    st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"").replace(b"\r", b"")),
    st.builds(lambda line, share: line[: int(len(line) * share)], row_lines, st.floats(0, 1)),
    st.builds(
        lambda line, at: line[: at % (len(line) + 1)] + b"\0" + line[at % (len(line) + 1) :],
        row_lines,
        st.integers(0),
    ),
)
lines = st.one_of(row_lines, row_lines.map(bytes), row_lines.map(bytearray).map(bytes), broken_lines)


def parsed(line: bytes) -> Any:
    """What is on a line, None where nothing can be."""
    try:
        return parse_json(line)
    except JsonTextError:
        return None
