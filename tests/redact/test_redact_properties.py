"""What holds for any text that is redacted, given at random."""

from __future__ import annotations

import json
import string

from hypothesis import example, given, settings
from hypothesis import strategies as st
from secret_forms import BODY, VENDOR_KEYS

from trajcompress.redact import redact, redact_turns, redact_value

VAULT = '"lease_duration": 0, "data": {"a": "b1c2d3"}'
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
            VAULT,
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


def test_json_that_ends_in_a_prompt_stays_json():
    text = json.dumps({"arguments": json.dumps({"prompt": "Enter password:"}, indent=1)})
    assert redact(text).text == text


@settings(max_examples=400)
@given(st.lists(FRAGMENTS | st.text(max_size=6), max_size=14).map("".join))
@example("user=bob\npassword=letmein\npassworduser=bob\npassword=letmein\n")
@example(2 * VAULT + "kind: Secret\ndata:\n  a: YWJjZA==\n" + VAULT)
@example("password" * 4 + 2 * "-----END PRIVATE KEY-----password| user | password |\n")
def test_redacting_again_changes_nothing(text):
    once = redact(text)
    assert redact(once.text) == type(once)(once.text)


def test_what_a_secret_is_joined_to_is_judged_without_it_at_once():
    code, token = (
        "aB3dE6gH9jKl0mNoPq4R",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9",
    )
    text = redact(f"callback?code={code}{token}").text
    assert code not in text
    assert redact(text).text == text


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


def test_lines_of_a_key_that_stand_elsewhere_go_without_the_ends_of_lines_before_them():
    line = "MIIEowIBAAKCAQEAr7Zl0Xk3vQ9a1bYdJ2hS5tGx8nLwPzC4eKoUiT6yRmFqVjDs\n"
    answer = json.dumps({"output": f"{3 * line}-----END PRIVATE KEY-----", "rows": [3 * line]})
    redacted, _ = redact_turns([["cat key.pem"], [answer]])
    assert json.loads(redacted[1].text)["rows"] == [3 * "[REDACTED:private_key]\n"]


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
    st.text(string.ascii_letters + string.digits, min_size=10, max_size=40).filter(
        lambda letters: "xxx" not in letters.lower()  # which masks one that somebody took out
    ),
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
@example({"password": ["auth=("], "token": '"', "content": None}, 0)  # the key where an argument would stand
@example({"password": ["auth=("], "token": '"', "content": None}, 1)
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
