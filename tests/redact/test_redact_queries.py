"""Rows without a header are read by the query that asked for them, or by the table's definition."""

from __future__ import annotations

import json

import pytest
from commands import read_rows, run_here, write_rows
from loopback import LoopbackServer

from trajcompress.redact import redact_row, redact_turns


def said(*turns):
    redacted, _ = redact_turns([[turn] for turn in turns])
    return [redacted[index].text if index in redacted else turn for index, turn in enumerate(turns)]


MARK = "[REDACTED:password]"
ROWS = f"admin|{MARK}\nbob|{MARK}"


@pytest.mark.parametrize(
    ("asked", "answer", "clean"),
    [
        ('sqlite3 app.db "SELECT username, password FROM users"', "admin|s3cr3tPw\nbob|letmein", ROWS),
        (
            "sqlite3 app.db 'select u.name n, u.password p from users u'",
            "n|p\nadmin|s3cr3tPw",
            f"n|p\nadmin|{MARK}",
        ),
        ("psql -t -c 'SELECT login,\n  passwd FROM members'", " admin | letmein\n", f" admin | {MARK}\n"),
        ("mysql -N -B -e 'SELECT user, password FROM u'", "admin\tletmein", f"admin\t{MARK}"),
        ("mysql -t -e 'SELECT user u, password p FROM u'", "| admin | letmein |", f"| admin | {MARK} |"),
        ("sqlite3 -csv a.db 'SELECT user, password FROM u'", "admin,letmein", f"admin,{MARK}"),
        ("x' UNION SELECT username,password FROM users-- -", "admin|letmein", f"admin|{MARK}"),
        ("print(db.execute('SELECT user, password FROM u').fetchall())", "[('a', 'letmein')]", f"[('a', '{MARK}')]"),
        ("SELECT user, password FROM u", '[["a", "letmein"], ["b", null]]', f'[["a", "{MARK}"], ["b", null]]'),
        ("SELECT user, password FROM u", '{"rows": [["a", "letmein"]]}', f'{{"rows": [["a", "{MARK}"]]}}'),
        (
            "SELECT user, password FROM u",
            '[\n  [\n    "a",\n    "letmein"\n  ]\n]',
            f'[\n  [\n    "a",\n    "{MARK}"\n  ]\n]',
        ),
        ("duckdb a.db 'SELECT user, password FROM u'", "│ admin │ letmein │", f"│ admin │ {MARK} │"),
        ("SELECT user||':'||password, id FROM u", "admin:letmein|1", f"{MARK}|1"),
    ],
)
def test_the_columns_that_a_query_names_are_secret_in_its_answer(asked, answer, clean):
    assert said(asked, answer)[1] == clean
    wrapped = json.dumps({"output": answer, "exit_code": 0})
    assert json.loads(said(json.dumps({"command": asked}), wrapped)[1])["output"] == clean
    assert said(f"$ {asked}\n{answer}") == [f"$ {asked}\n{clean}"]
    messages = [{"role": "assistant", "content": asked}, {"role": "tool", "content": answer}]
    assert redact_row({}, "messages", messages).messages[1]["content"] == clean


DEFINED = (
    "CREATE TABLE `users` (\n  `id` int,\n  `name` text,\n  `password` varchar(100) NOT NULL,\n  PRIMARY KEY (id)\n);"
)


def test_a_definition_names_the_columns_of_rows():
    assert said(DEFINED, "SELECT * FROM users;", "1|bob|letmein")[2] == f"1|bob|{MARK}"
    dump = f"{DEFINED}\nINSERT INTO `users` VALUES (1,'a','letmein'),(2,'b','x');"
    assert said(dump)[0] == dump.replace("letmein", MARK)
    assert json.loads(said(json.dumps({"output": dump}))[0])["output"] == dump.replace("letmein", MARK)
    copy = "COPY public.users (id, name, password) FROM stdin;\n1\tbob\tletmein\n\\.\nletmein"
    assert said(copy)[0] == copy.replace("letmein", MARK, 1)


