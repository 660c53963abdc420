from __future__ import annotations

import gc
import json
import re
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pruning import (
    ASK,
    END,
    LISTING,
    assert_kept,
    assert_outline,
    call,
    json_styles,
    json_values,
    real_rows,
    shape,
    words,
)
from trajectories import Example, examples, read, result

from trajcompress.compaction.region import Protection, lay_out
from trajcompress.compaction.text import ResultLines, prune, prune_steps
from trajcompress.compaction.text.line import LINE_CHARS
from trajcompress.compaction.text.result_lines import LONG_CHARS
from trajcompress.facts.ledger import FactLedger
from trajcompress.formats.rewrite import result_texts
from trajcompress.formats.turns import read_turn
from trajcompress.tokens.counter import turn_text
from trajcompress.transcript.trajectory import Region

FAILED = "F.\n" + "a long line of output\n" * 40 + "\nRan 2 tests in 0.01s\n\nFAILED (failures=1)"


def pruned(*messages, **columns):
    """Prune all but the first and the last message."""
    turns = read(list(messages), **columns).turns
    return prune(turns, prune_steps(ResultLines(turns, Region(1, len(turns) - 1)))).turns


def test_an_old_result_becomes_a_line_that_says_what_it_was():
    _, _, read_it, _ = pruned(ASK, call(path="src/a.py"), result(text=LISTING), END)
    assert read_it.text == f"[read_file src/a.py: 212 lines, {len(LISTING):,} characters]"
    _, _, ran, _ = pruned(ASK, call("run_tests"), result(text=FAILED), END)
    assert ran.text == f"[run_tests → Ran 2 tests, FAILED (failures=1); 45 lines, {len(FAILED):,} characters]"
    found = "\n".join(f"src/a.py:{number}: def name_{number}" for number in range(40))
    _, _, matches, _ = pruned(ASK, call("grep", pattern="def name"), result(text=found), END)
    assert matches.text == (
        "[grep def name → 40 matches: src/a.py:0: def name_0; src/a.py:39: def name_39;"
        f" 40 lines, {len(found):,} characters]"
    )


def test_a_failure_keeps_its_error():
    trace = "Traceback (most recent call last):\n" + '  File "a.py", line 3, in f\n' * 20 + "KeyError: 'colour'"
    _, _, failed, _ = pruned(ASK, call("run", command="python a.py"), result(text=trace), END)
    assert "KeyError: 'colour'" in failed.text


def test_results_are_told_by_the_id_of_their_call_whatever_their_order():
    both = call("first", "1")
    both["tool_calls"] += call("second", "2")["tool_calls"]
    turns = pruned(ASK, both, result("2", LISTING), result("1", FAILED), END)
    assert [re.split(":| →", turn.text)[0] for turn in turns[2:4]] == ["[second", "[first"]


def test_a_call_that_is_written_in_the_text_is_told_too():
    call_ = '{"name": "read_file", "arguments": {"path": "src/a.py"}}'
    asks = {"role": "assistant", "content": f"I look.\n<tool_call>\n{call_}\n</tool_call>"}
    assert pruned(ASK, asks, result(None, LISTING), END)[2].text.startswith("[read_file src/a.py: ")


def test_what_may_be_no_call_is_not_told_as_one():
    asks = {"role": "assistant", "content": "You might run:\n```\nrm -rf build\n```"}
    assert "rm" not in pruned(ASK, asks, result(None, LISTING), END)[2].text


def test_what_was_said_before_a_call_takes_none_of_its_results():
    asks = {"from": "function_call", "value": '{"name": "read_file", "arguments": {"path": "src/a.py"}}'}
    said = [{"from": "human", "value": "Hello."}, {"from": "gpt", "value": "How can I help?"}]
    end = {"from": "gpt", "value": "Done."}
    for before in (said, [*said, said[0]]):
        line = pruned(*before, asks, {"from": "observation", "value": LISTING}, end)[-2].text
        assert line.startswith("[read_file src/a.py: ")


def test_a_call_that_was_given_up_takes_no_result_of_a_later_one():
    turns = pruned(ASK, call("first", None), ASK, call("second", None), result(None, LISTING), END)
    assert turns[4].text.startswith("[second: ")


def test_short_results_stay():
    turns = read([ASK, call(), result(text="x" * LONG_CHARS), END]).turns
    assert list(prune_steps(ResultLines(turns, Region(0, len(turns))))) == []


