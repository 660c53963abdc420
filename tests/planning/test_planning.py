"""The figures of a plan: lengths, cost, time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.planning.lengths import Lengths
from trajcompress.planning.requests import Limits, Requests, Tries
from trajcompress.summarize.endpoint.priced import Price

TARGETS = st.lists(st.integers(1, 10**6), min_size=1, max_size=4)
ROWS = st.lists(st.integers(0, 10**7), min_size=1, max_size=50)


def lengths_of(rows):
    lengths = Lengths()
    for tokens in rows:
        lengths.add(tokens)
    return lengths


@given(rows=ROWS, targets=TARGETS)
def test_bins_hold_every_row_once_and_no_bin_lies_across_a_target(rows, targets):
    bins = lengths_of(rows).bins(targets)
    assert sum(each.rows for each in bins) == len(rows)
    assert [each.over for each in bins[1:]] == [each.up_to for each in bins[:-1]]
    assert not any(each.over < target < each.up_to for each in bins for target in targets)
    assert {each.up_to for each in bins} >= set(targets), "each is marked, also where no row is as long"
    over = sum(each.rows for each in bins if each.over >= min(targets))
    assert over == sum(tokens > min(targets) for tokens in rows)


@given(rows=ROWS)
def test_quantiles_are_lengths_of_rows(rows):
    quantiles = lengths_of(rows).quantiles((0.5, 1.0))
    assert quantiles[1.0] == max(rows)
    assert quantiles[0.5] in rows


def test_without_rows_there_is_nothing_to_show():
    assert Lengths().bins([100]) == []
    assert Lengths().quantiles((0.5,)) == {}


def requests(count=600, prompt=10_000, room=750):
    made = Requests()
    for _ in range(count):
        made.add(prompt, room, Tries())
    return made


def test_cost_is_tokens_by_price():
    span = requests().cost_usd(Price(0.25, 2))
    assert span.low == pytest.approx((600 * 10_000 * 0.25 + 600 * 600 * 2) / 1e6)
    assert span.high > span.low


@pytest.mark.parametrize(
    ("limits", "minutes", "bound_by"),
    [
        (Limits(rpm=60), 10, "rpm"),
        (Limits(tpm=1_060_000), 6, "tpm"),
        (Limits(rpm=60, tpm=1_060_000), 10, "rpm"),
        (Limits(concurrent=1), 600 * 600 / 50 / 60, "concurrency"),
    ],
)
def test_the_strictest_limit_makes_the_time(limits, minutes, bound_by):
    span, strictest = requests().minutes(limits)
    assert (span.low, strictest) == (pytest.approx(minutes), bound_by)


def test_no_requests_take_no_time():
    assert Requests().minutes(Limits())[0].high == 0
