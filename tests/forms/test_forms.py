"""Forms: what the rows of each target look like, made by the smallest change."""

from __future__ import annotations

import json

import pytest
from forming import ASKED, CALL, FUNCTION, OPTIONS, RESULT, SAID, SYSTEM, TOOL, calling, formed

from trajcompress.formats.adapter import read_trajectory
from trajcompress.forms.targets import form_for


def test_a_row_that_the_target_reads_right_stays_as_it_is():
    messages = [SYSTEM, ASKED, calling("", tool_calls=[CALL]), RESULT, SAID]
    for target in ("template", "trl", "axolotl", "openai"):
        done = formed(target, messages)
        assert done.formed is None
        assert done.row["messages"][2] is messages[2]


def test_sharegpt_fields_that_trl_maps_stay():
    turns = [{"from": "user", "value": "hi"}, {"from": "assistant", "value": "hello"}]
    assert formed("trl", turns, "conversations").formed is None
    done = formed("trl", [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}], "conversations")
    assert done.row == {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}


@pytest.mark.parametrize("target", ["trl", "axolotl", "verl", "mistral"])
def test_content_in_parts_is_text(target):
    parts = {"role": "user", "content": [{"type": "text", "text": "THE WHOLE"}, {"type": "text", "text": "TASK"}]}
    assert formed(target, [parts, SAID]).row["messages"][0]["content"] == "THE WHOLE\nTASK"


@pytest.mark.parametrize("target", ["trl", "axolotl", "verl"])
def test_null_content_beside_calls_is_empty_text(target):
    assert formed(target, [ASKED, calling(None, tool_calls=[CALL]), RESULT, SAID]).row["messages"][1]["content"] == ""


@pytest.mark.parametrize("target", ["trl", "axolotl", "verl", "mistral"])
def test_legacy_and_flat_calls_become_tool_calls_with_ids_that_their_results_answer(target):
    legacy = [
        ASKED,
        calling(None, function_call=FUNCTION),
        {"role": "function", "name": "read", "content": "hi"},
        SAID,
    ]
    flat = [
        ASKED,
        calling("", tool_calls=[{"name": "read", "arguments": {"path": "a.txt"}}]),
        {**RESULT, "tool_call_id": None},
        SAID,
    ]
    for messages in (legacy, flat):
        _, made, result, _ = formed(target, messages).row["messages"]
        (call,) = made["tool_calls"]
        assert (call["type"], call["function"]) == ("function", FUNCTION)
        assert result["role"] == "tool"
        assert result["tool_call_id"] == call["id"]
        assert "function_call" not in made


def test_arguments_are_objects_for_a_template_that_would_encode_text_again():
    row = {"messages": [ASKED, calling("", tool_calls=[CALL]), RESULT, SAID]}
    done = form_for("trl", OPTIONS, arguments="object").of(read_trajectory(row, "r", OPTIONS))
    assert done.row["messages"][1]["tool_calls"][0]["function"]["arguments"] == {"path": "a.txt"}


def test_trl_has_no_form_for_a_row_to_learn_nothing_from_where_it_learns_from_assistant_turns_alone():
    trajectory = read_trajectory({"messages": [SYSTEM, ASKED]}, "r", OPTIONS)
    assert form_for("trl", OPTIONS).of(trajectory).formed is None
    done = form_for("trl", OPTIONS, assistant_only=True).of(trajectory)
    assert done.formed.unfit.startswith("no_assistant_turn: ")
    assert done.row is trajectory.row
    others = [form_for(target, OPTIONS, assistant_only=True).of(trajectory) for target in ("axolotl", "verl")]
    assert not any(each.formed and each.formed.unfit for each in others)


def test_mistral_has_ids_of_nine_letters_and_digits_each_its_own():
    calls = [{**CALL, "id": name} for name in ("call_1", "call_2", "abcdefgh9")]
    results = [{**RESULT, "tool_call_id": call["id"]} for call in calls]
    done = formed("mistral", [ASKED, calling(None, tool_calls=calls), *results, SAID])
    made = [call["id"] for call in done.row["messages"][1]["tool_calls"]]
    assert [message["tool_call_id"] for message in done.row["messages"][2:5]] == made
    assert all(len(each) == 9 and each.isalnum() for each in made)
    assert len(set(made)) == 3
    assert made[2] == "abcdefgh9"


def test_columns_that_tell_trl_of_another_kind_of_dataset_get_another_name():
    done = formed("trl", [ASKED, SAID], prompt="p", text="t")
    assert done.row == {"messages": [ASKED, SAID], "prompt_as_read": "p", "text_as_read": "t"}
    assert formed("trl", [ASKED, SAID], "prompt").row == {"messages": [ASKED, SAID]}


