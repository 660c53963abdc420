"""``trajcompress check`` as a person and a pipeline meet it."""

from __future__ import annotations

import gzip
import json
import re
import tracemalloc

import pytest
from commands import conversation, make_desk, run_command, run_here
from trajectories import call, result

from trajcompress.dataset.sources import find_sources
from trajcompress.results.check.rows import check_rows
from trajcompress.results.check.rules import Standard

USER = {"role": "user", "content": "go"}
SAY = {"role": "assistant", "content": "done"}
GOOD = {"messages": [USER, call("a"), result("a"), SAY]}
ORPHAN = {"messages": [USER, result("b"), SAY]}
OPEN = {"messages": [USER, call("a"), USER, call("a"), USER, SAY]}
ALTERNATING = (
    "{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}{{ message['content'] }}{% endfor %}"
)

SHOWS_NO_CALLS = "{% for m in messages %}<{{ m.role }}>{{ '' + m.content }}{% endfor %}"
REFUSES_LONG = "{% if messages | length > 24 %}{{ raise_exception('too many turns') }}{% endif %}" + SHOWS_NO_CALLS
REFUSING = [(SHOWS_NO_CALLS, None, "template_refuses"), (REFUSES_LONG, "I look.", "too many turns")]


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    desk = make_desk(tmp_path, make_tokenizer)
    desk.write("good.jsonl", [GOOD] * 3)
    desk.write("bad.jsonl", [GOOD, ORPHAN, OPEN, ORPHAN, {"x": 1}])
    return desk


@pytest.fixture
def check(desk):
    return lambda *arguments: run_here("check", *arguments, cwd=desk.folder)


def test_a_valid_dataset(check):
    ran = check("good.jsonl")
    assert (ran.code, ran.stdout, ran.stderr) == (0, "3 rows checked for openai, 0 with violations\n", "")


def test_a_log_is_told_how_far_it_is(desk, check, monkeypatch):
    monkeypatch.setattr("trajcompress.cli.progress._LINE_S", 0.001)
    desk.write("many.jsonl", [GOOD] * 2000)
    ran = check("many.jsonl")
    assert re.fullmatch(r"check: \d:\d\d · 2,000 rows", ran.stderr.splitlines()[-1])
    assert ran.stdout == "2,000 rows checked for openai, 0 with violations\n"


def test_a_log_is_told_how_far_the_rows_are_that_are_mended(desk, check, monkeypatch):
    monkeypatch.setattr("trajcompress.cli.progress._LINE_S", 0.001)
    desk.write("many.jsonl", [GOOD] * 500)
    ran = check("many.jsonl", "--for", "trl", "--fix", "-o", "fixed")
    assert re.search(r"^fix: 100% · .* 500 rows", ran.stderr, re.MULTILINE)
    assert "tokens are the built-in" not in ran.stderr


def test_what_steers_a_terminal_is_shown_and_not_obeyed(desk, check):
    desk.write("odd.jsonl", [{"messages": [USER, result("\x1b[31mred")]}])
    ran = check("odd.jsonl")
    assert ran.code == 1
    assert "\x1b" not in ran.stdout
    assert "[31mred" in ran.stdout


def test_what_is_wrong_where(check):
    ran = check("good.jsonl", "bad.jsonl", "--for", "openai")
    assert ran.code == 1
    assert ran.stdout.splitlines() == [
        "orphan_tool_result  2 rows: a tool result that no call waits for",
        "    bad.jsonl:line 2 turn 1: answers 'b'",
        "    bad.jsonl:line 4 turn 1: answers 'b'",
        "no_messages  1 row: the row cannot be read",
        "    bad.jsonl:line 5: no column holds a list of messages; the row's columns: 'x'",
        "unanswered_tool_call  1 row (2 times): a call without a result before the next turn",
        "    bad.jsonl:line 3 turn 1: 'ls' (a)",
        "8 rows checked for openai, 4 with violations",
    ]


def test_json(check):
    ran = check("bad.jsonl", "--json", "--examples", "1")
    assert ran.code == 1
    report = ran.json
    found = report["violations"].pop("orphan_tool_result")
    assert {key: report[key] for key in ("target", "rows", "invalid_rows")} == {
        "target": "openai",
        "rows": 5,
        "invalid_rows": 4,
    }
    assert (found["rows"], found["count"]) == (2, 2)
    assert found["examples"] == [{"file": "bad.jsonl", "row": 1, "line": 2, "turn": 1, "detail": "answers 'b'"}]


