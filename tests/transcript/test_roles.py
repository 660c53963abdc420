from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trajectories import read

from trajcompress.formats.adapter import explain_roles
from trajcompress.transcript.roles import ALIASES, normalise_roles
from trajcompress.transcript.tool_groups import allowed_cuts


@pytest.mark.parametrize(
    ("names", "role"),
    [
        (["system", "developer", "System", " SYSTEM "], "system"),
        (["user", "human", "Human"], "user"),
        (["assistant", "gpt", "model", "function_call", "GPT"], "assistant"),
        (["tool", "function", "observation", "function_response", "tool_result", "environment", "ipython"], "tool"),
    ],
)
def test_known_names_whatever_their_case(names, role):
    for name in names:
        assert normalise_roles(["user", name], {}) == ["user", role]


def test_an_unknown_name_that_answers_is_the_assistant():
    assert normalise_roles(["user", "agent", "tool", "agent"], {}) == ["user", "assistant", "tool", "assistant"]


def test_an_environment_that_no_user_stands_beside_asks():
    names = ["system", "environment", "agent", "environment"]
    assert normalise_roles(names, {}) == ["system", "user", "assistant", "user"]
    assert normalise_roles(names, {"environment": "tool"}) == ["system", "tool", "assistant", "tool"]


def test_an_environment_is_told_of_only_where_it_was_guessed():
    asked, seen = {"role": "user", "content": "go"}, {"role": "environment", "content": "a room"}
    assert explain_roles(read([asked, {"role": "assistant", "content": "look"}, seen]), {}) == []
    (line,) = explain_roles(read([seen, {"role": "assistant", "content": "look"}, seen]), {})
    assert line.startswith("role 'environment' is not known, and read as user")


def test_an_agent_that_greets_a_customer_is_the_assistant():
    assert normalise_roles(["agent", "customer", "agent"], {}) == ["assistant", "user", "assistant"]


def test_an_unknown_name_that_opens_where_no_known_user_speaks_asks():
    assert normalise_roles(["system", "teacher", "pupil", "teacher"], {}) == ["system", "user", "assistant", "user"]


def test_an_agent_that_works_for_a_user_calls_others_as_tools():
    names = ["human", "Boss (thought)", "Boss (-> Surfer)", "Surfer", "Boss (-> Coder)", "Coder", "Aide (-> Surfer)"]
    roles = ["user", "assistant", "assistant", "tool", "assistant", "tool", "assistant"]
    assert normalise_roles(names, {}) == roles


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (["human", "b", "a (-> b)"], ["user", "assistant", "assistant"]),  # it had spoken, and did not answer
        (["human", "a (-> Assistant)", "Assistant"], ["user", "assistant", "assistant"]),  # a known name is no guess
        (["human", "a (->)", ""], ["user", "assistant", "assistant"]),
        (["human", "a (-> b)", "b", "b", "c", "b"], ["user", "assistant", "tool", *["assistant"] * 3]),
    ],
)
def test_whoever_is_not_called_is_no_tool(names, roles):
    assert normalise_roles(names, {}) == roles


def test_where_no_user_is_known_who_addresses_somebody_asks():
    assert normalise_roles(["a (-> b)", "b", "c (-> b)", "b"], {}) == ["user", "assistant", "user", "assistant"]


def test_the_role_map_decides_for_one_agent_and_leaves_the_other_to_be_guessed():
    names = ["human", "a (-> b)", "b"]
    assert normalise_roles(names, {"b": "assistant"}) == ["user", "assistant", "assistant"]
    assert normalise_roles(names, {"a (-> b)": "user"}) == ["user", "user", "assistant"]


def test_the_role_map_goes_before_everything():
    names = ["user", "critic", "Orchestrator (-> WebSurfer)", "gpt"]
    role_map = {"critic": "user", "Orchestrator (-> WebSurfer)": "system", "gpt": "tool"}
    assert normalise_roles(names, role_map) == ["user", "user", "system", "tool"]


_names = st.sampled_from([*ALIASES, "agent", "a (-> b)", "b", "c (-> b)", "", "критик"]) | st.text(max_size=5)


@given(st.lists(_names, max_size=12))
def test_a_speaker_whom_nobody_calls_has_one_role_in_a_row(names):
    roles = normalise_roles(names, {})
    assert len(roles) == len(names)
    assert len({(name, role) for name, role in zip(names, roles, strict=True) if name != "b"}) == len(
        {*names} - {"b"}
    )


_agents = st.lists(st.sampled_from(["A (-> B)", "A (-> C)", "B (-> C)", "A (thought)", "B", "C"]), max_size=12)


@given(_agents, st.data())
def test_what_is_kept_of_a_row_is_read_as_it_was_in_the_whole(agents, data):
    names = ["human", *agents]
    roles = normalise_roles(names, {})
    turns = read([{"role": name, "content": "words"} for name in names]).turns
    ends = [end for end, allowed in enumerate(allowed_cuts(turns)) if allowed and end]
    start, end = sorted((data.draw(st.sampled_from(ends)), data.draw(st.sampled_from(ends))))
    assert normalise_roles(names[:start] + names[end:], {}) == roles[:start] + roles[end:]
