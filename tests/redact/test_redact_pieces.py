"""A vendor's key that several results tell in pieces."""

from __future__ import annotations

import json

import pytest

from trajcompress.redact import redact_turns

KEY = "ghp_aB3dE6gH9jKl0mNoqR5tU7wX2zY4cF8hJ1kL"
LONG = "sk-proj-aB3dE6gH9jKl0mNoqR5tU7wX2zY4cF8hJ1kLpQ6sT9vW3xZ5"
SHA = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"


def said(*turns):
    """What turns become, each of one text."""
    redacted, _ = redact_turns([[turn] for turn in turns])
    return [redacted[at].text if at in redacted else turn for at, turn in enumerate(turns)]


SHOWN = {
    "as it is": lambda text: text,
    "with its code": lambda text: f"{text}\n[exit code 0]",
    "in JSON": lambda text: json.dumps({"output": f"{text}\n", "exit_code": 0}),
    "in tags": lambda text: f"<returncode>0</returncode>\n<output>\n{text}\n</output>",
}


@pytest.mark.parametrize("shown", SHOWN)
def test_both_pieces_of_a_key_become_marks(shown):
    first, rest = SHOWN[shown](KEY[:20]), SHOWN[shown](KEY[20:])
    turns = said("cut -c1-20 t", first, "cut -c21- t", rest, f"It ends in {KEY[20:]}.")
    assert KEY[:20] not in turns[1]
    assert KEY[20:] not in turns[3] + turns[4]
    turns = said(
        "head -c 33 .env", SHOWN[shown](f"GITHUB_TOKEN={KEY[:20]}"), "tail", SHOWN[shown](f"{KEY[20:]}\nA=1")
    )
    assert KEY[:20] not in turns[1]
    assert KEY[20:] not in turns[3]
    assert "A=1" in turns[3]


def test_three_pieces_of_a_key_become_marks():
    turns = said("cut -c1-16 t", KEY[:16], "cut -c17-28 t", KEY[16:28], "cut -c29- t", KEY[28:])
    assert [turn for turn in turns if turn[:3] != "cut"] == ["[REDACTED:github_token]"] * 3


def test_the_rest_of_what_is_a_key_by_itself_is_known_by_the_command_that_asks_for_it():
    assert said("cut -c1-36 t", LONG[:36], "cut -c37- t", LONG[36:])[3] == "[REDACTED:openai_key]"
    assert said("cat t", LONG[:36], "cat other", LONG[36:])[3] == LONG[36:]


@pytest.mark.parametrize(
    "turns",
    [
        ("cat a", "export npm_config", "git rev-parse HEAD", SHA),
        ("cat a", KEY[:20], "git rev-parse HEAD", SHA),
        ("cat a", f"it begins with {KEY[:20]} and so on", "cat b", KEY[20:]),
        ("cat a", KEY[:20], "cat b", f"see {KEY[20:]}"),
        ("ls", "task-a1b2c3d4", "ls -l", "Zx81kQ9mLp2vT7wR4nB6"),
        ("cat a", KEY[:20], "ls", "src/module_3/Parser2.py"),
        ("cat a", "hf_", "ls", "Zx81kQ9mLp2vT7wR4nB6Zx81kQ9mLp2vT7wR4nB6"),
    ],
)
def test_what_may_be_something_else_stays(turns):
    assert said(*turns) == list(turns)


@pytest.mark.cpu_seconds(15)
def test_pieces_without_end_are_read_in_linear_time():
    redact_turns([[KEY[:20]], ["dd " * 60_000], [KEY[20:]]] * 20)
    redact_turns([[LONG[:36]], [LONG[36:]]] * 5_000)