def test_fewer_rows_and_no_examples(check):
    assert check("bad.jsonl", "--limit", "1").code == 0
    assert "bad.jsonl:" not in check("bad.jsonl", "--examples", "0").stdout


def test_another_column_and_mapped_roles(desk, check):
    desk.write("own.jsonl", [{"messages": [USER, SAY], "talk": [{"role": "agent", "content": "go"}, SAY]}])
    assert check("own.jsonl").code == 0
    assert "unknown_role" in check("own.jsonl", "--messages-field", "talk").stdout
    assert check("own.jsonl", "--messages-field", "talk", "--role-map", "agent=user").code == 0


def test_unreadable_rows_count(desk, check):
    desk.path("torn.jsonl.gz").write_bytes(gzip.compress(b'{"messages": [\n' + json.dumps(GOOD).encode()))
    ran = check("torn.jsonl.gz")
    assert ran.code == 1
    assert "invalid_json  1 row:" in ran.stdout
    assert "2 rows checked" in ran.stdout


def test_the_tokenizers_own_template(desk, check, make_tokenizer):
    desk.write("side.jsonl", [{"messages": [USER, SAY]}, {"messages": [USER, USER, SAY]}])
    tokenizer = make_tokenizer(ALTERNATING)
    for target in ([], ["--for", "trl"], ["--for", "axolotl"]):
        ran = check("side.jsonl", "--tokenizer", tokenizer, *target)
        assert ran.code == 1
        assert "template_refuses  1 row:" in ran.stdout
        assert "side.jsonl:line 2: Roles must alternate" in ran.stdout
    assert check("side.jsonl", "--for", "trl").code == 0


def test_what_no_tokenizer_can_encode_is_found_in_files_and_in_runs(desk, check, make_tokenizer):
    shows_all = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}"
    tokenizer = make_tokenizer(f"{shows_all}{{{{ c.function.arguments }}}}{{% endfor %}}{{% endfor %}}")
    cut = {"role": "user", "content": "a smile: \ud83d"}
    named = {"role": "assistant", "content": "", "tool_calls": call("a", "\udc80")["tool_calls"]}
    tools = [{"type": "function", "function": {"name": "ls", "description": "\ud800", "parameters": {}}}]
    rows = [{"messages": [USER, cut, SAY]}, GOOD, {"messages": [USER, named, result("a"), SAY]}]
    desk.write("cut.jsonl", [*rows, {"messages": [USER, SAY], "tools": tools}])
    ran = check("cut.jsonl", "--tokenizer", tokenizer)
    assert (ran.code, ran.stdout.splitlines()) == (
        1,
        [
            "lone_surrogate  3 rows: half of a surrogate pair, which no tokenizer can encode",
            "    cut.jsonl:line 1 turn 1: character 9: 'a smile: \\ud83d'",
            "    cut.jsonl:line 3 turn 1: character 0: '\\udc80'",
            "    cut.jsonl:line 4: column tools: character 0: '\\ud800'",
            "4 rows checked for template, 3 with violations",
        ],
    )
    desk.compress("cut.jsonl", "-o", "out")
    in_run = check("out", "--json")
    assert (in_run.code, in_run.json["violations"]["lone_surrogate"]["rows"]) == (1, 3)
    assert check("out", "--new-only").code == 0  # the input had it


def test_trainers_hand_over_messages_as_they_are(desk, check, make_tokenizer):
    """A template that fails on null content fails in whatever renders it, though counting can write it otherwise."""
    tokenizer = make_tokenizer(
        "{% for m in messages %}{{ m.content + '' }}{% for c in m.tool_calls or [] %}"
        "{{ c.function.name + c.function.arguments.path }}{% endfor %}{% endfor %}"
    )
    asks = call("a") | {"content": ""}
    asks["tool_calls"][0]["function"]["arguments"] = '{"path": "."}'
    desk.write("null.jsonl", [{"messages": [USER, {**asks, "content": None}, result("a"), SAY]}])
    desk.write("text.jsonl", [{"messages": [USER, asks, result("a"), SAY]}])
    assert check("null.jsonl", "--tokenizer", tokenizer).code == 1
    assert check("null.jsonl", "--tokenizer", tokenizer, "--for", "trl").code == 1
    assert check("text.jsonl", "--tokenizer", tokenizer, "--for", "verl").code == 1
    assert check("text.jsonl", "--tokenizer", tokenizer, "--for", "axolotl").code == 0  # it parses arguments


