"""Which steps a record tells, and which it only counts."""

from __future__ import annotations

import json
from dataclasses import replace

from summed_up import ask, call, result, section

from trajcompress.summarize.extractive import extract


def viewed(number: int):
    shown = "\n".join(f"{line}: value_{line} = read({line})" for line in range(number, number + 40))
    return call(number, "editor", command="view", path=f"src/module_{number}.py"), result(number, shown)


def test_edits_installs_and_runs_that_came_out_otherwise_are_told_before_what_was_looked_at():
    def ran(number: int, command: str, said: str):
        return call(number, "bash", command=command), result(number, said)

    def edited(number: int, path: str, new: str):
        edit = {"command": "str_replace", "path": path, "old_str": "pass", "new_str": new}
        return call(number, "editor", **edit), result(number, f"The file {path} has been edited.")

    missing, wrong = (f"Traceback (most recent call last):\n{each}" for each in ("KeyError: 'a'", "KeyError: 'b'"))
    acts = [
        ran(100, "python reproduce.py", missing),
        ran(101, "pip install -e .", "Successfully installed shop-1.0"),
        edited(102, "src/shop.py", "return total"),
        ran(103, "python reproduce.py", "all is well"),
        edited(104, "src/cart.py", "return cart"),
        ran(105, "python reproduce.py", wrong),
    ]
    looked = [viewed(n) for n in range(1, 25)]
    region = [turn for n, act in enumerate(acts) for pair in (act, *looked[4 * n : 4 * n + 4]) for turn in pair]
    steps = section(extract(ask(region, budget=190)), "Steps")
    for told in ("KeyError: 'a'", "shop-1.0", "«return total»", "all is well", "«return cart»", "KeyError: 'b'"):
        assert told in steps
    assert "… 4 more steps: 4 × view" in steps


def test_a_look_up_that_went_well_once_it_had_failed_is_told_behind_its_failure():
    orders = [call(100, "get_order", id="W14"), result(100, "Error: 503 Service Unavailable")]
    orders += [call(101, "get_order", id="W14"), result(101, '{"id": "W14", "status": "pending", "total": 98.25}')]
    looked = [turn for n in range(1, 25) for turn in viewed(n)]
    steps = section(extract(ask([*looked[:20], *orders, *looked[20:]], budget=190)), "Steps")
    assert steps.index("→ Error: 503 Service Unavailable") < steps.index("status=pending")


def test_scripts_of_the_agent_are_told_after_edits_of_what_was_there():
    edit = {"command": "str_replace", "old_str": "pass", "new_str": "return total"}
    region = [
        call(1, "editor", **edit, path="src/shop.py"),
        result(1, "The file src/shop.py has been edited."),
    ]
    for n in range(2, 22):
        made = {"command": "create", "path": f"try_{n}.py", "file_text": f"print({n})"}
        region += [call(n, "editor", **made), result(n, f"File created successfully at: try_{n}.py")]
    steps = section(extract(ask(region, budget=400)), "Steps")
    assert "«return total»" in steps
    assert " × create" in steps


def test_a_file_that_is_changed_is_not_told_by_the_frame_of_a_traceback_that_names_it():
    failed = (
        'Traceback (most recent call last):\n  File "/srv/shop/try.py", line 3, in <module>\n    main()\n'
        "  File \"/srv/shop/cart.py\", line 9, in main\n    pay()\nKeyError: 'a'"
    )
    region = [
        call(1, "editor", command="create", path="/srv/shop/try.py", file_text="main()"),
        result(1, "File created successfully at: /srv/shop/try.py"),
        call(2, "bash", command="python try.py"),
        result(2, failed),
    ]
    text = extract(replace(ask(region), facts=("/srv/shop/try.py",)))
    assert "KeyError: 'a' (/srv/shop/cart.py:9)\n" in text
    assert "- /srv/shop/try.py" in text


def test_a_step_that_an_earlier_summary_told_at_length_is_told_so_again_where_there_is_room():
    step = f"- show notes.txt → {'a line of it that was told; ' * 8}"
    previous = f"[CONTEXT SUMMARY]:\nSteps:\n{step.strip()}"
    assert step.strip() in extract(replace(ask(()), previous=previous)).splitlines()


def test_of_a_file_that_is_written_once_more_what_is_new_is_told():
    first = "\n".join(f"value_{n} = read({n})" for n in range(20))
    region = []
    for n, text in enumerate((first, first.replace("read(9)", "parse(9)").replace("read(15)", "parse(15)"), "x = 1")):
        region += [
            call(n, "editor", command="create", path="try.py", file_text=text),
            result(n, "File created successfully at: try.py"),
        ]
    steps = section(extract(ask(region)), "Steps").splitlines()
    assert "«value_0 = read(0); " in steps[0]
    assert "«… value_9 = parse(9) … value_15 = parse(15)»" in steps[1]
    assert "«x = 1»" in steps[2]


