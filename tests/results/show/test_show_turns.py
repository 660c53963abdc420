from __future__ import annotations

from typing import get_args

from trajcompress.formats.turns import read_turn
from trajcompress.metrics.reasons import OUTCOMES, REASONS, explain
from trajcompress.metrics.row import Outcome
from trajcompress.results.show.turns import changes, excerpt, whole_text

LONG = "a result of many words " * 40


def turn(text, role="tool", **fields):
    return read_turn({"role": role, "content": text, **fields}, role, role, "openai")


def call(arguments):
    return [{"id": "c", "type": "function", "function": {"name": "write", "arguments": arguments}}]


def test_what_pruning_and_eliding_do_is_said():
    assert changes(turn(LONG), turn("[ls: 40 lines]"), notice=None, folded=None) == ("shortened",)
    before = turn("", "assistant", tool_calls=call('{"text": "one two three"}'))
    after = turn("", "assistant", tool_calls=call('{"text": "one …"}'))
    assert changes(before, after, notice=None, folded=None) == ("calls shortened",)
    assert changes(before, before, notice="note", folded="summary") == ()


def test_a_notice_that_was_there_before_is_no_change():
    said = turn("Be brief. note", "system")
    assert changes(said, said, notice="note", folded=None) == ()
    assert changes(turn("Be brief.", "system"), said, notice="note", folded=None) == ("notice added",)


def test_other_words_are_a_change_whatever_else_was_done():
    after = turn("Something else altogether.\n\nnote", "system")
    assert changes(turn("Be brief.", "system"), after, notice="note", folded=None) == ("notice added", "changed")


def test_a_turn_that_calls_says_so_in_its_excerpt():
    calling = turn("I write it. " * 30, "assistant", tool_calls=call('{"path": "a.py"}'), reasoning="Hm.")
    assert '→ write {"path": "a.py"}' in excerpt(calling)
    assert "\n" not in excerpt(turn("one\ntwo\r\n"))
    assert whole_text(calling).startswith("(reasoning)\nHm.\n")


def test_every_reason_has_words():
    assert all(reason.meaning and reason.meaning[0].islower() for reason in REASONS.values())
    assert OUTCOMES.keys() == set(get_args(Outcome))
    assert "rate limit" in explain("rate_limit", "failed").meaning
    assert explain("something_new", "unchanged").meaning == "something new"
