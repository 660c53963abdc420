"""What stores of secrets print is secret by its place, whatever its name."""

from __future__ import annotations

import base64
import json
import re

import pytest

from trajcompress.redact import redact, redact_turns, redact_value

VAULTED = "$ANSIBLE_VAULT;1.1;AES256\n" + "6364326433623462656262656665306333616466\n" * 3 + "6362"


def b64(text):
    return base64.b64encode(text.encode()).decode()


URL, SMTP, USER = b64("postgres://app:Tr0ub4dor@db/app"), b64("letmein"), b64("admin")
MANIFEST = f"apiVersion: v1\ndata:\n  smtp: ⟨{SMTP}⟩\n  url: ⟨{URL}⟩\n  user: {USER}\nkind: Secret\ntype: Opaque\n"
NESTED = json.dumps({"kind": "Secret", "metadata": {"name": "db1"}, "data": {"smtp": f"⟨{SMTP}⟩", "username": USER}})
LEASE = '{"lease_duration": 0, "data": {"smtp": "⟨Hx93kdPqLm⟩"}}\n'
OUTPUT = {
    "conn": {"sensitive": True, "type": "string", "value": "⟨Hx93kdPqLm⟩"},
    "vpc": {"value": "a1b2c3"},
}
STATE = {"outputs": {"conn": {"value": "⟨Hx93kdPqLm⟩", "type": "string", "sensitive": True}}}
# With the secrets in braces.
STORED = [
    MANIFEST,
    "items:\n- " + MANIFEST.replace("\n", "\n  ") + "\n- data:\n    mode: YWJj\n  kind: ConfigMap\n",
    "".join(f"     {number}\t{line}\n" for number, line in enumerate(MANIFEST.splitlines(), 1)),
    "kind: Secret\nstringData:\n  smtp: ⟨mailPass77⟩\n  log: debug\n  host: db1\n",
    3 * f"kind: Secret\nmetadata:\n  name: db\ndata:\n  url: ⟨{URL}⟩\n  user: {USER}\n",
    f"kind: Secret\ndata:\n  user: {USER}\nkind: Secret\ndata:\n  url: ⟨{URL}⟩\n",
    f"kind: ConfigMap\ndata:\n  mode: prod\nkind: Secret\ndata:\n  url: ⟨{URL}⟩\n",
    f"- apiVersion: v1\n  kind: ConfigMap\n  data: {{}}\n- apiVersion: v1\n  kind: Secret\n  data:\n    c: ⟨{URL}⟩\n",
    2 * MANIFEST,
    NESTED,
    json.dumps(json.loads(NESTED), indent=4, sort_keys=True),
    f'{{"data": {{".dockerconfigjson": "⟨{b64(NESTED)}⟩"}}, "kind": "Secret"}}',
    "====== Data ======\nKey         Value\n---         -----\nsmtp        ⟨Hx93kdPq⟩\nhost        db1.example.org\n",
    '{"lease_duration": 0, "data": {"data": {"smtp": "⟨Hx93kdPqLm⟩", "host": "db1"}, "metadata": {"id": "a1b2"}}}',
    '{\n  "lease_duration": 0,\n  "data": {\n    "smtp": "⟨Hx93kdPqLm⟩"\n  },\n  "warnings": null\n}',
    f"kind: Secret\ndata:\n  url: ⟨{URL}⟩\n{LEASE}",
    f'{{"lease_duration": 0, "data": {{"user": "bob"}}}}\nkind: Secret\ndata:\n  url: ⟨{URL}⟩\n',
    f"{2 * LEASE}kind: Secret\ndata:\n  url: ⟨{URL}⟩\n{LEASE}",
    "Your recovery codes (keep them):\n\n  1. ⟨1a2b3-c4d5e⟩\n  2. ⟨f6g7h-8i9j0⟩\n\nNotes2Self and more.",
    "Unseal Key 1: ⟨4jYbl2CBIv6SpkKj6Hos9iD32k5RfGkLzlosrrq/JgOm⟩\n",
    f"smtp: !vault |\n  ⟨{VAULTED}⟩\nport: 5432\n",
    json.dumps(OUTPUT, ensure_ascii=False, indent=2),
    json.dumps(STATE, ensure_ascii=False, indent=2),
    '{"Name": "/app/x", "Type": "SecureString", "Value": "⟨Hx93kdPqLm⟩", "Version": 1}',
]


@pytest.mark.parametrize("marked", STORED)
def test_what_a_store_holds_becomes_a_mark(marked):
    marked = marked.replace("\\u27e8", "⟨").replace("\\u27e9", "⟩")  # as JSON has them
    printed, clean = re.sub("[⟨⟩]", "", marked), re.sub("⟨[^⟩]*⟩", "[REDACTED]", marked)
    for text in (printed, json.dumps({"output": printed})):
        found = re.sub(r"\[REDACTED:\w+\]", "[REDACTED]", redact(text).text)
        assert (json.loads(found)["output"] if text is not printed else found) == clean
        assert redact(redact(text).text).count == 0


