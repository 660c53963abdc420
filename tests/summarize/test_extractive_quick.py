"""What the built-in summariser reads quickly says what the plain way says."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from trajcompress.facts import facts_kept
from trajcompress.summarize.extractive import errors, needed
from trajcompress.summarize.extractive.fit import Item
from trajcompress.summarize.extractive.results import _is_listing
from trajcompress.summarize.extractive.text import names, words

TOKEN = re.compile(r"[A-Za-z0-9_./:@#~$%+-]{3,160}")
NAME = re.compile(
    r"https?://|[A-Za-z][\w.-]{0,80}/[\w.-]|^/[A-Za-z]|_[A-Za-z0-9]|\w\.[A-Za-z]\w|[a-z][A-Z]|[A-Za-z]{1,12}-?\d"
    r"|\d[A-Za-z]|^\$?\d{3}|^\d+(?:\.\d+)?%$|^[A-Z]{2,}\d*$"
)
EXIT = re.compile(
    r"(?:exit(?:ed with)?[ _-]?(?:code|status)?|return ?code)[\"'>:= ]{1,4}(?:code |status )?(-?\d{1,5})\b",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"^(?:Line )?[ \t]{0,8}(\d{1,7})(?:[:\t| ]|$)", re.MULTILINE)
PYTEST = re.compile(r"(?<![\w.])\d+ (?:failed|passed|errors?|skipped)(?:, \d+ \w{1,20}){0,6} in [\d.]{1,12} ?s")
OTHER_TESTS = (
    re.compile(r"^(?:test result: |Tests:\s{1,8}|Tests run: )[^\n]{1,120}", re.MULTILINE),
    re.compile(r"^(?:FAIL|ok)\t\S{1,200}[^\n]{0,40}$", re.MULTILINE),
)

WORD = re.compile(r"[a-z]{4,30}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}")

TOKENS = st.text("abZ09_./:@#~$%+-", max_size=9) | st.sampled_from(
    ["a/" * 90, "x" * 159, "9_" * 81, "https://a", "word", "Word", "WORD7", "$123", "4.5%", "é_1", "\ud800", "１２３"]
)
PROSE = st.lists(TOKENS | st.sampled_from([" ", ", ", "\n", "一"]), max_size=12).map("".join)
PRINTED = st.lists(
    st.sampled_from(
        [
            *(
                "exit",
                "Exit",
                "EXİT",
                "eXıt",
                "ed with",
                " code",
                "_status",
                "return",
                "RETURN ",
                "ſtatus",
                ": ",
                "=",
                "'",
            ),
            *("3 passed", ", 1 failed", " error", " skipped", ", 2 odd", " in 0.4", "s", " in ", ".", "٣"),
            *("test result: ", "Tests: ", "Tests run: ", "FAIL\t", "ok\t", "\n", "\n\n", "Line ", "  ", "\t", "|"),
            *("1", "2", "3", "12", "x", " "),
        ]
    ),
    max_size=14,
).map("".join)


@settings(deadline=None)
@given(PROSE)
def test_names_are_tokens_that_name_something(text):
    bare = (token.strip(".:-+~@/" if token[0] != "/" else ".:-+~@") for token in TOKEN.findall(text))
    assert names(text) == list(dict.fromkeys(name for name in bare if len(name) > 2 and NAME.search(name)))


@given(st.text(st.sampled_from("abcXYZ 1-_éß订单数ひら\u212a"), max_size=60))
def test_words_are_those_of_the_plain_pattern(text):
    assert words(text) == frozenset(WORD.findall(text.lower()))


@settings(deadline=None, max_examples=300)
@given(PRINTED)
def test_what_tools_printed_is_read_as_by_the_plain_patterns(text):
    code = EXIT.search(text[:200]) or EXIT.search(text[-300:])
    assert errors.exit_code(text) == (code and code[1])
    tests = next((found[-1] for pattern in (PYTEST, *OTHER_TESTS) if (found := pattern.findall(text))), "")
    assert errors.test_summary(text) == " ".join(tests.split())
    numbers = [int(number) for number in NUMBERED.findall(text)[:3]]
    listed = all(after == before + 1 for before, after in pairwise(numbers))
    assert _is_listing(text) == (len(numbers) > 1 and listed)


@settings(deadline=None)
@given(
    texts=st.lists(st.text("ab1 -", max_size=8), max_size=5),
    facts=st.lists(st.text("ab1-", min_size=1, max_size=3), max_size=4),
)
def test_lines_share_a_bonus_for_the_facts_that_they_hold(texts, facts):
    held = [facts_kept(facts, text) for text in texts]
    shared = {fact: sum(fact in some for some in held) for fact in facts}
    items = [Item("Actions", 0, 0, text) for text in texts]
    needed.favour(items, [], facts)
    assert [item.score for item in items] == [min(sum(2.0 / shared[fact] for fact in some), 4.0) for some in held]
