"""What a line tells of records and of pages."""

from __future__ import annotations

import json
import re

import pytest
from pruning import call
from told import action, lines_of, read, result_line

from trajcompress.facts.taken import STRONG


def test_json_in_a_fence_is_read_as_json():
    paid = [{"transaction_id": n, "amount": 3 * n, "created_at": "2023-05-01"} for n in range(100, 140)]
    text = f"```json\n{json.dumps(paid, indent=1)}\n```"
    assert result_line(text, "pay", None).startswith("[pay → [(transaction_id=100, amount=300); (101, 303); (102, ")


@pytest.mark.parametrize(
    "text",
    [
        "```Error: the disk is full\n```",
        "```ls: cannot access 'x': No such file\n```",
        "```42\n```",
        "```diff a.py\n-x = 1\n```",
    ],
)
def test_what_stands_on_the_line_that_opens_a_fence_is_told(text):
    said = text.partition("\n")[0].strip("`")
    assert said in result_line(text + "\n", "run", action("bash", command="run"))


def test_a_cell_that_is_too_long_leaves_no_gap_in_some_records():
    """One record of ten without its title would look as if it had none."""
    more = " with a very long name that has no room beside others in a line"
    records = [{"order_id": n, "title": f"Customer {n}{more * (n == 1)}", "due": f"{n}00 EUR"} for n in range(30)]
    line = result_line(json.dumps(records), "list", None)
    assert line.startswith("[list → [(order_id=0, due=000 EUR); (1, 100 EUR); (2, 200 EUR); ")


def test_a_record_whose_status_is_unlike_that_of_the_others_is_told_with_all_it_holds():
    checks = [{"id": n, "check": f"check {n}", "result": "pass"} for n in range(14)]
    checks[9] |= {"result": "FAIL", "detail": "expected 200 got 500 on /login"}
    line = result_line(json.dumps(checks), "run", None)
    assert "; … 5 more; (9, check 9, FAIL, detail=expected 200 got 500 on /login); … 4 more]" in line
    results = [{"id": n, "error": None, "value": n} for n in range(9)]
    line = result_line(json.dumps({"results": [*results, {"id": 9, "error": "disk full", "value": None}]}), "x", None)
    assert line.startswith("[x → [… 9 more; (id=9, error=disk full)]; ")
    pods = {f"web-{n}": {"status": "Error" if n == 3 else "Running", "restarts": n} for n in range(9)}
    assert "status=Error" in result_line(json.dumps({"pods": pods}), "pods", None)


def test_a_record_that_was_looked_up_and_is_called_failed_was_found():
    payment = json.dumps({"payment_id": "pay_81", "status": "failed", "amount": 40.5, "reason": "no funds"})
    found, charged = (read(payment, action(name, id="pay_81")) for name in ("get_payment", "charge_card"))
    assert (found.failed, found.said) == (False, "payment_id=pay_81, status=failed, amount=40.5, reason=no funds")
    assert (charged.failed, charged.said[:8]) == (True, "failed: ")
    missing = read(json.dumps({"status": "failed", "message": "no such payment"}), action("get_payment", id="pay_9"))
    assert missing.failed


def test_a_value_that_is_too_long_makes_no_record_unlike_the_others():
    notes = [{"name": f"n{n}", "size": f"{n} kB", "note": "z" * 60 if n else "short"} for n in range(6)]
    line = result_line(json.dumps({"items": notes, "more": "y" * 300}), "x", None)
    assert line.startswith("[x → items=[(name=n0, size=0 kB); (n1, 1 kB); (n2, 2 kB); ")


def test_a_record_in_another_language_is_not_unlike_the_others():
    found = [{"title": f"Bridge {n}", "lang": "de" if n == 7 else "en", "text": f"steel {n} " * 9} for n in range(10)]
    assert result_line(json.dumps(found), "find", None).startswith("[find → [(title=Bridge 0")


def test_the_status_of_all_records_is_told_before_the_names_of_a_few():
    states = ("open", "pending", "delivered")
    orders = [{"order_id": f"#W{n}", "customer": f"Customer number {n}", "status": states[n % 3]} for n in range(8)]
    line = result_line(json.dumps(orders), "orders", None)
    assert line.startswith("[orders → [(order_id=#W0, status=open); (#W1, pending); (#W2, delivered); (#W3, open); ")
    assert "more" not in line


def test_of_many_records_few_are_told_with_what_they_hold():
    flights = [{"id": f"F{n}", "price": 7 * n, "dep": f"{n % 24:02}:10", "seats": n % 9} for n in range(60)]
    line = result_line(json.dumps({"flights": flights}), "search", None)
    assert line.startswith("[search → [(id=F0, price=0, dep=00:10, seats=0); (F1, 7, 01:10, 1); (F2, 14, 02:10, 2); ")
    assert re.search(r"; … \d\d more\]; ", line)
    told = result_line(json.dumps({"flights": flights}), "search", None, later={"F41": STRONG})
    assert "F41, 287, 17:10, 5" in told or "id=F41, price=287, dep=17:10, seats=5" in told


