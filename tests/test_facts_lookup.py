"""Facts looked up all at once are those found one by one; tokens and escapes are those of plain patterns."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.facts.candidates import candidates
from trajcompress.facts.lookup import facts_told
from trajcompress.facts.reading import is_told, mentions, readable

FACTS = (
    *("src/app/main.py", "main.py", "/b.py", "b.py", "raw_decode", "decode", "x.raw_decode", "ORD-12", "ORD-123"),
    *("1", "12", "123", "2,123", "1.2", "12.5%", "https://a.bc/d?e=f", "d?e", "new", "New York", "York"),
    *("订单", "新订单", "é1", "aa", "aaa", "--dry-run"),
)
PIECES = st.sampled_from((*FACTS, *" \n\t-.,?/_", "é", "\ud800", "😀", "  341\t", "123:", "٣"))
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@given(st.permutations(FACTS), TEXTS)
def test_facts_looked_up_at_once_are_those_found_one_by_one(facts, text):
    assert facts_told(facts, text) == [fact for fact in facts if mentions(text, fact, is_told)]


@pytest.mark.parametrize("filler", ["x ", "é ", "\ud800 ", "123\n"])
def test_a_fact_is_found_wherever_it_stands_in_a_long_text(filler):
    for chars in range((1 << 16) - 12, (1 << 16) + 4, 3):  # searched so many characters at once
        before = (filler * chars)[:chars]
        assert "raw_decode" in facts_told(FACTS, f"{before} raw_decode")


@pytest.mark.parametrize("text", ["A" * 1_000_000, "1," * 500_000, "A订" * 500_000])
def test_hostile_text_is_searched_in_no_time(text):
    facts = [letter * count for letter in "A1订" for count in range(3, 60)]
    assert facts_told(facts, text) == [fact for fact in facts if mentions(text, fact, is_told)] == []


@given(st.lists(st.sampled_from([*'\\ntru"/0aF ', "\\u00e9", "\\ud83d", "\\n", "é"]), max_size=30).map("".join))
def test_escapes_are_undone_as_if_one_kind_after_the_other(text):
    plain = text
    for escape, meant in (("\\n", "\n"), ("\\t", "\t"), ("\\r", "\n"), ('\\"', '"'), ("\\/", "/")):
        plain = plain.replace(escape, meant)
    assert readable(text) == re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), plain)


@given(st.lists(st.one_of(PIECES, st.sampled_from([*"%@+~", "a" * 119, "ORD-17", "x_1"])), max_size=30).map("".join))
def test_tokens_split_off_are_those_matched(text):
    assert list(candidates(text)) == list(candidates(f"{text}\n1,2"))  # 1,2 is no fact, but asks for the pattern
