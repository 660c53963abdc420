from __future__ import annotations

import copy
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from cycles import leaving_no_cycles
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from reading import source_of
from shared import RENDERED, load_cached, rows_of

from trajcompress.dataset.readers import read_rows
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens.chat_template import ChatTemplate, TemplateRefusedError
from trajcompress.tokens.template_messages import names_all
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.transcript.trajectory import ToolCall

LOOP = "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}"
CALLS = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}"
    "{% for call in message.tool_calls or [] %}[{{ call.function.name }}:%ARGUMENTS%]{% endfor %}{% endfor %}"
)
AS_TEXT = CALLS.replace("%ARGUMENTS%", "{{ '!' + call.function.arguments }}")
AS_OBJECT = CALLS.replace(
    "%ARGUMENTS%", "{% for k, v in call.function.arguments.items() %}{{ k }}={{ v }}{% endfor %}"
)
USER = {"role": "user", "content": "go"}


def trajectory_of(*messages, **columns):
    return read_trajectory({"messages": list(messages), **columns}, "x", FormatOptions())


def call(arguments, content="", **more):
    function = {"name": "ls", "arguments": arguments}
    calls = [{"id": "c1", "type": "function", "function": function}]
    return {"role": "assistant", "content": content, "tool_calls": calls, **more}


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        (AS_TEXT, "text"),
        (AS_OBJECT, "object"),
        (CALLS.replace("%ARGUMENTS%", "{{ call.function.arguments | tojson }}"), "object"),
        (
            CALLS.replace("message.tool_calls or []", "([] if message.content else message.tool_calls or [])"),
            "unseen",
        ),
        (LOOP, "unseen"),
    ],
)
def test_how_a_template_wants_arguments_where_it_shows_calls(make_tokenizer, template, wanted):
    assert ChatTemplate(load_tokenizer(make_tokenizer(template)).hf).takes_arguments_as() == wanted


@pytest.fixture
def render(make_tokenizer):
    def render(template, *messages, **columns):
        row = copy.deepcopy(messages)
        text = ChatTemplate(load_tokenizer(make_tokenizer(template)).hf).render(trajectory_of(*messages, **columns))
        assert messages == row
        return text

    return render


@pytest.fixture
def renderings(make_tokenizer):
    def renderings(template, row):
        chat_template = ChatTemplate(load_tokenizer(make_tokenizer(template)).hf)
        return chat_template.renderings(read_trajectory(row, "x", FormatOptions()))

    return renderings


def test_a_refused_form_keeps_nothing_alive(make_tokenizer):
    source = AS_TEXT.replace("{{ message.content }}", "{{ message.content + '' }}")
    template = ChatTemplate(load_tokenizer(make_tokenizer(source)).hf)
    trajectory = trajectory_of(USER, call('{"path": "."}', None))
    template.render(trajectory)  # what is made once is made
    with leaving_no_cycles():
        template.render(trajectory)


def test_null_content_beside_calls(render):
    template = AS_TEXT.replace("{{ message.content }}", "{{ message.content + '' }}")
    assert render(template, USER, call('{"path": "."}', None)) == '<user>go<assistant>[ls:!{"path": "."}]'


@pytest.mark.parametrize("arguments", ['{"path": "."}', {"path": "."}])
def test_arguments_as_the_template_wants_them(render, arguments):
    assert render(AS_TEXT, USER, call(arguments)) == '<user>go<assistant>[ls:!{"path": "."}]'
    assert render(AS_OBJECT, USER, call(arguments)) == "<user>go<assistant>[ls:path=.]"


def test_arguments_stay_as_they_are_where_the_template_takes_both(render):
    template = CALLS.replace("%ARGUMENTS%", "{{ call.function.arguments | tojson }}")
    assert render(template, USER, call({"a": 1})).endswith('[ls:{"a": 1}]')
    assert render(template, USER, call('{"a": 1}')).endswith('[ls:"{\\"a\\": 1}"]')
    parts = [{"type": "text", "text": "so"}]
    assert render(template, USER, call('{"a": 1}', parts)).endswith('so[ls:"{\\"a\\": 1}"]')


