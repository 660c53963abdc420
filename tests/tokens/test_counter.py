from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import source_of
from shared import CHAT_TOKENIZERS, RENDERED, SHARED_CHAT_TOKENIZERS, load_cached, rows_of

from trajcompress import Compressor
from trajcompress.dataset.readers import read_rows
from trajcompress.errors import UncountableTextError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens.counter import IMAGE_TOKENS, TokenCounter, turn_text
from trajcompress.tokens.tokenizer import load_tokenizer

LOOP = "{% for message in messages %}<{{ message.role }}>{{ message.content + '' }}{% endfor %}"
USER = {"role": "user", "content": "go on, please"}
ANSWER = {"role": "assistant", "content": "well, no"}


def trajectory_of(*messages, **columns):
    return read_trajectory({"messages": list(messages), **columns}, "x", FormatOptions())


@pytest.fixture
def counter(make_tokenizer):
    return lambda template=None, method=None: TokenCounter(load_tokenizer(make_tokenizer(template)), method)


def test_content_is_the_sum_of_the_turns(counter):
    content = counter()
    assert content.count(trajectory_of(USER, ANSWER)).method == "content"
    counts = content.count_turns(trajectory_of(USER, ANSWER).turns)
    assert counts == [content.count_text(USER["content"]), content.count_text(ANSWER["content"])]
    assert content.count(trajectory_of(USER, ANSWER)).tokens == sum(counts)


def test_content_may_be_asked_for_where_there_is_a_template(counter):
    trajectory = trajectory_of(USER, ANSWER)
    assert counter(LOOP).count(trajectory).method == "template"
    assert counter(LOOP, "content").count(trajectory) == counter().count(trajectory)


def test_a_developer_turn_is_what_the_template_makes_of_it(counter):
    asks = "{% for message in messages if message.role == 'user' %}{{ message.content }}{% endfor %}"
    developer = {"role": "developer", "content": "be brief, " * 20}
    for template in (asks, LOOP):
        count = counter(template).count(trajectory_of(developer, USER, ANSWER))
        hf = counter(template).tokenizer.hf
        text = hf.apply_chat_template([developer, USER, ANSWER], tokenize=False)
        assert (count.method, count.tokens) == ("template", counter(template).count_text(text))


SYSTEM = {"role": "system", "content": "be brief, " * 20}


def test_a_system_column_is_the_system_turn_of_a_row_that_has_none(counter):
    for counting in (counter(), counter(LOOP)):
        whole = counting.count(trajectory_of(SYSTEM, USER, ANSWER))
        assert counting.count(trajectory_of(USER, ANSWER, system=SYSTEM["content"])).tokens == whole.tokens
        assert counting.count(trajectory_of(SYSTEM, USER, ANSWER, system="another")) == whole
        later = counting.count(trajectory_of(USER, SYSTEM, ANSWER))
        assert counting.count(trajectory_of(USER, SYSTEM, ANSWER, system=SYSTEM["content"])).tokens > later.tokens
        alone = counting.count(trajectory_of(USER, ANSWER))
        for other in (" ", None, 7, ["be brief"]):
            assert counting.count(trajectory_of(USER, ANSWER, system=other)) == alone


def test_a_system_column_that_the_template_does_not_take_counts_besides(counter):
    counting = counter("{{ raise_exception('no system') if messages[0].role == 'system' }}" + LOOP)
    count = counting.count(trajectory_of(USER, ANSWER, system=SYSTEM["content"]))
    alone = counting.count(trajectory_of(USER, ANSWER))
    assert (count.method, count.note) == ("template", None)
    assert count.tokens == alone.tokens + counting.count_text(SYSTEM["content"])


def test_content_holds_reasoning_and_calls(counter):
    message = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "hm",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}],
    }
    turn = trajectory_of(USER, message).turns[1]
    assert turn_text(turn) == 'hm\n{"name": "ls", "arguments": {"path": "."}}'
    in_text = trajectory_of(USER, {"from": "gpt", "value": '<tool_call>{"name": "ls"}</tool_call>'}).turns[1]
    assert turn_text(in_text) == in_text.text


def test_a_template_that_refuses_is_named_with_its_words(counter):
    template = "{{ raise_exception('Roles must alternate') }}"
    trajectory = trajectory_of(USER, USER)
    count = counter(template).count(trajectory)
    assert (count.method, count.note) == ("content_template_refused", "Roles must alternate")
    assert count.tokens == counter().count(trajectory).tokens


def test_a_field_nested_too_deep_for_the_template_is_left_out(counter):
    deep: object = "x"
    for _ in range(5000):
        deep = [deep]
    assert counter(LOOP).count(trajectory_of(USER | {"meta": deep})) == counter(LOOP).count(trajectory_of(USER))


