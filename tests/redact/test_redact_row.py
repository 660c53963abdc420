"""What one place of a row tells to be secret is secret in all of it."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from commands import read_metrics, read_rows, run_here, write_rows
from loopback import LoopbackServer

from trajcompress.redact import redact_row, redact_turns, redact_value

VALUE = "Tr0ub4dorZebra91"
ODD = 'q9"Zx\\7Lm4é/Kp'
TELLS = f"DB_PASSWORD={VALUE}"


def cleaned(*turns):
    texts = [[turn] for turn in turns]
    redacted, _ = redact_turns(texts)
    return [redacted[index].text if index in redacted else turn for index, turn in enumerate(turns)]


@pytest.mark.parametrize(
    "bare",
    [
        f"./login bob {VALUE}",
        f'{{"cmd": "login", "args": ["bob", "{VALUE}"]}}',
        f"https://example.org/login/{VALUE}/ok",
        f"\x1b[32m{VALUE}\x1b[0m",
        f"Tr0ub\u200b4dorZebra91 {VALUE[:4]}\x1b[1m{VALUE[4:]}",
        VALUE,
    ],
)
def test_a_value_told_once_is_marked_before_and_after(bare):
    before, _, after = cleaned(bare, TELLS, bare)
    assert before == after
    assert "[REDACTED:password]" in before
    assert not any(value in before for value in (VALUE, VALUE[4:], "4dorZebra91"))


@pytest.mark.parametrize(
    "written", [ODD, json.dumps(ODD)[1:-1], json.dumps(ODD, ensure_ascii=False)[1:-1], quote(ODD, safe="")]
)
def test_a_value_is_known_in_json_and_in_urls(written):
    told = json.dumps({"password": ODD}, ensure_ascii=False)
    assert cleaned(told, f"typed {written} there") == [
        '{"password": "[REDACTED:password]"}',
        "typed [REDACTED:password] there",
    ]


def test_what_basic_credentials_hold_is_known():
    header = "Authorization: Basic " + base64.b64encode(b"bob:Zq7vKp2mNx9w").decode()
    assert cleaned(header, "login bob Zq7vKp2mNx9w")[1] == "login bob [REDACTED:authorization]"


@pytest.mark.parametrize("weak", ["admin", "password", "hunter22", "12345678", "localhost", "postgres1"])
def test_weak_values_are_words_elsewhere(weak):
    assert cleaned(f"DB_PASSWORD={weak}", f"the {weak} page")[1] == f"the {weak} page"


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("printenv DB_PASSWORD", VALUE),
        ('{"command": "echo $API_TOKEN"}', f"{VALUE}\n"),
        ("```bash\ncat /run/secrets/db_password\n```", f"<returncode>0</returncode>\n<output>\n{VALUE}\n</output>"),
        ("kubectl get secret db -o jsonpath='{.data.x}' | base64 -d", VALUE),
        ("vault kv get -field=password secret/db", f'{{"stdout": "{VALUE}", "exit_code": 0}}'),
    ],
)
def test_what_a_command_was_asked_to_print_is_secret(asked, answer):
    assert VALUE not in "".join(cleaned(asked, answer, f"use {VALUE}"))


@pytest.mark.parametrize("prompt", ["$ ", "bob@db1:~/app$ ", "[root@db1 ~]# ", "(venv) bob@db1:~$ ", "bash-5.1$ "])
def test_a_session_in_one_text_has_answers_to_its_commands(prompt):
    session = f"Look:\n{prompt}printenv DB_PASSWORD\n{VALUE}\n{prompt}ls\nNotes2Self.txt\n{prompt}"
    assert cleaned(session)[0] == session.replace(VALUE, "[REDACTED:password]")
    asked = f"{prompt}printenv DB_PASSWORD\n{VALUE}\n{prompt}"
    assert VALUE not in redact_turns([[asked, ""]])[0][0].text


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("printenv PATH", "/usr/local/bin:/usr/bin"),
        ("git rev-parse HEAD", "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"),
        ("grep -c password src/app.py", "3"),
        (
            "docker run -e POSTGRES_PASSWORD=x postgres",
            "89229f5a0b6076a000de789660cd8f3328b4674bec5bf3f6e144600d9079ecdf",
        ),
        ("sha256sum token.bin", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
    ],
)
def test_other_answers_stay(asked, answer):
    assert cleaned(asked, answer)[1] == answer


def test_the_second_half_of_a_key_is_one_in_a_turn_of_its_own():
    lines = ["MIIEowIBAAKCAQEAr7Zl0Xk3vQ9a1bYdJ2hS5tGx8nLwPzC4eKoUiT6yRmFqVj" + digit for digit in "0123456789"]
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    parts = ["\n".join((begin, *lines[:3])), "\n".join(lines[3:7]), "\n".join((*lines[7:], end)), "Done."]
    assert not any(line in "".join(cleaned(*parts)) for line in lines)
    assert not any(line in redact_turns([[parts[2]]])[0][0].text for line in lines[7:])


def calls(call_id):
    function = {"name": "f", "arguments": "{}"}
    return [
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": "ok"},
    ]


def test_every_column_is_redacted_and_ids_stay_distinct(tmp_path):
    keys = [f"ghp_{'aB3dE6gH9jKl0mNoPq4RsT7uVwX2yZ5cD8f'}{digit}" for digit in "12"]
    rows = [
        {
            "id": key,
            "messages": [*calls(key), *calls(key[::-1])],
            "tools": [{"type": "function", "function": {"name": "f", "description": f"sends {key}"}}],
            "note": {"password": VALUE, "texts": [f"login bob {VALUE}"]},
            "score": 1.5,
        }
        for key in keys
    ]
    write_rows(tmp_path / "rows.jsonl", rows)
    args = ["rows.jsonl", "-o", "out", "--redact", "dataset", "--output-format", "jsonl"]
    assert run_here("compress", *args, cwd=tmp_path).code == 0
    clean = read_rows(tmp_path / "out")
    written = json.dumps([clean, read_metrics(tmp_path / "out")], default=str)
    assert not any(secret in written for secret in (*keys, VALUE))
    assert len({row["id"] for row in clean}) == len(rows)
    for row in clean:
        turns = row["messages"]
        assert turns[1]["tool_calls"][0]["id"] == turns[2]["tool_call_id"] == row["id"]
        assert row["note"]["texts"] == ["login bob [REDACTED:password]"]
        assert row["score"] == 1.5
    assert run_here("check", "out", "--for", "openai", cwd=tmp_path).code == 0


def test_redacting_a_row_again_changes_nothing():
    row = {"id": f"ghp_{'aB3dE6gH9jKl0mNoPq4RsT7uVwX2yZ5cD8f1'}", "messages": [{"role": "user", "content": TELLS}]}
    once = redact_row(row, "messages", row["messages"])
    again = redact_row({**once.row, "messages": once.messages}, "messages", once.messages)
    assert (once.count, again.count) == (2, 0)


@pytest.mark.parametrize(
    "turns",
    [
        ("password for bob is x", "1password:\\n://", "h:5432:db:u:"),
        ("the api_key,", f"sk-ant-{VALUE}{VALUE}", "x", "q9Zx7Lm4Kq"),
        (f"u:{VALUE}@tcp(", "the password", f"{VALUE}sk_live_aB3dE6gH9jKl0mNoPq4RsT7u"),
        ("auth: “q9Zx7Lm4Kq7", "Authorization: “q9Zx7Lm4Kq7”"),
        ("密码: \ud800q9Zx7Lm4K", "\ud800q9Zx7Lm4K"),
    ],
)
def test_redacting_turns_again_changes_nothing(turns):
    once = cleaned(*turns)
    assert cleaned(*once) == once


@pytest.mark.parametrize(
    "value",
    [
        {f"u:{VALUE}@tcp(h)": "x"},
        {"name": f"ghp_{'aB3dE6gH9jKl0mNoPq4RsT7uVwX2yZ5cD8f1'}", "value": VALUE},
        {"Authorization": f"{ODD}--password `{VALUE}` as the"},
    ],
)
def test_marks_in_labels_and_keys_stay_and_tell_nothing(value):
    once = redact_value(value).value
    assert redact_value(once).value == once


MANY = [f"TOKEN=Zq7vKp2m{number:08}xY" for number in range(10_000)]


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
@pytest.mark.parametrize(
    "texts",
    [
        ["\n".join(MANY)] * 5,
        [*MANY[:500], *MANY],
        ["printenv X"] * 20_000,
        ["printenv DB_PASSWORD", VALUE] * 5_000,
        ["printenv DB_PASSWORD", "<a" * 500_000],
        ["tbox [1] password"] * 5_000,
        ["tbox " + "".join(f"[{number}] password " for number in range(40_000)), "type 1 x " * 100_000],
        ["-----BEGIN PRIVATE KEY-----", "aB3dE6gH9jKl0mNo" * 60_000],
    ],
    ids=range(8),
)
def test_a_hostile_row_takes_linear_time(texts):
    redact_turns([[text] for text in texts])


def test_a_secret_that_the_tail_tells_is_not_sent(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    steps = [("user", "Log in."), ("assistant", "I look."), ("user", "Then go on.")]
    for number in range(20):
        steps += [("assistant", f"./login bob {VALUE} --host {number}"), ("user", f"host {number}: fine " * 12)]
    steps += [("assistant", "Written."), ("user", TELLS), ("assistant", "Done.")]
    write_rows(tmp_path / "rows.jsonl", [{"messages": [{"role": role, "content": text} for role, text in steps]}])
    args = ["rows.jsonl", "--target-max-tokens", "900", "--summary-target-tokens", "300", "--output-format", "jsonl"]
    with LoopbackServer() as server:
        asked = [*args, "--model", "m", "--base-url", server.base_url, "-o", "called"]
        assert run_here("compress", *asked, cwd=tmp_path).code == 0
        sent = json.dumps([seen.messages for seen in server.seen])
    assert server.seen
    assert VALUE not in sent
    assert run_here("compress", *args, "-o", "offline", cwd=tmp_path).code == 0
    (row,) = read_rows(tmp_path / "offline")
    summary = next(turn["content"] for turn in row["messages"] if "[CONTEXT SUMMARY]:" in turn["content"])
    assert VALUE not in summary
