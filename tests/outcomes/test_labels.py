"""What a call is called in a line."""

from __future__ import annotations

import json

import pytest

from trajcompress.outcomes.action.actions import describe
from trajcompress.outcomes.action.commands import cut_command
from trajcompress.outcomes.action.labels import cut_label, named
from trajcompress.outcomes.action.quotes import closed
from trajcompress.outcomes.action.usual import usual_arguments
from trajcompress.outcomes.steps import action_of, calls_of, label_of
from trajcompress.outcomes.text import shorten
from trajcompress.transcript.trajectory import ToolCall, Turn


def _label(name: str, arguments: object, limit: int = 70) -> str:
    return label_of(describe(name, arguments), "", limit)


def test_arguments_that_hold_others_are_not_begun():
    changes = [{"file_name": "org/a.java", "modifications": [{"line_number": 721, "line": "max += 1"}]}]
    assert (
        _label("write_fix", {"project": "Math", "bug": 77, "changes": changes}) == "write_fix project=Math, bug=77, …"
    )


def test_what_a_text_protocol_writes_as_json_is_called_the_same():
    changes = [{"file_name": "org/a.java"}]
    written = {"project": "Math", "changes": json.dumps(changes)}
    assert _label("fix", written) == _label("fix", {"project": "Math", "changes": changes})


def test_arguments_that_only_hold_others_are_called_by_these():
    files = [{"id": "/data/goods.csv", "cells": [{"first": 1, "last": 5}]}]
    assert _label("read_files", {"files": files}) == "read_files /data/goods.csv, …"


def test_lines_of_the_one_file_of_a_list_are_said_as_those_of_a_file():
    for ranges in ([{"start": 1, "end": 5}], ["1-5"], [[1, 5]]):
        files = [{"path": "/data/goods.csv", "ranges": ranges}]
        assert _label("read_files", {"files": files}) == "read_files /data/goods.csv (lines 1-5)"


def test_only_whole_arguments_stay_where_there_is_little_room():
    arguments = {"title": "Sales by Month", "height": 500, "width": 800, "presentation_id": "first"}
    assert _label("plot", arguments, 48) == "plot title=Sales by Month, height=500, …"


def test_a_long_text_comes_after_what_is_short():
    assert named({"content": "word " * 40, "folder": "/data"}, 140).startswith("/data, content=word word")


@pytest.mark.parametrize(
    ("vector", "said"),
    [
        (["/bin/bash", "-lc", "ls docs | wc -l"], "ls docs | wc -l"),
        (["sh", "-c", "make test"], "make test"),
        (["git", "log", "-n", "5"], "git log -n 5"),
    ],
)
def test_an_argument_vector_is_called_by_what_runs(vector, said):
    assert _label("shell", {"command": vector}) == said
    assert describe("shell", {"command": vector}).kind == describe("shell", {"command": said}).kind


@pytest.mark.parametrize("data", [{}, {"a": {}}, [], {"a": None}, {"a": [{}]}])
def test_nothing_is_said_of_nothing(data):
    assert named(data, 100) in {"", "[{}]", "[()]"}


def test_a_command_is_cut_with_its_quotes_closed():
    command = "python3 -c \"with open('whitepages.txt', 'r') as file:\n    print(file.read()[5:])\""
    assert _label("bash", {"command": command}).startswith(
        "python3 -c \"with open('whitepages.txt', 'r') as file:…\""
    )


def test_a_command_that_is_longer_than_what_is_read_ends_in_a_whole_word():
    asked = "echo " + " ".join(f"the_number_{number}" for number in range(400))
    target = describe("bash", asked).target
    assert target.endswith(" …")
    assert target.removesuffix(" …").split()[-1] in asked.split()


def test_code_is_called_by_what_it_does_before_what_it_names():
    named = 'token = "tk_0123456789abcdef0123456789"\nlimit = 20\n'
    code = f"{named}for page in range(3):\n    print(shop.find(token, limit, page))"
    assert (
        describe("python", {"code": code}).target
        == "for page in range(3): print(shop.find(token, limit, page)) (+2 lines)"
    )
    assert describe("python", {"code": "a = 1\nb = 2\nprint(a + b)"}).target == "a = 1; b = 2; print(a + b)"


