"""``trajcompress audit`` in formats for other programs: Markdown, JUnit, GitHub's annotations, JSON."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from audited import good, over, write_metrics
from markdown_it import MarkdownIt

ALL_FAIL = ("--max-over-limit", "0", "--max-failed", "0", "--min-facts-kept", "100%", "--max-ratio", "0.1")


def test_markdown_is_read_back_by_a_parser(audit, tmp_path):
    nasty = "a|b`c ``d`` @all <b> \\| __x__\n::error::"
    write_metrics(tmp_path / "nasty.parquet", [over(0, trajectory_id=nasty), good(1)])
    ran = audit("nasty.parquet", *ALL_FAIL, "--format", "markdown")
    assert ran.code == 1
    tokens = MarkdownIt("commonmark").enable("table").parse(ran.stdout)
    cells = [token.content for token in tokens if token.type == "inline"]
    widths = set()
    for index, token in enumerate(tokens):
        if token.type == "tr_open":
            end = next(i for i in range(index, len(tokens)) if tokens[i].type == "tr_close")
            widths.add(sum(each.type in {"td_open", "th_open"} for each in tokens[index:end]))
    assert "### 2 rows" in ran.stdout
    assert widths <= {2, 3, 4, 5, 6, 7}
    assert any("a|b" in cell for cell in cells)
    assert not any(token.type == "html_block" for token in tokens)


def test_junit(audit, tmp_path):
    write_metrics(tmp_path / "odd.parquet", [over(0, trajectory_id="\x00\x1b[31m<&]]>￾"), good(1)])
    suites = ET.fromstring(audit("odd.parquet", *ALL_FAIL, "--format", "junit").stdout)  # noqa: S314 - our own output
    (suite,) = suites
    cases = suite.findall("testcase")
    assert (suites.tag, suite.tag, suite.get("tests"), suite.get("failures")) == (
        "testsuites",
        "testsuite",
        str(len(cases)),
        str(len(suite.findall("testcase/failure"))),
    )
    assert all(case.get("classname") and case.get("name") and case.get("time") for case in cases)
    failure = suite.find("testcase/failure[@type='max-over-limit']")
    assert failure.get("message") == "1 of 2 rows (50.0000%), at most 0"
    assert failure.text.startswith("a.jsonl:0 (\\x00\\x1b[31m<&]]>\\ufffe): still over the limit: tail")
    plain = ET.fromstring(audit("good.parquet", "--format", "junit").stdout)  # noqa: S314 - our own output
    (only,) = plain.iter("testcase")
    assert len(only) == 0, "without gates there is one case, which passes"


def test_github_annotations_are_few_escaped_and_counted(audit, tmp_path):
    rows = [over(row, trajectory_id="100%\n::error::x", source_file="a,b:c.jsonl") for row in range(30)]
    write_metrics(tmp_path / "many.parquet", rows)
    ran = audit("many.parquet", "--max-over-limit", "10%", "--format", "github", "--examples", "25")
    lines = ran.stdout.splitlines()
    errors, warnings = ([line for line in lines if line.startswith(f"::{kind} ")] for kind in ("error", "warning"))
    assert (ran.code, len(errors), len(warnings)) == (1, 1, 10)
    assert errors[0].endswith("::max-over-limit: 30 of 30 rows (100.0000%25), at most 10%25")
    assert warnings[0].startswith(
        "::warning file=a%2Cb%3Ac.jsonl,title=trajcompress audit max-over-limit::a,b:c.jsonl:0"
    )
    assert "100%25\\n::error::x" in warnings[0]
    assert warnings[-1].endswith("::and 21 more rows; --export names them all")
    assert [line for line in lines if not line.startswith("::")] == []
    assert len(audit("faulty.parquet", "--format", "github").stdout.splitlines()) == 1 + 6, "rows without any gate"


def test_json_is_the_same_by_either_name(audit):
    assert audit("faulty.parquet", "--json") == audit("faulty.parquet", "--format", "json")


def test_the_table_is_whole_lines_without_control_characters(audit, tmp_path):
    write_metrics(tmp_path / "odd.parquet", [over(0, trajectory_id="\x1b[2J\u202e" + "x" * 5000)])
    ran = audit("odd.parquet")
    assert ran.stdout.isascii()
    assert "\x1b" not in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) < 400
