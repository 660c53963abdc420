"""Secrets as programs and protocols print them, each in a way of its own."""

from __future__ import annotations

import json
import re

import pytest

from trajcompress.redact import redact, redact_turns

KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq"
PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow"
# With the secrets in braces.
PRINTED = [
    '{"Default":"Server=db;Database=app;User Id=sa;Password=⟨letmein⟩;TrustServerCertificate=True"}',
    "[client]\nuser=root\npassword=⟨letmein⟩\n",
    "[remote]\ntype = sftp\npass = ⟨8hAcd2hF2rZTB5nTdGhuLfMMC9d7cn6RyUP2gTTL4j1⟩\n",
    '1) "requirepass"\n2) "⟨letmein⟩"',
    '{"username": {"S": "bob"}, "password": {"S": "⟨letmein⟩"}}',
    'array(2) {\n  ["user"]=>\n  string(3) "app"\n  ["password"]=>\n  string(7) "⟨letmein⟩"\n}',
    '--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n⟨letmein⟩\r\n--x',
    "USER bob\n331 Please specify the password.\nPASS ⟨letmein⟩\n230 Login successful.",
    "AUTH PLAIN ⟨AGJvYgBsZXRtZWlu⟩\r\n235 ok",
    "userPassword:: ⟨bGV0bWVpbjk=⟩\n",
    "snmp-server community ⟨s3cr3tRO⟩ ro\n",
    f'{{"keyName": "key1", "permissions": "FULL", "value": "⟨{KEY}==⟩"}}',
    "Password for the [elastic] user successfully reset.\nNew value: ⟨aB3dE6gH9jKl0mNoPq4R⟩\n",
    f"Address: 0xAbCd\nPrivate key: ⟨0x{'ac0974be' * 8}⟩",
    f"Mnemonic: ⟨{PHRASE}⟩\n",
    "creds are admin / ⟨S0mmer2024!⟩",
    "net user bob ⟨Passw0rdX⟩ /add",
    r"net use Z: \\nas01\data ⟨Passw0rdX⟩ /user:AREA\bob",
    "PATH=/usr/bin\0DB_PASSWORD=⟨letmein⟩\0HOME=/root\0",
    "web1 ansible_host=10.0.0.1 ansible_password=⟨letmein⟩ ansible_user=root\n",
    'Config { api_key: Some("⟨aB3dE6gH9jKl0mNo⟩") }',
    "define('AUTH_KEY',  '⟨x7#kQ!pZw2&Lm9(dG)4;r$⟩');\ndefine('NONCE_SALT', '⟨b@Q9pZw2&Lm9(dG)4;r$u!⟩');\n",
    "SECRET_KEY = '⟨django-insecure-x7#kq!pzw2&lm9(dg)4;r$aabbcc⟩'\n",
]


@pytest.mark.parametrize("marked", PRINTED)
def test_what_they_print_becomes_a_mark(marked):
    printed, clean = re.sub("[⟨⟩]", "", marked), re.sub("⟨.*?⟩", "[REDACTED]", marked)
    for text in (printed, json.dumps({"output": printed})):
        found = re.sub(r"\[REDACTED:\w+\]", "[REDACTED]", redact(text).text)
        assert (json.loads(found)["output"] if text is not printed else found) == clean
        assert redact(redact(text).text).count == 0


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("wg genkey", "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="),
        ("pwgen -s 20 1", "aB3dE6gH9jKl0mNoPq4R"),
        (
            "python -c 'import secrets; print(secrets.token_urlsafe(32))'",
            "yAnz5TF-lXXJte14tji3zlMNq_hd2rYUIgJBgB3fBmk",
        ),
        ("gpp-decrypt edBSHOwhZLTjt", "GPPstillStandingStrong2k18"),
        ("argocd admin initial-password -n argocd", "aB3dE6gH9jKl0mNo\n\n Use it for the first login only."),
        ("aws secretsmanager get-secret-value --secret-id x", '{\n  "SecretString": "Hx93kdPqLm"\n}'),
    ],
)
def test_what_a_command_makes_or_fetches_is_secret(asked, answer):
    secret = re.search(r"\w[\w+=-]{9,}", answer.replace("SecretString", "s"))[0]
    for text in (
        answer,
        f"<output>\n{answer}\n</output>",
        json.dumps({"output": answer}),
    ):
        redacted, _ = redact_turns([[asked], [text]])
        assert secret not in redacted[1].text


@pytest.mark.parametrize(
    "text",
    [
        'string s = "Server=db;User Id=" + user + ";Password=" + password + ";Encrypt=true";',
        'var a = "Server=db;User Id=sa;Password=<your_password>;"; var b = "Server=db;User Id=sa;Password=$(PW);";',
        "user = args.user\npassword = getpass.getpass()\nuser=form.user\npassword=form.password1\n",
        "user=app\npassword=/run/secrets/db\nuser=app\npassword=${DB_PASSWORD}\n",
        "USER node\nPASS src/auth/password.test.ts\nPASS tests/a1.py\nUSER root\nPASS test1.js\n",
        '{"pk": {"S": "user#12345"}, "sort_key": {"S": "order#a1b2c3"}}',
        '["token_type"]=>\n  string(6) "bearer"\n["password"]=>\n  string(8) "required"',
        'name="file"; filename="a.txt"\r\n\r\nhello\r\n',
        "250-AUTH PLAIN LOGIN\n250 AUTH PLAIN XOAUTH2\nauth plain authentication",
        "A mnemonic is a phrase of twelve words that is easy to remember and write down on paper",
        "private key: ~/.ssh/id_rsa\nprivate key: (hidden)\nPrivate key (PEM) is required",
        "credentials are stored in / read from the keychain",
        "net user administrator /active:yes\nThe net user interface element 5 /add\nsnmp-server community public ro",
        r"net use Z: \\nas01\data * /user:AREA\bob",
        "Password for the [elastic] user: not set\nNew value: applied\n",
        "PASSWORD_SYMBOLS = '!@#$%^&*'\nTOKEN_RE = r'^[A-Z]+$'\npassword_salt = get_salt()\nuse_salt=True",
        '"token": "^(?=.*[a-z])(?=.*[!@#$%^&*]).{8,}$"',
        'assert_eq!(cfg.token, Some("abc".to_string())); let key = Some("name");',
    ],
)
def test_what_looks_like_it_stays(text):
    assert redact(text).text == text


@pytest.mark.cpu_seconds(15)  # quadratic time would take minutes
@pytest.mark.parametrize(
    "unit",
    [
        *("user id=a;b=c;b=c;b=c;password=", "\npassword=", "user=a\nb=c\nb=c\npassword=", 'requirepass"\n'),
        *('"token": {"S": "a', '["token"]=> string(1) "', 'name="password"\r\n\r\na', "331 a\nPASS ", "auth plain "),
        *('"keyName": "a", "permissions": "F",', "private key: 0x", "mnemonic: aaa bbb ", "creds are a / "),
        *("net user a b ", r"net use z: \\aaa ", 'token: Some("', "_salt=", 'token="#!&@', "\\u0000token="),
    ],
)
def test_hostile_dumps_take_linear_time(unit):
    redact(unit * (200_000 // len(unit)))
