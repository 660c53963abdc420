"""What is told of a table's rows, as Python prints them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from told import read

SYSTEM = [
    ("def", "mysql", f"innodb_stats_{number}", "BASE TABLE", 10, None, date(2023, 5, 15)) for number in range(90)
]
SHOP = [
    ("def", "shop", name, "BASE TABLE", 10, None, date(2023, 5, 15)) for name in ("customers", "refunds", "orders")
]


def told(rows: list[tuple[object, ...]], **used: float) -> str:
    return read(str(rows), None, later=used, taken=used, most=400).said


def test_of_a_dump_of_a_schema_the_tables_are_told_that_are_queried_later():
    assert told([*SYSTEM, *SHOP], refunds=0.5, orders=0.5) == "[(shop, refunds); (shop, orders); … 91 more]"


def test_a_value_that_is_used_stands_with_what_names_its_row_and_with_no_other():
    rows = [
        (f"Ann{number}", f"Lee{number}", 7_000 + number, f"Street {number}", Decimal(f"1{number}.5"))
        for number in range(60)
    ]
    assert told(rows, **{"7041": 2.0, "152.5": 2.0}) == "[(Ann41, Lee41, 7041); (Ann52, Lee52, 152.5); … 58 more]"
    assert told(rows, **{"Lee7": 2.0, "119.5": 2.0}) == "[(Ann7, Lee7); (Ann19, Lee19, 119.5); … 58 more]"


def test_where_nothing_is_used_all_are_told_by_their_names_or_the_first_in_full():
    columns = [
        (f"column_{letter}", "varchar(40)", "YES", "", None, "a note that is the same no more " + letter)
        for letter in "abcdefg"
    ]
    assert told(columns) == "[column_a; column_b; column_c; column_d; column_e; column_f; column_g]"
    counts = [(f"District {number}", number) for number in range(90)]
    assert told(counts).startswith("[(District 0, 0); (District 1, 1); ")
    assert told(counts).endswith(" more]")


def test_rows_that_were_cut_off_are_read_as_far_as_they_go():
    text = str([*SYSTEM, *SHOP])
    cut = text[: text.index("'orders'") + 4]
    said = read(cut, None, later={"refunds": 0.5}, taken={"refunds": 0.5}, most=400).said
    assert said == "[(shop, refunds); … 91 more]"


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
@pytest.mark.parametrize(
    "text", ["[('a'" + "(" * 500_000, "[(" + "'a', 'b'), (" * 150_000, "[('" + "a" * 900_000, "[(a(" * 300_000]
)
def test_what_only_looks_like_rows_is_read_in_linear_time(text):
    read(text, None, later={"a": 2.0}, taken={"a": 2.0}, most=400)
