"""The judge of the labelled set: what it can still read, and what the set itself must be."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture(scope="module")
def judging():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        yield importlib.import_module("redaction.judge"), importlib.import_module("redaction.labelled")


@pytest.fixture(scope="module")
def rows(judging):
    labelled = judging[1]
    return [row for split in ("all", "fresh") for row in labelled.read_set(labelled.SET, split)]


def judged(judging, content, *, secrets=(SECRET,), keep=()):
    judge, labelled = judging
    row = labelled.Labelled("id", "dev", "any", [], list(secrets), list(keep))
    return judge.judge(row, [{"role": "user", "content": content}])


@pytest.mark.parametrize(
    "content",
    [
        SECRET,
        SECRET[:20],
        SECRET[20:],
        f"{SECRET[:9]}\x1b[01;31m\x1b[K{SECRET[9:]}",
        f"{SECRET[:9]}\\u001b[0m{SECRET[9:]}",
        f"{SECRET[:9]}\\033[0m{SECRET[9:]}",
        f"{SECRET[:9]}[32m{SECRET[9:]}",
        f"{SECRET[:9]}\u200b{SECRET[9:]}",
        f"{SECRET[:9]}\\\n{SECRET[9:]}",
        f"\x1b]8;;https://a.test/?t={SECRET}\x07open\x1b]8;;\x07",
        json.dumps([json.dumps([json.dumps([f"{SECRET[:9]}\x1b[0m{SECRET[9:]}"])])]),
        json.dumps([json.dumps([json.dumps([SECRET.replace("a", "é")])])]).replace("\\u00e9", "\\u0061"),
    ],
)
def test_a_secret_is_read_through_whatever_stands_in_it(judging, content):
    assert judged(judging, content).leaks


@pytest.mark.parametrize(
    "content", ["", "[REDACTED:github_token]", SECRET[:15], f"TOKEN=[REDACTED:token]{SECRET[-9:]}"]
)
def test_what_is_gone_is_gone(judging, content):
    assert not judged(judging, content).leaks


def test_a_mark_in_a_look_alike_is_a_false_alarm_and_so_is_a_lost_text(judging):
    assert judged(judging, "key [REDACTED]", secrets=()).false_alarm
    assert judged(judging, "key", secrets=(), keep=["value"]).false_alarm
    assert not judged(judging, json.dumps(["the\nvalue"]), secrets=(), keep=["the\nvalue"]).false_alarm


def test_every_row_holds_what_its_labels_name(judging, rows):
    for row in rows:
        verdict = judging[0].judge(row, row.turns)
        assert set(row.secrets) <= set(verdict.survived), row.id
        assert not verdict.lost, row.id
        assert not verdict.marks, row.id


def test_the_set_is_large_and_its_halves_are_alike(rows):
    assert len({row.id for row in rows}) == len(rows)
    sizes = Counter((row.split, bool(row.secrets)) for row in rows)
    assert all(size >= 260 for size in sizes.values()), sizes
