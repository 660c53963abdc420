"""``trajcompress report`` as a person meets it, and what stands on the page."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import commands
import pytest
import reported
from commands import run_here

from trajcompress.results.report.figures import LengthBin
from trajcompress.results.report.plots import Bar, bars_svg, length_histogram_svg
from trajcompress.results.report.svg import Axis, Chart, Column, draw, nice_ticks

MOST_BYTES = 3_000_000
VOID = {"meta", "link", "br", "img", "input", "hr"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return reported.make_run(tmp_path_factory.mktemp("reported"))


@pytest.fixture(scope="module")
def page(run):
    ran = run_here("report", "out", "-o", "-", cwd=run.parent)
    assert (ran.code, ran.stderr) == (0, "")
    return ran.stdout


class Tree(HTMLParser):
    """The elements of a page, whether they are closed in order, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += f"{data} "

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def test_the_page_stands_in_the_run_folder_and_is_made_again(run):
    for _ in range(2):
        ran = run_here("report", "out", cwd=run.parent)
        assert (ran.code, ran.stdout) == (0, "")
        assert ran.stderr.startswith("out/report.html: ")
    assert (run / "report.html").stat().st_size < MOST_BYTES


def test_the_page_says_what_the_run_did(run, page):
    text = " ".join(Tree(page).text.split())
    metrics = commands.read_metrics(run)
    assert f"Rows {len(metrics)} " in text
    over = [row for row in metrics if row["still_over_limit"]]
    assert over
    assert f"Still over the target {len(over)} " in text
    for row in over:
        assert row["reason"] in text
    assert "Target 2,000 tokens" in text
    assert "loopback" in text
    assert "[CONTEXT SUMMARY]:" in text, "of the row that does not fit with it"


def test_nothing_of_a_row_acts(page):
    tree = Tree(page)
    allowed = {
        *("html", "head", "meta", "title", "link", "style", "body", "script", "header", "nav", "main", "footer"),
        *("section", "article", "figure", "details", "summary", "div", "span", "p", "h1", "h2", "h3", "h4", "a"),
        *("b", "em", "strong", "pre", "code", "ul", "ol", "li", "dl", "dt", "dd", "table", "caption", "thead"),
        *("tbody", "tr", "th", "td", "svg", "g", "path", "line", "text"),
    }
    assert {tag for tag, _ in tree.elements} <= allowed
    assert len(tree.all("script")) == 1
    assert not [name for _, attributes in tree.elements for name in attributes if name.startswith("on")]
    links = [attributes["href"] for tag in ("a", "link") for attributes in tree.all(tag)]
    assert {link[:1] for link in links if link != "data:,"} == {"#"}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028\ufeff]", page)
    assert "alert(3)" in tree.text
    assert "{{ 7 * 7 }}" in tree.text


def test_secrets_of_rows_are_not_on_the_page(page):
    assert reported.SECRET not in page
    assert "[REDACTED:" in page


