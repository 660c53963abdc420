"""Of JSON that is too long what its records have beside what they tell goes before any of them does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.compaction.text.cut import cut
from trajcompress.compaction.text.thinning import without_furniture

PEOPLE = [
    {
        "login": f"user{number}",
        "node_id": f"MDQ6VXNlcjE{number}",
        "avatar_url": f"https://avatars.example/u/{number}?v=4",
        "html_url": f"https://hub.example/user{number}",
        "gravatar_id": "",
        "followers_url": f"https://api.hub.example/users/user{number}/followers",
        "company": None,
        "updated_at": "2026-01-01T00:00:00Z",
        "workspace_id": "ws-7",
        "says": f"I answer question {number}.",
    }
    for number in range(12)
]
LEFT = [{"login": each["login"], "html_url": each["html_url"], "says": each["says"]} for each in PEOPLE]
MARK = "… of each elided: node_id, avatar_url, what is empty, followers_url, updated_at, workspace_id=ws-7 …"


@pytest.mark.parametrize("indent", [None, 2, 4])
def test_links_empty_values_times_and_shared_ids_go_and_a_mark_says_which(indent):
    assert json.loads(without_furniture(json.dumps(PEOPLE, indent=indent), {})) == [MARK, *LEFT]
    held = json.loads(without_furniture(json.dumps({"total": 12, "items": PEOPLE}, indent=indent), {}))
    assert held == {"…": MARK, "total": 12, "items": LEFT}


def test_they_go_before_a_record_does():
    text = json.dumps(PEOPLE, indent=2)
    room = len(json.dumps([MARK, *LEFT])) + 60
    assert json.loads(cut(text, room)) == [MARK, *LEFT]
    assert json.loads(cut(text, room // 2))[0] == MARK
    assert "items elided" in cut(text, room // 2)


def test_what_later_turns_use_stays():
    (mark, *records) = json.loads(without_furniture(json.dumps(PEOPLE), {"MDQ6VXNlcjE5": 2.0}))
    assert "node_id" in mark
    assert [each.get("node_id") for each in records] == [None] * 5 + ["MDQ6VXNlcjE5"] + [None] * 6


@pytest.mark.parametrize("ascii_only", [False, True])
def test_what_was_thinned_has_one_mark_however_often_it_is_cut(ascii_only):
    for value in (PEOPLE, {"items": PEOPLE}):
        once = without_furniture(json.dumps(value, ensure_ascii=ascii_only), {"node_id": 2.0})
        assert without_furniture(once, {}) == once
        assert once.count("of each elided") == 1


def test_where_it_is_little_all_stays():
    for value in (PEOPLE[:1], LEFT, [1, 2, 3], {"a": {"b": None}}, "text", 7):
        text = json.dumps(value)
        assert without_furniture(text, {}) == text


@pytest.mark.parametrize("written", ["\\u00e9", "é"])
def test_what_stays_keeps_its_characters(written):
    text = json.dumps(PEOPLE).replace("I answer", written)
    assert without_furniture(text, {}).count(written) == 12


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.just("https://a.example/" + "x" * 60),
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.sampled_from(["a", "b_url", "node_id", "updated_at", "x_id", "…"]), inner, max_size=6)
    ),
    max_leaves=60,
)


@given(VALUES, st.sampled_from([None, 1, 2]), st.booleans())
def test_json_stays_json_whatever_goes(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    thinned = json.loads(without_furniture(text, {}))
    assert _subset(thinned, value)


def _subset(thinned: Any, whole: Any) -> bool:
    if isinstance(whole, dict) and isinstance(thinned, dict):
        kept = {key: value for key, value in thinned.items() if key in whole}
        return all(_subset(value, whole[key]) for key, value in kept.items()) and len(thinned) - len(kept) <= 1
    if isinstance(whole, list) and isinstance(thinned, list):
        own = thinned[len(thinned) - len(whole) :]
        return len(thinned) - len(whole) in {0, 1} and all(map(_subset, own, whole))
    return bool(thinned == whole)


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
def test_it_takes_linear_time():
    records = [{f"k{number % 50}_url": "https://a.example/" + "x" * 40, "n": number} for number in range(20_000)]
    assert len(without_furniture(json.dumps(records), {})) < len(json.dumps(records)) // 2
    blank = json.dumps(records[:30], indent=1).replace(": ", ":" + " " * 500_000, 1)
    assert json.loads(without_furniture(blank, {}))[1:] == [{"n": number} for number in range(30)]
