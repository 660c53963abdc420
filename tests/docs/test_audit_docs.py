"""``docs/audit.md``: every block of it runs, and DuckDB, pandas and the command agree."""

from __future__ import annotations

import contextlib
import re
import shlex
from pathlib import Path

import pytest
from audited import failed, good, over, rejected, write_metrics
from commands import run_here

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "audit.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def place(tmp_path):
    """Runs as the page names them: mostly good rows, and some of every other kind."""
    rows = [good(row) for row in range(200)]
    rows += [over(200, "head", 1200), over(201, "tail", 1900, tail_tokens=1500), failed(202), rejected(203)]
    for name in ("out", "again", "monday", "tuesday"):
        (tmp_path / name).mkdir()
        file = "rows.jsonl" if name in {"out", "again"} else f"{name}.jsonl"
        rows = [row | {"source_file": file} for row in rows]
        write_metrics(tmp_path / name / "metrics.parquet", rows)
        settings = '{"state": "complete", "settings": {"compression.target_max_tokens": 1000}}'
        (tmp_path / name / "run.json").write_text(settings)
    return tmp_path


def test_every_command_runs(place):
    ran = {}
    for line in "".join(blocks("sh")).splitlines():
        program, *arguments = shlex.split(re.sub(r" >>? \S+$", "", line))
        assert program == "trajcompress"
        ran[line] = run_here(*arguments, cwd=place)
    assert len(ran) == 13
    for line, each in ran.items():
        assert each.code == ("--max-over-limit" in line), each
    assert (place / "long-tails.txt").read_text() == "row-201\n"
    assert "| fail | max-over-limit |" in next(each.stdout for line, each in ran.items() if "markdown" in line)


def test_duckdb_pandas_and_the_command_agree(place):
    import duckdb

    told = run_here("audit", "out", "--json", cwd=place).json
    with contextlib.chdir(place):
        by_cause, largest, by_reason, figures = (duckdb.sql(query).fetchall() for query in blocks("sql"))
        pandas = {}
        exec("\n".join(blocks("python")), pandas)  # noqa: S102 - what the page says to run
    causes = {
        (each["cause"], each["rows"], each["examples"][0]["compressed_tokens"])
        for each in told["over_limit"]["groups"]
    }
    assert causes == set(by_cause) == set(pandas["by_cause"].itertuples(name=None))
    assert largest == list(pandas["largest"].itertuples(index=False, name=None))
    assert [row[2] for row in largest] == ["row-202", "row-201", "row-200"]
    reasons = {
        (kind, group["cause"], group["rows"]) for kind in ("failed", "rejected") for group in told[kind]["groups"]
    }
    assert reasons == set(by_reason) == {(*key, rows) for key, rows in pandas["by_reason"].items()}
    totals = told["totals"]
    expected = (
        totals["still_over_limit"] / totals["rows"],
        (totals["failed"] + totals["rejected"]) / totals["rows"],
        totals["facts_kept"] / totals["facts_needed"],
        totals["compression_ratio"],
    )
    assert figures[0] == pytest.approx(expected)
    assert tuple(pandas["figures"].values()) == pytest.approx(expected)
