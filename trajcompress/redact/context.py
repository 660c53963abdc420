"""Secrets that only what was said before gives away: what a command was asked to print, a field, half of a key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.redact.keys import Proof, Secret, secret_of
from trajcompress.redact.known import is_telling
from trajcompress.redact.values import PATH

ASKS = (
    *(b"printenv", b"secrets/", b"pass show", b"base64 -d", b"base64 --decode", b"secretsmanager", b"secret-value"),
    *(
        b"sions access",
        b"generic-password",
        b"auth token",
        b"op read",
        b"-decryption",
        b"-access-token",
        b".pem",
        b".ppk",
    ),
    *(b"wg gen", b"pwgen", b"gpp-decrypt", b"secrets.token_", b"initial-password", b"security.psk", b"master.key"),
    *(b"id_rsa", b"id_ed25519", b"key.txt", b"password.txt", b"token.txt", b"secret.txt"),
)
"""What a text is searched for that may ask for a secret, besides the names of secrets."""
FIELDS = (b"tbox", b"tfield", b"<input")
"""What a text is searched for that may number a field for a secret."""

_NAME = r"[A-Za-z_][\w.-]{2,63}"
_QUOTES = r"[\"'\\]{0,4}"
_NAMED = late_re(
    rf"\bprintenv\s+{_QUOTES}({_NAME})"
    rf"|\becho\s+(?:-\w+\s+)?{_QUOTES}\$\{{?({_NAME})"
    rf"|\$env:({_NAME})|\becho\s+%({_NAME})%"
    rf"|\b(?:print|log|puts|echo)\b[^\n]{{0,40}}(?:environ(?:\.get)?[\[(]|getenv\(|process\.env[.\[])\W{{0,4}}({_NAME})"
    rf"|\bcat\s+(?:-\w+\s+)?{_QUOTES}[\w./~-]{{0,128}}?([\w.-]{{1,64}}?)(?:\.(?:txt|key|conf))?(?=[\s\"'\\;|&)`]|\Z)"
    rf"|\bpass\s+(?:show\s+)?[\w./-]{{0,128}}?({_NAME})"
    rf"|-field[= ]{_QUOTES}({_NAME})|\bconfig(?:[: ]get)\s+{_QUOTES}({_NAME})|\bop\s+read\s+\S*/({_NAME})"
)
_UNNAMED = late_re(
    r"\bget\s+secrets?\b[^\n]*base64\s+(?:-d|--decode)|\bsecretsmanager\s+get-secret|\bsecrets\s+versions\s+access"
    r"|generic-password[^\n]*-w|\bgh\s+auth\s+token|\bkeyvault\s+secret\s+show|print-(?:access|identity)-token"
    r"|\bpass\s+show\b|get-parameter\b[^\n]*with-decryption|/run/secrets/"
)
_MAKES = (
    *("wg genkey", "wg genpsk", "pwgen ", "gpp-decrypt ", "secrets.token_hex(", "secrets.token_urlsafe("),
    *("initial-password", "wireless-security.psk", "master.key"),
)
"""What makes a secret or prints one, to be found at once: a pattern of all is tried at every character."""
_ANY = Secret("secret", Proof.ANY)
_WORD = late_re(r"(?<![\w-])[A-Za-z_][\w-]{2,63}+(?!=[\w$\"'<{.-])")
_LONGEST_QUESTION = 4000
_NO_SECRET = late_re(rf"{PATH.pattern}|.*:x:\d+:.*|[\w.-]+\.\w{{1,5}}|\w+://.*|\d{{4}}-\d\d-\d\dT.*")
_KEY_FILE = late_re(
    r"\b(?:cat|tail|head|sed|less|more|bat|awk)\b[^\n]{0,80}(?:\.(?:pem|key|ppk)\b|id_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub))"
)
_GPG = late_re(r"GPG|gpg|\bgit\b")
_DIGEST = late_re(r"[0-9a-fA-F]{40}")
_COUNTED = late_re(
    r"\b(?:\w*sum|wc|sha\d+|md5|length|len|hash|git\s+(?:log|show|rev|hash|commit|stash|describe|ls)[\w-]*)\b"
)
_VERBS_OF_ENTERED = ("type", "write", "input_text", "send_keys", "press_keys", "keyboard", "text")
_IS_ENTERED = r"\b[^\w\n]{1,12}(?:text[^\w\n]{1,8})?(?:--\w+ \d+ )?\\*[\"'\[]([^\"'\s\\\]]{8,64})\\*[\"'\]]"
_ENTERED = late_re(rf"\b(?:{'|'.join(_VERBS_OF_ENTERED)}){_IS_ENTERED}")
_ENTERED_BY = {verb: late_re(rf"{verb}(?<!\w{verb}){_IS_ENTERED}") for verb in _VERBS_OF_ENTERED}
"""The same for each verb: a search finds what a pattern begins with at once."""
_ENTERS = late_re(
    r"(?:typ(?:e|ing)|enter|writ|fill|put)\w*[^.;\n]{0,40}\b(?:password|passcode|passphrase|secret|token|key)"
    r"|\bin(?:to)? the password|#[^\n]*\bpassword",
    re.IGNORECASE,
)
_NAMES_OF_ENTERS = ("password", "passcode", "passphrase", "secret", "token", "key")
_WRAPPED = late_re(  # few alternatives, as each is tried at every character
    r"^(?:(?i:\W*exit ?code: \d+.*$)|Code output:|\d+\) |\W*(?:exit|return)[ _]?(?:code|status)\W+-?\d+\W*$"
    r"|\s*(?:Observation|OBSERVATION|Output|OUTPUT|stdout|Result)\s*:)"
    r"|<(?:returncode>-?\d+</returncode>|/?[\w-]+>)",
    re.MULTILINE,
)
ANSWERS = 4
"""Turns after a question that may answer it."""
_LONGEST_ANSWER = 2000
_MOST_LINES = 12
_BARE = late_re(r"[^\s\"'`<>{}()\[\]|]+")
_REF = late_re(r"\[(?:ref|bid|id|index)[=: ](\w{1,8})\]")
_OF_REF = late_re(r"(?i:pass(?:word|wd|code|phrase)|passwort|secret)[^\n]*\Z")
_BEFORE_REF = 80
_KEY_ENDINGS = (".pem", ".key", ".ppk", "id_")
_FIELD = late_re(r"\[(\w{1,8})\][^\n\]]{0,60}?(?i:pass(?:word|wd|code|phrase)|secret|api.key|token)")
_TYPED = (
    r"(?:\b(?:type|fill|input(?:_text)?|set_text|type_text)\b[^\n\]\w]{{1,4}}|\b(?:index|id|ref|bid)\W{{1,6}}){}\b"
    r"\W{{1,8}}(?:(?:text|value)\W{{1,6}})?([^\s\"'\]\)\\]+)"
)
_OPENED = late_re(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_CLOSED = late_re(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY")
_KEY_LINE = late_re(r"^\W{0,3}(?:\d{1,6}[\t:| →]{1,3})?([A-Za-z0-9+/]{40,76}={0,2})\s*$", re.MULTILINE)


def asked_for(texts: Sequence[str], asks: Iterable[int]) -> Iterator[tuple[str, str]]:
    """The secrets that answer a command, each with its kind.

    Args:
        texts: what each turn says and calls.
        asks: the turns that have one of ``ASKS``.
    """
    bare: dict[int, tuple[list[str], int]] = {}  # by turn: those that may answer several questions are read once
    for index in asks:
        text, answers = texts[index][:_LONGEST_QUESTION], texts[index + 1 : index + 1 + ANSWERS]
        for place, answer in enumerate(answers, index + 1):
            if place not in bare:
                bare[place] = _bare_lines(answer, _MOST_LINES)
        lines = [bare[place] for place in range(index + 1, index + 1 + len(answers))]
        # Few answers are values: look at them first.
        wanted = _wanted(text) if any(found for found, _ in lines) else None
        if wanted:
            values = (value for found, _ in lines for value in found)
            is_digest = _DIGEST.fullmatch if _GPG.search(text) else lambda _value: None
            yield from ((value, wanted.kind) for value in values if not is_digest(value))
        elif (named := _named_in(text, lines[:1])) is not None:
            yield from ((value, named.kind) for found, of in lines[:1] if of == 1 for value in found)
            if _ENTERS.search(text):
                yield from ((found[1], named.kind) for found in _ENTERED.finditer(text) if is_telling(found[1]))
        if any(ending in text for ending in _KEY_ENDINGS) and _KEY_FILE.search(text):
            yield from ((line, "private_key") for answer in answers[:1] for line in _KEY_LINE.findall(answer))


def _named_in(text: str, lines: Sequence[tuple[list[str], int]]) -> Secret | None:
    """What a question names that a single bare value may answer, or that it types itself."""
    if not any(found and of == 1 for found, of in lines) and not _types(text):
        return None
    if _COUNTED.search(text):
        return None
    return next(filter(None, map(_asked_by, _WORD.findall(text))), None)


def _types(text: str) -> bool:
    """Whether a question itself may type a secret."""
    lowered = text.lower()
    return any(name in lowered for name in _NAMES_OF_ENTERS) and any(
        entered.search(text) for entered in _ENTERED_BY.values()
    )


def _wanted(text: str) -> Secret | None:
    named = (_asked_by(next(filter(None, found.groups()), "").replace("-", "_")) for found in _NAMED.finditer(text))
    wanted = next(filter(None, named), None)
    return wanted or (_ANY if holds_any(text, _MAKES) or _UNNAMED.search(text) else None)


def _asked_by(name: str) -> Secret | None:
    """What a name promises that is no word of any sort."""
    secret = secret_of(name)
    return None if secret and secret.proof is Proof.GENERATED else secret


def _bare_lines(answer: str, most: int) -> tuple[list[str], int]:
    """The lines of a short answer that are one value each, and how many lines it has."""
    if len(answer) > _LONGEST_ANSWER:
        return [], 0
    lines = [line for line in map(str.strip, printed_by(answer).splitlines()) if line]
    if len(lines) > most:
        return [], len(lines)
    return [value for line in lines if (value := bare_value(line)) is not None], len(lines)


def bare_value(line: str) -> str | None:
    """The one value that a line is, if it may be a secret."""
    value = line.strip().strip("\"'`,")
    is_one = _BARE.fullmatch(value) and is_telling(value) and not _NO_SECRET.fullmatch(value)
    return value if is_one else None


def answer_of(answer: str) -> str:
    """What a command printed, without what agents wrap it in."""
    return _WRAPPED.sub("\n", output_of(answer))


def answers_to(asks: re.Pattern[str], texts: Sequence[str], places: Iterable[int]) -> Iterator[str]:
    """Yield the turns that may answer those at some places that match a pattern."""
    for index in places:
        if asks.search(texts[index]):
            yield from texts[index + 1 : index + 1 + ANSWERS]


def printed_by(answer: str) -> str:
    """The same, also of a command that prints JSON itself."""
    return output_of(output_of(answer_of(answer).strip()))


def output_of(answer: str) -> str:
    """What a command printed, out of the JSON that some tools wrap it in."""
    if not answer.lstrip().startswith("{"):
        return answer
    try:
        told = json.loads(answer)
    except ValueError:
        return answer
    texts = [value for key, value in told.items() if isinstance(value, str) and value.strip() and key != "status"]
    return "\n".join(texts) or answer


def typed_into(texts: Sequence[str], fields: Iterable[int]) -> Iterator[tuple[str, str]]:
    """What is typed into fields that a page numbers, and names for a secret.

    Args:
        texts: what each turn says and calls.
        fields: the turns that have one of ``FIELDS``.
    """
    for index in fields:
        text = texts[index]
        numbers = {found[1] for found in _FIELD.finditer(text)}
        numbers |= {
            found[1]
            for found in _REF.finditer(text)
            if _OF_REF.search(text, max(0, found.start() - _BEFORE_REF), found.start())
        }
        for number in sorted(numbers)[:8]:
            typed = re.compile(_TYPED.format(re.escape(number)))
            for later in texts[index : index + 1 + ANSWERS]:
                for found in typed.finditer(later[:_LONGEST_ANSWER]):
                    yield found[1], "password"


def continued_keys(texts: Sequence[str], blocks: Iterable[int]) -> Iterator[tuple[str, str]]:
    """The lines of private keys that go on in later turns, as pagers print them.

    Args:
        texts: what each turn says and calls.
        blocks: the turns that speak of a private key.
    """
    for index in blocks:
        opened = [found.end() for found in _OPENED.finditer(texts[index])]
        if not opened or _CLOSED.search(texts[index], opened[-1]):
            continue
        for text in texts[index + 1 : index + 1 + 2 * ANSWERS]:
            lines = _KEY_LINE.findall(text)
            yield from ((line, "private_key") for line in lines)
            if _CLOSED.search(text):
                break
