from __future__ import annotations

import json
import re

import pytest

from trajcompress.redact import redact, redact_value

OPAQUE = "aB3dE6gH9jKl0mNoPq4RsT7u"
LONG = "aB3dE6gH9jKl0mNoPq4RsT7uVwX2yZ5cD8fG1hI3"
BODY = "MIIEowIBAAKCAQEAr7Zl0Xk3vQ9a1bYdJ2hS5tGx8nLwPzC4eKoUiT6yRmFqVjDs\n" * 3
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}MIIEow==\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

# By kind: keys that are known by their own shape, wherever they stand.
VENDOR_KEYS = [
    ("openai_key", f"sk-{LONG}"),
    ("openai_key", f"sk-proj-{OPAQUE}_{OPAQUE}-{OPAQUE}"),
    ("anthropic_key", f"sk-ant-api03-{LONG}-AA"),
    ("aws_key", "AKIA2E0A8F3B244C9986"),
    ("aws_key", "ASIA2E0A8F3B244C9986"),
    ("github_token", f"ghp_{LONG[:36]}"),
    ("github_token", f"github_pat_11ABCDEFG0_{LONG}"),
    ("gitlab_token", "glpat-aB3dE6gH9jKl0mNo-q4R"),
    ("slack_token", f"xoxb-123456789012-1234567890123-{OPAQUE}"),
    ("stripe_key", f"sk_live_{OPAQUE}"),
    ("stripe_key", f"rk_test_{OPAQUE}"),
    ("google_key", "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"),
    ("huggingface_token", f"hf_{LONG[:34]}"),
    ("npm_token", f"npm_{LONG[:36]}"),
    ("pypi_token", f"pypi-AgEIcHlwaS5vcmcCJD{LONG}"),
    ("sendgrid_key", f"SG.{OPAQUE[:22]}.{LONG}"),
    ("twilio_key", "SK0123456789abcdef0123456789abcdef"),
    ("vault_token", f"hvs.{OPAQUE}"),
    ("api_key", f"gsk_{LONG}"),
    ("jwt", JWT),
]

# A text with a secret in braces: its kind, and what stays of the text.
NAMED = [
    ("password", "PASSWORD=⟨hunter⟩"),
    ("password", "export DB_PASSWORD='⟨correct-horse⟩'"),
    ("password", "docker run -e POSTGRES_PASSWORD=⟨mysecretpassword⟩ postgres"),
    ("password", "password: ⟨hunter2⟩"),
    ("password", 'password: "⟨p@ss word⟩"'),
    ("password", "[db]\npassword = ⟨hunter2⟩\n"),
    ("password", "spring.datasource.password=⟨s3cr3t!⟩"),
    ("password", '{"password": "⟨correct horse battery staple⟩"}'),
    ("password", "'passwd' => '⟨letmein⟩',"),
    ("password", '$password = "⟨s3same⟩";'),
    ("password", 'password: str = "⟨hunter2⟩"'),
    ("password", "mysql -u root --password ⟨hunter2⟩ db"),
    ("password", "Server=db;User Id=sa;Password=⟨p4ssw0rd⟩;"),
    ("password", "パスワード password：no, password: ⟨пароль1⟩"),
    ("token", f'{{"token": "⟨{OPAQUE}⟩"}}'),
    ("token", r'"{\"token\": \"⟨abc123def456⟩\"}"'),
    ("token", r'printf "TOKEN=⟨abc12345⟩\n"'),
    ("token", r'"a\nTOKEN=⟨abcdefgh⟩\nb"'),
    ("token", "//registry.example.org/:_authToken=⟨abc123-def456⟩"),
    ("token", "https://example.org/?token=⟨abc123xyz⟩&page=1"),
    ("token", '{"csrf-token": "⟨NGR8WXpbKQMQQRg_BQEaISlFBiB3aRQ⟩"}'),
    ("secret", f'{{"clientSecret": "⟨{OPAQUE}⟩"}}'),
    ("api_key", f"SOME_API_KEY=⟨{OPAQUE}⟩"),
    ("api_key", "ENCRYPTION_KEY: ⟨a1b2c3d4e5f6a7b8c9d0e1f2⟩"),
    ("api_key", "X-Api-Key: ⟨9f8e7d6c5b4a⟩"),
    ("api_key", 'headers["X-Api-Key"] = "⟨9f8e7d6c5b4a⟩"'),
    ("api_key", "https://example.org/?a=1&api_key=⟨k3yk3yk3y⟩"),
    ("aws_key", "aws_secret_access_key = ⟨wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY⟩"),
    ("azure_key", "AccountName=a;AccountKey=⟨Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsu==⟩;EndpointSuffix=b"),
    ("azure_key", f"Endpoint=sb://a.b.net/;SharedAccessKeyName=c;SharedAccessKey=⟨{LONG}=⟩"),
    ("authorization", "Authorization: Bearer ⟨abc123⟩"),
    ("authorization", "curl -H 'Authorization: Basic ⟨dXNlcjpwYXNz⟩' https://example.org"),
    ("authorization", f'fetch(url, "Bearer ⟨{OPAQUE}⟩")'),
    ("cookie", "Cookie: ⟨session=abc123def; theme=dark⟩"),
    ("cookie", "Set-Cookie: ⟨sid=s%3Aabc123DEF; Path=/; HttpOnly⟩"),
    ("cookie", '{"set-cookie": ["⟨sid=abc123def; Path=/⟩"]}'),
    ("signature", f"https://a.example.org/b?X-Amz-Signature=⟨{'fe5f80f7' * 8}⟩&x=1"),
    ("url_password", "postgres://user:⟨s3cr3tpw⟩@db.example.org:5432/app"),
    ("url_password", "redis://:⟨p@ss⟩@localhost:6379"),
    ("url_password", f"https://⟨{OPAQUE}⟩@example.org/repo.git"),
    ("telegram_token", "https://api.example.org/bot123456789:⟨AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8⟩/getMe"),
    ("webhook", f"https://hooks.slack.com/services/⟨T0ABCDEF1/B0ABCDEF2/{OPAQUE}⟩"),
    ("private_key", f"cat key\n⟨{PEM}⟩\ndone"),
    ("private_key", f'{{"private_key": "⟨{json.dumps(PEM)[1:-1]}⟩"}}'),
    ("private_key", f"⟨-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}MIIEow8⟩"),
    ("private_key", f"⟨-----BEGIN PRIVATE KEY-----\n{BODY[:-1]}⟩\n\nThe rest was cut off."),
]


