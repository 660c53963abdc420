from __future__ import annotations

from itertools import combinations
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trajectories import call, read, result
from valid_rows import valid_messages

from trajcompress.formats.turns import new_user_turn
from trajcompress.settings.choices import Target
from trajcompress.transcript.targets import fits_between
from trajcompress.transcript.tool_groups import allowed_cuts, answers_each_call
from trajcompress.transcript.validity import exchange_faults, violations
from trajcompress.transcript.violation import MEANINGS, NOTES, Kind

TARGETS = get_args(Target)

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "go"}
SAY = {"role": "assistant", "content": "done"}
NINE = "abcdefgh1"
NOTED = "result_of_words"


def calls(*ids, content=None, **function):
    function = {"name": "ls", "arguments": "{}", **function}
    made = [{"id": call_id, "type": "function", "function": function} for call_id in ids]
    return {"role": "assistant", "content": content, "tool_calls": made}


def gpt(source, value):
    return {"from": source, "value": value}


ASK, GPT = gpt("human", "go"), gpt("gpt", "done")
USE, SEEN = gpt("function_call", '{"name": "ls", "arguments": {}}'), gpt("observation", "a.txt")


def kinds(target, *messages, **options):
    return [violation.kind for violation in violations(read(list(messages)).turns, target, **options)]


def test_every_kind_of_violation_has_a_meaning():
    assert set(MEANINGS) == set(get_args(Kind))


@pytest.mark.parametrize("target", TARGETS)
def test_a_plain_run_is_valid_everywhere(target):
    assert kinds(target, SYSTEM, USER, calls(NINE), result(NINE), SAY) == []


@pytest.mark.parametrize("target", TARGETS)
def test_an_open_call_may_end_a_transcript(target):
    assert kinds(target, USER, calls(NINE)) == []


SOME_IDS = st.lists(st.sampled_from(["a", "b", "", None]), min_size=1, max_size=2)
STEPS = st.one_of(
    SOME_IDS.map(lambda ids: calls(*ids)),
    st.sampled_from(["a", "b", "", None]).map(result),
    st.just({"role": "user -> ls", "content": "go"}),
)


@given(st.lists(STEPS, min_size=1, max_size=5), st.booleans())
def test_an_exchange_that_needs_no_matching_has_no_fault(messages, may_stay_open):
    turns = read(messages).turns
    if answers_each_call(turns, may_stay_open=may_stay_open):
        assert list(exchange_faults(turns, 0, may_stay_open=may_stay_open)) == []


def test_a_call_and_its_result_need_no_matching():
    assert answers_each_call(read([calls(NINE), result(NINE)]).turns, may_stay_open=False)
    assert answers_each_call(read([USE, SEEN]).turns, may_stay_open=False)
    assert not answers_each_call(read([calls(NINE)]).turns, may_stay_open=False)


@pytest.mark.parametrize("target", TARGETS)
def test_no_turns(target):
    assert [violation.kind for violation in violations([], target)] == ["empty_trajectory"]


@pytest.mark.parametrize("target", ["template", "axolotl", "llama-factory"])
def test_a_sharegpt_run_is_valid_where_its_keys_are_read(target):
    tagged = [
        gpt("gpt", '<tool_call>\n{"name": "ls"}\n</tool_call>'),
        gpt("human", "<tool_response>\na\n</tool_response>"),
    ]
    assert kinds(target, ASK, *tagged, GPT) == []


