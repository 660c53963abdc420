"""Patterns that are compiled once they are used: they do what compiled ones do, and all of them can be compiled."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trajcompress
from trajcompress.processes.late_patterns import Signs, holds_any, late_re


def test_it_does_what_a_compiled_pattern_does():
    pattern = late_re(r"(?P<name>\w+)=(\d+)", re.IGNORECASE)
    assert [match["name"] for match in pattern.finditer("a=1 B=2")] == ["a", "B"]
    assert pattern.sub("x", "a=1") == "x"
    assert (pattern.pattern, pattern.groups, bool(pattern.flags & re.IGNORECASE)) == (r"(?P<name>\w+)=(\d+)", 2, True)


def test_a_wrong_pattern_shows_once_it_is_used():
    wrong = late_re("(")
    with pytest.raises(re.error, match="unterminated"):
        wrong.match("x")


def test_every_pattern_of_the_package_can_be_compiled():
    late = type(late_re(""))
    found = 0
    for module in pkgutil.walk_packages(trajcompress.__path__, "trajcompress."):
        if module.name.endswith("__main__"):
            continue
        waiting = list(vars(import_module(module.name)).values())
        while waiting:
            value = waiting.pop()
            if isinstance(value, late):
                found += 1
                assert value.pattern is not None
            elif isinstance(value, dict):
                waiting += value.values()
            elif isinstance(value, list | tuple):
                waiting += value
    assert found > 300


@given(
    st.lists(st.sampled_from(["a", "b", "K ...", "━", "é", "\ud800", " ", "x" * 9_000, "x" * 16_384]), max_size=12)
)
def test_signs_stand_in_a_text_wherever_it_is_searched(parts: list[str]):
    signs, text = ("ab", "K ... K", "━━é"), "".join(parts)
    assert Signs(*signs).stand_in(text) == holds_any(text, signs)


@given(st.lists(st.sampled_from(["a", "b", "def ", "é", "\ud800", " ", "x" * 9_000, "x" * 16_384]), max_size=12))
def test_signs_end_where_they_are_found(parts: list[str]):
    signs, text = ("def ", "ab", "f a"), "".join(parts)
    places = ((sign, at) for sign in range(len(signs)) for at in range(len(text)))
    found = [(sign, at + len(signs[sign])) for sign, at in places if text.startswith(signs[sign], at)]
    assert sorted(Signs(*signs).ends_in(text)) == found
