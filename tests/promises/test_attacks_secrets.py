"""Secrets as terminals, pagers, shells and loggers show them."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from secret_forms import FORMED, NAMED, VENDOR_KEYS

from trajcompress.redact import redact, redact_all

# What may stand before, after and amid a secret, and is not seen.
UNSEEN = {
    "colour": ("\x1b[32m", "\x1b[0m"),
    "bold": ("\x1b[1m", "\x1b[22m"),
    "jq -C": ("\x1b[0;32m", "\x1b[0m"),
    "jq's keys": ("\x1b[34;1m", "\x1b[0m"),
    "grep --color": ("\x1b[01;31m\x1b[K", "\x1b[m\x1b[K"),
    "256 colours": ("\x1b[38;5;196m", "\x1b[39m"),
    "24 bits": ("\x1b[38;2;1;22;254m", "\x1b[0m"),
    "colons": ("\x1b[38:2::1:2:3m", "\x1b[m"),
    "cursor": ("\x1b[2K\x1b[1G", "\x1b[0K"),
    "one byte": ("\x9b31m", "\x9b0m"),
    "tput": ("\x1b(B\x1b[m", "\x1b(B"),
    "title": ("\x1b]0;me@host\x07", "\x1b]2;x\x1b\\"),
    "link": ("\x1b]8;;https://example.org/a\x1b\\", "\x1b]8;;\x1b\\"),
    "lone": ("\x1b", "\x1b"),
    "stripped": ("[32m", "[0m"),
    "stripped, bold": ("[1;31m", "[0m"),
    "as in JSON": (r"\u001b[32m", r"\u001b[0m"),
    "as in JSON, large": (r"\u001B[1;32m", r"\u001B[m"),
    "as in Python": (r"\x1b[32m", r"\x1b[0m"),
    "as in a shell": (r"\033[0;32m", r"\033[0m"),
    "as in bash": (r"\e[1;32m", r"\e[0m"),
    "zero-width space": ("\u200b", "\u200b"),
    "joiners": ("\u200c", "\u200d"),
    "directions": ("\u202a", "\u202c"),
    "isolates": ("\u200b\u2066", "\u2069"),
    "byte order mark": ("\ufeff", "\ufeff"),
    "soft hyphen": ("\u00ad", "\u00ad"),
    "word joiner": ("\u2060", "\u2060"),
    "letters of tags": ("\U000e0067", "\U000e007f"),
    "zero-width, as in JSON": (r"\u200b", r"\ufeff"),
    "variation selectors": ("\ufe01", "\U000e0100"),
    "shift out, shift in": ("\x0e", "\x0f"),
    "controls, as in JSON": (r"\u0001", r"\u007f"),
}
SEEN = re.compile(
    r"(?:\x1b\[|\x9b)[0-9:;]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\(B|\x1b"
    r"|\\+(?:u001[bB]|x1b|033|e)\[[0-9;]*m|\[[0-9;]+m|[\x0e\x0f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe01\ufeff\U000e0020-\U000e01ff]"
    r"|\\+u(?:200b|ufeff|feff|0001|007f)|\\+\r?\n"
)


def of_marked(marked):
    return re.fullmatch(r"(.*?)⟨(.*?)⟩(.*)", marked, re.DOTALL).groups()


SECRETS = [
    *((f"{kind} {key[:12]}", "it is ", key, " .") for kind, key in VENDOR_KEYS),
    *((marked[:60], *of_marked(marked)) for _, marked in (*NAMED, *FORMED)),
]


def in_json(text, depth):
    for _ in range(depth):
        text = json.dumps(text)[1:-1]
    return text


def out_of_json(text, depth):
    for _ in range(depth):
        text = json.loads(f'"{text}"')
    return text


def shown(secret):
    return SEEN.sub("", secret)


@pytest.mark.parametrize("unseen", UNSEEN)
@pytest.mark.parametrize("place", ["around", "amid", "amid its start"])
def test_nothing_unseen_hides_a_secret(unseen, place):
    on, off = UNSEEN[unseen]
    survived = []
    for name, before, secret, after in SECRETS:
        middle = 2 if place == "amid its start" else len(secret) // 2
        within = secret if place == "around" else f"{secret[:middle]}{on}{secret[middle:]}"
        text = f"{before}{on}{within}{off}{after}" if place == "around" else before + within + after
        for depth in range(4):
            clean = redact(in_json(text, depth))
            if shown(secret) in shown(out_of_json(clean.text, depth)) or not clean.count:
                survived.append((name, depth, clean.text[:200]))
    assert not survived, (len(survived), survived[:40])


PLAINLY_SEEN = {0x110BD, 0x110CD, *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, *range(0x13430, 0x13440)}
ACTED_ON = set("\t\n\r\b\x1b\x9b")
NOT_SEEN = [
    letter
    for code in (*range(0x20000), *range(0xE0000, 0xE1000))
    if code not in PLAINLY_SEEN and (letter := chr(code)) not in ACTED_ON
    if unicodedata.category(letter) in {"Cc", "Cf"}
    or re.search(
        "VARIATION SELECTOR|HANGUL.*FILLER$|GRAPHEME JOINER|INHERENT|BRAILLE PATTERN BLANK",
        unicodedata.name(letter, ""),
    )
    or code >= 0xE0000
]


@pytest.mark.parametrize("together", [False, True])
def test_no_letter_that_nobody_sees_hides_a_key(together):
    key = "ghp_aB3dE6gH9jKl0mNoaB3dE6gH9jKl0mNoQ1w2"
    texts = [f"see {key[:12]}{unseen}{key[12:]} ." for unseen in NOT_SEEN]
    texts += [json.dumps(text) for text in texts if "\f" not in text]  # that letter is a word's as much as a control
    clean = redact_all(texts) if together else {at: redact(text) for at, text in enumerate(texts)}
    assert len(NOT_SEEN) > 4200
    assert {found.count for found in clean.values()} == {1}
    assert {found.text for found in clean.values() if "ghp_" in found.text or key[12:] in found.text} == set()
    assert len(clean) == len(texts)


# The same before what is no secret.
INNOCENT = [
    "\x1b[32mPASSED\x1b[0m tests/test_token.py::test_password_reset \x1b[33m[ 50%]\x1b[0m",
    '\x1b[1;39m{\n  \x1b[34;1m"max_tokens"\x1b[0m\x1b[1;39m: \x1b[0;39m4096\x1b[0m\x1b[1;39m}',
    "\x1b[35m\x1b[Ksrc/a.py\x1b[m\x1b[K:\x1b[01;31m\x1b[Kpassword\x1b[m\x1b[K = getpass()",
    r"printf '\033[1;31mno token\033[0m\n'",
    r'{"out": "\u001b[31mERROR\u001b[0m: token expired"}',
    "\x1b]8;;https://example.org/login\x1b\\log in\x1b]8;;\x1b\\",
    "commit \x1b[33m3b18e512dba79e4c8300dd08aeb37f8e728b8dad\x1b[m",
    "👩\u200d💻 token budget 👨\u200d👩\u200d👧",
    "می\u200cخواهم password را عوض کنم",
    "make \\\n  TOKEN_FILE=/run/token \\\n  build",
    "N\x08NA\x08AM\x08ME\x08E\n       passwd - change a password",
    "⚠️ token expired ✔️ password set 1️⃣ key\ufe0fboard ❤️key",
    "\x0c\nCHAPTER 2\n\x0ctoken: \x0c\nrings\x00password\x00reset\x00",
    "it isnâ\x80\x99t a password: itâ\x80\x99s a key",
    r'{"name": "\u26a0\ufe0f token", "next": "\ufe0fkey"}',
    "taskgh_action: disk-a1b2c3d4e5f6a7b8c9d0e1f2 riskhf_model",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_unseen_makes_no_secret(text):
    assert redact(text).text == text


@pytest.mark.parametrize("label", ["log", "token", "KEY", "Auth", "x"])
def test_a_label_without_a_blank_hides_no_key(label):
    for kind, key in VENDOR_KEYS:
        if key[:3] in {"ghp", "git", "glp", "xox", "AKI", "ASI", "AIz", "npm", "pyp", "eyJ", "gsk"}:
            assert redact(f"{label}{key} .").text == f"{label}[REDACTED:{kind}] ."


@pytest.mark.parametrize("depth", range(4))
def test_what_is_struck_twice_is_read_once(depth):
    struck = {key: "".join(f"{letter}\b{letter}" for letter in key) for _, key in VENDOR_KEYS}
    cleaned = {key: redact(in_json(f"NAME {text} ", depth)) for key, text in struck.items()}
    assert [
        key for key, clean in cleaned.items() if not clean.count or struck[key] in out_of_json(clean.text, depth)
    ] == []


@pytest.mark.parametrize("depth", range(3))
@pytest.mark.parametrize(("on", "off"), [("%1B%5B32m", "%1B%5B0m"), ("%1b%5b1%3b31m", "%1b%5bm"), ("%0A", "%0D")])
def test_a_colour_code_in_a_url_hides_no_key(on, off, depth):
    survived = [
        key
        for _, key in VENDOR_KEYS
        if key in redact(in_json(f"https://a.example/log?line={on}{key}{off}", depth)).text
    ]
    assert survived == []
