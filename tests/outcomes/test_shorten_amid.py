"""How a text of several lines or sentences is cut so that how it ends stays, and no two of them become one."""

from __future__ import annotations

import pytest

from trajcompress.outcomes.text import shorten_amid


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (
            "to_snake('A1') = 'a_1'; Expected: 'a1' ✗ FAIL; to_snake('B') = 'b'; Expected: 'b'; 45 × ✓ PASS",
            "45 × ✓ PASS",
        ),
        (
            "No such parameter as phone_number in the login of this API. Use one of: username, key",
            "Use one of: username, key",
        ),
    ],
)
def test_a_last_line_or_sentence_stays_whole_behind_a_mark(text: str, cut: str):
    shorter = shorten_amid(text, 70)
    assert len(shorter) <= 70
    begun, mark, end = shorter.rpartition("…")
    assert (mark, end.lstrip("; ")) == ("…", cut)
    assert text.startswith(begun)


@pytest.mark.parametrize(
    "text",
    [
        "Error: 'Index' object has no attribute '_with_freq', see the notes; 01:00 0.48; 02:00 1.26; 03:00 0.003311",
        "Error with Code: 1 validation error for Foo; Code is required; made Foo with the id http_response_code: 200",
        "one line of words that goes on and on without an end, or a stop, until nobody reads it any more at all",
    ],
)
def test_what_has_no_room_beside_the_first_line_is_left_out(text: str):
    shorter = shorten_amid(text, 70)
    assert len(shorter) <= 70
    assert shorter.endswith("…")
    assert text.startswith(shorter.removesuffix("…"))