PARTS = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]


@pytest.mark.parametrize(
    "template",
    [
        pytest.param(LOOP, id="prints the list"),
        pytest.param(LOOP.replace("{{ message.content }}", "{{ message.content + '' }}"), id="fails"),
        pytest.param(
            LOOP.replace("message.content }}", "message.content if message.content is string }}"), id="drops"
        ),
    ],
)
@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_list_content_is_text_where_the_template_does_not_read_lists(render, template, role):
    assert render(template, USER, {"role": role, "content": PARTS}) == f"<user>go<{role}>one\ntwo"


TAKES_USER_PARTS = (
    "{% for message in messages %}<{{ message.role }}>"
    "{% if message.role == 'user' and message.content is not string %}"
    "{% for part in message.content %}{{ part.text or '<image>' }}{% endfor %}{% else %}{{ message.content }}"
    "{% endif %}{% endfor %}"
)


def test_list_content_stays_where_the_template_reads_lists(render):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 999}}
    assert render(TAKES_USER_PARTS, {"role": "user", "content": [*PARTS, image]}) == "<user>onetwo<image>"


def test_a_template_that_reads_lists_of_one_role_alone(render):
    messages = ({"role": "user", "content": PARTS}, {"role": "assistant", "content": PARTS})
    assert render(TAKES_USER_PARTS, *messages) == "<user>one\ntwo<assistant>one\ntwo"


def test_roles_that_must_alternate(render):
    template = (
        "{% for message in messages %}{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Roles must alternate\nuser/assistant') }}{% endif %}{{ message.content }}{% endfor %}"
    )
    assert render(template, USER, {"role": "assistant", "content": "!"}) == "go!"
    with pytest.raises(TemplateRefusedError) as caught:
        render(template, USER, USER)
    assert str(caught.value) == "Roles must alternate"


def test_dropped_reasoning_is_dropped(render):
    template = LOOP.replace(
        "message.content }}", "message.content.split('</think>')[-1] if not loop.last else 'end' }}"
    )
    thought = {"role": "assistant", "content": "<think>hm</think>so"}
    assert render(template, USER, thought, USER) == "<user>go<assistant>so<user>end"


def test_other_role_names_and_formats_are_mapped(render, make_tokenizer):
    row = {
        "conversations": [
            {"from": "system", "value": "be"},
            {"from": "human", "value": "go"},
            {"from": "function_call", "value": '{"name": "ls", "arguments": {"path": "."}}'},
            {"from": "observation", "value": "a.txt"},
            {"from": "gpt", "value": "done"},
        ]
    }
    trajectory = read_trajectory(row, "x", FormatOptions())
    expected = "<system>be<user>go<assistant>[ls:path=.]<tool>a.txt<assistant>done"
    assert ChatTemplate(load_tokenizer(make_tokenizer(AS_OBJECT)).hf).render(trajectory) == expected
    named = ({"role": "developer", "content": "be"}, {"role": "Orchestrator (-> Coder)", "content": "go"})
    assert render(LOOP, *named, {"role": "Coder", "content": "!"}) == "<developer>be<user>go<assistant>!"


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        pytest.param([("user", "a"), ("assistant", "b")], ["<user>a<assistant>b"], id="names of the template"),
        pytest.param(
            [("human", "a"), ("Coder", "b")], ["<user>a<assistant>b", "<human>a<Coder>b"], id="names of its own"
        ),
        pytest.param(
            [("developer", "be"), ("user", "a")], ["<developer>be<user>a", "<system>be<user>a"], id="developer"
        ),
        pytest.param(
            [("developer", "be"), ("user", "a"), ("Coder", "b")],
            ["<developer>be<user>a<assistant>b", "<system>be<user>a<assistant>b", "<developer>be<user>a<Coder>b"],
            id="both",
        ),
    ],
)
def test_a_row_is_rendered_with_roles_as_read_and_with_its_own_names(renderings, turns, expected):
    assert renderings(LOOP, {"messages": [{"role": role, "content": text} for role, text in turns]}) == expected


