"""The measure of truth: it finds each kind of lie put into a summary, and none in a true one."""

from __future__ import annotations

import gzip
import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
MODULES = ("who", "sections", "claims", "baselines", "probes", "tally", "rows", "edits")
TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ m.tool_calls }}<|end|>{% endfor %}"
MENDING = (
    "<function=edit>\n<parameter=command>str_replace</parameter>\n<parameter=path>/repo/parse.py</parameter>\n"
    "<parameter=new_str>return [part for part in text.split(',') if part]</parameter>\n</function>"
)
SPOKEN = [
    ("system", "You act in a shell."),
    ("user", "Mend the parser in /repo/parse.py. You must not touch the lexer at all."),
    ("assistant", "I read it.\n<function=bash>\n<parameter=command>cat /repo/parse.py</parameter>\n</function>"),
    ("user", "OBSERVATION:\ndef parse(text):\n    return text.split(',')"),
    (
        "assistant",
        "I test.\n<function=bash>\n<parameter=command>pytest tests/test_parse.py -q</parameter>\n</function>",
    ),
    ("user", "OBSERVATION:\nE   ValueError: empty field in record 4471\n1 failed, 12 passed in 0.41s"),
    ("assistant", f"I mend it.\n{MENDING}"),
    ("user", "OBSERVATION:\nThe file /repo/parse.py has been edited."),
    ("assistant", "Again.\n<function=bash>\n<parameter=command>pytest tests/test_lexer.py</parameter>\n</function>"),
    ("user", "OBSERVATION:\n7 passed in 0.20s"),
    ("assistant", "It is done."),
]
TRUE = """Goal:
- Mend the parser in /repo/parse.py.
Constraints:
- You must not touch the lexer at all.
Actions:
- bash cat /repo/parse.py → 2 lines
- bash pytest tests/test_parse.py -q → E ValueError: empty field… 1 failed, 12 passed
- edit str_replace …/parse.py «return [part for part in…» → ok
- bash pytest tests/test_lexer.py → 7 passed
Files touched:
- /repo/parse.py (changed, read)
Open ends:
- not answered yet: Mend the parser"""


@pytest.fixture(scope="module")
def truth():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        yield SimpleNamespace(**{name: importlib.import_module(f"truth.{name}") for name in MODULES})


def as_text() -> dict:
    return {"id": "1", "messages": [{"role": role, "content": text} for role, text in SPOKEN]}


