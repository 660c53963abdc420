"""README and ``docs/``: what they say to run runs, and what they name exists."""

from __future__ import annotations

import contextlib
import re
from functools import cache
from urllib.parse import unquote

import pytest
from commands import conversation, make_desk
from documented import PAGES, ROOT, blocks, commands_in, make_workspace, run_blocks

from trajcompress.errors import NO_SUMMARY
from trajcompress.metrics.reasons import NOT_SUMMARISED, REASONS
from trajcompress.metrics.row import metrics_schema
from trajcompress.metrics.totals import Totals
from trajcompress.summarize.retry import OF_THE_SERVER

OWN_TESTS = {
    ROOT / "docs" / name for name in ("audit.md", "sft.md", "rl.md", "live.md", "clusters.md")
}  # run what the page says, and more
METRICS = (ROOT / "docs" / "metrics.md").read_text()
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|mailto:)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")


def of_page(page):
    return page.relative_to(ROOT).as_posix()


def can_run(page):
    return any(block.why is None for block in blocks(page, "sh", "python"))


@pytest.mark.parametrize("page", [page for page in PAGES if page not in OWN_TESTS and can_run(page)], ids=of_page)
def test_every_block_runs(page, tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / ".datasets")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    run_blocks(blocks(page, "sh", "python"), make_workspace(workspace, page))


@pytest.mark.parametrize("page", PAGES, ids=of_page)
def test_every_command_has_the_options_that_it_is_given(page):
    for block in blocks(page, "sh"):
        for arguments in commands_in(block.text):
            parse(arguments)


def test_a_command_with_an_option_that_is_not_there_is_found():
    (arguments,) = commands_in('export A=1\ntrajcompress audit out/ \\\n  --nope "a; b" > file && true\n')
    assert arguments == ["audit", "out/", "--nope", "a; b"]
    with pytest.raises(Exception, match="--nope"):
        parse(arguments)


@cache
def command_line():
    from typer.main import get_command

    from trajcompress.cli import app

    return get_command(app)


def parse(arguments):
    command = command_line()
    while hasattr(command, "commands") and arguments and not arguments[0].startswith("-"):
        command, arguments = command.commands[arguments[0]], arguments[1:]
    command.parse_args(command.context_class(command, info_name=command.name), list(arguments))


def prose(page):
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=of_page)
def test_links_lead_somewhere(page):
    for link in _LINK.finditer(prose(page)):
        target = (page.parent / unquote(link["path"])).resolve() if link["path"] else page
        assert target.exists(), link[0]
        assert not link["anchor"] or link["anchor"] in anchors(target), link[0]


def test_every_test_that_a_page_names_is_there():
    there = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    named = {name for page in PAGES for name in re.findall(r"`(test_\w+\.py)`", page.read_text(encoding="utf-8"))}
    assert named
    assert named <= there


def test_the_index_names_every_page():
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / "README.md").read_text()))
    assert linked == {page.name for page in PAGES if page.name != "README.md"}


def table(heading):
    """The rows of the first table below a heading, without their backticks."""
    lines = METRICS.partition(f"\n{heading}\n")[2].partition("\n|")[2].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines[2:]]


def test_the_metrics_page_has_every_column_with_its_type():
    rows = table("## Columns")
    assert [(name, kind) for name, kind, _ in rows] == [
        (f"`{field.name}`", str(field.type)) for field in metrics_schema()
    ]
    assert all(meaning for _, _, meaning in rows)


def test_the_metrics_page_has_every_total_in_its_order():
    assert [name for name, _ in table("## Totals")] == [f"`{name}`" for name in Totals().as_dict()]


def test_the_metrics_page_has_every_reason_in_its_words():
    assert table("## Reasons") == [[f"`{name}`", each.meaning, each.remedy] for name, each in REASONS.items()]
    failed = METRICS.partition("Of rows whose summary failed")[2]
    answered = {"overlong_answer", "truncated_answer", "marked_answer", *NO_SUMMARY} - {"error_answer"}
    assert {f"`{reason}`" for reason in OF_THE_SERVER | answered | NOT_SUMMARISED.keys()} <= set(
        re.findall(r"`\w+`", failed)
    )


def test_every_module_that_the_map_names_is_there():
    text = (ROOT / "docs" / "design.md").read_text()
    named = {name for name in re.findall(r"`([\w/]+(?:\.py|/))`", text) if name != "trajcompress/"}
    assert len(named) > 50
    assert {
        name for name in named if not any((base / name).exists() for base in (ROOT, ROOT / "trajcompress"))
    } == set()


def test_the_query_of_segments_runs(tmp_path, make_tokenizer):
    import duckdb

    desk = make_desk(tmp_path, make_tokenizer)
    desk.write("a.jsonl", [conversation(number, steps=30) for number in range(3)])
    assert desk.compress("a.jsonl", "-o", "segmented", "--mode", "segments").code == 0
    (query,) = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "segments.md").read_text(), re.DOTALL)
    with contextlib.chdir(desk.folder):
        found = duckdb.sql(query).fetchall()
    assert sum(rows for _, rows, _ in found) == 3
    assert all(segments > 1 and tokens <= 2000 for segments, _, tokens in found)
