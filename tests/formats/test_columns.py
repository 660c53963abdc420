from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.errors import RowError
from trajcompress.formats.adapter import explain_format, read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.targets import form_for
from trajcompress.tokens.counter import TokenCounter

ASK = {"role": "user", "content": "list the files"}
SHORT = {"role": "assistant", "content": "a.py"}
LONG = {"role": "assistant", "content": "There are two: a.py and b.py."}
SHAREGPT = [{"from": "human", "value": "x"}, {"from": "gpt", "value": "y"}]
ROWS = {
    "messages": {"prompt": [ASK], "completion": [LONG], "label": True},
    "text": {"prompt": ASK["content"], "completion": LONG["content"]},
    "text and messages": {"prompt": ASK["content"], "completion": [LONG]},
    "as text": {"prompt": json.dumps([ASK]), "completion": json.dumps([LONG])},
    "pair": {"prompt": [ASK], "chosen": [SHORT], "rejected": [LONG], "score": 1},
    "pair of text": {"prompt": ASK["content"], "chosen": LONG["content"], "rejected": SHORT["content"]},
    "implicit": {"chosen": [ASK, SHORT], "rejected": [ASK, LONG]},
    "implicit with a prompt for people": {"prompt": "x", "chosen": [ASK, LONG], "rejected": [ASK, SHORT]},
    "implicit text": {"chosen": "Human: list\n\nAssistant: There are two", "rejected": "Human: list\n\nAssistant: a"},
    "alike": {"chosen": [ASK, LONG], "rejected": [ASK, LONG]},
    "one message each": {
        "conversations": SHAREGPT[:1],
        "chosen": {"from": "gpt", "value": "a longer one"},
        "rejected": SHAREGPT[1],
    },
    "the chosen as messages too": {"messages": [ASK, LONG], "chosen": [ASK, LONG], "rejected": [ASK, SHORT]},
}
PAIRS = [name for name, row in ROWS.items() if "chosen" in row]


def read(row, **options):
    return read_trajectory(row, "x", FormatOptions(**options))


@pytest.mark.parametrize("name", ROWS)
def test_the_whole_is_read_and_comes_back_as_it_was(name):
    row = copy.deepcopy(ROWS[name])
    trajectory = read(row)
    assert [(turn.role, turn.in_answer) for turn in trajectory.turns] == [("user", False), ("assistant", True)]
    answers = ([trajectory.turns[-1]], trajectory.split.other_turns)
    longest = max((turn.text for turns in answers for turn in turns), key=len)
    assert trajectory.turns[-1].text == longest
    assert (trajectory.split.other is not None) == (name in PAIRS)
    assert set(trajectory.message_columns) <= row.keys()
    assert explain_format(trajectory).endswith("read as one trajectory and written as they are")
    assert replace_turns(trajectory, trajectory.turns) == ROWS[name] == row


@pytest.mark.parametrize("name", PAIRS)
def test_of_a_pair_the_longer_answer_counts(name, builtin_tokenizer):
    counter, row = TokenCounter(builtin_tokenizer), ROWS[name]
    trajectory = read(row)
    prompt = counter.count_turns([turn for turn in trajectory.turns if not turn.in_answer])
    answers = [counter.count_turns(turns) for turns in (trajectory.turns[-1:], trajectory.split.other_turns)]
    assert counter.count(trajectory).tokens == sum(prompt) + max(map(sum, answers))


def test_new_turns_go_to_their_columns():
    tool = {"role": "tool", "content": "x"}
    row = {"prompt": [ASK, SHORT, tool], "completion": [SHORT, tool, LONG]}
    trajectory = read(row)
    summary = read({"messages": [{"role": "user", "content": "so far"}]}).turns[0]
    turns = trajectory.turns
    made = replace_turns(trajectory, (*turns[:1], summary, *turns[4:]))
    assert made == {"prompt": [ASK, summary.raw], "completion": [tool, LONG]}
    made = replace_turns(trajectory, (*turns[:4], summary, *turns[5:]))
    assert made == {"prompt": [ASK, SHORT, tool], "completion": [SHORT, summary.raw, LONG]}
    implicit = read({"chosen": [ASK, SHORT, ASK, SHORT], "rejected": [ASK, SHORT, ASK, LONG]})
    made = replace_turns(implicit, (summary, *implicit.turns[2:]))
    assert made == {"chosen": [summary.raw, ASK, SHORT], "rejected": [summary.raw, ASK, LONG]}


