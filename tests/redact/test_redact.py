from __future__ import annotations

import json
import re

import pytest
from secret_forms import FORMED, JWT, LONG, NAMED, OPAQUE, VENDOR_KEYS

from trajcompress.redact import redact, redact_value


@pytest.mark.parametrize(("kind", "key"), VENDOR_KEYS)
@pytest.mark.parametrize(
    "around",
    [
        ("", ""),
        ("it is ", "."),
        ('"', '"'),
        ("(", ")"),
        (r"a\n", r"\nb"),
        ("url=x%3D", "&y"),
        ("日本", "語"),
        ("-", "|"),
    ],
)
def test_a_vendor_key_becomes_a_mark_wherever_it_stands(kind, key, around):
    before, after = around
    redacted = redact(before + key + after)
    assert redacted.text == f"{before}[REDACTED:{kind}]{after}"
    assert (redacted.count, dict(redacted.kinds)) == (1, {kind: 1})


@pytest.mark.parametrize(("kind", "marked"), [*NAMED, *FORMED])
def test_a_named_secret_becomes_a_mark_and_the_rest_stays(kind, marked):
    before, secret, after = re.fullmatch(r"(.*?)⟨(.*?)⟩(.*)", marked, re.DOTALL).groups()
    redacted = redact(before + secret + after)
    assert redacted.text == f"{before}[REDACTED:{kind}]{after}"
    assert redact(redacted.text).text == redacted.text


WIDE = f"OPENAI_API_KEY=sk-proj-{LONG}{LONG}"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", r"\n"])
def test_a_key_that_a_terminal_broke_is_redacted_to_its_end(line_end):
    broken = line_end.join((WIDE[:64], WIDE[64:96], WIDE[96:], "PATH=/usr/bin"))
    assert redact(broken).text == f"OPENAI_API_KEY=[REDACTED:openai_key]{line_end}PATH=/usr/bin"
    jwt = f"Authorization: Bearer {JWT}"
    assert (
        redact(f"{jwt[:80]}{line_end}{jwt[80:]}{line_end}").text == f"Authorization: Bearer [REDACTED:jwt]{line_end}"
    )


@pytest.mark.parametrize("following", ["readme.md", "3b18e512dba79e4c8300dd08aeb37f8e728b8dad", "Bob2 is here", "X"])
def test_the_line_after_a_key_stays(following):
    assert redact(f"{WIDE}\n{following}\n").text == f"OPENAI_API_KEY=[REDACTED:openai_key]\n{following}\n"
    assert redact(f"AKIA2E0A8F3B244C9986\nFile{OPAQUE}").text == f"[REDACTED:aws_key]\nFile{OPAQUE}"


def test_several_secrets_are_counted_by_kind():
    redacted = redact(f"PASSWORD=hunter2 and AKIA2E0A8F3B244C9986, ghp_{LONG[:36]}, sk-{LONG}; PASSWORD=other3")
    assert redacted.count == 5
    assert redacted.kinds == {"password": 2, "aws_key": 1, "github_token": 1, "openai_key": 1}


def test_a_bare_json_number_becomes_a_string_so_that_json_stays_json():
    assert json.loads(redact('{"password": 123456, "n": 1}').text) == {"password": "[REDACTED:password]", "n": 1}


def test_a_key_in_pieces_of_a_literal_is_redacted_and_the_code_stays_whole():
    code = """(
        "-----BEGIN PRIVATE KEY-----\\n"
        "MIIEowIBAAKCAQEAr7Zl0Xk3\\n"
        "-----END PRIVATE KEY-----"
    )"""
    redacted = redact(code)
    assert "MIIEow" not in redacted.text
    compile(redacted.text, "code", "exec")


def test_a_json_value_is_redacted_by_its_keys_and_left_in_place():
    arguments = json.dumps({"password": "hunter2", "port": 5432, "nested": json.dumps({"api_key": OPAQUE})})
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "function": {"name": "connect", "arguments": arguments}}],
        "meta": {"token": OPAQUE, "pin": 3, "passcode": 123456, "Authorization": "Bearer abc123", "cookies": []},
    }
    before = json.dumps(message)
    redacted = redact_value(message)
    assert json.dumps(message) == before
    called = json.loads(redacted.value["tool_calls"][0]["function"]["arguments"])
    assert called["password"] == "[REDACTED:password]"
    assert json.loads(called["nested"]) == {"api_key": "[REDACTED:api_key]"}
    assert redacted.value["meta"] == {
        "token": "[REDACTED:token]",
        "pin": 3,
        "passcode": "[REDACTED:password]",
        "Authorization": "Bearer [REDACTED:authorization]",
        "cookies": [],
    }
    assert redacted.count == 5


def test_a_json_value_is_redacted_by_the_flag_before_it_or_the_name_beside_it():
    value = {
        "command": ["tool", "--password", "letmein", "--token", "--verbose", "-p", "80"],
        "env": [{"name": "DB_PASSWORD", "value": "letmein"}, {"name": "DB_HOST", "value": "db1.example.org"}],
        "argv": ["docker", "login", "-u", "me", "-p", "letmein"],
        "headers": [{"name": "Authorization", "value": "Bearer abc123"}],
        "typed": {"element": "Password field", "ref": "e12", "text": "hunter2"},
        "pressed": {"name": "password", "text": "Submit"},
    }
    assert redact_value(value).value == {
        "command": ["tool", "--password", "[REDACTED:password]", "--token", "--verbose", "-p", "80"],
        "env": [{"name": "DB_PASSWORD", "value": "[REDACTED:password]"}, value["env"][1]],
        "argv": ["docker", "login", "-u", "me", "-p", "[REDACTED:password]"],
        "headers": [{"name": "Authorization", "value": "Bearer [REDACTED:authorization]"}],
        "typed": {"element": "Password field", "ref": "e12", "text": "[REDACTED:password]"},
        "pressed": value["pressed"],
    }


def test_a_json_value_without_a_secret_is_returned_as_it_is():
    value = {"token": {"type": "string"}, "password": None, "secret": True, "items": [1, 2.5, "max_tokens=100"]}
    redacted = redact_value(value)
    assert redacted.value is value
    assert redacted.count == 0
