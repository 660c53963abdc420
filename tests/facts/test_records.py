"""Records that a result dumps on one line: those that name what is asked for stay whole where the dump is cut."""

from __future__ import annotations

import json
import time

import pytest
from pruning import call
from trajectories import read, result

from trajcompress.compaction.text.cut import cut
from trajcompress.facts.ledger import FactLedger
from trajcompress.facts.records import named_records

NAMES = [f"{shape}_{number}" for number in range(40) for shape in ("log", "queue", "shard")]
NAMES[50:50] = ["ferry_routes"]
NAMES[70:70] = ["Harbours"]
TUPLES = [str(("base", name, "TABLE", 10, None)) for name in NAMES]
OBJECTS = [json.dumps({"schema": "base", "name": name, "kind": "TABLE", "rows": 10}) for name in NAMES]
DUMP = f"[{', '.join(TUPLES)}]"


def ledger_of(dump: str, *, request: str, later: str) -> FactLedger:
    asked, said = {"role": "user", "content": request}, {"role": "assistant", "content": later}
    return FactLedger(read([asked, call("query", "q", sql="tables"), result("q", dump), said]).turns)


@pytest.mark.parametrize(
    ("dump", "records"),
    [(DUMP, TUPLES), (f"[{', '.join(OBJECTS)}]", OBJECTS), (" ".join(OBJECTS), OBJECTS)],
    ids=["tuples", "objects", "objects apart"],
)
def test_records_that_the_request_or_the_next_turn_names_stay_whole(dump: str, records: list[str]):
    ledger = ledger_of(dump, request="Which routes has each ferry?", later="I look at the harbour first.")
    shorter = cut(dump, 1_500, ledger.wanted(2))
    assert len(shorter) < 1_700
    assert records[NAMES.index("ferry_routes")] in shorter
    assert records[NAMES.index("Harbours")] in shorter


def test_words_that_many_records_have_and_values_of_which_they_are_a_small_part_name_none():
    assert named_records(DUMP, ("the base table of each log",), 2.0) == {}
    prose = DUMP.replace("'ferry_routes'", "'where the ferry of the island goes'")
    assert named_records(prose, ("Which ferry?",), 2.0) == {}


def test_words_of_the_action_are_in_what_it_found_anyway():
    assert named_records(DUMP, ("Which ferry?",), 2.0, action="SELECT routes OF ferry") == {}


def test_a_record_that_holds_others_is_not_told_in_pieces():
    nested = ", ".join(f'{{"name": "group_{at}", "of": [{{"name": "ferry"}}, {{"name": "x"}}]}}' for at in range(20))
    assert all(record.count("{") == record.count("}") for record in named_records(nested, ("ferry group",), 2.0))


def test_lines_that_are_no_dump_have_no_records():
    assert named_records("ferry_routes, harbours\n" * 100, ("ferry routes",), 2.0) == {}
    assert named_records("('ferry_routes', 1), ('x', 2)", ("ferry routes",), 2.0) == {}


@pytest.mark.parametrize("piece", ["'", "), (", "}{", "], [", "'aaa", '("a\'b"), ', "} {'ferry'", "'ferry', "])
def test_a_long_dump_of_any_shape_is_read_at_once(piece: str):
    began = time.process_time()
    named_records(piece * (1_000_000 // len(piece)), ("ferry " * 500,), 2.0)
    assert time.process_time() - began < 1
