"""What Markdown and HTML show, and the words that facts stand in there."""

from __future__ import annotations

import json

import pytest

from trajcompress.facts import words_around
from trajcompress.facts.markup import shown, unlinked
from trajcompress.transcript.trajectory import ToolCall, Turn


def _around(fact: str, text: str) -> str:
    return words_around([fact], [Turn("tool", text, {})])[fact]


def test_the_title_of_a_link_is_not_shown():
    assert unlinked('the [Battle](/wiki/Battle_(1847) "Battle (1847)") was') == "the Battle was"


def test_a_fact_stands_in_a_sentence_without_addresses():
    text = 'Nebel was born in [Altona](/wiki/Altona,_Hamburg "Altona, Hamburg"), in Prussia.[[1]](#cite_note-1)'
    assert _around("Altona", text) == "Nebel was born in Altona, in Prussia."


def test_an_address_is_told_with_the_words_of_its_link():
    text = "See [the list](https://example.org/list?page=2) and more."
    assert _around("https://example.org/list?page=2", text) == "the list: https://example.org/list?page=2"


def test_a_title_is_told_alone():
    assert _around("Joseph Lemercier", 'by [him](https://example.org/J "Joseph Lemercier")') == "Joseph Lemercier"


def test_a_line_of_code_that_ends_in_a_colon_announces_nothing():
    assert _around("arg.is_integer", "   416\t    if arg.is_integer:\n   417\t  pass") == "if arg.is_integer:"


def test_tags_of_a_page_are_not_told():
    page = "<div class='stats'><div class='box'>800M+ users</div><h2>Key Statistics 2024</h2></div>"
    assert _around("800M", page) == "800M+ users"
    assert shown("if a </ b: c") == "if a </ b: c"


def test_a_line_of_a_file_is_told_without_its_number():
    text = "   61\tdef get_id(self):\n   62\t    return self.backend.get_id(pool_id)\n"
    assert _around("backend.get_id", text) == "return self.backend.get_id(pool_id)"


def test_a_number_that_is_needed_stays():
    assert "226" in _around("226", "   226\tx = 1")


def test_what_only_announces_what_comes_is_not_told():
    path = "/testbed/django/apps.py"
    assert _around(path, f"Here's the result of running `cat -n` on {path}:\n     1\timport os") == path


def test_a_pair_of_json_is_told_as_key_and_value():
    assert _around("29aa21ae", '{\n  "package_id": "29aa21ae",\n  "b": 1\n}') == "package_id = 29aa21ae"


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
def test_markup_is_read_in_linear_time():
    for text in ("[" * 200_000, "[a](" * 50_000, '[a](b "' * 30_000, "</div><" * 40_000, "![" * 100_000):
        shown(text)


def test_the_words_of_a_call_are_no_json_that_is_cut():
    call = ToolCall(
        "c", "bash", json.dumps({"command": 'curl -s "https://photos.org/a" | jq .x\nls', "timeout": 15000})
    )
    words = words_around(["https://photos.org/a", "15000"], [Turn("assistant", "", {}, calls=(call,))])
    assert words["https://photos.org/a"] == 'in a call: command = curl -s "https://photos.org/a" | jq .x'
    assert words["15000"] == "in a call: timeout = 15000"


def test_the_header_of_a_result_tells_nothing_of_what_it_names():
    ran = Turn("tool", "[execute_command for 'python scan/all.py'] Result:\nFound 3 issues", {})
    call = ToolCall("c", "execute_command", json.dumps({"command": "python scan/all.py"}))
    words = words_around(["scan/all.py"], [Turn("assistant", "", {}, calls=(call,)), ran])
    assert words["scan/all.py"] == "in a call: python scan/all.py"
