"""Facts looked up all at once are those found one by one; tokens and escapes are those of plain patterns."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.facts import facts_needed
from trajcompress.facts.candidates import candidates
from trajcompress.facts.lookup import facts_told
from trajcompress.facts.reading import Reader, is_told, mentions, readable
from trajcompress.transcript.trajectory import ToolCall, Turn

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


@pytest.mark.parametrize(
    ("text", "fact", "stands"),
    [
        ("86,,30904,0.506892,104", "0.506892", True),
        ("86,,30904,0.506892,104", "30904", True),
        ("86,30904,2", "86", True),
        ("sold 48,213 of them", "213", False),
        ("sold 48,213 of them", "48", False),
        ("on May 12,2013", "2013", True),
    ],
)
def test_a_value_between_commas_is_no_part_of_a_number_in_groups(text: str, fact: str, stands: bool):
    assert mentions(text, fact) is stands


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


TURNS = st.builds(Turn, st.sampled_from(["user", "assistant", "tool"]), TEXTS, st.just({}))


@given(st.lists(TEXTS, max_size=2), st.permutations(FACTS).map(" ".join), st.lists(TURNS, max_size=6))
def test_what_is_needed_is_what_is_found_fact_by_fact(head, region, tail):
    tool = Turn("tool", "", {})
    needed = facts_needed([Turn("user", text, {}) for text in head], [tool, Turn("tool", region, {})], tail)
    before, weights, found = "\n".join(map(readable, head)), dict[str, int](), []
    for turn in tail:
        said = candidates(readable(turn.text)) if turn.role != "tool" else ()
        for fact in said:
            if fact not in weights and mentions(region, fact, is_told) and not mentions(before, fact):
                found.append(fact)
            weights[fact] = weights.get(fact, 0) + (2 if turn.role == "assistant" else 1)
        before += "\n" * 3 + readable(turn.text) if turn.role == "tool" else ""
    found.sort(key=lambda fact: -weights[fact])
    longest = (max((other for other in found if mentions(other, fact)), key=len) for fact in found)
    assert needed == tuple(dict.fromkeys(longest))


SIGNS = ("%", "@", "+", "~", "$", "€", ":", ",", '"', "`", "3", "20 km", "5s", "7 days", "14:30", "元")


@given(st.lists(PIECES | st.sampled_from([*SIGNS, "a" * 119, "ORD-17", "x_1"]), max_size=30).map("".join))
def test_tokens_split_off_are_those_matched_and_no_figure_is_missed(text):
    assert list(candidates(text)) == list(candidates(f"{text}\n1,2"))  # 1,2 is no fact, but asks for the patterns


@pytest.mark.parametrize("start", ["src/ap", "订单订单订单"])
def test_facts_that_start_alike_are_told_apart_however_often_others_stand_before(start):
    facts = [f"{start}{number}.x" for number in range(40)]
    assert facts_told(facts, f"{start} " * 3_000 + " ".join(facts[7::9])) == facts[7::9]


@given(st.lists(st.text('\\ntu"/0é', max_size=6), max_size=5), st.recursive(st.none() | st.booleans() | st.integers()
    | st.floats() | st.text('\\ntu"é\ud800', max_size=6), lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["a", "command"]), inner, max_size=2)))  # fmt: skip
def test_turns_read_together_say_what_they_say_one_by_one(said, value):
    call = ToolCall("c", "run", json.dumps(value))
    turns = [*(Turn("user", text, {}) for text in said), Turn("assistant", "", {}, calls=(call,))]
    alone = [readable(text) for text in said]
    read = Reader().said(turns[-1])
    [values] = read.arguments
    assert values == list(map(readable, leaves(value) if isinstance(value, dict | list) else [call.arguments]))
    assert read.whole == Reader().text(turns[-1:])
    assert Reader().text(turns) == "\n".join(filter(None, (*alone, *values)))


def leaves(value) -> list[str]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [leaf for each in inner for leaf in leaves(each)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


@pytest.mark.parametrize("more", ["", " 1,2"])  # which takes another way
def test_the_end_of_an_element_is_no_path(more):
    text = f"<tool_call>open <code>/etc/hosts</code></tool_call></execute_bash>{more}"
    assert list(candidates(text)) == ["/etc/hosts", "execute_bash"]
