"""What a text says again itself, and so what is told once where it is cut."""

from __future__ import annotations

from time import process_time

import pytest

from trajcompress.compaction.text.cut import cut
from trajcompress.compaction.text.repeats import said_once, without_blocks, without_phrases

SENTENCE = "Tell how the language came to be what it is, and what it gave up. "


def listing(first: int, *, without: int = -1) -> str:
    return "\n".join(
        f"{first + number:4}:    value_{number} = call_of({number})" if number != without else f"{first + number}:bad"
        for number in range(60)
    )


def test_a_sentence_that_is_said_again_and_again_is_told_once():
    text = f"Now. {SENTENCE * 90}Then stop."
    assert without_phrases(text) == f"Now. {SENTENCE}[… the same words 89 times more …] Then stop."
    assert cut(text, 2_000) == without_phrases(text)
    assert without_phrases(without_phrases(text)) == without_phrases(text)


@pytest.mark.parametrize("text", [SENTENCE * 4, "-" * 900, "| --- " * 200, "\\u00e9t\\u00e9" * 200, "0 1 2 3 " * 200])
def test_few_times_rules_and_figures_are_left(text: str):
    assert without_phrases(text) == text


def test_a_view_that_is_shown_again_is_cut_around_what_differs():
    text = f"As it would look:\n{listing(100, without=30)}\nAs it is:\n{listing(99)}\nNothing was changed."
    short = without_blocks(text)
    assert short.startswith(text[: text.index("As it is")])
    assert " 129:    value_30 = call_of(30)\n" in short
    assert short.count(" characters elided …]") == 2
    assert len(short) < 0.6 * len(text)
    assert cut(text, len(text) - 200) == short


def test_one_view_keeps_what_it_has_twice():
    lines = [*(f"    name_of_{number}: what it is" for number in range(20)), "def call():"] * 2
    text = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines))
    assert without_blocks(text) == text
    assert without_blocks("\n".join(lines)) != text


def test_repeats_are_found_in_linear_time():
    begin = process_time()
    near = ("abcdefghijklmnopqrstuvwxyzabcdef" * 18 + "Z") * 900
    for text in (
        "a" * 400_000,
        SENTENCE * 6_000,
        near,
        "\n" * 400_000,
        "a line of a text\n" * 20_000,
        "a b" * 100_000,
    ):
        said_once(text)
    assert process_time() - begin < 5
