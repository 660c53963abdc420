"""Long lists of points, as those of a way on a map, go before the words of a result do."""

from __future__ import annotations

import json

import pytest

from trajcompress.compaction.text.cut import cut
from trajcompress.compaction.text.points import without_points

POINTS = [[round(116.3 + number / 7_919, 6), round(39.9 + number / 6_007, 6)] for number in range(200)]
STEPS = [f"Turn into street {number} and go on for {number * 7} metres." for number in range(12)]


@pytest.mark.parametrize("indent", [None, 2])
def test_the_steps_of_a_way_stay_whole_and_points_go_as_far_as_needed(indent: int | None):
    way = json.dumps({"steps": STEPS, "points": POINTS, "name": "Ring Road"}, indent=indent)
    for text in (f"The way: {way}", json.dumps({"text": way})[1:]):
        for limit in (len(text) - 1_000, len(text) // 2):
            shorter = cut(text, limit)
            assert all(step in shorter for step in STEPS)
            assert "Ring Road" in shorter
            assert shorter.count(" elided") == 1 or "\n" not in shorter  # indents go first, if that is enough
            assert limit - 400 < len(shorter) or " elided" not in shorter
            assert len(shorter) <= limit + 100


def test_lists_with_what_is_to_be_kept_short_ones_tables_and_whole_numbers_stay():
    text = str(POINTS)
    assert without_points(text, 1_000, {str(POINTS[150][0]): 4.0}) == text
    for points in (
        POINTS[:10],
        [at for at, _ in POINTS],
        [[number, number % 7] for number in range(500)],
        [[0.25]] * 500,
    ):
        assert without_points(str(points), 100, {}) == str(points)


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
@pytest.mark.parametrize("piece", ["[1.12345,", "1.12345, ", "[", "\\n", "[[1.12345, 2.12345], x", "]," * 9 + "a"])
def test_a_long_text_of_any_shape_is_read_at_once(piece: str):
    without_points(piece * (1_000_000 // len(piece)), 1_000, {"1.5": 1.0})
