"""``--where``: what selects rows, what is refused, and what must never happen."""

from __future__ import annotations

import pytest
from audited import failed, good, over, rejected, write_metrics
from commands import run_here
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trajcompress.errors import SettingsError
from trajcompress.results.audit.sandbox import connect
from trajcompress.results.audit.where import parse_condition

ROWS = [good(0), over(1, "head"), over(2, "tail's"), failed(3), rejected(4), good(5, source_file="web/b.jsonl")]


@pytest.fixture
def select(tmp_path):
    write_metrics(tmp_path / "m.parquet", ROWS)
    return lambda where: run_here("audit", "m.parquet", "--json", "--where", where, cwd=tmp_path)


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("still_over_limit", 3),
        ("STILL_OVER_LIMIT AND Outcome != 'failed'", 2),
        ("reason = 'tail''s'", 1),
        ("reason IS NULL", 2),
        ("reason IN ('head', 'invalid_json')", 2),
        ("source_file LIKE 'web/%' -- a comment", 1),
        ("trajectory_id ILIKE 'ROW-%'", 5),
        ("regexp_matches(reason, '^(head|tail)')", 2),
        ("compressed_tokens BETWEEN 800 AND 1500", 4),
        ("compressed_tokens > 0.7 * original_tokens", 3),
        ("coalesce(facts_kept, 0) < 1", 2),
        ("CASE WHEN in_dataset THEN source_row >= 3 ELSE false END", 2),
        ('"outcome" = $$rejected$$', 1),
        ("NOT (in_dataset)", 1),
        ("true", 6),
    ],
)
def test_conditions(select, where, rows):
    ran = select(where)
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.json["totals"]["rows"] == rows


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("", "should be one condition"),
        ("reason =", "syntax error"),
        ("outcom = 'failed'", "did you mean outcome?"),
        ('outcome = "failed"', "no column failed in m.parquet; texts take single quotes"),
        ("metrics.outcome = 'x'", "name it outcome"),
        ("source_row", "true or false, but is bigint"),
        ("outcome > 5", "VARCHAR"),
        ("count(*) > 1", "no function count_star"),
        ("1 = 1 AS x", "one condition"),
        ("true, false", "one condition"),
        ("*", "takes no star"),
        ("$1", "one condition"),
        ("row_number() OVER () = 1", "takes no window"),
        ("not " * 50_000 + "true", "depth"),
        ("(" * 50_000 + "true" + ")" * 50_000, "depth"),
    ],
)
def test_what_is_no_condition(select, where, words):
    ran = select(where)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: --where: ")
    assert words in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "where",
    [
        "true; COPY (SELECT 1) TO 'stolen.csv'",
        "true) UNION SELECT * FROM read_text('m.parquet') WHERE (true",
        "true FROM read_csv('secret.txt')",
        "true UNION ALL SELECT true",
        "true LIMIT 0",
        "true WHERE false",
        "EXISTS (FROM read_text('secret.txt'))",
        "reason IN (SELECT content FROM read_text('secret.txt'))",
        "reason = (FROM 'secret.txt')",
        "read_text('secret.txt') = ''",
        "getenv('HOME') = ''",
        "current_setting('threads') = '1'",
        "nextval('s') = 1",
        "repeat('x', 1000000000) = ''",
        "list_sum(range(1000000000)) = 1",
        "main.lower(reason) = (SELECT 'x')",
        "system.main.query('SELECT 1') = 1",
        "INSTALL httpfs",
        "1=1; ATTACH 'stolen.db'",
        "1=1; SET enable_external_access = true",
        "__import__('os').system('touch stolen')",
        "list_filter([1], x -> true) = [1]",
        "true /* ",
        "reason::ENUM('a') = 'a'",
        "COLUMNS('.*') = 'x'",
    ],
)
def test_nothing_is_reached_or_run(select, tmp_path, where):
    (tmp_path / "secret.txt").write_text("a secret")
    before = sorted(tmp_path.iterdir())
    ran = select(where)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: --where: ")
    assert "a secret" not in ran.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "statement",
    [
        "FROM read_text('{file}')",
        "FROM '{file}'",
        "COPY (SELECT 1) TO '{file}.csv'",
        "ATTACH '{file}.db'",
        "INSTALL httpfs",
        "LOAD '{file}'",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "FROM python_value",
    ],
)
def test_the_database_is_shut_even_to_whole_statements(tmp_path, statement):
    import duckdb

    file = tmp_path / "metrics.parquet"
    python_value = write_metrics(file, ROWS).read_bytes()  # noqa: F841 - DuckDB would find it by name
    with connect() as connection, pytest.raises(duckdb.Error):
        connection.execute(statement.format(file=file))
    assert list(tmp_path.iterdir()) == [file]


@settings(max_examples=50, deadline=None)  # each opens a database
@given(st.text(st.characters(codec="utf-8"), max_size=40) | st.text("()'\"-;/*$ a1=<,.:[]", max_size=20))
@example("A\0")
def test_any_text_is_a_condition_or_one_line_of_error(text):
    try:
        condition = parse_condition(text)
    except SettingsError as error:
        said = str(error)
    else:
        assert parse_condition(condition.sql) == condition
        said = ""
    assert "\n" not in said
