"""Values of tables: fields that commas part, and the record that tells most of what is needed."""

from __future__ import annotations

from needing import call, needed, result, say

from trajcompress.compaction.text.middle import cut_text
from trajcompress.facts import words_around
from trajcompress.facts.ledger import FactLedger


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


def test_of_a_long_list_stays_what_the_request_is_about_though_nobody_names_it_again():
    tables = [f"base_{n} | table_{n} | {n * 7} rows of no use to anybody here" for n in range(300)]
    listed = "\n".join([*tables[:150], "wta_1 | players | 20662 rows", *tables[150:]])
    asked = say("user", "Find the first name and country code of the oldest player.")
    tried = say("assistant", "I look into another one first.")
    for request, is_told in ((asked, True), (say("user", "Say what there is."), False)):
        wanted = FactLedger([request, call("list_tables"), result(listed), tried]).wanted(2)
        assert ("wta_1 | players" in cut_text(listed, 1_500, wanted)) == is_told


def test_what_was_pasted_into_a_request_is_not_what_it_is_about():
    pasted = "\n".join(f"row {n}: some words of no use" for n in range(300))
    ledger = FactLedger([say("user", f"What is wrong here?\n{pasted}"), call("look"), result(pasted)])
    assert "words" not in ledger.wanted(2)