@pytest.mark.parametrize(
    "text",
    [
        "kind: Secret\ndata:\n  url: {{ .Values.url1 | b64enc }}\n  ca.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0E=\n",
        "kind: Secret\ndata: {}\n---\nkind: ConfigMap\ndata:\n  mode: prod\n  region: us-east-1\n  size: a1b2c3d4\n",
        "Recovery codes let you in when you lose your phone.\nStep1setup\n",
        "Recovery codes\nare printed once; see Chapter12.\n2024-05-01 backup codes\nwere made\n",
        '{"lease_duration": 2764800, "data": {"ttl": "768h", "username": "bob7"}, "auth": null}',
        "Name:         db\nType:  Opaque\n\nData\n====\npassword:  8 bytes\nusername:  5 bytes\n",
        '{"sensitive": true, "type": "string", "value": null}, {"sensitive": false, "value": "vpc-0a1b2c3d4e5f"}',
        "====== Data ======\nKey         Value\n---         -----\nhost        db1.example.org\nport        5432\n",
    ],
)
def test_what_stands_beside_stays(text):
    assert redact(text).text == text


@pytest.mark.parametrize(
    ("asked", "answer", "clean"),
    [
        ("jsonpath='{.data}'", f'{{"smtp":"{SMTP}","username":"{USER}"}}', f'{{"smtp":"X","username":"{USER}"}}'),
        ("go-template='{{range $k,$v := .data}}…'", "smtp: mailPass77\nuser: bob7\n", "smtp: X\nuser: bob7\n"),
        ("jsonpath='{.metadata.creationTimestamp}'", "2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"),
    ],
)
def test_what_a_secret_is_asked_for_alone(asked, answer, clean):
    for text in (answer, json.dumps({"output": answer})):
        redacted, _ = redact_turns([[f"kubectl get secret db -o {asked}"], [text]])
        found = redacted[1].text if 1 in redacted else text
        found = re.sub(r"\[REDACTED:\w+\]", "X", found)
        assert (json.loads(found)["output"] if text is not answer else found) == clean


TOKEN = "tGzv3JOkF0XG5Qx2TlKWIA98"


@pytest.mark.parametrize(
    "marked",
    [
        f'{{"access": "⟨{TOKEN}⟩", "refresh": "⟨rt-{TOKEN}⟩", "type": "Bearer", "expires": 3600}}',
        '{"device_code":"⟨3584d83530557fdd1f46af8289938c8ef79f9dc5⟩","user_code":"WDJB-MJHT","expires_in":900}',
        f"Location: https://app.example.org/callback?code=⟨{TOKEN}⟩&state=xyz",
        f"grant_type=authorization_code&code=⟨{TOKEN}⟩&code_verifier=⟨dBjftJeZ4CVP-mB92K27uhbUJU1p1r⟩",
        f'{{"grant_type": "authorization_code", "code": "⟨4/{TOKEN}⟩", "client_id": "abc"}}',
        "//registry.example.org/:_password=⟨aHVudGVyMng=⟩",
    ],
)
def test_oauth_answers_hold_tokens(marked):
    clean = re.sub("⟨.*?⟩", "[REDACTED]", marked)
    assert re.sub(r"\[REDACTED:\w+\]", "[REDACTED]", redact(re.sub("[⟨⟩]", "", marked)).text) == clean


@pytest.mark.parametrize(
    "text",
    [
        '{"access": "public", "refresh": 30, "access": "read_write_all_things", "refresh": "auto-refresh-interval"}',
        '{"access": "https://example.org/a1b2c3d4e5f6/g7h8", "refresh": "2024-05-01T10:00:00.000Z"}',
        '{"access": "private, max-age=31536000", "access": "arn:aws:s3:us-east-1:123456789012:accesspoint/my-ap1"}',
        "Access: (0755/-rwxr-xr-x)  Uid: (    0/    root)\nAccess: 2024-05-01 10:00:00.000000000 +0000",
        "https://docs.example.org/search?code=python-tutorial-for-beginners-2024&page=1",
        '{"grant_type":"authorization_code","code":"AUTHORIZATION_CODE"} /callback?code=YOUR_CODE_HERE&state=xyz',
        "pass: YWJj\nimage: iVBORw0KGgoAAAANSUhEUg==",
    ],
)
def test_other_access_and_codes_stay(text):
    assert redact(text).text == text
    assert redact_value({"text": text}).count == 0


def test_access_in_words_asks_for_nothing():
    assert not redact_turns([["Who has access to the data?"], ["GIS_DataAnalysis_Expert1"]])[0]


@pytest.mark.cpu_seconds(15)  # quadratic time would take minutes
@pytest.mark.parametrize(
    "unit",
    [
        *(
            "kind: secret",
            "\nkind: Secret\ndata:\n  a: YWJjZA==\n",
            '"kind": "Secret", "data": {',
            '"data": {"a": "YWJj",',
        ),
        *("kind: secret" + "data: {" * 2_000, "== data ==\nKey  Value\n---  ---\n", "$ANSIBLE_VAULT;1.1;AES256\n"),
        *('"lease_duration": 0, "data": {', "recovery codes\n", "backup codes\n" + "1a2b-3c4d\n" * 900),
        *("$ANSIBLE_VAULT;1.1;AES256\n" + "3a\n" * 900 + "_", '"sensitive": true, "type": ["', "callback?code="),
        *("&code=aB1&state", 'authorization_code","code":"', 'access"', '"refresh\\":"'),
    ],
)
def test_hostile_stores_take_linear_time(unit):
    redact(unit * (200_000 // len(unit)))