def test_every_link_leads_somewhere_and_every_id_is_there_once(page):
    tree = Tree(page)
    ids = [attributes["id"] for _, attributes in tree.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {attributes["href"] for attributes in tree.all("a")} <= {f"#{id_}" for id_ in ids}


def test_every_plot_has_a_label_and_a_table(page):
    tree = Tree(page)
    figures = tree.all("figure")
    assert len(figures) == 9
    assert all(figure["role"] == "img" and figure["aria-label"] for figure in figures)
    assert len(tree.all("table")) >= len(figures)
    assert all(cell.get("scope") in {"col", "row"} for cell in tree.all("th"))


def test_other_files_are_not_replaced(run):
    data = next((run / "data").iterdir())
    before = data.read_bytes()
    ran = run_here("report", "out", "-o", data, cwd=run.parent)
    assert ran.code == 2
    assert "is no page of trajcompress; choose another -o" in ran.stderr
    assert data.read_bytes() == before
    assert run_here("report", "out", "-o", "/dev/null", cwd=run.parent).code == 2
    assert run_here("report", "out", "-o", "no/such/folder/report.html", cwd=run.parent).code == 2


@pytest.mark.parametrize("given", ["missing", "."])
def test_a_folder_without_a_run_is_named(tmp_path, given):
    ran = run_here("report", given, cwd=tmp_path)
    assert ran.code == 2
    assert ran.stderr.startswith(f"error: {given}: no ")
    assert ran.stderr.count("\n") == 1


def test_a_run_with_nothing_to_compress_has_a_page_too(tmp_path, make_tokenizer):
    desk = commands.make_desk(tmp_path, make_tokenizer)
    desk.write("a.jsonl", [commands.conversation(0, steps=1)])
    assert desk.compress("a.jsonl", "-o", "out").code == 0
    ran = run_here("report", "out", "-o", "-", cwd=desk.folder)
    assert ran.code == 0, ran.stderr
    text = Tree(ran.stdout).text
    assert "No row was compressed." in text
    assert "No call was made" in text
    assert "Rows to look at" not in text
    assert "Nothing to do." in text


def test_where_nothing_is_wrong_the_most_compressed_rows_stand_there(tmp_path, make_tokenizer):
    desk = commands.make_desk(tmp_path, make_tokenizer)
    desk.write("a.jsonl", [commands.conversation(number, steps=12 + number) for number in range(7)])
    assert desk.compress("a.jsonl", "-o", "out").code == 0
    rows = commands.read_metrics(desk.path("out"))
    assert not any(row["still_over_limit"] or row["outcome"] != "compressed" for row in rows)
    ran = run_here("report", "out", "-o", "-", cwd=desk.folder)
    assert ran.code == 0, ran.stderr
    text = " ".join(Tree(ran.stdout).text.split())
    most = sorted(rows, key=lambda row: -row["tokens_saved"])[:5]
    listed = re.findall(r"a\.jsonl, row (\d) ([\d,]+) ", text[text.index("Most compressed") :])
    assert [(int(row), int(saved.replace(",", ""))) for row, saved in listed] == [
        (row["source_row"], row["tokens_saved"]) for row in most
    ]
    assert "Before" in text


def test_what_is_kept_of_the_assistant_is_that_of_the_metrics(run, page):
    rows = [row for row in commands.read_metrics(run) if row["assistant_tokens_original"]]
    original, kept = (sum(row[f"assistant_tokens_{when}"] for row in rows) for when in ("original", "kept"))
    text = " ".join(Tree(page).text.split())
    assert f"{kept:,} of {original:,} in rows over the target" in text
    assert "Assistant tokens kept, by length" in text
    assert "Assistant tokens kept, by file" in text


def test_starting_again_takes_an_old_report_away(tmp_path, make_tokenizer):
    desk = commands.make_desk(tmp_path, make_tokenizer)
    desk.write("a.jsonl", [commands.conversation(0)])
    assert desk.compress("a.jsonl", "-o", "out").code == 0
    assert run_here("report", "out", cwd=desk.folder).code == 0
    assert desk.compress("a.jsonl", "-o", "out", "--overwrite").code == 0
    assert not desk.path("out/report.html").exists()


def test_a_plot_names_the_target_and_what_a_bar_shows():
    bins = [LengthBin(500, 1000, 3, 5), LengthBin(1000, 2000, 2, 0)]
    svg = length_histogram_svg(bins, 1000)
    assert svg.startswith("<svg ")
    assert "target 1,000" in svg
    assert "<title>1,000 to 2,000 tokens: 2 rows before, 0 after</title>" in svg


@pytest.mark.parametrize(
    ("most", "whole"), [(0, True), (1, True), (3, True), (977, True), (0.013, False), (1e7, True)]
)
def test_ticks_are_few_round_and_reach_the_top(most, whole):
    ticks = nice_ticks(most, whole=whole)
    assert ticks[0] == 0
    assert max(1, most) if whole and most <= 1 else most <= ticks[-1]
    assert 2 <= len(ticks) <= 6
    assert ticks == sorted(set(ticks))
    assert all(tick == int(tick) for tick in ticks) or not whole


def test_columns_are_as_high_as_they_count():
    chart = Chart(Axis(0, 2, "x", []), [("after", [Column(0, 1, 4, "four"), Column(1, 2, 1, "one")])])
    heights = {
        match[2]: float(match[1]) for match in re.finditer(r"v([\d.]+)h[^>]*><title>(\w+)</title>", draw(chart, 300))
    }
    assert heights["four"] == pytest.approx(4 * heights["one"], abs=0.3)


def test_names_in_a_plot_are_text():
    svg = bars_svg([Bar("<script>alert(1)</script>\"'&", 3, "3")])
    assert [tag for tag, _ in Tree(svg).elements if tag not in {"svg", "g", "path", "text", "title", "line"}] == []
