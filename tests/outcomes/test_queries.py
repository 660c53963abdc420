"""What is told of a call that passes a statement to a database."""

from __future__ import annotations

import pytest
from summed_up import ask, call, result

from trajcompress.outcomes.action.actions import describe
from trajcompress.summarize.extractive import extract


def test_comments_are_no_part_of_a_statement():
    sql = "-- of all\nUPDATE staff SET pay = 5 WHERE id = 8;\n  -- and of one\nUPDATE staff SET pay = 7 WHERE id = 9;"
    said = "UPDATE staff SET pay = 5 WHERE id = 8; UPDATE staff SET pay = 7 WHERE id = 9;"
    assert describe("execute_sql", {"sql": sql}).target == said
    assert describe("execute_sql", {"sql": "-- nothing else"}).target == "-- nothing else"


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("INSERT INTO staff VALUES (1)", "change"),
        ("-- new\nCREATE TABLE staff (id INT)", "change"),
        ("delete from staff where id = 1", "change"),
        ("SELECT id FROM staff", "run"),
        ("WITH a AS (SELECT 1) SELECT * FROM a", "run"),
    ],
)
def test_a_statement_says_whether_records_change(sql: str, kind: str):
    assert describe("execute_sql", {"sql": sql}).kind == kind


@pytest.mark.parametrize("query", ["update node to version 20", "create table of contents", "delete from"])
def test_words_that_are_searched_for_change_nothing(query: str):
    assert describe("web_search", {"query": query}).kind == "read"
    assert describe("run_query", {"query": "UPDATE staff SET pay = 5"}).kind == "change"


def test_the_whole_of_a_statement_that_changes_records_is_told():
    sql = (
        "INSERT INTO employee_performance (employee_id, customers_assigned, performance_score, remark) "
        "VALUES (9, 3, 4.5, 'new'), (10, 3, 4.2, 'new')"
    )
    text = extract(ask([call(1, "execute_sql", sql=sql), result(1, "No results")]))
    assert f"- execute_sql {sql} → No results" in text