def test_verl_takes_messages_that_differ_from_the_whole_where_its_settings_say_so(desk, check, make_tokenizer):
    tokenizer = make_tokenizer(
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% if loop.last %}.{% endif %}{% endfor %}"
    )
    desk.write("rows.jsonl", [{"messages": [USER, SAY, USER, SAY]}])
    as_verl = ["--for", "verl", "--tokenizer", tokenizer]
    assert check("rows.jsonl", *as_verl, "--fix", "-o", "fixed").code == 0
    assert check("fixed").code == 0
    shown = check("rows.jsonl", *as_verl).stdout
    assert "mask_prefix_mismatch" in shown
    assert "note: not_parquet  1 row" in shown
    assert "not_parquet" not in check("fixed").stdout
    assert "mask_prefix_mismatch" in check("fixed/data", *as_verl).stdout
    settings = desk.path("fixed/verl.yaml")
    settings.write_text(
        settings.read_text(encoding="utf-8").replace("mismatch: true", "mismatch: false"), encoding="utf-8"
    )
    assert check("fixed").code == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["good.jsonl", "--for", "template"], "--tokenizer"),
        (["good.jsonl", "--for", "openai", "--tokenizer", "TOKENIZER"], "leave --tokenizer out"),
        (["good.jsonl", "--tokenizer", "TOKENIZER"], "no chat template"),
        (["missing.jsonl"], "missing.jsonl"),
        (["good.jsonl", "--limit", "0"], "--limit"),
        (["good.jsonl", "--role-map", "agent"], "agent=assistant"),
    ],
)
def test_wrong_usage(desk, check, arguments, words):
    ran = check(*[desk.tokenizer if argument == "TOKENIZER" else argument for argument in arguments])
    assert (ran.code, ran.stdout) == (2, "")
    assert words in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("written", ["parquet", "jsonl"])
def test_a_run_is_checked_by_its_data(desk, check, written):
    rows = [conversation(number, 12, sharegpt=True) for number in range(3)]
    made = [turn | {"from": "gpt"} if turn["from"] == "tool" else turn for turn in rows[0]["conversations"]]
    desk.write("in.jsonl", [{"conversations": made}, {"messages": [USER, call("a"), result("a"), SAY]}])
    assert desk.compress("in.jsonl", "-o", "out", "--output-format", written, "--for", "axolotl").code == 0
    ran = check("out", "--json")
    assert ran.json["target"] == "axolotl"
    assert (ran.code, ran.json["rows"]) == (0, 2)


def test_in_a_pipe(desk):
    lines = json.dumps(ORPHAN) + "\n"
    ran = run_command("check", "-", cwd=desk.folder, stdin=lines.encode())
    assert ran.code == 1
    assert "    -:line 1 turn 1: answers 'b'" in ran.stdout.splitlines()
    assert "\x1b" not in ran.stdout


def test_memory_does_not_grow_with_rows(desk):
    long = {"messages": [USER, result("b", "a.txt " * 1000), SAY]}

    def peak(rows):
        desk.write("many.jsonl", [long] * rows)
        sources = find_sources([str(desk.path("many.jsonl"))])
        check_rows(sources, Standard("openai"), limit=10)
        tracemalloc.start()
        assert check_rows(sources, Standard("openai")).invalid_rows == rows
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(2000) < 1.5 * peak(500)


@pytest.mark.parametrize("written", ["parquet", "jsonl"])
def test_what_the_input_had_is_told_from_what_is_new(desk, check, written):
    desk.write("a.jsonl", [GOOD, ORPHAN, {"x": 1}, GOOD])
    desk.write("b.jsonl", [GOOD, GOOD, OPEN])
    ran = desk.compress("a.jsonl", "b.jsonl", "-o", "out", "--output-format", written, "--max-failed", "1")
    assert ran.code == 0, ran.stderr
    ran = check("out", "--for", "openai")
    assert ran.code == 1
    assert ran.stdout.splitlines()[-1] == "of the input: 3 violations in 2 rows; --new-only leaves them out"
    ran = check("out", "--for", "openai", "--new-only")
    assert (ran.code, ran.stdout.splitlines()) == (
        0,
        [
            "6 rows checked for openai, 0 with new violations",
            "of the input: 3 violations in 2 rows (left out)",
        ],
    )