def test_secrets_go_from_every_column():
    secret = "sk-proj-" + "Ab3dEf6hIj" * 4  # made up
    row = {
        "prompt": [ASK],
        "chosen": [LONG],
        "rejected": [{"role": "assistant", "content": f"key {secret}"}],
        "x": secret,
    }
    trajectory = read(row, redact=True)
    assert trajectory.redactions
    assert secret not in json.dumps(trajectory.row)
    assert trajectory.row["prompt"] == [ASK]
    text = read({"prompt": f"my key is {secret}", "completion": "thanks"}, redact=True)
    assert secret not in json.dumps(text.row)
    assert isinstance(text.row["prompt"], str)


@pytest.mark.parametrize(
    ("row", "broken"),
    [
        ({"prompt": "x", "completion": 3}, "completion"),
        ({"prompt": [ASK], "completion": [1]}, "completion"),
        ({"prompt": "x", "chosen": "y", "rejected": None}, "rejected"),
        ({"chosen": [SHORT], "rejected": [LONG]}, "prompt"),
        ({"prompt": 3, "completion": "x"}, "prompt"),
    ],
)
def test_half_of_a_row_is_refused_by_name(row, broken):
    with pytest.raises(RowError, match=f"column '{broken}' holds") as caught:
        read(row)
    assert caught.value.reason == "messages_not_a_list"


def test_other_columns_of_these_names_are_left_alone():
    conversation = [ASK, SHORT, ASK, LONG]
    for others in (
        {"chosen": "a", "rejected": "b"},
        {"prompt": "x", "completion": "y"},
        {"chosen": 1, "rejected": 2},
    ):
        assert read({"messages": conversation, **others}).split is None
    assert read({"prompt": [ASK, SHORT], "completion": None}).messages_field == "prompt"
    assert read(ROWS["pair"], messages_field="chosen").split is None


def form(target):
    return form_for(target, FormatOptions())


def test_trl_reads_the_columns_and_other_trainers_get_one():
    assert form("trl").of(read(ROWS["pair"])).row == ROWS["pair"]
    assert form("trl").of(read(ROWS["text"])).formed is None
    made = form("trl").of(read({"prompt": SHAREGPT[:1], "completion": SHAREGPT[1:], "x": 1}))
    assert made.row == {
        "prompt": [{"role": "user", "content": "x"}],
        "completion": [{"role": "assistant", "content": "y"}],
        "x": 1,
    }
    for target in ("openai", "verl", "mistral"):
        made = form(target).of(read(ROWS["messages"]))
        assert made.row["messages"][0]["content"] == ASK["content"]
        assert {"prompt", "completion"}.isdisjoint(made.row)
        assert "columns" in made.formed.changes
        assert "preference pairs" in form(target).of(read(ROWS["pair"])).formed.unfit


MESSAGES = st.lists(st.sampled_from([ASK, SHORT, LONG]), min_size=1, max_size=4)
HELD = (
    MESSAGES | st.text(max_size=5) | MESSAGES.map(json.dumps) | st.none() | st.integers() | st.sampled_from([SHORT])
)


@given(row=st.dictionaries(st.sampled_from(["prompt", "completion", "chosen", "rejected", "messages"]), HELD))
def test_any_such_row_comes_back_as_it_was_or_is_refused(row):
    before = copy.deepcopy(row)
    try:
        trajectory = read(row)
    except RowError as error:
        assert error.detail  # noqa: PT017  refusing is as right as reading
    else:
        made = replace_turns(trajectory, trajectory.turns)
        assert {name: as_value(value) for name, value in made.items()} == {
            name: as_value(value) for name, value in before.items()
        }
    assert row == before


def as_value(held):
    """Return what a column holds, JSON text read: a text of messages is written as ``json.dumps`` does."""
    return json.loads(held) if isinstance(held, str) and held.startswith("[{") else held
