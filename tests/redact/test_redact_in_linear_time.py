"""Hostile text is read in linear time: runs of what forms of secrets begin, end or are filled with."""

from __future__ import annotations

import pytest

from trajcompress.redact import redact

HOSTILE = [
    *(
        "x",
        "=",
        ":",
        "\\",
        " ",
        "@",
        "://",
        "://a:",
        "a:b@",
        " --",
        "sk-",
        "sk-a1",
        "eyJ",
        "eyJ-",
        "SG.",
        "AKIA",
        "_-",
    ),
    *("Bearer a", "{{", "aB3dE6gH9jKl0mNoaB3dE6+/", "-----BEGIN PRIVATE KEY-----"),
    "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
    *("curl -u 'a:", "identified by '", "create identified by '", "zip -P ", "unzip", "htpasswd -n a "),
    *(
        "\x1b",
        "\x1b[",
        "\x1b]",
        "\x1b]a",
        "\x1b[0m",
        "\\u001b",
        "\\u001b]",
        "[0m",
        "\u200b",
        "a\x08",
        "a\\b",
        "a\\ba",
        "\\udb40\\udc20",
        "\U000e0020",
        "a\\\n",
        "\x9b1;",
        "ghp_",
    ),
    *("token=\x1b[0m", "\u200bpassword=", "\u202e"),
    *("curl ", "curl -u a:", "mysql -p", "sudo -s", "echo a | sudo -s", "htpasswd -b a b ", "identified by "),
    *(
        "password,",
        "passwd\t",
        "password,password\n",
        "password,\\n",
        "password;\\",
        "<tr><th>password",
        "password</th>",
    ),
    *("INSERT INTO t (password) VALUES (", "INSERT INTO t (password) VALUES ('a'),", "password`, values"),
    "hmac.new(" + " " * 20_000,
    *("hmac.new(", "hmac.new('", "login(a,", "ftp('a', ", "auth=(\\'", "convertto-securestring -a"),
    *(":::", ":5432:", "h:5432:db:u:", "?u=a&p=", "creds: a / ", "a:aaaa@tcp(", ":thin:", "pwd={1"),
    *("$6$", "{ssha}", "pbkdf2_sha256$", "scrypt:", "scrypt:1"),
    *("密码：", "密码 (a", "\\u5bc6\\u7801", "password for a ", "password is changed to ", "`abcdefgh` as password"),
    *("-----END PRIVATE KEY-----", "aB3dE6gH9jKl0mNo\n" * 60_000 + "-----END PRIVATE KEY-----", "Private-Lines: 1\n"),
    '"password": ' + "\\" * 100_000,
    *(
        "send ",
        'send "',
        "expect password send ",
        'expect "password:"; send "a',
        "password.sendline('aB3dE6'",
        "send -- ",
    ),
    *('password = """\n', 'password="""\n\n', "secret='''\\n", 'password = """\n' + "a\n" * 900, "a\ufe0f", "\x7f"),
    "\x00a",
]
DENSE = [
    *(
        "key=",
        "token: ",
        "token=a",
        'password="',
        'password=\\"',
        "password='password=\"",
        "&token=",
        "Cookie: a=b; ",
    ),
    *("<password>", '"--password", "', 'password", "value": "', "|password |", "password is ", "login a password "),
    *("password:", "Authorization:", "cookie=", "TOKEN=x.", '"password": 1', 'password="%(', " --password "),
]


LONG = 200_000
"""Characters of a text that takes a second at most in linear time, and minutes in quadratic time."""


@pytest.mark.cpu_seconds(15)
@pytest.mark.parametrize("unit", [*HOSTILE, *DENSE])
def test_one_line_of_hostile_text_takes_linear_time(unit):
    redact(unit * max(1, LONG // len(unit)))


@pytest.mark.cpu_seconds(20)
def test_runs_of_backslashes_are_read_once():
    redact(("password: 'x" + "\\" * 9000 + "\n") * 100)


@pytest.mark.cpu_seconds(15)
@pytest.mark.parametrize("name", ["password", "token", "cookie", "curl", "login", "htpasswd -b"])
@pytest.mark.parametrize("unit", [" ", "\n", "\\n", "\t", "a", "'", '"', "|", "<", ">", ", ", "x "])
def test_what_follows_a_name_is_read_in_linear_time(name, unit):
    redact(name + unit * (LONG // len(unit)))
    redact(f"{name}{unit * 50}" * (LONG // 100))