def test_the_line_holds_no_chat_markup():
    asks = call(path="<|im_start|>user\n</tool_response>[INST]")
    text = pruned(ASK, asks, result(text="<|im_end|>" * 100), END)[2].text
    assert not re.search(r"<\||</?tool|\[INST", text)
    assert "\n" not in text


def test_of_equal_results_the_older_is_cleared_first_and_tells_what_came_of_its_own_call():
    ran = [call("test", path="a.py"), call("test", path="b.py")]
    turns = read([ASK, ran[0], result("test", FAILED), ran[1], result("test", FAILED), END]).turns
    steps = list(prune_steps(ResultLines(turns, Region(1, 5))))
    assert [(step.index, step.kind) for step in steps] == [(2, "repeated_result"), (4, "old_result")]
    older, newer = (step.turn.text for step in steps)
    assert older.startswith("[test a.py → Ran 2 tests, FAILED")
    assert newer == older.replace("a.py", "b.py")


def test_a_protected_turn_may_hold_the_newest():
    turns = read([ASK, call(path="a.py"), result(text=LISTING), call(path="b.py"), result(text=LISTING)]).turns
    assert [(step.index, step.kind) for step in prune_steps(ResultLines(turns, Region(1, 3)))] == [
        (2, "repeated_result")
    ]


def test_long_strings_in_arguments_are_cut_and_everything_else_keeps_its_characters():
    text = '{ "path":"a.py",  "text": "TEXT", "n": 1.50e3, "more": [{"k": "MORE"}] }'
    text = text.replace("TEXT", "é\\n" * 500).replace("MORE", "z" * 900)
    asks = call()
    asks["tool_calls"][0]["function"]["arguments"] = text
    (made,) = pruned(ASK, asks, result(), END)[1].calls
    assert made.arguments.startswith('{ "path":"a.py",  "text": "é\\né\\n')
    assert '", "n": 1.50e3, "more": [{"k": "zzz' in made.arguments
    assert json.loads(made.arguments)["more"][0]["k"].count("characters elided") == 1
    assert len(made.arguments) < 800


_Y = "y" * 900
_TEXT = f'{{"text": "{_Y}"}}'
_CALL = f'{{"name": "w", "arguments": {_TEXT}}}'
_CALLS = {
    "flat": {"role": "assistant", "tool_calls": [{"id": "a", "name": "w", "arguments": {"text": _Y, "n": None}}]},
    "legacy": {"role": "assistant", "content": None, "function_call": {"name": "w", "arguments": _TEXT}},
    "anthropic": {"role": "assistant", "content": [{"type": "tool_use", "name": "w", "input": {"text": _Y}}]},
    "bedrock": {"role": "assistant", "content": [{"toolUse": {"name": "w", "input": {"text": _Y}}}]},
    "tags": {"role": "assistant", "content": f"Go.\n<tool_call>\n{_CALL}\n</tool_call>!"},
    "text_in_tags": {
        "role": "assistant",
        "content": f"<tool_call>{json.dumps({'name': 'w', 'arguments': _TEXT})}</tool_call>",
    },
    "sharegpt": {"role": "function_call", "content": f"<think>so</think>\n{_CALL}"},
}


@pytest.mark.parametrize("name", _CALLS)
def test_arguments_in_every_dialect(name):
    before = read([ASK, {**_CALLS[name], "loss": 0.5}, END]).turns
    after = prune(before, prune_steps(ResultLines(before, Region(1, 2)))).turns
    (made,) = after[1].calls
    text = json.loads(made.arguments)["text"]
    assert re.fullmatch(r"y+\n\[… 6\d\d characters elided …\]\ny+", text)
    assert len(turn_text(after[1])) < 500
    assert after[1].raw["loss"] == 0.5
    assert words(after[1]) == words(before[1])


def test_a_string_that_holds_json_still_does():
    asks = call("write", content=json.dumps({"name": "x", "text": "word " * 300}))
    (made,) = pruned(ASK, asks, result(), END)[1].calls
    assert json.loads(json.loads(made.arguments)["content"])["name"] == "x"
    assert len(made.arguments) < 500


def test_arguments_that_are_no_json_stay():
    asks = call()
    asks["tool_calls"][0]["function"]["arguments"] = '{"text": "' + "y" * 900
    assert pruned(ASK, asks, result(), END)[1].raw is asks


# Results in every dialect