def as_calls() -> dict:
    """The same with calls and tool turns, ids and all."""
    messages = []
    for index, (role, text) in enumerate(SPOKEN):
        if "<function=" in text:
            name = text.split("<function=")[1].split(">")[0]
            found = [part.split("</parameter>")[0] for part in text.split("<parameter=")[1:]]
            arguments = json.dumps(dict(part.split(">", 1) for part in found))
            call = {"id": f"c{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
            messages.append({"role": "assistant", "content": text.split("\n")[0], "tool_calls": [call]})
        elif text.startswith("OBSERVATION"):
            messages.append({"role": "tool", "tool_call_id": f"c{index - 1}", "content": text.split("\n", 1)[1]})
        else:
            messages.append({"role": role, "content": text})
    return {"id": "1", "messages": messages}


def with_summary(row: dict, summary: str, start: int = 2, end: int = 10) -> tuple[dict, dict]:
    told = {"role": "user", "content": f"[CONTEXT SUMMARY]:\n{summary}\n[END OF CONTEXT SUMMARY]"}
    messages = [*row["messages"][:start], told, *row["messages"][end:]]
    return {**row, "messages": messages}, {"region_start_idx": start, "region_end_idx": end}


def findings(truth, row: dict, after: dict, metrics: dict) -> list:
    story = truth.who.tell("swe-smith", row)
    return list(truth.claims.Judge(story).judge(truth.sections.read_output(story, after, metrics)))


@pytest.fixture
def row(request):
    return request.param()


FORMS = pytest.mark.parametrize("row", [as_text, as_calls], ids=["text", "calls"], indirect=True)


@FORMS
def test_a_true_summary_is_found_true(truth, row):
    found = findings(truth, row, *with_summary(row, TRUE))
    assert [finding for finding in found if not finding.ok] == []
    assert {finding.kind for finding in found} == {"result", "ran", "goal", "request", "changed"}


@FORMS
@pytest.mark.parametrize(
    ("was", "lie", "kind"),
    [
        ("test_lexer.py → 7 passed", "test_lexer.py → 1 failed, 12 passed", "result"),
        ("test_parse.py -q → E ValueError: empty field… 1 failed, 12 passed", "test_parse.py -q → ok", "result"),
        ("cat /repo/parse.py → 2 lines", "cat /repo/parse.py → 240 lines", "result"),
        ("test_lexer.py → 7 passed", "test_lexer.py → 9 passed", "result"),
        ("bash cat /repo/parse.py", "bash cat /repo/lexer.py", "ran"),
        ("bash pytest tests/test_lexer.py", "bash git commit -am done", "ran"),
        ("- Mend the parser in /repo/parse.py.", "- ValueError: empty field in record 4471", "goal"),
        ("- Mend the parser in /repo/parse.py.", "- Rewrite the parser as a class", "goal"),
        ("not answered yet: Mend the parser", "not answered yet: 7 passed in 0.20s", "request"),
        ("/repo/parse.py (changed, read)", "/repo/lexer.py (changed)", "changed"),
    ],
)
def test_each_lie_is_found_and_nothing_else(truth, row, was, lie, kind):
    assert was in TRUE
    found = findings(truth, row, *with_summary(row, TRUE.replace(was, lie)))
    assert {finding.kind for finding in found if not finding.ok} == {kind}
    assert all(finding.why for finding in found if not finding.ok)


@pytest.mark.parametrize(("cut", "true"), [(" …", True), ("", False)])
def test_a_command_that_was_cut_is_the_one_that_goes_on(truth, cut, true):
    row = as_text()
    row["messages"][8]["content"] = row["messages"][8]["content"].replace("test_lexer", "test_parse")
    after, metrics = with_summary(
        row, f"Steps:\n- bash command=pytest tests/test_parse.py{cut} → 1 failed, 12 passed"
    )
    assert [finding.ok for finding in findings(truth, row, after, metrics)] == [True, true]


def test_a_product_and_a_number_in_base_sixteen_say_nothing_of_how_often(truth):
    row = as_text()
    row["messages"][8]["content"] = row["messages"][8]["content"].replace("test_lexer.py", "test_lexer.py 9")
    row["messages"][9]["content"] = "OBSERVATION:\nmask 0x50 of 100 × 100 pixels is set"
    told = "bash pytest tests/test_lexer.py 9 ×2 → mask 0x50 of 100 × 100 pixels"
    assert [finding.ok for finding in findings(truth, row, *with_summary(row, f"Steps:\n- {told}"))] == [True, True]
    untrue = told.replace("0x50", "0x70")
    assert [finding.ok for finding in findings(truth, row, *with_summary(row, f"Steps:\n- {untrue}"))] == [
        True,
        False,
    ]


def test_an_edit_that_failed_changed_nothing(truth):
    row = as_text()
    row["messages"][7]["content"] = "OBSERVATION:\nNo replacement was performed, old_str did not appear verbatim."
    after, metrics = with_summary(row, "Files changed:\n- /repo/parse.py")
    assert [finding.kind for finding in findings(truth, row, after, metrics) if not finding.ok] == ["changed"]


def test_an_edit_that_its_protocol_marks_as_failed_changed_nothing_though_a_later_one_did(truth):
    row = as_text()
    row["messages"][7]["content"] = 'OBSERVATION:\nUnknown field \'hash\'", "isError": true}'
    again = [
        dict(row["messages"][6]),
        {"role": "user", "content": "OBSERVATION:\nThe file /repo/parse.py has been edited."},
    ]
    row["messages"] += again
    after, metrics = with_summary(row, "Files changed:\n- /repo/parse.py")
    assert [finding.kind for finding in findings(truth, row, after, metrics) if not finding.ok] == ["changed"]
    row["messages"][7]["content"] = again[1]["content"]
    assert all(finding.ok for finding in findings(truth, row, after, metrics))


@pytest.mark.parametrize(
    ("line", "true"),
    [
        ("OBSERVATION:\nbash pytest tests/test_parse.py -q → 1 failed, 12 passed", True),
        ("[bash pytest tests/test_parse.py: ValueError: empty field in record 4471, 2 lines]", True),
        ("OBSERVATION:\nbash pytest tests/test_parse.py -q → 7 passed", False),
        ("[bash pytest tests/test_parse.py: all of it went through nicely, 2 lines]", False),
    ],
)
def test_what_a_kept_result_was_cleared_to_is_its_own(truth, line, true):
    row = as_text()
    after = as_text()
    after["messages"][5]["content"] = line
    (finding,) = findings(truth, row, after, {})
    assert (finding.kind, finding.ok) == ("cleared", true)


def test_as_many_nul_characters_as_a_mark_says_stood_there(truth):
    row, after = as_text(), as_text()
    row["messages"][5]["content"] = "OBSERVATION:\n" + "\0" * 300
    for number, true in ((300, True), (4_000, False)):
        after["messages"][5]["content"] = f"OBSERVATION:\n[… {number:,} NUL characters elided …]"
        (finding,) = findings(truth, row, after, {})
        assert (finding.kind, finding.ok) == ("cleared", true)


def test_a_demonstration_is_nobodys_request(truth):
    row = as_text()
    row["messages"].insert(1, {"role": "user", "content": "Round the seconds of a TimeDelta", "is_demo": True})
    after, metrics = with_summary(row, "Goal:\n- Round the seconds of a TimeDelta", 3, 11)
    assert [finding.why for finding in findings(truth, row, after, metrics)] == ["words of: demo"]


@pytest.mark.parametrize(("who", "true"), [("Ann", True), ("Bob", False)])
def test_a_request_is_of_whom_it_is_said_to_be(truth, who, true):
    row = as_calls()
    row["messages"][1]["name"] = "Ann"
    row["messages"].insert(2, {"role": "user", "name": "Bob", "content": "Tell me when it is done."})
    after, metrics = with_summary(row, f'Requests:\n- {who}: "Mend the parser in /repo/parse.py."', 3, 11)
    assert [(found.kind, found.ok) for found in findings(truth, row, after, metrics)] == [("request", true)]


@FORMS
def test_the_scripts_to_compare_with_fit_and_keep_what_they_say(truth, row):
    story = truth.who.tell("swe-smith", row)
    for turn in story.turns:
        if turn.kind == "observation":
            turn.text += "\nmuch else here" * 400
            turn.message["content"] = turn.text
    count = lambda text: len(text.split())  # noqa: E731
    whole = sum(count(turn.whole) + 5 for turn in story.turns)
    for name in truth.baselines.NAMES:
        short = truth.baselines.shorten(name, story, count, 0, 2800)
        assert short.tokens <= 2800 < whole
        assert len(short.texts) <= len(story.turns)
        assert 0 <= short.kept <= sum(count(turn.whole) for turn in story.turns if turn.assistant)
    lines = truth.baselines.shorten("good lines", story, count, 0, 2800)
    assert any("1 failed, 12 passed" in text and "much else" not in text for text in lines.texts)
    assert truth.baselines.BARE in truth.baselines.shorten("bare marks", story, count, 0, 2800).texts


@FORMS
def test_a_summary_answers_what_a_cut_loses(truth, row):
    story = truth.who.tell("swe-smith", row)
    cut = truth.probes.Doc([story.turns[0].whole, story.turns[-1].whole])
    asked = truth.probes.lost(story, cut)
    assert {"file edited", "last errors", "test status", "last commands with result", "constraint"} <= {
        probe.kind for probe in asked
    }
    told = truth.probes.Doc([TRUE])
    answered = {probe.kind for probe in asked if probe.answered(told)}
    assert {"file edited", "test status", "constraint", "last request"} <= answered
    assert not any(probe.answered(cut) for probe in asked)


def test_the_interval_holds_the_share(truth):
    low, high = truth.tally.wilson(8, 10)
    assert (round(low, 3), round(high, 3)) == (0.49, 0.943)
    assert truth.tally.wilson(0, 0) == (0.0, 1.0)


def test_it_measures_runs_that_it_makes(tmp_path, make_tokenizer):
    row = as_text()
    for index in (3, 5, 7):
        row["messages"][index]["content"] += "\nand much else to read here" * 200
    rows = [row, {**as_text(), "id": "2"}]
    (tmp_path / "swe-smith.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    command = [sys.executable, SCRIPTS / "eval_truth.py", "--run", tmp_path / "swe-smith.jsonl", "--list", "2"]
    command += ["--tokenizer", make_tokenizer(TEMPLATE), "--targets", "3000", "--json", tmp_path / "figures.json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "rows over the target | run" in done.stdout
    (figures,) = json.loads((tmp_path / "figures.json").read_text()).values()
    found = {(entry["measure"], entry["way"], entry["group"]): entry for entry in figures["figures"]}
    assert found["rows over the target", "run", "text"]["of"] == 1
    assert found["assistant tokens", "cut the middle", "text"]["of"] > 0


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.json", "a.json.gz"])
def test_inputs_are_read_as_compress_reads_them(truth, tmp_path, name):
    rows = [{"id": "1", "said": "one\u2028line"}, {"id": "2"}]
    lines = "\n".join(json.dumps(each, ensure_ascii=False) for each in rows)
    text = (json.dumps(rows) if ".jsonl" not in name else lines).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert truth.rows.read(tmp_path / name) == rows
