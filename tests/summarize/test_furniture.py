from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from trajcompress.summarize.extractive.furniture import repeated_lines

LINES = ("ran 1", "ran  22", "ran ٣", "", "\x0c", "y" * 70, "y" * 80, "\n", "\r\n", "ran 1\r")
RESULTS = st.lists(st.lists(st.sampled_from(LINES), max_size=8).map("\n".join), max_size=8)


@given(RESULTS)
def test_lines_that_differ_in_numbers_spaces_and_their_ends_are_one(results):
    often = Counter()
    for text in results:
        often.update({re.sub(r"\d+", "0", " ".join(line.split())[:60]) for line in text.splitlines()})
    assert repeated_lines(enumerate(results)).keys() == {key for key, times in often.items() if times >= 3}