def test_a_program_on_one_file_is_called_by_its_name_where_there_is_little_room():
    assert cut_command("cat /srv/shop/deep/down/STDOUT", 20) == "cat …/STDOUT"


def test_no_end_of_a_quote_stands_without_its_beginning():
    command = (
        'grep -rn "a long pattern that someone looked for in all files" --include="*.py" src/thing.py | head -20'
    )
    label = _label("bash", {"command": command})
    assert label == 'grep -rn "a long pattern that someone…" --include="*.py" …/thing.py …'


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            r'grep -n "alpha\|beta\|gamma\|delta\|epsilon" -ri tests/*.py setup.cfg 2>/dev/null | head -50',
            r'grep -n "alpha\|beta\|gamma\|delta\|…" -ri tests/*.py setup.cfg …',
        ),
        (
            'make install --dry-run-of-all 2>&1 | head -20; echo "---"; python3 -c "import os" 2>&1 | tail -30',
            'make install --dry-run-of-all …; echo "---"; python3 -c "import os" …',
        ),
        (
            "ls -la; cat package.json; node --version; npm ls -g --depth=0; which playwright; pip3 show playwright",
            "ls -la; cat package.json; node --version …; pip3 show playwright",
        ),
        (
            "pytest -q tests/outcomes tests/compaction tests/summarize tests/transcript tests/facts -k 'not slow'",
            "pytest -q tests/outcomes tests/compaction… tests/facts -k 'not slow'",
        ),
    ],
)
def test_what_is_left_out_of_a_command_has_a_mark_in_its_place(command, said):
    assert _label("bash", {"command": command}) == said


def test_an_apostrophe_opens_no_quote():
    assert closed("echo it's") == "echo it's"
    assert closed("echo 'it") == "echo 'it…'"


def test_words_to_another_agent_are_cut_at_their_end():
    words = (
        "Please scroll through the list of flavours and tell the one that is the oldest of all as of the end of 2022."
    )
    assert cut_label(words, 60, command=True) == "Please scroll through the list of flavours and tell the one…"


def test_a_heredoc_is_called_by_what_it_runs():
    command = "python - <<'EOF'\nimport os\nprint(os.getcwd())\nEOF"
    assert _label("bash", {"command": command}) == "python - <<'EOF' «print(os.getcwd()) (+1 line)»"


def test_a_variable_before_a_command_is_no_query():
    assert _label("bash", {"command": "PYTHONPATH=. python - <<'EOF'\nprint(1)\nEOF"}).startswith(
        "PYTHONPATH=. python"
    )
    assert _label("sql", {"command": "SELECT name\nFROM city"}) == "SELECT name FROM city"


def test_labels_are_linear_in_hostile_text():
    for text in ("'" * 200_000, '"' * 200_001, ", a=" * 50_000, "[" * 2_000, "{" * 2_000):
        assert len(_label("bash", {"command": text})) <= 70
        assert len(_label("tool", {"a": text, "b": text})) <= 70


def test_a_command_of_a_text_protocol_is_no_name_of_a_tool():
    command = json.dumps({"command": "edit 1:1\n#!/usr/bin/perl\nprint 1\nend_of_edit"})
    action = action_of(Turn("assistant", "", {}, calls=(ToolCall(None, "", command, in_text=True),)), 0)
    assert label_of(action, "") == "edit 1:1 «print 1 (+1 line)»"


CALLS = [
    ("find", {"project": "Math", "bug": 77, "words": ["getNorm"]}),
    ("read", {"project": "Math", "bug": 77, "path": "src/a.java", "method": "getNorm"}),
    ("find", {"project": "Math", "bug": "77", "words": ["max", "abs"]}),
    ("edit", {"project": "Math", "bug": 77, "path": "src/b.java"}),
    ("find", {"project": "Math", "bug": 77}),
]


def usual_of(calls):
    return usual_arguments((tool, json.dumps(data)) for tool, data in calls)


def labels_of(calls):
    usual = usual_of(calls)
    return [label_of(describe(tool, data, usual), "", full=True) for tool, data in calls]