@pytest.mark.parametrize("target", ["verl", "openai", "mistral"])
def test_sharegpt_keys_are_named_once(target):
    assert kinds(target, ASK, GPT, ASK, GPT) == ["message_keys"]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER, result(), SAY], ["orphan_tool_result"]),
        ([USER, call("a"), result("a"), result("a"), SAY], ["orphan_tool_result"]),
        ([USER, call("a"), USER, SAY], ["unanswered_tool_call"]),
        ([USER, calls("a", "b"), result("a"), SAY], ["unanswered_tool_call"]),
        ([USER, calls("a", "b"), result("b"), result("a"), SAY], []),
        ([USER, calls("a", "b"), result(None), result(None), SAY], []),
        ([USER, call(None), result("a"), SAY], []),
        ([USER, call("a"), result("b"), SAY], ["tool_result_id_mismatch"]),
        ([USER, calls("a", "a"), result("a"), result("a"), SAY], ["duplicate_tool_call_id"]),
        ([USER, call("a"), result("a"), call("a"), result("a"), SAY], []),
        ([USER, calls("a", arguments='{"path"'), result("a"), SAY], ["arguments_not_json"]),
        ([USER, calls("a", arguments=""), result("a"), SAY], ["arguments_not_json"]),
        ([USER, calls("a", arguments={"path": "."}), result("a"), SAY], []),
        ([ASK, gpt("function_call", "ls ."), SEEN, GPT], ["arguments_not_json"]),
        ([ASK, gpt("function_call", "<function=ls></function>"), SEEN, GPT], ["arguments_not_json"]),
        ([ASK, gpt("gpt", "Say <tool_call>ls</tool_call>."), gpt("human", "<tool_response>a</tool_response>")], []),
        ([{"role": "Boss", "content": "go"}, SAY], ["unknown_role"]),
    ],
)
def test_what_holds_everywhere(messages, expected):
    assert kinds("template", *messages) == expected


@pytest.mark.parametrize("target", TARGETS)
def test_a_result_that_answers_words_is_noted_where_nobody_pairs_it_with_a_call(target):
    """Of trainers' loaders none looks for its call; an API and mistral-common do."""
    paired = target in {"openai", "mistral"}
    found = [each for each in kinds(target, USER, SAY, result(None), SAY) if each in {"orphan_tool_result", NOTED}]
    assert found == ["orphan_tool_result" if paired else NOTED]
    assert NOTED in NOTES


@pytest.mark.parametrize(
    "messages",
    [
        [SEEN, GPT],
        [ASK, USE, SEEN, SEEN, GPT],
        [USER, SAY, result("a"), SAY],
        [USER, call("a"), result("a"), result(None), SAY],
    ],
)
def test_a_result_that_lost_its_call_answers_no_words(messages):
    assert "orphan_tool_result" in kinds("llama-factory", *messages)


def test_a_result_without_a_call_says_what_it_is_and_what_helps():
    named = [USER, {"role": "Boss (-> Web)", "content": "look"}, {"role": "Web", "content": "page"}, SAY]
    (found,) = [each for each in violations(read(named).turns, "template") if each.kind == NOTED]
    assert (found.turn, found.detail) == (2, "'Web' is read as a tool; --role-map 'Web'=user reads it as a request")
    (found,) = violations(read([USER, result(None), SAY]).turns, "template")
    assert found.detail == "'tool' without an id, and no call is open"


def test_where_and_why():
    (found,) = violations(read([USER, calls("a"), USER, SAY]).turns, "template")
    assert (found.turn, found.detail) == (1, "'ls' (a)")


def test_calls_made_at_once_in_several_turns():
    messages = [USER, call("a"), call("b"), result("a"), result("b"), SAY]
    assert kinds("trl", *messages) == []
    assert "unanswered_tool_call" in kinds("openai", *messages)


