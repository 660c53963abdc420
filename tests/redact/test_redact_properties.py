"""What holds for any text that is redacted, hostile text included."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from secret_forms import BODY, VENDOR_KEYS

from trajcompress.redact import redact, redact_turns, redact_value

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


FRAGMENTS = st.sampled_from(
    [
        *(
            "password",
            "TOKEN",
            "api_key",
            "Authorization",
            "Cookie",
            "Set-Cookie",
            "client_secret",
            "AccountKey",
            "auth",
            "sig",
        ),
        *(
            "=",
            ":",
            ": ",
            " = ",
            "=>",
            "://",
            "@",
            "?",
            "&",
            '"',
            "'",
            '\\"',
            "\\\\\\",
            "\\n",
            "\n",
            " ",
            ",",
            ";",
            "[",
            "]",
            "{",
        ),
        *(
            "Bearer ",
            "Basic ",
            "a=b; ",
            "--password ",
            '"--password", "',
            "curl -u me:",
            "htpasswd -b a=config b ",
            '", "value": "',
            '"url": "https://h/?token=',
            "}",
            "mysql -p",
            "echo ",
            " | sudo -S ",
            "<password>",
            "</",
            '"value": "',
            "value: ",
            "|",
            "(",
            " is ",
            "str = ",
            "%3D",
            "…",
            "xxxx",
            "your-",
            "hunter2",
            "abc123def456",
            "12345",
        ),
        *(
            "\x1b[32m",
            "\x1b[0m",
            "\\u001b[1m",
            "[31m",
            "\u200b",
            "\\\n",
            "\\\\\\n",
            "\x08",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            BODY,
            "[REDACTED:token]",
            "[REDACTED:",
            "hooks.slack.com/",
        ),
        *(
            "services/",
            "\ud800",
            "日",
            "é",
            "A",
            "_",
            "-",
            ".",
            "/",
            "$",
            "<",
            ">",
            "(",
            ")",
            "`",
            "12345678:AA",
            "eyJ",
            "SG.",
        ),
        *(
            "user,password\\n",
            "user,password\n",
            "bob,Zq7vKp2mNx9w",
            "| user | password |\n",
            "| bob | Zq7vKp2mNx9w |",
            "<tr><th>password</th></tr>",
            "<tr><td>Zq7vKp2mNx9w</td></tr>",
            "INSERT INTO u (password) VALUES ('",
            "hmac.new('",
            "auth=(",
            "creds: a / ",
            "h:5432:db:u:",
            "\\:",
            "u:Zq7vKp2mNx9w@tcp(",
            "pwd={",
            "$6$",
            "$6$rounds=5000$saltsalt$abcdefghijklmnopqrstuvwx",
            "pbkdf2_sha256$",
            "SCRAM-SHA-256$4096:",
            "密码：",
            "\\u5bc6\\u7801\\uff1a",
            "password for bob is ",
            "` as the password",
            "“",
        ),
        *(
            "SELECT user, password FROM u",
            "CREATE TABLE u (user text, password text);",
            "INSERT INTO u VALUES ('bob', 'letmein')",
            '"columns": ["user", "password"]',
            '["bob", "letmein"]',
            "bob|letmein",
            "bob\tletmein",
            "$ ",
            "hashcat ",
            "0d107d09f5bbe40cade3de5c71e9e9b7:letmein",
            "1 password hash cracked, 0 left",
            "[22][ssh] host: h   login: bob   password: ",
            "kind: Secret\ndata:\n  a: YWJjZA==\n",
            '"kind": "Secret", "data": {"a": "YWJjZA=="}',
            "kubectl get secret -o jsonpath={.data}",
            '"lease_duration": 0, "data": {"a": "b1c2d3"}',
            "== Data ==\nKey  Value\n---  ---\na  b1c2d3\n",
            "recovery codes\n1a2b-3c4d\n",
            "$ANSIBLE_VAULT;1.1;AES256\n61626364\n",
            '"sensitive": true, ',
            '"refresh": "',
            "callback?code=aB3dE6gH9jKl0mNoPq4R",
            "user=bob\npassword=letmein\n",
            "\0",
            "\\u0000",
            "Some(",
            "#!&@$",
        ),
        *(key for _, key in VENDOR_KEYS),
    ]
)


@pytest.mark.cpu_seconds(20)
def test_runs_of_backslashes_are_read_once():
    redact(("password: 'x" + "\\" * 9000 + "\n") * 100)


def test_json_that_ends_in_a_prompt_stays_json():
    text = json.dumps({"arguments": json.dumps({"prompt": "Enter password:"}, indent=1)})
    assert redact(text).text == text


@pytest.mark.cpu_seconds(15)
@pytest.mark.parametrize("name", ["password", "token", "cookie", "curl", "login", "htpasswd -b"])
@pytest.mark.parametrize("unit", [" ", "\n", "\\n", "\t", "a", "'", '"', "|", "<", ">", ", ", "x "])
def test_what_follows_a_name_is_read_in_linear_time(name, unit):
    redact(name + unit * (LONG // len(unit)))
    redact(f"{name}{unit * 50}" * (LONG // 100))


@settings(max_examples=400)
@given(st.lists(FRAGMENTS | st.text(max_size=6), max_size=14).map("".join))
@example("password" * 4 + 2 * "-----END PRIVATE KEY-----password| user | password |\n")
def test_redacting_again_changes_nothing(text):
    once = redact(text)
    assert redact(once.text) == type(once)(once.text)


@settings(max_examples=300)
@given(st.lists(st.lists(FRAGMENTS | st.text(max_size=6), max_size=6).map("".join), max_size=4))
def test_redacting_a_row_again_changes_nothing(texts):
    redacted, _ = redact_turns([[text] for text in texts])
    once = [redacted[index].text if index in redacted else text for index, text in enumerate(texts)]
    assert not redact_turns([[text] for text in once])[0]


@settings(max_examples=300)
@given(st.lists(FRAGMENTS | st.text(max_size=6), max_size=6).map("".join), st.lists(FRAGMENTS, max_size=8))
def test_json_that_answers_stays_json(asked, printed):
    answer = json.dumps({"output": "".join(printed), "rows": printed})
    redacted, _ = redact_turns([[asked], [answer]])
    assert _shape(json.loads(redacted[1].text if 1 in redacted else answer)) == _shape(json.loads(answer))


@settings(max_examples=200)
@given(st.text(st.characters(), max_size=300))
def test_no_text_raises(text):
    redacted = redact(text)
    assert (redacted.count == 0) == (redacted.text == text)


@settings(max_examples=200)
@given(
    st.sampled_from(VENDOR_KEYS),
    st.text(string.printable, max_size=60),
    st.text(string.printable, max_size=60),
    st.sampled_from([" ", "\n", '"', "'", "(", "=", ":", ",", "\t", "/", "[", "]"]),
)
def test_a_planted_key_never_survives(planted, before, after, edge):
    _, key = planted
    assert key not in redact(before + edge + key + edge + after).text


@settings(max_examples=200)
@given(
    st.sampled_from(["PASSWORD={}", '"password": "{}"', "password: {}", "API_KEY={}", '\\"token\\": \\"{}\\"']),
    st.text(string.ascii_letters + string.digits, min_size=10, max_size=40),
    st.text("日本語 abc\n.", max_size=20),
)
def test_a_planted_value_never_survives(form, letters, around):
    secret = f"{letters[:5]}7Q2{letters[5:]}9z8"
    text = f"{around}\n{form.replace('{}', secret)}\n{around}"
    assert secret not in redact(text).text


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | FRAGMENTS | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["password", "token", "content", "api_key", "Cookie", "a"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(JSON_VALUES, st.integers(0, 2))
def test_json_in_a_string_stays_json(value, depth):
    text = json.dumps(value)
    for _ in range(depth):
        text = json.dumps({"arguments": text})
    inner = json.loads(redact(text).text)
    for _ in range(depth):
        inner = json.loads(inner["arguments"])
    assert _shape(inner) == _shape(value)


@settings(max_examples=200)
@given(JSON_VALUES)
def test_redacting_a_value_keeps_its_shape_and_is_idempotent(value):
    once = redact_value(value)
    assert _shape(once.value) == _shape(value)
    assert redact_value(once.value).value == once.value


def _shape(value):
    """A value without its leaves."""
    if isinstance(value, dict):
        return {key: _shape(item) for key, item in value.items()}
    return [_shape(item) for item in value] if isinstance(value, list) else None
