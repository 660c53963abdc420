"""Passwords and keys as people tell each other: ``the password for bob is …``, ``Das Passwort lautet …``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.keys import ENDINGS, Proof
from trajcompress.redact.known import is_telling
from trajcompress.redact.spans import MARK, MARK_START, Span
from trajcompress.redact.values import JUDGED, Style, is_secret

# fmt: off
_PASSWORDS = (
    "password", "passcode", "passphrase", "passwort", "kennwort", "wachtwoord", "mot de passe", "contraseña",
    "contrasena", "senha", "palavra-passe", "lösenordet", "lösenord", "passord", "salasana", "parola", "şifre",
    "hasło", "hasłem", "jelszó", "κωδικός", "пароль", "пароля", "паролем", "密码", "密碼", "口令", "暗证号码",
    "パスワード", "暗証番号", "비밀번호", "암호는", "암호:", "كلمة المرور", "كلمة السر", "رمز عبور", "סיסמה", "סיסמא",
    "पासवर्ड", "পাসওয়ার্ড", "รหัสผ่าน", "mật khẩu", "kata sandi", "sandi:", "clave:", "clave es", "mdp :", "mdp:",
)
_TOKENS = (
    "secret access key", "api key", "access token", "secret key", "auth token", "api token", "令牌", "密钥", "密鑰",
    "秘钥", "api-schlüssel", "apiキー", "トークン", "토큰", "токен", "api-ключ", "مفتاح", "clé api", "clave api",
    "clave de api", "chave de api", "chave da api", "api 密钥", "klucz api", "api anahtarı", "token's",
)
# fmt: on
_LATIN = {"contraseña", "lösenordet", "lösenord", "api-schlüssel", "clé api"}
"""Names whose first letters are too frequent to look for them as JSON has them."""
_KINDS = {**dict.fromkeys(_TOKENS, "token"), **dict.fromkeys(_PASSWORDS, "password")}


def _in_json(name: str, depth: int) -> str:
    for _ in range(depth):
        name = json.dumps(name)[1:-1]
    return name


def _lowered(text: str) -> str:
    """A text with its ASCII letters in lower case, as it is searched."""
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


_BY_SPELLING = {
    _lowered(_in_json(spelling, depth)): kind
    for name, kind in _KINDS.items()
    for spelling in (name, name.capitalize(), name.upper())
    for depth in range(1 if name.isascii() or name in _LATIN else 4)
}
SPOKEN = tuple(name.encode() for name in _BY_SPELLING)
"""The names, in lower case, also as JSON has them; what a text is searched for."""

_WRITTEN = r"(?:\\+u[0-9a-f]{4})"
_QUOTES = r"(?:\\*[\"'`“”„«»‘’*_「」『』]|\\+u(?:00[aA][bB]|00[bB][bB]|20[01][0-9a-fA-F]|300[c-fC-F])){0,4}"
_BLANK = r"[ \t]+"
_OF = (
    rf"{_BLANK}(?:for|of|to|on|at|von|für|des|der|de|del|da|do|di|pour|dla|voor|van|av|till|для|от|к|per)"
    rf"(?:{_BLANK}(?:that|this|the|user|account|key|my|our|den|dem|die|la|le|el|o|a|пользователя))?"
    rf"{_BLANK}[\"'`]?[\w.@/:-]{{1,60}}[\"'`]?"
    rf"(?:{_BLANK}(?:key|account|user|server|db|database|box|machine|wifi|app|site))?"
)
_WHO = (
    rf"{_BLANK}(?:you|we|i|they|it)(?:{_BLANK}\w+){{1,2}}|{_BLANK}(?:администратора|пользователя|{_WRITTEN}{{4,20}})"
)
_ASIDE = r"[ \t]*(?:\([^()\n]{1,40}\)|\[[^\[\]\n]{1,40}\])"
_TO_BE = r"is|was|ist|lautet|lautete|est|es|é|è|jest|je|هي|هو|теперь|to|är|er|on|adalah|là|olarak|has been"
_CHANGED = r"changed|set|reset|updated|generated"
_WAS_CHANGED = (
    rf"{_BLANK}(?:(?:is|was|has{_BLANK}been){_BLANK})?(?:{_CHANGED})"
    rf"(?:(?:{_BLANK}for{_BLANK}[^\s:]{{1,60}})?(?:{_BLANK}to|:)|{_BLANK}for{_BLANK}\S{{1,60}}:){_BLANK}"
)
_IS = "|".join(
    (
        _WAS_CHANGED,
        rf"{_BLANK}(?:{_TO_BE})(?:{_BLANK}(?:now|nun|jetzt|{_CHANGED}|ahora|agora))?(?:{_BLANK}to)?[ \t]*:?{_BLANK}",
        rf"'s{_BLANK}|,? it(?:'s| is){_BLANK}|\? (?:It's|It is|Use){_BLANK}|nya{_BLANK}(?:adalah{_BLANK})?",
        rf"{_BLANK}[›-]{_BLANK}|[ \t]*(?:[:：=]|->|=>|→|—|–|\\+u(?:ff1a|2192|2014|2013))[ \t]*",
        r"[ \t]*(?:(?:は|는|은|为|是|為|이|가)|\\+u(?:306f|b294|c740|4e3a|662f|70ba))(?:[:：]|\\+uff1a)?[ \t]*",
    )
)
TOLD = late_re(rf"{_QUOTES}(?P<of>{_OF}|{_WHO}|{_ASIDE})?{_QUOTES}(?P<is>{_IS})(?P<quote>{_QUOTES})", re.IGNORECASE)
"""What stands between a name, and whose secret it is, and the secret."""
_VALUE = late_re(r"[^\s\"'`“”„«»‘’「」『』<>\\\x00-\x1f，。、；：！）)]{4,128}")
_INTO = late_re(r"[`'\"“«\[]([^\s`'\"”»]{6,64})[`'\"”»\]] (?:in|into|to)(?: the)? ?[\"'\[]?$")
_AS = late_re(
    r"[`'\"“«]([^\s`'\"”»]{6,64})[`'\"”»] (?:as|for|als|comme|como)"
    r"(?: (?:the|its|my|your|our|a|das|le|la))?(?: \w+)? $"
)
_WITH = late_re(r"\b(?:with|using|mit dem|avec le|con la)(?: the| a)?(?: \w+)? $", re.IGNORECASE)
_BARE = late_re(r"[ \t]+[\"'`]?(?=\S)")
_ASSIGNS = {":", "="}  # fields are read by others, with more care
_SENTENCE = late_re("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{3}")  # in languages that put no blanks
_MIXED = late_re(r"(?=\S*\d)(?=\S*[^\W\d_])")
_TRAILING = ".,;:!?*_"
_BEFORE = 120


def spoken_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The secrets that a text tells in words; ``places`` are where ``SPOKEN`` start and end."""
    for start, end in places:
        kind = _BY_SPELLING[_lowered(text[start:end])]
        proof = Proof.ANY if kind == "password" else Proof.OPAQUE
        before = text[max(0, start - _BEFORE) : start]
        if (
            MARK_START in before
            and (mark := MARK.match(text, text.rindex(MARK_START, 0, start)))
            and mark.end() > start
        ):
            continue  # the kind that a mark tells
        found = TOLD.match(text, end)
        if found and MARK_START in found[0]:
            continue
        if found and not (found["of"] is None and found["is"].strip() in _ASSIGNS and _is_field(text, start, end)):
            style = Style.QUOTED if found["quote"] and "*" not in found["quote"] else Style.ASIDE
            yield from _value(text, found.end(), kind, proof, style)
        elif with_it := _BARE.match(text, end):
            bare = _VALUE.match(text, with_it.end())
            if _WITH.search(before) or (bare and is_telling(bare[0].rstrip(_TRAILING)) and _MIXED.match(bare[0])):
                yield from _value(text, with_it.end(), kind, proof, Style.ASIDE)
        if found := _AS.search(before) or _INTO.search(before):
            at = start - len(before) + found.start(1)
            yield from _value(text, at, kind, proof, Style.ASIDE)


def _is_field(text: str, start: int, end: int) -> bool:
    return _lowered(text[start:end]).encode() in ENDINGS


def _value(text: str, at: int, kind: str, proof: Proof, style: Style) -> Iterator[Span]:
    found = _VALUE.match(text, at)
    if found is None or text.startswith((MARK_START, "("), at):
        return
    value = found[0].rstrip(_TRAILING)
    if _SENTENCE.search(value):
        return
    if text[found.end() : found.end() + 1] not in {"(", "["} and is_secret(value[:JUDGED], proof, style):
        yield Span(at, at + len(value), kind)
