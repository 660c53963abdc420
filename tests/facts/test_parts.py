"""Which lines and sentences of a result are told, and which words of it later turns take."""

from __future__ import annotations

import pytest

from trajcompress.facts.parts import part_at, parts_with, words_at
from trajcompress.facts.taken import words_taken


def told(text: str, wanted: dict[str, float], room: int = 500) -> list[str]:
    return [text[start:end] for start, end in parts_with(text, wanted, room)]


def test_whole_sentences_are_told_and_those_that_tell_most_go_first():
    page = "He was born in Ohio. He never lived in Waco. The fort of 1849 stands in Waco still. It is open."
    assert told(page, {"1849": 2.0, "Ohio": 1.5, "Waco": 1.5}) == ["The fort of 1849 stands in Waco still."]
    assert told(page, {"1849": 2.0, "Ohio": 2.0}, room=90) == ["He was born in Ohio."]


def test_an_indented_line_stands_with_the_one_it_belongs_to():
    entries = (
        "@inproceedings{web2023,\n  title = {Web},\n  doi = {10.1/a}\n}\n@article{mind2024,\n  doi = {10.1/b}\n}\n"
    )
    assert told(entries, {"10.1/b": 4.0}) == ["@article{mind2024,", "doi = {10.1/b}"]


def test_lines_of_a_string_with_escapes_are_lines():
    assert told(r'{"text": "first\nprice of ORD-1: 12\nlast"}', {"ORD-1": 4.0}) == ["price of ORD-1: 12"]


def test_where_there_are_no_sentences_a_clause_near_the_place_is_told():
    row = ", ".join(f'"key_{number}": {number * 7}' for number in range(200))
    assert told(row, {"key_150": 4.0})[0].strip('", ').startswith("key_1")
    assert '"key_150": 1050' in told(row, {"key_150": 4.0})[0]


def test_what_takes_a_sentence_back_is_not_cut_off():
    said = (
        "All checks of build-7 passed on the first machine that was tried, and on the next, but not on the last one."
    )
    assert words_at(said, said.find("build-7"), said.find(" passed")) == said
    said = said.replace("but not", "at last")
    assert words_at(said, said.find("build-7"), said.find(" passed")).endswith("…")


def test_a_word_is_taken_from_the_last_result_that_tells_it_by_the_agent_who_says_it_first():
    texts = [
        "find Waco",
        "Fort Waco and HAT12 and 1849",
        "I see HAT12",
        "HAT12, 1849 and gate_b",
        "gate_b at HAT12, 1,849",
    ]
    taken = words_taken(texts, [False, True, False, True, False], [False, False, True, False, True])
    assert {index: set(words) for index, words in taken.items()} == {1: {"HAT12"}, 3: {"1849", "gate_b"}}


def test_a_line_is_not_told_besides_a_part_that_holds_it():
    text = "import ast\nfrom core import sympify\nfrom dispatch import tell\n" + "pass\n" * 9
    found = told(text, {"tell": 9.0, "core import sympify\nfrom dispatch import tell": 2.0})
    assert found == ["from core import sympify\nfrom dispatch import tell"]


def test_a_name_tells_of_where_it_is_defined_however_often_it_is_called():
    calls = "\n".join(f"    total += price_of(item_{number})" for number in range(9))
    for definer in ("def", "async def", "function", "class", "fn"):
        text = f"{calls}\n{definer} price_of_all(items):\n    return 1\n{definer} price_of(item):\n{calls}"
        start = text.index(f"{definer} price_of(item)")
        assert [text[part.start : part.end] for part in parts_with(text, {"price_of": 4.0}, 500)] == [
            text[start : text.index("\n", start)]
        ]


@pytest.mark.parametrize(
    "path", ["C:\\work\\node_modules\\lib\\notes.js", "C:\\\\work\\\\new\\\\notes.js", "D:\\a\\native.py"]
)
def test_a_path_of_windows_is_not_cut_at_what_json_writes_for_the_end_of_a_line(path: str):
    text = f"one line\n{path}:30: equal(part.field_of_it)\nanother"
    start = text.index("field_of_it")
    part = part_at(text, start, start + 5)
    assert text[part.start : part.end] == f"{path}:30: equal(part.field_of_it)"


def test_lines_within_json_end_where_it_writes_so():
    text = r'{"text": "C:\\work is one line\nthe field_of_it is another\nand more"}'
    start = text.index("field_of_it")
    part = part_at(text, start, start + 5)
    assert text[part.start : part.end] == "the field_of_it is another"