def test_what_all_tools_are_given_stands_behind_what_tells_a_call_from_the_others():
    assert usual_of(CALLS) == {"project": "Math", "bug": "77"}
    assert labels_of(CALLS) == [
        "find words=[getNorm], project=Math, bug=77",
        "read src/a.java method=getNorm, project=Math, bug=77",
        "find words=[max; abs], project=Math, bug=77",
        "edit src/b.java project=Math, bug=77",
        "find project=Math, bug=77",
    ]


def test_what_all_tools_are_given_is_what_has_no_room():
    calls = [(tool, {**data, "lines": [{"file": f"src/{'x' * 40}.java", "new": "y"}]}) for tool, data in CALLS]
    label = label_of(describe(*calls[-1], usual_of(calls)), "", 70, full=True)
    assert label == f"find file=…/{'x' * 40}.java, new=y, …"


def test_what_differs_once_is_said_first():
    labels = labels_of([*CALLS, CALLS[3], ("find", {"project": "Lang", "bug": 77, "words": ["trim"]})])
    assert labels[-1] == "find project=Lang, words=[trim], bug=77"


def test_what_was_done_to_whom_is_said_however_many_tools_do_it():
    calls = [(tool, {"action": "delete", "id": n}) for n in range(3) for tool in ("users", "tokens", "projects")]
    assert labels_of(calls)[0] == "users id=0, action=delete"
    calls = [(tool, {"order_id": "#W77", "why": tool}) for tool in ("cancel", "refund", "notify", "close")]
    assert labels_of(calls)[0] == "cancel why=cancel, order_id=#W77"


@pytest.mark.parametrize("nothing", [None, "", [], {}])
def test_a_call_is_called_by_what_is_usual_where_the_rest_is_empty(nothing):
    calls = [(tool, {"city": "Rome", "day": nothing}) for tool in ("weather", "hotels", "trains") for _ in range(3)]
    assert set(labels_of(calls)) == {"weather Rome", "hotels Rome", "trains Rome"}


@pytest.mark.parametrize(
    ("tool", "data", "said"),
    [
        ("update_order", {"status": "cancelled"}, "status=cancelled"),
        ("http_request", {"method": "DELETE"}, "method=DELETE"),
        ("transfer", {"amount": 100}, "amount=100"),
        ("set_light", {"on": False}, "on=false"),
        ("computer", {"action": "left_click"}, "action=left_click"),
        ("search", {"query": "best shoes"}, "query=best shoes"),
    ],
)
def test_what_a_single_tool_is_always_given_is_what_it_does(tool, data, said):
    read = [("read", {"page": n}) for n in range(3)]
    labels = labels_of([*read, *((tool, {**data, "target": f"t{n}"}) for n in range(9)), ("other", data)])
    assert all(said in label for label in labels[3:-1])
    alone = said if data == {"on": False} else said.partition("=")[2]
    assert labels[-1] == f"other {alone}", "one call of another makes it no more usual"


@pytest.mark.parametrize("on", [True, "true", 1])
def test_what_turns_something_on_or_off_is_never_left_out_nor_last(on):
    tools = ("drop_tables", "delete_user", "purge")
    calls = [
        (tool, {"dry_run": on, "selector": f"created<2023-0{n} and owner='batch'"}) for n in "123" for tool in tools
    ]
    assert all("dry_run" in label_of(describe(tool, data, usual_of(calls)), "") for tool, data in calls)


def test_what_few_calls_are_given_is_not_usual():
    assert usual_of(CALLS[:3]) == {}
    assert usual_arguments(("x", each) for each in ["not JSON", '{"a": [1]}', "{" * 9, "[]"] * 4) == {}


def test_arguments_of_many_calls_are_read_once():
    """Of 40,000 values that differ; a count of all of them for each took a quarter of a minute."""
    calls = [(f"tool_{n % 3}", {"id": n, "project": "Math"}) for n in range(40_000)]
    assert usual_of(calls) == {"project": "Math"}


ROUTE = {"from_latitude": 31.2278, "from_longitude": 121.4606, "to_latitude": 31.2352, "to_longitude": 121.5058}


def labels_in(*calls, limit=70):
    written = tuple(ToolCall(None, tool, json.dumps(data), in_text=False) for tool, data in calls)
    turn = Turn("assistant", "", {}, calls=written)
    known = calls_of([turn])
    return [label_of(action_of(turn, number, known), "", limit) for number in range(len(calls))]


