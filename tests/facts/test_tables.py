"""Values of tables: fields that commas part, and the record that tells most of what is needed."""

from __future__ import annotations

from needing import needed, result, say

from trajcompress.facts import words_around


def test_fields_of_a_table_that_commas_part_are_values_of_their_own():
    table = "id,year,place\\n336867,375,Flushing,12/01/2014,23.97,\\n336741,375,Upper West,12/01/2015,27.42,"
    copied = say("assistant", "I take 336867,375,Flushing,12/01/2014 and 1,234,567 of it.")
    assert needed([result(table)], [copied]) == ("336867", "375", "12/01/2014")
    assert needed([result("1,234,567 rows")], [copied]) == ("1,234,567",)


def test_a_value_is_told_by_the_record_that_holds_more_of_what_is_needed():
    rows = ["412804,NO2,2016-12-31,18.2", "411112,PM,2016-12-31,7.26"]
    for table in ("\n".join(rows), f"text='{(chr(92) * 2 + 'n').join(rows)}'"):
        told = words_around(["412804", "2016-12-31"], [result(table)])
        assert "411112" not in told["2016-12-31"]
        assert "412804" in told["2016-12-31"]
