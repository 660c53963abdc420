"""Texts whose form is known are told by what these forms are for."""

from __future__ import annotations

import json

import pytest
from told import action, read, said

from trajcompress.outcomes.printed.known_forms import known_form

NODE = (
    '<node index="{n}" text="{text}" resource-id="a:id/r{n}" class="android.widget.TextView" bounds="[0,0][9,9]" />'
)
COUNTS = {"shoes": 4812, "shirts": 3011, "hats": 912, "socks": 401, "belts": 120, "gloves": 41, "scarves": 12}


def test_a_screen_of_android_is_told_by_its_texts():
    nodes = "\n".join(NODE.format(n=n, text=text) for n, text in enumerate(("Wi-Fi", "Connected to Home", "", "Off")))
    screen = f'<?xml version="1.0"?>\n<hierarchy rotation="0">\n{nodes}\n</hierarchy>'
    assert said(screen, limit=90) == "Wi-Fi; Connected to Home; Off"
    assert known_form(nodes) == []  # any other XML


def test_of_the_plan_of_a_query_the_time_is_told_and_what_was_read_whole():
    plan = "  QUERY PLAN\n Limit\n   ->  Seq Scan on events  (cost=0.00..9 rows=1)\n Execution Time: 812.312 ms\n"
    assert said(plan + " \n" * 90, limit=60) == "Seq Scan on events; Execution Time: 812.312 ms"


def test_of_paths_that_were_found_those_come_first_that_were_served():
    found = "/admin (Status: 301) [Size: 310]\n/backup.zip (Status: 200) [Size: 48211]\n"
    assert said("=====\nGobuster v3.6\n" + found + "Finished\n", limit=60).startswith("/backup.zip (Status: 200)")


@pytest.mark.parametrize(
    "unit", ["commit abcdef0\n", "<node ", 'text="', "a  1\n", "/a (Status: 200)\n", "Seq Scan on "]
)
def test_a_hostile_text_is_read_in_linear_time(unit):
    assert isinstance(known_form("<hierarchy" + unit * 4_000), list)


def test_the_id_of_what_a_call_made_is_told_first():
    booking = {
        "status": "confirmed",
        "policy": "Free until two days before. " * 9,
        "booking_id": "BK-99120",
        "room": "R12",
    }
    assert read(json.dumps(booking), action("create_booking", room="R12"), limit=40).said.find("BK-99120") >= 0
    messages = [{"type": "message", "user": f"U{n}", "text": f"step {n} is done now"} for n in range(9)]
    assert said(json.dumps({"ok": True, "messages": messages})).startswith(
        "messages=[(text=step 0 is done now); step 1"
    )


PLAN = (
    "Terraform will perform the following actions:\n\n  # aws_db.main will be destroyed\n\n"
    "Plan: 1 to add, 0 to change, 2 to destroy.\n"
)


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("", "Plan: 1 to add, 0 to change, 2 to destroy.; aws_db.main will be destroyed"),
        (
            'Apply complete! Resources: 1 added, 0 changed, 2 destroyed.\n\nOutputs:\n\npublic_ip = "54.1.2.3"\n',
            'Apply complete! Resources: 1 added, 0 changed, 2 destroyed.; public_ip = "54.1.2.3"',
        ),
        ("Destroy complete! Resources: 2 destroyed.\n", "Destroy complete! Resources: 2 destroyed."),
        ("Apply cancelled.\n", "Apply cancelled."),
    ],
)
def test_of_what_was_applied_or_cancelled_no_plan_is_told(end, told):
    assert (
        said(f"{PLAN}aws_db.main: Destroying...\n{'aws_db.main: Still destroying... [10s elapsed]' * 3}\n{end}")
        == told
    )


@pytest.mark.parametrize("line", ["\n", "\\n"])  # as it stands in JSON within JSON
def test_what_a_server_says_before_a_page_that_it_fetched_is_not_told(line):
    raw = f"Content type text/csv; charset=utf-8 cannot be simplified to markdown, but here is the raw content:{line}"
    for before in ("", raw):
        page = f"{before}Contents of https://data.example.com/rows.csv:{line}Unique ID,Value{line}336867,34.9"
        assert said(page, limit=60).startswith("Unique ID,Value")
