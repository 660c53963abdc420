"""``--summarizer``: a function of one's own on the command line, never from a file that was found."""

from __future__ import annotations

import json

import pytest
from commands import conversation, environment, make_desk, read_metrics, read_rows

from trajcompress import SettingsError, compress_dataset

SOURCE = """\
def brief(given):
    return " ".join(["Brief:", *given.facts, *(line[:50] for line in given.turns.splitlines()[:6])])
"""


@pytest.fixture
def desk(tmp_path, make_tokenizer, monkeypatch):
    desk = make_desk(tmp_path, make_tokenizer)
    monkeypatch.chdir(desk.folder)
    desk.write("a.jsonl", [conversation(number) for number in range(3)])
    return desk


def test_a_function_in_the_working_folder(desk):
    desk.path("brief_here.py").write_text(SOURCE)
    ran = desk.compress("a.jsonl", "-o", "out", "--summarizer", "brief_here:brief")
    assert ran.code == 0, ran.stderr
    assert {row["summarizer"] for row in read_metrics(desk.path("out"))} == {"brief_here:brief"}
    assert all("Brief:" in json.dumps(row) for row in read_rows(desk.path("out")))
    run = json.loads(desk.path("out/run.json").read_text())
    assert run["settings"]["summarization.summarizer"] == "brief_here:brief"
    assert run["summarizer"].startswith("brief_here:brief ")
    assert "complete already" in desk.compress("a.jsonl", "-o", "out", "--summarizer", "brief_here:brief").stderr
    import brief_here

    brief_here.brief.version = "2"
    ran = desk.compress("a.jsonl", "-o", "out", "--summarizer", "brief_here:brief")
    assert (ran.code, "is brief_here:brief 2" in ran.stderr) == (2, True)


def test_its_calls_go_on_side_by_side_from_the_first(desk):
    desk.path("together.py").write_text(
        "import asyncio\n"
        "all_here = asyncio.Barrier(3)\n"
        "async def brief(given):\n"
        "    await asyncio.wait_for(all_here.wait(), 20)\n"
        "    return 'Each row waits for those beside it before it is told in these few words.'\n"
    )
    ran = desk.compress("a.jsonl", "-o", "out", "--summarizer", "together:brief")
    assert ran.code == 0, ran.stderr
    assert [row["outcome"] for row in read_metrics(desk.path("out"))] == ["compressed"] * 3


@pytest.mark.parametrize("where", ["file", "dotenv", "environment"])
def test_a_file_that_was_found_names_no_code(desk, where):
    desk.path("evil.py").write_text("raise SystemExit('was run')\n")
    arguments, env = ["a.jsonl", "-o", "out"], environment()
    if where == "file":
        desk.path("c.yaml").write_text("summarization: {summarizer: 'evil:f'}")
        arguments += ["--config", "c.yaml"]
    elif where == "dotenv":
        desk.path(".env").write_text("TRAJCOMPRESS_SUMMARIZER=evil:f")
    else:
        env["TRAJCOMPRESS_SUMMARIZATION__SUMMARIZER"] = "evil:f"
    ran = desk.compress(*arguments, env=env)
    assert ran.code == 2
    assert "evil:f names code to run, which only the command line does" in ran.stderr
    assert not desk.path("out").exists()


def test_a_variable_alone_turns_no_other_package_on(desk):
    ran = desk.compress("a.jsonl", "-o", "out", env=environment({"TRAJCOMPRESS_SUMMARIZER": "other"}))
    assert ran.code == 0
    assert "summarizer other is ignored" in ran.stderr
    assert {row["summarizer"] for row in read_metrics(desk.path("out"))} == {"extractive"}


def test_several_processes_need_a_name(desk):
    options = {"tokenizer": desk.tokenizer, "target_max_tokens": 2000, "summary_target_tokens": 300, "num_workers": 2}
    for unnamed in (lambda given: given.turns, local_class()()):
        with pytest.raises(
            SettingsError, match=r"argument summarizer: .* in 2 worker processes; put it into a module"
        ):
            compress_dataset("a.jsonl", "out", **options, summarizer=unnamed)
    import own_summarizers

    run = compress_dataset("a.jsonl", "out", **options, summarizer=own_summarizers.record)
    assert run.totals.summarizers == {"own_summarizers:record": 3}


def test_one_without_a_name_works_in_this_process_unless_more_are_asked_for(desk):
    options = {"tokenizer": desk.tokenizer, "target_max_tokens": 2000, "summary_target_tokens": 300}
    for number, unnamed in enumerate(
        (lambda given: f"All went well so far. {given.facts}", local_class(), local_class()())
    ):
        run = compress_dataset("a.jsonl", f"out-{number}", **options, summarizer=unnamed)
        assert sum(run.totals.summarizers.values()) == 3


def local_class():
    class Local:
        name = "local"
        version = "1"

        def summarize(self, given):
            return f"All went well so far. {given.facts}"

    return Local
