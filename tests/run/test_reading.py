"""What a run says of how it reads rows."""

from __future__ import annotations

import json

import pytest
from commands import run_command, run_here, run_on_terminal

from trajcompress.dataset.rows import Source
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.run.rows.explainer import Collected, Explainer
from trajcompress.run.rows.row import Accepted, Parsed, Rejected

FORMAT = "openai: column messages holds messages with role and content"
REMEDY = "--observations tool reads tool roles alone"


def row(*turns, begin="Observation: "):
    messages = [{"role": "user", "content": "Fix a.py"}]
    for action, observed in turns:
        messages.append({"role": "assistant", "content": f"Thought: on\nAction: {action}"})
        messages.append({"role": "user", "content": f"{begin}{observed}"})
    return {"messages": [*messages, {"role": "assistant", "content": "Done."}]}


ACTS = row(("ls[.]", "a.py"), ("cat[a.py]", "x = 1"))
CHATS = row()


def explained(*files):
    """Return the notes on files, each a name and its rows; a row that is none is rejected."""
    notes = []
    explainer = Explainer(notes.append, {}, "template")
    for name, rows in files:
        source = Source(name, name, "jsonl", None, None)
        for index, each in enumerate(rows):
            made = Rejected(1, "x", "x", "x") if each is None else accepted(each)
            explainer.explain(Parsed(source, index, index, made, 1))
    explainer.end_source()
    return notes


def accepted(each):
    trajectory = read_trajectory(each, "r", FormatOptions())
    return Accepted(trajectory, None, 1, trajectory.row, trajectory)


def test_a_text_protocol_is_told_at_the_end_of_its_file():
    notes = explained(("a", [CHATS, ACTS, None, ACTS]), ("b", [CHATS]), ("c", [ACTS]))
    begin = 'observations are user turns that begin with "Observation"'
    assert notes == [
        f"a: {FORMAT}",
        f"a: text protocol: 2 of 3 rows; {begin}; {REMEDY}",
        f"b: {FORMAT}",
        f"c: {FORMAT}",
        f"c: text protocol: 1 of 1 rows; {begin}; {REMEDY}",
    ]


def test_of_many_files_only_another_protocol_is_told():
    other = row(("ls[.]", "a.py"), begin="TOOL RESPONSE: ")
    notes = explained(*((f"f{index}", [ACTS]) for index in range(30)), ("z", [other]))
    assert len(notes) == 22
    assert notes[-1].startswith('z: text protocol: 1 of 1 rows; observations are user turns that begin with "TOOL')


def test_rows_of_other_protocols_in_one_file_are_told_too_and_no_argument_of_a_call():
    messages = [{"role": "user", "content": "Fix a.py"}]
    for path in ("a.py", "b.py"):
        asks = f"I look.\n<read_file>\n<path>{path}</path>\n</read_file>"
        messages.append({"role": "assistant", "content": asks})
        messages.append({"role": "user", "content": f"[read_file for '{path}'] Result:\nx = 1"})
    line = explained(("a", [{"messages": messages}, ACTS, ACTS]))[-1]
    assert line.startswith("a: text protocol: 3 of 3 rows; observations are user turns that answer an action")
    assert 'such as those that begin with "Observation" or "[… for \'…\'] Result";' in line


def test_a_mixed_file_has_one_line_of_its_formats():
    shared = {"conversations": [{"from": "human", "value": "go"}, {"from": "gpt", "value": "done"}]}
    record = {"messages": [{"type": "human", "content": "go"}, {"type": "ai", "content": "done"}]}
    notes = explained(("a", [CHATS, shared, CHATS, record, shared, CHATS]), ("b", [CHATS, CHATS]))
    assert notes == [
        "a: several formats: openai 3 rows, sharegpt 2, langchain 1",
        f"b: {FORMAT}",
    ]


def test_a_long_file_tells_its_format_before_it_ends():
    shared = {"conversations": [{"from": "human", "value": "go"}, {"from": "gpt", "value": "done"}]}
    notes = []
    explainer = Explainer(notes.append, {}, "template")
    source = Source("a", "a", "jsonl", None, None)
    for index in range(1000):
        assert notes == []
        explainer.explain(Parsed(source, index, index, accepted(CHATS), 1))
    assert notes == [f"a: {FORMAT}"]
    explainer.explain(Parsed(source, 1000, 1000, accepted(shared), 1))
    explainer.end_source()
    assert notes == [f"a: {FORMAT}", "a: several formats: openai 1,000 rows, sharegpt 1"]


@pytest.mark.cpu_seconds(10)  # what a worker keeps of its part was copied for each row
def test_a_worker_tells_the_same_of_rows_that_each_name_a_role_and_a_column_in_linear_time():
    source, rows = Source("a", "a", "jsonl", None, None), []
    for index in range(20_000):
        turns = [{"role": f"agent{index}", "content": "hi"}, {"role": "assistant", "content": "yes"}]
        rows.append(Parsed(source, index, index, accepted({f"of{index}": turns}), 1))
    collected, in_worker, here = Collected({}, "template"), [], []
    for each in rows:
        collected.explain(each)
    told, itself = Explainer(in_worker.append, {}, "template"), Explainer(here.append, {}, "template")
    (how,) = collected.take()
    told.add(how)
    for each in rows:
        itself.explain(each)
    told.end_source()
    itself.end_source()
    assert how.rows == sum(how.formats.values()) == 20_000
    assert in_worker == here != []


def test_what_a_row_brings_is_printable():
    notes = explained(("a", [row(("ls", "a"), begin="Observation\x1b[2J: ")]))
    assert len(notes) == 2
    assert "\x1b" not in notes[1]


@pytest.fixture
def desk(desk):
    desk.write("a.jsonl", [ACTS, CHATS])
    return desk


LINE = f'a.jsonl: text protocol: 1 of 2 rows; observations are user turns that begin with "Observation"; {REMEDY}'


def test_compress_and_plan_tell_it_in_a_pipe(desk):
    for command in (["compress", "a.jsonl", "-o", "out"], ["plan", "a.jsonl"]):
        ran = run_command(*command, "--json", "--tokenizer", desk.tokenizer, cwd=desk.folder)
        assert ran.code == 0, ran.stderr
        assert ran.stderr.splitlines() == [f"a.jsonl: {FORMAT}", LINE]
        json.loads(ran.stdout)


def test_compress_tells_it_on_a_terminal(desk):
    ran = run_on_terminal("compress", "a.jsonl", *desk.options, "-o", "out", cwd=desk.folder)
    assert ran.code == 0
    assert LINE in ran.stdout


def test_tool_roles_alone_are_read_where_that_is_asked_for(desk):
    options = ("--observations", "tool", "--tokenizer", desk.tokenizer)
    ran = run_here("plan", "a.jsonl", "--json", *options, cwd=desk.folder)
    assert ran.code == 0
    assert "text protocol" not in ran.stderr