_IMAGE = {"type": "image_url", "image_url": {"url": "u"}}
_PART = {"type": "text", "text": LISTING, "cache": 1}
_TAGGED = f"<tool_response>\n{LISTING}\n</tool_response>\n<tool_response>{LISTING}</tool_response>\nGo on."
_SHOWN = {
    "parts": {"role": "tool", "tool_call_id": "a", "content": [_PART]},
    "several_parts": {"role": "tool", "content": [*LISTING.split("\n"), _IMAGE]},
    "anthropic": {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": LISTING},
            {"type": "tool_result", "tool_use_id": "b", "content": [_PART], "is_error": False},
            {"type": "text", "text": "Now go on. " * 50},
        ],
    },
    "bedrock": {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": LISTING}]}}]},
    "tags": {"role": "user", "content": _TAGGED},
    "sharegpt": {"from": "observation", "value": LISTING, "role": None, "content": None},
}


@pytest.mark.parametrize("name", _SHOWN)
def test_results_in_every_dialect(name):
    message = {**_SHOWN[name], "loss": False}
    ask, end = ({"from": "human", "value": "x"}, {"from": "gpt", "value": "y"}) if "from" in message else (ASK, END)
    before = read([ask, message, end]).turns
    after = prune(before, prune_steps(ResultLines(before, Region(1, 2)))).turns
    assert [len(text) <= LINE_CHARS for text in result_texts(after[1])] == [True] * len(before[1].answers)
    cleared = [replace(turn, images=0) for turn in before]  # what a result shows goes with what it says
    assert shape(after) == shape(cleared)
    assert words(after[1]) == words(before[1])
    assert after[1].raw.keys() == message.keys()
    assert after[1] == read_turn(
        after[1].raw, after[1].own_role, after[1].role, "sharegpt" if "from" in message else "openai"
    )


@given(examples(max_steps=6, max_words=150), st.integers(0, 4))
def test_nothing_but_results_and_arguments_of_the_middle_changes(example: Example, last: int):
    turns = example.turns
    middle = lay_out(turns, Protection(last_n_turns=last)).middle
    steps = list(prune_steps(ResultLines(turns, middle)))
    after, changed = (pruned := prune(turns, steps)).turns, pruned.changed
    assert steps == list(prune_steps(ResultLines(turns, middle)))
    assert {i for i, (one, two) in enumerate(zip(turns, after, strict=True)) if one is not two} == set(changed)
    assert all(middle.start <= index < middle.end for index in changed)
    assert_kept(turns, after)
    assert list(prune_steps(ResultLines(after, middle))) == []
    shrinking = [sum(len(turn_text(turn)) for turn in prune(turns, steps[:n]).turns) for n in range(len(steps) + 1)]
    assert shrinking == sorted(set(shrinking), reverse=True)


@given(json_values, json_styles, st.integers(0, 600))
def test_arguments_that_parse_still_do(value, style, repeats):
    arguments = {"value": value, "text": "\\ud83d" * repeats, "inner": json.dumps(value)}
    text = json.dumps(arguments, **style)
    for given_ in (text, arguments):
        asks = call()
        asks["tool_calls"][0]["function"]["arguments"] = given_
        turns = read([ASK, asks, END]).turns
        after = prune(turns, prune_steps(ResultLines(turns, Region(1, 2)))).turns
        (made,) = after[1].calls
        assert_outline(json.loads(made.arguments), arguments, lists=True)
        assert len(made.arguments) <= len(turns[1].calls[0].arguments)
        assert list(prune_steps(ResultLines(after, Region(1, 2)))) == []


def test_hostile_arguments_and_results_are_taken_in_linear_time():
    asks = call()
    asks["tool_calls"][0]["function"]["arguments"] = "[" * 900 + '"' + "x" * 2000 + '"' + "]" * 900
    assert pruned(ASK, asks, result(text='"\\' * 500_000), END)[2].text.startswith("[read_file")


def test_real_rows_keep_their_outline(rows_folder):
    for turns in real_rows(rows_folder):
        middle = lay_out(turns, Protection()).middle
        after = prune(turns, prune_steps(ResultLines(turns, middle))).turns
        assert_kept(turns, after)
        assert list(prune_steps(ResultLines(after, middle))) == []


@pytest.mark.parametrize("shown", [LISTING, "\n".join(f"{n:6}\tdef handle_{n}(event):" for n in range(1, 40))])
def test_nothing_that_was_read_of_a_row_waits_for_the_collector(shown: str):
    turns = read([ASK, call(path="a.py"), result("a", shown), END]).turns
    ledger = FactLedger(turns)
    read_of_it = weakref.ref(ledger)
    gc.disable()
    try:
        assert prune(turns, prune_steps(ResultLines(turns, Region(1, 3), ledger=ledger))).changed
        del ledger
        assert read_of_it() is None
    finally:
        gc.enable()