def test_of_calls_that_are_alike_that_is_said_first_in_which_they_differ():
    modes = ["car", "foot", "bike"]
    labels = labels_in(*(("directions", ROUTE | {"mode": mode}) for mode in modes))
    assert [label[: len("directions mode=") + len(mode)] for label, mode in zip(labels, modes, strict=True)] == [
        f"directions mode={mode}" for mode in modes
    ]


def test_it_is_also_said_first_where_a_tool_calls_others():
    params = [ROUTE | {"mode": mode} for mode in ("car", "foot")]
    calls = [{"server_name": "osm", "tool_name": "route", "params": each} for each in params]
    first, second = labels_in(*(("call", each) for each in calls))
    assert first.startswith("call route mode=car, from_latitude=")
    assert second.startswith("call route mode=foot, from_latitude=")


def test_calls_that_have_little_in_common_keep_the_order_of_their_arguments():
    other = {key: 2 * value for key, value in ROUTE.items()}
    labels = labels_in(("directions", ROUTE | {"mode": "car"}), ("directions", other | {"mode": "foot"}))
    assert all(label.startswith("directions from_latitude=") for label in labels)


def test_few_arguments_keep_their_order():
    labels = labels_in(("list", {"folder": "src", "depth": 1}), ("list", {"folder": "src", "depth": 2}))
    assert labels == ["list folder=src, depth=1", "list folder=src, depth=2"]


def test_of_a_long_name_of_a_file_half_is_told_rather_than_none():
    edit = describe(
        "str_replace_editor", {"command": "view", "path": "/app/migrations/0011_update_proxy_permissions_of_all.py"}
    )
    assert label_of(edit, "", 50) == "str_replace_editor view …/0011_update_proxy_permi…"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "http://a.example.org:8000/cgi-bin/file.pl?/etc/passwd",
            'curl -F "f=ARGV" -F "f=@env.pl" …/file.pl?/etc/passwd',
        ),
        ('"http://a.example.org/cgi-bin/file.pl?ls"', 'curl -F "f=ARGV" -F "f=@env.pl" …/cgi-bin/file.pl?ls'),
    ],
)
def test_of_a_long_address_the_end_tells_a_command_from_the_next(command, said):
    assert cut_label(f'curl -F "f=ARGV" -F "f=@env.pl" {command}', 56, command=True) == said


def test_a_long_path_is_cut_in_its_middle():
    path = "/home/user/projects/shop/backend/services/orders/handlers/export.py"
    assert cut_label(f"cat {path}", 50, command=True) == "cat /home/user/projects/shop/…/export.py"


def test_of_calls_that_differ_in_address_or_in_what_is_asked_of_a_page_the_address_goes_first():
    asked = ("Which dish does this photo of a table show, and is it soup?", "List each address that the page holds.")
    calls = [{"prompt": prompt, "url": f"https://photos.org/pictures/{page}"} for page in "abc" for prompt in asked]
    turns = [Turn("assistant", "", {}, calls=(ToolCall("c", "fetch", json.dumps(arguments)),)) for arguments in calls]
    labels = [label_of(action_of(turn, 0, calls_of(turns)), "", 60) for turn in turns]
    assert all(call["url"] in label for call, label in zip(calls, labels, strict=True))


def test_a_command_is_called_by_its_program_and_not_by_a_comment_before_it():
    told = _label("bash", {"command": "# Check the photo\n# once more\ncurl -s https://photos.org/a"})
    assert told == "curl -s https://photos.org/a"
    assert _label("bash", {"command": "# Nothing to do"}) == "# Nothing to do"


def test_of_an_address_before_a_pipe_the_end_stays():
    script = "import sys, json; found = json.load(sys.stdin); print(found)"
    command = f'curl -s "https://photos.org/of/all/KD93b4XevCQ" 2>/dev/null | python3 -c "{script}" 2>/dev/null'
    assert "/KD93b4XevCQ" in _label("bash", {"command": command}, 60)


def test_a_key_is_not_told_without_its_value():
    assert shorten("Cell(14,11) value=None color=FFFFFF00", 34) == "Cell(14,11) value=None…"