@pytest.mark.parametrize("role", ["user", "tool"])
def test_lists_that_a_template_prints_count_as_they_are_printed(counter, role):
    prints = LOOP.replace(" + ''", "")
    told = {"role": role, "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}
    row = trajectory_of(USER, ANSWER, told, ANSWER)
    text = counter(prints).tokenizer.hf.apply_chat_template([USER, ANSWER, told, ANSWER], tokenize=False)
    assert "{'type': 'text', 'text': 'one'}" in text
    assert counter(prints).count(row).tokens == counter(prints).count_text(text)
    drops = LOOP.replace("message.content + ''", "message.content if message.content is string")
    joined = trajectory_of(USER, ANSWER, told | {"content": "one\ntwo"}, ANSWER)
    assert counter(drops).count(row) == counter(drops).count(joined)  # another trainer hands it over as text


@pytest.mark.parametrize("template", [None, LOOP])
def test_an_image_is_a_fixed_charge(counter, template):
    url = "data:image/png;base64," + "iVBORw0KGgoAAAAN" * 500
    text = {"type": "text", "text": USER["content"]}
    image = {"type": "image_url", "image_url": {"url": url}}
    bare = counter(template).count(trajectory_of({"role": "user", "content": [text]}, ANSWER)).tokens
    for images in (1, 3):
        with_images = trajectory_of({"role": "user", "content": [text] + [image] * images}, ANSWER)
        assert counter(template).count(with_images).tokens == bare + images * IMAGE_TOKENS


@pytest.mark.parametrize(
    ("template", "where"),
    [
        (None, "content"),
        (None, "reasoning_content"),
        (LOOP, "content"),
        ("{{ messages | tojson }}", "content"),
        ("{{ messages | tojson }}", "reasoning_content"),
        ("{{ raise_exception('no') }}", "content"),
    ],
)
def test_a_lone_surrogate_is_flagged(counter, template, where):
    trajectory = trajectory_of(USER, ANSWER | {where: "bad \ud83d end"})
    with pytest.raises(UncountableTextError, match="lone surrogate"):
        counter(template).count(trajectory)
    with pytest.raises(UncountableTextError):
        counter(template).count_turns(trajectory.turns)


@pytest.mark.parametrize(("name", "source", "file"), [each for each in RENDERED if each[2] != "livemcpbench"])
def test_template_counts_are_those_of_apply_chat_template(name, source, file):
    tokenizer = load_cached(name)
    counter = TokenCounter(tokenizer)
    equal = 0
    for row, _ in zip(read_rows(source_of(rows_of(source) / f"{file}.jsonl")), range(12), strict=False):
        messages = row.value["messages"]
        if sum(len(str(message["content"])) for message in messages) > 100_000:
            continue
        ids = tokenizer.hf.apply_chat_template(
            messages, tools=row.value.get("tools"), tokenize=True, return_dict=False
        )
        count = counter.count(read_trajectory(row.value, "x", FormatOptions()))
        assert (count.method, count.tokens) == ("template", len(ids))
        equal += 1
    assert equal > 5


NAMES = ("user", "assistant", "developer", "human", "tool", "Orchestrator (-> Coder)", "Coder", "<|im_start|>")


@settings(deadline=None, max_examples=50)
@given(turns=st.lists(st.tuples(st.sampled_from(NAMES), st.text(max_size=20)), min_size=1, max_size=8))
@pytest.mark.parametrize("name", ["chatml", "llama3", *SHARED_CHAT_TOKENIZERS])
def test_a_row_counts_no_less_than_with_roles_as_read_or_with_its_own_names(name, turns):
    tokenizer = load_cached(name)
    counter = TokenCounter(tokenizer)
    own = [{"role": role, "content": text} for role, text in turns]
    trajectory = trajectory_of(*own)
    read = [{"role": turn.role, "content": turn.text} for turn in trajectory.turns]
    count = counter.count(trajectory)
    lengths = []
    for messages in (own, read):
        with suppress(Exception):  # whatever a template raises
            lengths.append(counter.count_text(tokenizer.hf.apply_chat_template(messages, tokenize=False)))
    if count.method == "template":
        assert count.tokens >= max(lengths)


def test_a_row_said_to_fit_does_so_with_its_own_names(make_tokenizer):
    folder = make_tokenizer(LOOP)
    speakers = ("Orchestrator (-> WebSurfer)", "WebSurfer")
    words = "the page lists 12 results, and the next one is open; "
    row = {"messages": [USER, *({"role": speakers[n % 2], "content": f"{n} {words}"} for n in range(300))]}
    with Compressor(tokenizer=folder, target_max_tokens=4000, summary_target_tokens=300) as compressor:
        compressed = compressor.compress(row)
        kept = compressed.row["messages"]
        hf = load_tokenizer(folder).hf
        rendered = len(hf.encode(hf.apply_chat_template(kept, tokenize=False), add_special_tokens=False))
        assert compressor.count_tokens(compressed.row) == compressed.metrics.compressed_tokens == rendered
    assert compressed.metrics.outcome == "compressed"
    assert 3000 < rendered <= 4000
    assert {message["role"] for message in kept} >= set(speakers)


TALK = st.lists(st.text(max_size=30), min_size=1, max_size=6)


@settings(deadline=None, max_examples=50)
@given(texts=TALK, system=st.none() | st.text(max_size=20))
@pytest.mark.parametrize("name", CHAT_TOKENIZERS)
def test_any_talk_is_counted_as_apply_chat_template_does(name, texts, system):
    tokenizer = load_cached(name)
    messages = [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(texts)]
    if system is not None:
        messages.insert(0, {"role": "system", "content": system})
    ids = tokenizer.hf.apply_chat_template(messages, tokenize=True, return_dict=False)
    count = TokenCounter(tokenizer).count(trajectory_of(*messages))
    assert (count.method, count.tokens) == ("template", len(ids))
    if system and system.strip():
        from_column = TokenCounter(tokenizer).count(trajectory_of(*messages[1:], system=system))
        assert (from_column.method, from_column.tokens) == ("template", len(ids))
