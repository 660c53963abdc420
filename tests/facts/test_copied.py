"""What a kept turn repeats whole needs no telling besides."""

from __future__ import annotations

import json

import pytest
from needing import call, needed, result, say

from trajcompress.facts.copied import flat, is_copied


def test_a_line_that_a_kept_turn_copies_whole_is_not_needed_again():
    shown = result("   11\tdef total(self):\n   12\t    return self.price_table.sum_rows()\n")
    edit = call("edit", old_str="    return self.price_table.sum_rows()", new_str="    return 0")
    assert needed([shown], [edit]) == ()
    other = call("edit", old_str="x", new_str="    value = self.price_table.first_row()")
    assert needed([shown], [other]) == ("price_table",)


def test_an_address_that_a_result_gave_is_needed_though_the_agent_wrote_the_same_page_twice():
    chart = "https://pictures.example/one/G-2jQ6FeeqMAAAAAVkAAAAgA/original"
    page = f"<h2>Readers</h2>\n<img src='{chart}' alt='A chart of readers'>"
    made, wrote = result(json.dumps({"url": chart})), call("write", path="a.html", content=page)
    again = call("write", path="b.html", content=page)
    assert needed([made, wrote, result("ok")], [again]) == (chart,)


def test_names_that_stand_alone_on_their_lines_are_copied_with_a_neighbour_only():
    listed = result("src/app/main.py\nsrc/app/menu.py\nsrc/app/mode.py")
    assert needed([listed], [call("open", path="src/app/menu.py")]) == ("src/app/menu.py",)
    assert needed([listed], [call("run", text="src/app/main.py src/app/menu.py src/app/mode.py")]) == ()


def test_of_a_long_paragraph_the_words_around_a_fact_are_enough():
    before, behind = "He made lithographs of the towns on his way. " * 8, "Of his work little is known to us. " * 8
    told = "In 1829 he left Hamburg for Vera_Cruz, where he stayed. "
    page = result(f"The painter was born in 1805. {before}{told}{behind}It burnt in 1902.")
    assert needed([page], [say("assistant", f"{before}{told}{behind}")]) == ()
    assert set(needed([page], [say("assistant", "He went to Vera_Cruz in 1829.")])) == {"Vera_Cruz", "1829"}


PARAGRAPH = "The quick brown fox jumps over the lazy dog and runs away from it again. " * 6


@pytest.mark.parametrize(
    ("told", "kept", "copied"),
    [
        ("It holds that F7 is open. ", "It holds that F7 is open.", True),
        ("It is not true that F7 is open. ", "It is true that F7 is open.", False),
        ("It holds that F7 is open no more. ", "It holds that F7 is open", False),
        ("12 items of F7 are left. ", "112 items of F7 are left.", False),
        ("F7. ", "F7.", False),
    ],
)
def test_of_a_paragraph_the_whole_sentence_must_be_kept(told, kept, copied):
    assert is_copied("F7", PARAGRAPH + told + PARAGRAPH, flat(f"A. {kept} B.")) is copied
    assert is_copied("F7", told + PARAGRAPH, flat(f"A. {kept} B.")) is copied


def test_of_a_paragraph_without_sentences_nothing_is_taken_for_copied():
    told = "quick brown fox " * 60 + "F7 " + "lazy dog " * 60
    assert not is_copied("F7", told, flat(told[500:1200]))