def test_names_of_sharegpt_are_mapped_by_every_trainer_and_others_are_not(renderings):
    turns = [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]
    assert renderings(LOOP, {"conversations": turns}) == ["<user>a<assistant>b"]
    both = ["<user>a<assistant>b<assistant>c", "<user>a<assistant>b<bot>c"]
    assert renderings(LOOP, {"conversations": [*turns, {"from": "bot", "value": "c"}]}) == both


def test_own_names_that_the_template_refuses_are_rendered_as_read_alone(renderings):
    knows = "{{ raise_exception('no such role') if messages[-1].role not in ['user', 'assistant'] }}" + LOOP
    row = {"messages": [{"role": "user", "content": "a"}, {"role": "Coder", "content": "b"}]}
    assert renderings(knows, row) == ["<user>a<assistant>b"]
    knows_no_assistant = knows.replace("'assistant'", "'Coder'")
    with pytest.raises(TemplateRefusedError, match="no such role"):
        renderings(knows_no_assistant, row)


def test_calls_written_in_text_stay_there_once(render):
    text = 'Look. <tool_call>{"name": "ls", "arguments": {}}</tool_call>'
    assert render(AS_TEXT, USER, {"from": "gpt", "value": text}) == f"<user>go<assistant>{text}"


def test_a_form_of_our_own_that_loses_calls_is_refused(render):
    with pytest.raises(TemplateRefusedError):
        render(LOOP.replace("message.content", "message.content + ''"), USER, call("{}", None))
    with pytest.raises(TemplateRefusedError, match="leaves out the tool calls"):
        render(LOOP, USER, {"from": "function_call", "value": '{"name": "ls", "arguments": {}}'})


@given(text=st.text("ab", max_size=12), names=st.lists(st.text("ab", max_size=3), max_size=5))
def test_calls_are_lost_where_a_name_is_there_less_often_than_called(text, names):
    kept = all(text.count(name) >= times for name, times in Counter(names).items())
    assert names_all(text, [ToolCall(None, name, "{}") for name in names]) == kept


def test_legacy_function_calls(render):
    legacy = {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": "{}"}}
    assert render(AS_TEXT, USER, legacy) == "<user>go<assistant>[ls:!{}]"


def test_tools_reach_the_template(render):
    template = "{% for tool in tools or [] %}{{ tool.function.name }};{% endfor %}" + LOOP
    tools = [{"type": "function", "function": {"name": "ls", "description": "", "parameters": {}}}]
    assert render(template, USER, tools=tools) == "ls;<user>go"
    assert render(template, USER) == "<user>go"


@pytest.mark.parametrize(("name", "source", "file"), RENDERED)
def test_what_a_trainer_renders_is_what_we_render(name, source, file):
    hf = load_cached(name).hf
    template = ChatTemplate(hf)
    same = 0
    for row, _ in zip(read_rows(source_of(rows_of(source) / f"{file}.jsonl")), range(20), strict=False):
        trajectory = read_trajectory(row.value, "x", FormatOptions())
        messages = row.value["messages"]
        if any(turn.raw["role"] != turn.role or isinstance(turn.raw["content"], list) for turn in trajectory.turns):
            continue
        try:
            expected = hf.apply_chat_template(messages, tools=row.value.get("tools"), tokenize=False)
        except Exception:  # noqa: BLE001, S112  whatever a template raises
            continue
        assert template.render(trajectory) == expected == template.render(replace(trajectory, is_plain=False))
        same += 1
    assert same > 5


def test_templates_render_in_many_threads_at_once(make_tokenizer):
    template = ChatTemplate(load_tokenizer(make_tokenizer(AS_OBJECT)).hf)
    trajectories = [trajectory_of(USER, call({"n": n})) for n in range(200)]
    with ThreadPoolExecutor(8) as threads:
        rendered = list(threads.map(template.render, trajectories))
    assert rendered == [f"<user>go<assistant>[ls:n={n}]" for n in range(200)]
