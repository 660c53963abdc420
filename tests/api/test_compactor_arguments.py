"""What a Compactor is given, and what it says of what is wrong with it."""

from __future__ import annotations

from inspect import signature
from types import SimpleNamespace

import pytest
from growing import CHATML, SMALL, TARGET, context

from trajcompress import (
    Compactor,
    InputError,
    RunningSummary,
    SettingsError,
)
from trajcompress.settings.keywords import CompactOptions


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"messages": "text"}, "argument messages: should be a list of messages, not str"),
        ({"messages": 5}, "argument messages: should be a list of messages, not int"),
        ({"messages": {"messages": []}}, "argument messages: should be a list of messages, not dict"),
        ({"messages": []}, "argument messages"),
        ({"messages": [5]}, "argument messages: message 0 should be a mapping, not int"),
        ({"messages": [{"content": "x"}]}, "argument messages"),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "argument messages"),
        ({"tools": "look"}, "argument tools: should be a list of tools"),
        ({"tools": ["look"]}, "argument tools: should be a list of tools"),
        (
            {"previous": "the summary"},
            "argument previous: should be the summary of the last result, or None, not str",
        ),
        ({"previous": RunningSummary("x", 1, 1, 5)}, "argument previous: its summary does not stand in message 1"),
        ({"previous": RunningSummary("x", 99, 1, 5)}, "argument previous: its summary does not stand in message 99"),
        ({"previous": RunningSummary("x", "1", 1, 5)}, "argument previous: its summary does not stand in message 1"),
    ],
)
def test_wrong_arguments_are_named(given, words):
    with Compactor(**SMALL) as compactor, pytest.raises(InputError, match=words):
        compactor.compact_sync(**{"messages": context(2), **given})


def test_an_object_of_a_client_is_refused_with_what_to_do():
    message = SimpleNamespace(role="assistant", content="x", model_dump=dict)
    with Compactor(**SMALL) as compactor, pytest.raises(InputError, match=r"give message\.model_dump"):
        compactor.compact_sync([*context(0), message])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"context_window": "4000"}, "argument context_window: should be a number of tokens, not '4000'"),
        ({"context_window": True}, "argument context_window"),
        ({"context_window": -1}, "argument context_window"),
        ({"context_window": 300}, "argument context_window.*summary_target_tokens"),
        (
            {"target_max_tokens": 3900},
            "argument target_max_tokens, argument context_window: 3900 should be below 85%",
        ),
        ({"cool_down": -1}, "argument cool_down"),
        ({"cool_down": float("nan")}, "argument cool_down"),
        ({"cool_down": None}, "argument cool_down"),
        ({"on_event": "print"}, "argument on_event"),
        ({"last_n_turns": 3}, "argument last_n_turns: is an option of Compressor, not of Compactor"),
        ({"limit": 3}, "argument limit: is an option of compress_dataset, not of Compactor"),
        ({"target_max_token": 3}, "did you mean target_max_tokens"),
        ({"placement": "middle"}, "argument placement"),
    ],
)
def test_wrong_options_are_named(wrong, words):
    with pytest.raises(SettingsError, match=words):
        Compactor(**{**SMALL, **wrong})


def test_one_of_window_and_target_is_enough_and_what_is_of_data_sets_means_nothing(tmp_path):
    config = tmp_path / "c.yaml"
    settings = "{target_max_tokens: 2000, summary_target_tokens: 300, mode: segments}"
    config.write_text(f"compression: {settings}\noutput: {{marks: train}}\n")
    with (
        Compactor(**SMALL) as by_window,
        Compactor(target_max_tokens=TARGET, summary_target_tokens=300, tokenizer=CHATML) as by_target,
        Compactor(config, tokenizer=CHATML) as by_file,
    ):
        done = [each.compact_sync(context(40)) for each in (by_window, by_target, by_file)]
    assert done[0].changed
    assert done[0] == done[1] == done[2]


def test_help_lists_the_options():
    for name in CompactOptions.__annotations__:
        assert f"    {name}: " in Compactor.__doc__
        assert name in signature(Compactor).parameters