def test_an_answer_may_list_its_columns():
    told = '{"columns": ["id", "password"], "rows": [[1, "letmein"], [2, "x"]]}'
    assert said(told)[0] == told.replace("letmein", MARK)
    assert said(json.dumps({"output": told}))[0] == json.dumps({"output": told.replace("letmein", MARK)})


def test_an_answer_may_be_wrapped_in_tags():
    wrapped = f"<tool_response>\n{json.dumps({'name': 'sql', 'content': 'bob|letmein'})}\n</tool_response>"
    assert said("SELECT user, password FROM u", wrapped)[1] == wrapped.replace("letmein", MARK)


@pytest.mark.parametrize(
    "command",
    ['sqlite3 a.db "SELECT user, password FROM u"|base64', "psql -c 'SELECT user, password FROM u' |tee x1 | wc"],
)
def test_what_a_query_is_piped_to_is_no_answer(command):
    for asked in (command, json.dumps({"command": command}), f"$ {command}\n"):
        assert said(asked, "ok")[0] == asked


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("SELECT user, password FROM u", '["a|b9x"]'),
        ("SELECT count(password), username FROM users", "1234|admin99"),
        ("SELECT username, password IS NULL FROM users", "admin|true1"),
        ("SELECT id, username FROM users WHERE password = 'x'", "1|robert99"),
        ("SELECT model, prompt_tokens, pad_token FROM runs", "gpt-4|1234|ab12cd34ef56"),
        ("SELECT username, password FROM users", "admin|\nbob|NULL\ncarol|************"),
        ('db.execute("SELECT id, password FROM users")', '     1\timport a1\n     2\tx = (1, "abcdef12")'),
        (DEFINED, "users(1, 'bob', 'letmein')"),
        ("CREATE TABLE posts (id INT, title TEXT);", "INSERT INTO posts VALUES (1, 'x9Y8z7W6')"),
    ],
)
def test_other_rows_stay(asked, answer):
    assert said(asked, answer)[1] == answer


def test_what_only_a_query_names_is_not_sent(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    steps = [("user", "Log in."), ("assistant", "I look."), ("user", "Then go on.")]
    steps += [("assistant", "sqlite3 app.db 'SELECT name, password FROM users'"), ("user", "bob|letmein\nada|zebra")]
    for number in range(20):
        steps += [("assistant", f"ping host{number}"), ("user", f"host {number}: fine " * 12)]
    steps += [("assistant", "Written."), ("user", "Thanks."), ("assistant", "Done.")]
    write_rows(tmp_path / "rows.jsonl", [{"messages": [{"role": role, "content": text} for role, text in steps]}])
    args = ["rows.jsonl", "--target-max-tokens", "900", "--summary-target-tokens", "300", "--output-format", "jsonl"]
    with LoopbackServer() as server:
        ran = run_here("compress", *args, "--model", "m", "--base-url", server.base_url, "-o", "out", cwd=tmp_path)
        assert ran.code == 0
        sent = json.dumps([seen.messages for seen in server.seen])
    assert "bob|[REDACTED:password]" in sent
    assert not any(secret in sent for secret in ("letmein", "zebra"))
    assert len(read_rows(tmp_path / "out")) == 1


QUERY = "SELECT username, password FROM users\n"


@pytest.mark.cpu_seconds(10)  # quadratic time would take minutes
@pytest.mark.parametrize(
    "turns",
    [
        [QUERY * 6_000, "a|b|c9x\n" * 30_000],
        [QUERY, "admin|hunter2\n"] * 4_000,
        ["select a,b " * 20_000, "select " * 30_000],
        ["create table t(" * 14_000, "create table t(password text);" * 7_000],
        ["create table t(a int, password text);", "insert into t values (1,'hunter2')," * 6_000],
        ["COPY t (a, password) FROM stdin;\n" * 6_000],
        [QUERY, "(" * 200_000, "('" * 100_000, "[('a'," * 30_000],
    ],
    ids=range(7),
)
def test_hostile_queries_take_linear_time(turns):
    redact_turns([[turn] for turn in turns])