def test_the_files_that_were_changed_are_named_before_edits_are_told_each():
    region = []
    for n in range(30):
        edit = {"command": "str_replace", "path": f"src/part_{n % 6}.py", "old_str": f"a{n}", "new_str": f"b{n}"}
        region += [call(n, "editor", **edit), result(n, f"The file {edit['path']} has been edited.")]
    text = extract(ask(region, budget=150))
    assert section(text, "Files changed").count("(5 times)") == 6
    assert " × str_replace" in section(text, "Steps")


def test_steps_that_are_left_out_are_counted_by_the_whole_name_of_their_tool():
    asked = [(call(n, "Relational DB", query=f"SELECT {n}"), result(n, f"row {n} " * 30)) for n in range(20)]
    steps = section(extract(ask([turn for step in asked for turn in step], budget=100)), "Steps")
    assert " × Relational DB\n" in f"{steps}\n"


REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP and wait."


def test_what_was_refused_or_failed_is_told_before_what_went_well():
    region = [call(1, "ExitPlanMode", plan="Write all of the pages"), result(1, REFUSED)]
    region += [call(2, "mkdir", path="site"), result(2, "mkdir: cannot create directory 'site': File exists")]
    for n in range(3, 23):
        region += [
            call(n, "Write", file_path=f"site/page_{n}.html", content=f"<p>{n}</p>"),
            result(n, "File created"),
        ]
    steps = section(extract(ask(region, budget=260)), "Steps")
    assert "- ExitPlanMode Write all of the pages → rejected by the user" in steps
    assert "→ mkdir: cannot create directory 'site': File exists" in steps
    assert " × Write" in steps


def test_a_file_that_somebody_did_not_let_the_agent_write_is_not_changed():
    write = call(1, "Write", file_path="a.html", content="<p>1</p>")
    for said in (REFUSED, '{"status": "denied", "message": "The user denied this operation."}'):
        text = extract(ask([write, result(1, said)]))
        assert section(text, "Files changed") == ""
    text = extract(ask([write, result(1, "Written. The guest asked for another page")]))
    assert section(text, "Files changed") == "- a.html"


def test_what_an_act_was_done_to_is_told_with_all_that_it_was_given():
    given = {"order_id": "#W9502127", "payment_method_id": "paypal_2433177", "item_ids": ["9534205511"]}
    order = {"order_id": "#W9502127", "items": [{"name": "Vacuum Cleaner", "item_id": "2872451762"}] * 5}
    region = [call(1, "return_items", **given), result(1, json.dumps(order))]
    for budget in (60, 300):
        steps = section(extract(ask(region, budget=budget)), "Steps")
        assert "return_items order_id=#W9502127, payment_method_id=paypal_2433177, item_ids=[9534205511] → " in steps


def test_what_went_well_once_the_same_tool_had_failed_is_told():
    region = [*viewed(1)]
    for number in range(4):
        failing = f"rows = read_table('tenants_{number}')"
        region += [
            call(10 + number, "python", code=failing),
            result(10 + number, f"Error: no such table: t_{number}"),
        ]
    region += [call(20, "python", code="rows = read_table('users')"), result(20, "3 rows: Ann, Bob, Eve")]
    for number in range(21, 33):
        region += [call(number, "python", code=f"plot(rows, {number})"), result(number, f"drawn {number}")]
    assert "read_table('users') → 3 rows" in section(extract(ask(region, budget=150)), "Steps")


def test_what_an_agent_only_thinks_is_no_step():
    thought = [call(1, "think", thought="The seat must be paid."), result(1, "Your thought has been logged.")]
    silent = [call(2, "think", thought="So I search."), result(2, "")]
    found = [call(3, "search_flights", origin="DEN"), result(3, "HAT084 leaves at 06:00")]
    steps = section(extract(ask([*thought, *silent, *found])), "Steps")
    assert "think" not in steps
    assert "HAT084" in steps


def test_steps_that_are_counted_are_named_by_what_they_are_for():
    looked = [(call(n, "bash", command=f"pwd && rg handle_{n} src"), result(n, f"src/a.py:{n}")) for n in range(30)]
    steps = section(extract(ask([turn for pair in looked for turn in pair], budget=120)), "Steps")
    assert " × rg" in steps
    assert "× pwd" not in steps