# The same, where neither = nor : stands between the name and the secret.
FORMED = [
    ("password", "--password ⟨hunter2⟩"),
    ("password", "tool \\\n  --db-password '⟨letmein⟩' --verbose"),
    ("password", 'New-User -Password "⟨letmein⟩"'),
    ("password", '["tool", "--password", "⟨letmein⟩", "--verbose"]'),
    ("password", r'{"cmd": "[\"--password\", \"⟨letmein⟩\"]"}'),
    ("token", f"gh --api-token ⟨{OPAQUE}⟩"),
    ("aws_key", f"aws configure set aws_secret_access_key ⟨{LONG}⟩"),
    ("token", f"npm config set //registry.example.org/:_authToken ⟨{OPAQUE}⟩"),
    ("password", "<password>⟨hunter2⟩</password>"),
    ("password", '<ns:Password Type="text">⟨letmein⟩<\\/ns:Password>'),
    ("password", "<property><name>db.password</name>\n  <value>⟨hunter2⟩</value></property>"),
    ("password", '<add key="Password" value="⟨hunter2⟩"/>'),
    ("password", '<input type="password" id="pw" value="⟨hunter2⟩">'),
    ("password", '{"name": "DB_PASSWORD", "value": "⟨letmein⟩"}'),
    ("password", '{"element": "Password field", "ref": "e12", "text": "⟨hunter2⟩"}'),
    ("password", "- name: DB_PASSWORD\n  value: ⟨hunter2⟩\n"),
    ("password", "page.fill('#password', '⟨letmein⟩')"),
    ("password", 'setenv("DB_PASSWORD", "⟨letmein⟩")'),
    ("password", 'put("password", "⟨hunter2⟩")'),
    ("password", '{"label": "the password is ⟨hunter2x⟩", "value": "none"}'),
    ("token", 'setenv("API_TOKEN","⟨abc123def456⟩")'),
    ("api_key", 'req.header("x-api-key", "⟨9f8e7d6c5b4a⟩")'),
    ("authorization", "headers = [('Authorization', 'Basic ⟨dXNlcjpwYXNz⟩')]"),
    ("password", "machine example.org login me password ⟨letmein⟩"),
    ("password", "machine example.org\n  login me\n  password ⟨letmein⟩\n"),
    ("password", "CREATE USER me WITH PASSWORD '⟨letmein⟩';"),
    ("password", "create user me identified by '⟨letmein⟩' require ssl account lock"),
    ("password", "ALTER USER me IDENTIFIED WITH mysql_native_password BY '⟨letmein⟩'"),
    ("password", "page.fill('input[name=\"password\"]', '⟨letmein⟩')"),
    ("password", "page.getByLabel('Password').fill('⟨letmein⟩')"),
    ("password", 'find_element(By.ID, "password").send_keys("⟨letmein⟩")'),
    ("password", "define( 'DB_PASSWORD', '⟨letmein⟩' );"),
    ("password", 'let password: &str = "⟨letmein⟩";'),
    ("password", "**Password:** ⟨hunter2⟩"),
    ("password", "- **Password**: `⟨hunter2⟩`"),
    ("password", "password is: ⟨hunter2⟩"),
    ("password", "<tr><td>Password</td><td>⟨hunter2⟩</td></tr>"),
    ("password", "SSHPASS=⟨letmein⟩ sshpass -e ssh me@example.org"),
    ("password", "  MYSQL_ROOT_PASSWORD: ⟨letmein⟩\n"),
    ("password", "ENV DB_PASSWORD ⟨letmein⟩"),
    ("password", "The password is ⟨hunter2⟩."),
    ("password", "the password was now `⟨hunter2⟩`"),
    ("password", "| user | me |\n| password | ⟨hunter2⟩ |"),
    ("password", "Passwort: ⟨hunter2⟩"),
    ("password", "contraseña = '⟨secreto1⟩'"),
    ("password", "MOT DE PASSE : ⟨hunter2⟩"),
    ("password", "curl -u me:⟨hunter2⟩ https://example.org"),
    ("password", "curl -sS --user 'me:⟨hunter.two⟩' https://example.org"),
    ("password", '["curl", "-u", "me:⟨hunter2⟩"]'),
    ("password", "curl \\\n  -X POST \\\n  -ume:⟨hunter2⟩ https://example.org"),
    ("password", "curl -u 'me:⟨correct horse battery9⟩' https://example.org"),
    ("password", "curl -u 'me:⟨hunter\"rest9⟩' https://example.org"),
    ("password", f"curl {'-H Accept:application/json ' * 14} -u me:⟨hunter2isMySecretPassword1⟩"),
    ("password", "mysqldump -h db -uroot -p⟨letmein⟩ shop"),
    ("password", "/usr/bin/mysql -p'⟨l3t me pass⟩' shop"),
    ("password", "sshpass -p '⟨letmein⟩' ssh me@example.org"),
    ("password", "sshpass -p⟨letmein⟩ ssh me@example.org"),
    ("password", "docker login -u me -p ⟨letmein⟩ registry.example.org"),
    ("password", "mongosh db -u me -p ⟨letmein⟩"),
    ("password", "redis-cli -h db -a ⟨letmein⟩ ping"),
    ("password", "unzip -P ⟨letmein⟩ a.zip"),
    ("password", "unzip -P⟨letmein⟩ a.zip"),
    ("password", "curl -su me:⟨hunter2⟩ https://example.org"),
    ("password", "x=$(curl -u me:⟨hunter2⟩)"),
    ("password", r'{"x": "curl -u me:⟨hunter\u00e92x⟩ http"}'),
    ("password", '["docker", "login", "-u", "me", "-p", "⟨letmein⟩"]'),
    ("password", r"smbclient -U 'AREA\me%⟨letmein⟩' //example/share"),
    ("password", "smbclient -U 'me%⟨letmein⟩' //example/share"),
    ("password", "htpasswd -nb me ⟨letmein⟩"),
    ("password", "htpasswd -b .htpasswd me ⟨letmein⟩"),
    ("password", "openssl enc -aes256 -pass pass:⟨letmein⟩ -in a"),
    ("password", "echo '⟨letmein⟩' | sudo -S apt update"),
    ("password", "echo ⟨letmein⟩ | docker login -u me --password-stdin"),
    ("password", "echo 'root:⟨letmein⟩' | sudo chpasswd"),
]


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