@pytest.mark.parametrize(("given", "kind"), [("system prompt", "system"), (None, None)])
def test_a_system_column_becomes_a_turn(given, kind):
    done = formed("trl", [ASKED, SAID], system=given)
    assert (done.turns[0].role == "system") == (kind == "system")
    assert ("system" in done.row) == (given is None)


def test_tools_of_other_shapes_are_those_of_the_standard():
    qwen_agent = {
        "name_for_human": "x",
        "name_for_model": "read",
        "description_for_model": "Reads.",
        "parameters": {},
    }
    shaped = {
        "type": "function",
        "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object", "properties": {}}},
    }
    for columns in ({"tools": [qwen_agent]}, {"tools": json.dumps([qwen_agent])}, {"functions": [qwen_agent]}):
        as_list = formed("openai", [ASKED, SAID], **columns).row
        assert as_list["tools"][0]["function"]["name"] == "read"
        assert as_list["tools"][0]["function"]["parameters"] == shaped["function"]["parameters"]
        assert "functions" not in as_list
        assert json.loads(formed("trl", [ASKED, SAID], **columns).row["tools"]) == as_list["tools"]


def test_what_holds_no_tools_is_unfit_and_stays_as_it_was():
    for tools in ('["not closed', [1], [{"description": "no name"}], {"a": 1}):
        done = formed("trl", [ASKED, SAID], tools=tools)
        assert done.formed.unfit.startswith("tools_shape: ")
        assert done.row == {"messages": [ASKED, SAID], "tools": tools}


def test_messages_of_verl_have_the_same_keys_and_show_the_tools_to_the_model():
    done = formed("verl", [ASKED, calling("", tool_calls=[CALL]), RESULT, SAID], tools=[TOOL])
    assert len({tuple(message) for message in done.row["messages"]}) == 1
    assert "tools" not in done.row
    assert '"description": "Reads a file."' in done.row["messages"][0]["content"]


def test_observations_of_text_protocols_stay_user_turns():
    act = {"role": "assistant", "content": "Let me look.\n```bash\nls\n```"}
    seen = {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.txt\n</output>"}
    for target in ("trl", "axolotl", "openai", "mistral"):
        assert formed(target, [SYSTEM, ASKED, act, seen, SAID]).row["messages"] == [SYSTEM, ASKED, act, seen, SAID]


def test_who_answers_by_name_to_what_was_asked_in_words_is_a_user():
    turns = [
        {"role": "human", "content": "Find the price."},
        {"role": "Orchestrator (-> WebSurfer)", "content": "Please open the shop."},
        {"role": "WebSurfer", "content": "I see a page."},
        {"role": "Orchestrator (thought)", "content": "That is it."},
    ]
    assert [message["role"] for message in formed("trl", turns).row["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]


def test_turns_behind_the_last_of_the_assistant_are_cut_on_request():
    done = formed("trl", [ASKED, SAID, ASKED, ASKED], trim_end=True)
    assert done.row["messages"] == [ASKED, SAID]
    assert (done.formed.trimmed, done.formed.changes) == (2, ("trimmed",))
    assert formed("trl", [ASKED, ASKED], trim_end=True).formed is None


def test_what_a_strict_target_refuses_in_any_form_is_unfit_and_stays_as_it_was():
    messages = [ASKED, calling("I look.", tool_calls=[CALL]), RESULT, SAID]
    done = formed("mistral", messages)
    assert done.formed.unfit.startswith("tool_calls_with_content: turn 1")
    assert done.row == {"messages": messages}


def test_mistral_takes_rows_that_begin_with_the_assistant():
    assert formed("mistral", [SAID, ASKED, SAID]).formed is None
    assert formed("mistral", [SYSTEM, SAID, ASKED, SAID]).formed is None
    assert formed("mistral", [SAID]).formed.unfit.startswith("starts_with_assistant: ")


def test_a_developer_is_the_system_for_chat_templates():
    turns = [{"role": "developer", "content": "Be brief."}, ASKED, SAID]
    assert formed("trl", turns).row["messages"][0] == SYSTEM
    assert formed("openai", turns).formed is None


def test_an_image_is_unfit_for_a_chat_template_that_shows_none():
    seen = {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "data:,"}}, {"type": "text", "text": "?"}],
    }
    trajectory = read_trajectory({"messages": [seen, SAID]}, "r", OPTIONS)
    shown = form_for("trl", OPTIONS).of(trajectory).row
    assert shown["messages"][0]["content"][0] == {"type": "image", "image": "data:,"}
    assert shown["images"] == []  # by which it knows that there are any
    assert form_for("trl", OPTIONS, images=False).of(trajectory).formed.unfit.startswith("content_shape: ")