def test_of_a_page_that_is_shown_as_a_tree_address_title_and_elements_are_told():
    elements = "\n".join(f"\t[a{n}] button 'Item {n}', clickable" for n in range(60))
    shown = f"# Current page URL: https://shop.test/p1\n\n## AXTree:\nRootWebArea 'The shop', focused\n{elements}"
    text = f"{shown}\n\n## Focused element:\nNone\n\n# History of interaction with the task:\nstep"
    (line,) = lines_of((call("click", id="a1"), text))
    assert line.startswith("[click a1 → https://shop.test/p1; The shop; [a0] button 'Item 0', clickable; ")
    assert "Focused" not in line


ELEMENTS = "\n".join(f"\t[{n}] link 'Item {n} of the list'" for n in range(2, 40))


@pytest.mark.parametrize(
    ("before", "root", "said"),
    [
        (
            "Action failed: it is not clickable\nURL: http://a\n",
            "'Home'",
            "Action failed: it is not clickable; http://a; ",
        ),
        ("$35 were charged for order 77.\n", "'Home'", "$35 were charged for order 77.; Home; "),
        ("", '"Women\'s Shoes" focused: True', "Women's Shoes; "),
        ("", "'It\\'s here'", "It's here; "),
        ("", "'He said \"hi\" to you'", 'He said "hi" to you; '),
        ("Tab 0: Mail url: http://mail\nTab 1 (current): Shop\n\n", "'Shop'", "Shop; "),
    ],
)
def test_what_came_of_an_action_and_the_whole_title_of_a_page_are_told(before, root, said):
    line = result_line(f"{before}RootWebArea {root}\n{ELEMENTS}", "click", action("click", id=3))
    assert line.startswith(f"[click 3 → {said}")


def test_of_a_page_an_alert_and_texts_are_told_before_its_menu():
    menu = ELEMENTS.replace("\t", "\t\t")
    end = "\t[90] alert 'Payment failed: card declined'\n\t[91] button 'Retry'\n"
    line = result_line(f"[1] RootWebArea 'Checkout'\n{menu}\n{end}", "click", action("click", id=3))
    assert line.startswith("[click 3 → Checkout; [90] alert 'Payment failed: card declined'; [2] link")
    end = "\t[90] heading 'Order 187'\n\t[91] StaticText 'Canceled'\n\t[92] StaticText 'Total: $1,048'\n"
    line = result_line(f"[1] RootWebArea 'Orders'\n{menu}\n{end}", "click", action("click", id=3))
    assert "Order 187'; [91] StaticText 'Canceled'; [92] StaticText 'Total: $1,048'" in line


def test_an_alert_of_a_page_is_told_beside_what_the_next_turn_clicks():
    shown = f"[1] RootWebArea 'Mug'\n{ELEMENTS}\n\t[54] alert 'The quantity is not available'\n\t[55] button 'Add'\n"
    line = result_line(shown, "click", action("click", id=3), later={"55": STRONG})
    assert "; [54] alert 'The quantity is not available'; [55] button 'Add'" in line


def test_cookies_and_newsletters_of_a_page_do_not_crowd_out_what_it_says():
    begin = "\t[3] dialog 'We use cookies'\n\t[4] alertdialog 'Our newsletter'\n\t[5] log 'Chat'\n"
    shown = f"[1] RootWebArea 'Shop'\n{begin}{ELEMENTS}\n\t[50] heading 'Order 1'\n\t[51] StaticText 'Canceled'\n"
    line = result_line(shown, "click", action("click", id=3))
    assert line.startswith("[click 3 → Shop; [50] heading 'Order 1'; [51] StaticText 'Canceled'; ")


def test_what_is_said_of_the_action_behind_a_page_is_told():
    behind = "\n\nLast action result: the click did not change the page.\n"
    line = result_line(f"[1] RootWebArea 'Shop'\n{ELEMENTS}{behind}", "click", action("click", id=3))
    assert line.startswith("[click 3 → Last action result: the click did not change the page.; Shop; ")


def test_source_that_speaks_of_a_tree_is_no_page():
    source = "def parse(x):\n    if x.startswith(\"RootWebArea 'a'\"):\n        return 3\n" + "    y = foo(x)\n" * 30
    assert "def parse(x):" in result_line(source, "cat", action("bash", command="cat parse.py"))


def test_how_things_stand_is_told_before_figures_and_what_is_unlike_before_what_is_not():
    figures = {f"number_of_{name}": n for n, name in enumerate(("nodes", "shards", "tasks", "replicas", "merges"), 3)}
    shards = [{"shard": n, "state": "UNASSIGNED" if n == 4 else "STARTED", "node": f"n-{n}"} for n in range(12)]
    note = "The cluster is asked each minute, and what it says is kept for a week; older answers are dropped then."
    body = {"cluster": "logs-eu", **figures, "note": note, "shards": shards, "status": "red"}
    line = result_line(json.dumps(body), "get_health", None)
    assert "status=red" in line
    assert "(shard=4, state=UNASSIGNED, node=n-4)" in line
