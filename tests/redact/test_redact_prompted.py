"""Secrets that a script types behind a prompt, and values in three quotes that begin in the next line."""

from __future__ import annotations

import json

import pytest

from trajcompress.redact import redact

SECRETS = [
    """expect -c 'spawn su; expect "Password:"; send "⟨Xk29qPwLz77⟩\\r"'""",
    """spawn ssh me@host
expect {
  "(yes/no)?" { send "yes\\r"; exp_continue }
  "*?assword:*" { send -- "⟨Xk29qPwLz77⟩\\r" }
}
expect "# "
send "ls -l\\r"
""",
    "expect -re {[Pp]assphrase for .*:} {\n    send ⟨Xk29qPwLz77⟩\\r\n}",
    """child = pexpect.spawn('su')
child.expect('assword:', timeout=30)
child.sendline('⟨Xk29qPwLz77⟩')
child.expect('# ')
child.sendline('id')
""",
    """c = pexpect.spawn("su")\nc.expect("(?i)password for root: ")\nc.send("⟨Xk29qPwLz77⟩\\n")""",
    'password = """\n⟨Xk29qPwLz77⟩"""\n',
    '[db]\npassword = """\n⟨Xk29qPwLz77⟩\n"""\nuser="bob"',
    "DB_PASSWORD = '''\n    ⟨Xk29qPwLz77⟩\n    '''",
    'password = """\\\n   ⟨Xk29qPwLz77⟩"""\n',
    'password = """\r\n⟨Xk29qPwLz77⟩\r\n"""',
    'password = """\n⟨correct 4 horse battery staple⟩\n"""',
    'api_key = """\n⟨sk8fJ2kLq9Xz\nT7vN3wQp5Rb⟩\n"""',
]
NONE = [
    'expect "Password:"; send "$env(PW)\\r"',
    'expect "assword:"\nsend "$password\\r"',
    'expect "token:"; send "[exec cat pw]\\r"',
    'expect "Password login? (yes/no)"; send "yes\\r"',
    'expect "login:"; send "admin\\r"',
    'expect "assword:"; interact; expect "# "; send "reboot\\r"',
    'I expect the password prompt, then send "hello" to the user',
    'Ask for the password, then socket.send("QUIT\\r\\n")',
    'def reset_password():\n    """\n    Send a password reset.\n    """',
    'password = """\n"""\nuser = "bob"',
    'password: str = """\nThe password of the user, which must be long.\nIt is never logged.\n"""',
    'token = """\n{{ token }}\n"""',
    'SECRET_TEXT = """\nHello world\n"""',
    'secret = """\nbegun and not ended',
]


def written(text, depth):
    for _ in range(depth):
        text = json.dumps(text, ensure_ascii=False)[1:-1]
    return text


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("marked", SECRETS)
def test_what_is_typed_behind_a_prompt_or_stands_in_three_quotes_becomes_a_mark(marked, depth):
    before, _, rest = marked.partition("⟨")
    secret, _, after = rest.partition("⟩")
    kind = "api_key" if before.startswith("api") else "password"
    found = redact(written(before + secret + after, depth))
    assert found.text == written(f"{before}[REDACTED:{kind}]{after}", depth)
    assert redact(found.text).text == found.text


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("text", NONE)
def test_what_a_script_types_else_and_texts_in_three_quotes_stay(text, depth):
    assert redact(written(text, depth)).text == written(text, depth)