def test_results_in_parts_of_a_user_turn_are_results_and_what_is_beside_them_stays():
    used = {"type": "tool_use", "id": "call_1", "name": "read", "input": {"path": "a.txt"}}
    parts = [
        {"type": "tool_result", "tool_use_id": "call_1", "content": "hi"},
        {"type": "input_text", "text": "Go on."},
    ]
    turns = [ASKED, {"role": "assistant", "content": [used]}, {"role": "user", "content": parts}, SAID]
    _, _, result, person, _ = formed("trl", turns).row["messages"]
    assert (result["role"], result["tool_call_id"], result["content"]) == ("tool", "call_1", "hi")
    assert person == {"role": "user", "content": "Go on."}
    turns[2] = {"role": "user", "content": parts[:1]}
    assert [turn["from"] for turn in formed("llama-factory", turns).row["conversations"]][1:3] == [
        "function_call",
        "observation",
    ]


@pytest.mark.parametrize("target", ["trl", "axolotl", "verl", "mistral", "openai"])
def test_results_of_server_side_tools_are_no_words_of_the_assistant(target):
    ran = {"type": "bash_code_execution_result", "stdout": "37170", "content": []}
    parts = [
        *([] if target == "mistral" else [{"type": "text", "text": "I compute it."}]),  # has no words beside calls
        {"type": "server_tool_use", "id": "srv000001", "name": "bash", "input": {"command": "echo $((3 * 12390))"}},
        {"type": "bash_code_execution_tool_result", "tool_use_id": "srv000001", "content": ran},
        {"type": "text", "text": "It is 37,170."},
    ]
    done = formed(target, [ASKED, {"role": "assistant", "content": parts}])
    assert done.formed.unfit is None
    _, calls, result, says = done.row["messages"]
    assert calls["tool_calls"][0]["function"]["name"] == "bash"
    assert done.turns[1].text == ("" if target == "mistral" else "I compute it.")
    assert result["tool_call_id"] == calls["tool_calls"][0]["id"]
    assert (result["role"], json.loads(result["content"])) == ("tool", ran)
    assert (says["role"], done.turns[-1].text) == ("assistant", "It is 37,170.")


def test_data_that_text_does_not_show_is_not_lost_without_a_word():
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 300}}
    sound = {"type": "audio", "audio": "A" * 300}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": [image]}
    for target in ("axolotl", "llama-factory", "verl", "mistral"):
        for part in (sound, result):
            done = formed(target, [{"role": "user", "content": [{"type": "text", "text": "?"}, part]}, SAID])
            assert done.formed.unfit.startswith("content_shape: "), (target, part["type"])


def test_messages_that_are_json_text_become_a_list():
    row = {"messages": json.dumps([ASKED, SAID])}
    done = form_for("trl", OPTIONS).of(read_trajectory(row, "r", OPTIONS))
    assert done.row == {"messages": [ASKED, SAID]}


def test_no_tools_are_null_and_not_a_list_where_others_are_text():
    assert formed("trl", [ASKED, SAID], tools=[]).row["tools"] is None
    assert formed("llama-factory", [ASKED, SAID], tools="[]").row["tools"] == ""


def test_a_result_that_nothing_asked_for_is_not_told_as_a_persons_words():
    assert formed("openai", [ASKED, RESULT, SAID]).formed.unfit.startswith("orphan_tool_result: ")


def with_type(kind):
    properties = {"type": {"type": kind}, "all": {"type": "array", "items": {"type": kind}}}
    return {"type": "function", "function": {**TOOL, "parameters": {"type": "object", "properties": properties}}}


def test_types_of_python_in_tools_are_those_of_json_where_tools_are_validated():
    for target in ("openai", "mistral"):
        made = formed(target, [ASKED, SAID], tools=[with_type("int")])
        assert made.row["tools"] == [with_type("integer")]
        assert formed(target, [ASKED, SAID], tools=[with_type("integer")]).formed is None
        unfit = formed(target, [ASKED, SAID], tools=[with_type("int, optional")]).formed.unfit
        assert unfit.startswith("tools_shape: of 'read' a parameter is of type 'int, optional'")
    assert json.loads(formed("trl", [ASKED, SAID], tools=[with_type("int")]).row["tools"]) == [with_type("int")]


@pytest.mark.parametrize("target", ["axolotl", "llama-factory"])
def test_a_system_column_that_is_null_goes_where_the_loader_would_raise(target):
    done = formed(target, [ASKED, SAID], system=None)
    assert "system" not in done.row
    assert "system" in done.formed.changes
    assert formed("trl", [ASKED, SAID], system=None).formed is None