@pytest.mark.parametrize(
    ("target", "messages", "expected"),
    [
        ("llama-factory", [ASK, USE, SEEN, GPT], []),
        ("llama-factory", [ASK, USE, SEEN, ASK, GPT], ["parity"]),
        ("llama-factory", [ASK, GPT, ASK], ["ends_without_assistant"]),
        ("llama-factory", [ASK, USE, USE, SEEN, SEEN, GPT], ["parity"]),
        ("llama-factory", [USER, calls("a", "b"), result("a"), result("b"), SAY], []),
        ("llama-factory", [SAY, USER, SAY], ["parity"]),
        ("llama-factory", [USER, SAY, SYSTEM, USER, SAY], ["system_not_first"]),
        (
            "llama-factory",
            [USER, {"role": "assistant", "content": [{"type": "text", "text": "a"}]}],
            ["content_shape"],
        ),
        ("mistral", [USER, USER, SAY], ["user_side_by_side"]),
        ("mistral", [USER, SAY, SAY], ["assistant_side_by_side"]),
        ("mistral", [USER, calls(NINE), result(NINE), USER, SAY], ["does_not_alternate"]),
        ("mistral", [SAY, USER, SAY], []),
        ("mistral", [SAY], ["starts_with_assistant"]),
        ("mistral", [SYSTEM, SYSTEM, USER, SYSTEM, SAY], []),
        ("mistral", [USER, SAY, SYSTEM, USER, SAY], ["system_not_first"]),
        ("mistral", [USER, SAY, USER], ["ends_without_assistant"]),
        ("mistral", [USER, calls("call_1"), result("call_1"), SAY], ["tool_call_id_format"] * 2),
        ("mistral", [USER, calls(NINE, content="I look."), result(NINE), SAY], ["tool_calls_with_content"]),
        ("mistral", [USER, SAY, calls(NINE), result(NINE)], ["tool_calls_with_content", "ends_without_assistant"]),
        ("mistral", [USER, {"role": "assistant", "content": ""}], ["empty_assistant"]),
        ("mistral", [{"role": "user", "content": None}, SAY], ["null_content"]),
        ("openai", [USER, USER, SAY, SAY], []),
        ("openai", [USER, calls("a", arguments={"path": "."}), result("a"), SAY], ["tool_call_shape"]),
        ("openai", [USER, calls("a", name="list files"), result("a"), SAY], ["tool_name_format"]),
        ("openai", [USER, call("a"), result(None), SAY], ["tool_call_id_missing"]),
        ("openai", [USER], ["no_assistant_turn"]),
        ("openai", [USER, {"role": "assistant", "content": None}], ["null_content"]),
        ("openai", [{"role": "user", "content": [{"type": "image"}]}, SAY], ["content_shape"]),
        ("openai", [{"role": "human", "content": "go"}, SAY], ["unknown_role"]),
        ("verl", [USER, SAY, SYSTEM, USER, SAY], ["system_not_first"]),
        ("trl", [ASK, GPT], ["unknown_role"] * 2),
    ],
)
def test_what_a_target_demands(target, messages, expected):
    assert kinds(target, *messages) == expected


def test_mistral_takes_assistant_turns_in_a_row_for_one():
    silent = {"role": "assistant", "content": ""}
    assert kinds("mistral", USER, silent, mistral="v7") == ["empty_assistant"]
    assert kinds("mistral", USER, silent, SAY, mistral="v7") == ["assistant_side_by_side"]  # a note
    assert kinds("mistral", USER, SAY, calls(NINE), mistral="v7") == []


def test_mapped_roles_are_known():
    assert kinds("trl", ASK, GPT, mapped_roles={"human": "user", "gpt": "assistant"}) == []


LEFT, RIGHT = read([SYSTEM, USER, calls(NINE), result(NINE), SAY]).turns, read([SAY, USER, calls(NINE), SYSTEM]).turns


@pytest.mark.parametrize(
    ("left", "right", "where"),
    [
        ("say", "say", set(TARGETS)),
        ("system", "say", set(TARGETS)),
        (None, "say", set(TARGETS)),
        ("say", "call", set(TARGETS)),
        ("user", "say", set()),
        ("say", "user", set()),
        ("call", "say", set()),
        ("tool", "say", set(TARGETS) - {"llama-factory", "mistral"}),
        ("say", None, set(TARGETS) - {"llama-factory", "mistral"}),
        ("say", "system", {"template", "trl", "axolotl", "openai"}),
    ],
)
def test_where_a_human_turn_fits(left, right, where):
    before = dict(zip(["system", "user", "call", "tool", "say"], LEFT, strict=True)) | {None: None}
    after = dict(zip(["say", "user", "call", "system"], RIGHT, strict=True)) | {None: None}
    assert {target for target in TARGETS if fits_between(before[left], after[right], target)} == where


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=3), st.booleans(), st.sampled_from(TARGETS), st.integers(0, 500)
)
def test_a_human_turn_where_it_fits_breaks_nothing(rounds, sharegpt, target, drawn):
    """In the place of any turns between whole tool groups."""
    trajectory = read(list(valid_messages(rounds, sharegpt=sharegpt)))
    turns = trajectory.turns
    cuts = [position for position, allowed in enumerate(allowed_cuts(turns)) if allowed]
    regions = list(combinations(cuts, 2))
    start, end = regions[drawn % len(regions)]
    left, right = (turns[start - 1] if start else None), (turns[end] if end < len(turns) else None)
    if fits_between(left, right, target):
        placed = (*turns[:start], new_user_turn(trajectory, "summary"), *turns[end:])
        before = {violation.kind for violation in violations(turns, target)}
        after = {violation.kind for violation in violations(placed, target)}
        assert after <= before | {"no_assistant_turn"}  # of a row of one turn and a summary