def test_what_came_with_the_run_stays_with_new_only(desk, check):
    """A data file whose rows were spoilt after the run: as many rows, one more fault than the input has."""
    desk.write("a.jsonl", [ORPHAN, GOOD])
    assert desk.compress("a.jsonl", "-o", "out", "--output-format", "jsonl").code == 0
    (data,) = (desk.folder / "out" / "data").iterdir()
    spoilt = {"messages": [USER, result("b"), result("c"), SAY]}
    data.write_text("".join(json.dumps(row) + "\n" for row in (spoilt, ORPHAN)), encoding="utf-8")
    ran = check("out", "--for", "openai", "--new-only", "--json")
    assert ran.code == 1
    assert [ran.json[key] for key in ("invalid_rows", "of_input", "rows_of_input")] == [2, 1, 1]
    found = ran.json["violations"]["orphan_tool_result"]
    assert [(each["row"], each["detail"]) for each in found["examples"]] == [(0, "answers 'c'"), (1, "answers 'b'")]


def _asks(number, content):
    made = call(f"c{number}", f"look{number}")
    return [made | {"content": content}, result(f"c{number}", f"m{number} " + "has one more line " * 30)]


@pytest.mark.parametrize("refusing", REFUSING)
def test_what_a_refusal_hid_in_the_input_is_not_new(desk, check, make_tokenizer, refusing):
    """The row as it was read is refused; as it is written it is rendered, without its calls."""
    template, content, said = refusing
    folder = make_tokenizer(template)
    turns = [turn for n in range(12) for turn in _asks(n, content if n == 3 else f"I look at module {n} now. " * 5)]
    desk.write("a.jsonl", [{"messages": [USER, *turns, SAY]}])
    own = ["--target-max-tokens", "900", "--summary-target-tokens", "80", "--prune", "off", "--fit", "lenient"]
    ran = desk.compress("a.jsonl", "-o", "out", "--tokenizer", folder, *own)
    assert ran.code == 0, ran.stderr
    assert said in check("a.jsonl", "--tokenizer", folder).stdout
    ran = check("out")
    assert (ran.code, ran.stdout.split()[0]) == (1, "call_not_rendered")
    assert "--new-only leaves them out" in ran.stdout
    ran = check("out", "--new-only")
    assert (ran.code, ran.stdout.splitlines()[0]) == (0, "1 row checked for template, 0 with new violations")
    audited = run_here("audit", "out", "--new-only", "--json", cwd=desk.folder)
    assert audited.json["faults"]["kinds"] == {}


def test_an_input_that_is_gone_tells_nothing(desk, check):
    desk.write("a.jsonl", [ORPHAN])
    assert desk.compress("a.jsonl", "-o", "out").code == 0
    desk.path("a.jsonl").unlink()
    ran = check("out", "--for", "openai")
    assert "of the input" not in ran.stdout
    assert "a.jsonl is not there any more; which violations the input had is not known" in ran.stderr
    ran = check("out", "--for", "openai", "--new-only")
    assert ran.code == 2
    assert "put it back" in ran.stderr
    desk.write("b.jsonl", [GOOD])
    assert "b.jsonl: no folder of a run" in check("b.jsonl", "--new-only").stderr


def test_what_fix_mends_is_said(desk, check):
    """By the form itself: what is promised is what a check of the fixed rows no longer finds."""
    human = {"conversations": [{"from": "human", "value": "go"}, {"from": "gpt", "value": "done"}]}
    desk.write("in.jsonl", [human, human, ORPHAN])
    before = check("in.jsonl", "--for", "openai", "--json").json["violations"]
    assert {kind: (found["rows"], found["mended"]) for kind, found in before.items()} == {
        "wrong_column": (2, 2),
        "message_keys": (2, 2),
        "orphan_tool_result": (1, 0),
    }
    assert "; --fix mends it" in check("in.jsonl", "--for", "openai").stdout
    after = check("in.jsonl", "--for", "openai", "--fix", "-o", "fixed", "--json").json["violations"]
    assert after.keys() == {"orphan_tool_result"}
    desk.write("own.jsonl", [{"messages": [{"role": "boss", "content": "go"}, SAY]}])
    assert (
        "unknown_role  1 row: a role name that the target does not know; --fix mends it\n"
        in check("own.jsonl").stdout
    )
    assert check("own.jsonl", "--for", "openai", "--fix", "-o", "roles").code == 0
