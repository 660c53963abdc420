from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajcompress.redact import Redacted, redact, redact_all, search
from trajcompress.redact.search import find_places, no_places

OPAQUE = "aB3dE6gH9jKl0mNoPq4RsT7u"
SOUGHT = search._SOUGHT
WHOLE = {b"\xf3\xa0": "\U000e0041"}
"""A letter for a needle that letters begin with."""
PIECES = st.sampled_from([WHOLE.get(needle) or needle.decode() for needles in SOUGHT for needle in sorted(needles)])


@st.composite
def texts_of_needles(draw):
    """Text of whole and cut needles, one in the other's way."""
    pieces = draw(st.lists(PIECES | st.text(max_size=2), max_size=12))
    return "".join(piece[draw(st.integers(0, 1)) : len(piece) - draw(st.integers(0, 1))] for piece in pieces)


def all_places(text: str, needles: list[bytes]) -> list[tuple[int, int]]:
    """Where needles stand, found by looking for each of them everywhere."""
    lowered = text.encode("utf-8", "surrogatepass").lower()
    begun = [0, *accumulate(byte & 0xC0 != 0x80 for byte in lowered)]  # letters, up to each byte
    return sorted(
        (begun[at], begun[at + len(needle)])
        for needle in needles
        for at in range(len(lowered))
        if lowered.startswith(needle, at)
    )


@settings(max_examples=200)
@given(texts_of_needles())
def test_every_place_is_found_however_they_overlap(text):
    places = find_places(text)
    found = [sorted(field) for field in places or no_places()]
    keys, names, *others = (all_places(text, needles) for needles in SOUGHT)
    assert found == [keys, sorted((start, end - 1) for start, end in names), *others]


@pytest.mark.parametrize(
    "text",
    [
        "PASSword: '⟨hunter2⟩'",
        "MY_PASSWD=⟨hunter2⟩",
        "secretoken=⟨abc123def456⟩",
        f"credentials = '⟨{OPAQUE}⟩'",
        f"ghp_pass = '⟨{OPAQUE}⟩'",
        "run --db-password ⟨hunter2⟩ --token=x",
        "run --token secret --access-key ⟨a1b2c3d4e5⟩",
    ],
)
def test_a_name_is_found_in_any_case_and_beside_others(text):
    before, _, rest = text.partition("⟨")
    secret, _, after = rest.partition("⟩")
    redacted = redact(before + secret + after)
    assert redacted.count == 1
    assert redacted.text.startswith(f"{before}[REDACTED:")
    assert redacted.text.endswith(f"]{after}")


SECRETS = (
    "token=",
    OPAQUE,
    "password: hunter2",
    " --token ",
    "https://me:hunter2@",
    f"AKIA{OPAQUE}",
    "key",
    ":",
    "é",
    "\0",
    " ",
)


@pytest.mark.parametrize("length", [0, (1 << 16) + 1])  # of what stands before: many are read at once
@given(st.lists(st.lists(st.sampled_from(SECRETS), max_size=4).map("".join), max_size=6))
def test_texts_redacted_together_are_those_redacted_one_by_one(length, texts):
    texts = [f"{'x ' * length}{text}" for text in texts]
    redacted = redact_all(texts)
    assert [redacted.get(index, Redacted(text)) for index, text in enumerate(texts)] == list(map(redact, texts))


@pytest.mark.parametrize("key", [f"Bearer {OPAQUE}", f"Bearer /{OPAQUE}", f"hvs.{OPAQUE}", f"SG.{OPAQUE}.{OPAQUE}"])
@pytest.mark.parametrize("before", ["", " ", r"a\n", r"\u0022", "%3D", "a-name-in-lower-case-"])
def test_a_prefix_with_a_sign_may_stand_after_an_escape_or_a_name(key, before):
    redacted = redact(f"{before}{key}")
    assert redacted.count == 1
    assert OPAQUE not in redacted.text


def test_the_names_of_a_long_run_are_no_keys_but_the_key_behind_them_is():
    run = "sk-ant-" * 5000
    assert redact(f"{run} ").count == 0
    assert redact(f"{run} sk-ant-{OPAQUE}").text == f"{run} [REDACTED:anthropic_key]"
