"""Whether a value that has a secret's name is one: stand-ins, words and code are not."""

from __future__ import annotations

import re
from enum import Enum, auto

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.keys import Proof, words
from trajcompress.redact.spans import MARK


class Style(Enum):
    """How a value is written; the looser the style, the more likely it is prose or code."""

    QUOTED = auto()
    SHELL = auto()  # NAME=value
    QUERY = auto()  # ?name=value
    BARE = auto()
    ASIDE = auto()  # with or without quotes, where a word of any sort may stand


LOOSE = frozenset({Style.BARE, Style.ASIDE})
PASSPHRASE = late_re(r"(?:[a-z]{3,12}-){3,}[a-z]{3,12}|(?:[A-Za-z0-9]{6}-){2,}[A-Za-z0-9]{6}")
APP_PASSWORD = late_re(r"[a-z]{4}(?: [a-z]{4}){3}(?![a-z])")  # as Google gives them
JUDGED = 64  # characters of a value without quotes; more would take hostile text quadratic time

_TEMPLATE = late_re(
    r"\$\w+|<.*|`.*|%\w+%|@\w+@|.*(?:\$[({]|\{\{|\{[\w.!:\[\]'\"() ]{0,64}\}|%(?:\(\w{1,64}\))?[sdr]\b).*", re.DOTALL
)
_MASKED = late_re(r"EXAMPLE|\.{3}|…|\*{3}|•{3}|[xX]{4}|_{5}|#{4}|<[\w ./-]{1,64}>")
_STAND_INS = words(
    """
    your yours insert enter replace put changeme change example sample dummy fake mock placeholder redacted
    masked hidden removed todo fixme foo bar baz foobar test testing
    """
)
_NAMES = words(
    """
    password passwords passwd passphrase pass pwd passcode pw secret secrets token tokens key keys apikey api
    passwort kennwort wachtwoord contrasena senha parola haslo heslo sifre salasana lozinka
    auth credential credentials cookie bearer basic authorization authentication jwt authtoken accesstoken
    login
    """
)
_WORDS = words(
    """
    none null nil undefined true false yes no string str text bytes int integer number bool boolean float
    object array any optional required missing invalid valid unknown default empty value here my a an the user
    new old type field param parameter header name id env variable incorrect wrong correct ok error sensitive
    plain hash hashed encrypted var literal username secure
    """
)
_PROSE = late_re(
    r"[A-Z][a-z]+ |.*\b(?:the|your|an?|of|for|to|is|are|be|must|with|and|or|in|not|no|if|at|by|from|this|that|use|"
    r"used|has|can|should|only|it|on|as)\b",
    re.DOTALL,
)
_ALGORITHM = late_re(
    r"(?:u?int|float|char|varchar|[iuf]|utf-?|base|sha-?|md|argon|oauth|pbkdf)\d{1,3}(?:id?|_t)?", re.IGNORECASE
)
_PHRASE = late_re(r"[\w'!@#$%^&*-]+(?: [\w'!@#$%^&*-]+){1,11}")
_CODE = late_re(r"[A-Za-z_$][\w$]*(?:[?!]?\.[A-Za-z_$][\w$]*)+|[\w.]*(?:->|::)[\w.>:-]*|[A-Z_]+|/.*/[gimsuy]*")
PATH = late_re(r"(?:~|\.{0,2})/.*|[A-Za-z]:\\.*", re.DOTALL)
_DIGIT, _LETTER, _SPACE = late_re(r"\d"), late_re(r"[^\W\d_]"), late_re(r"\s")
_PART = late_re(r"[^\W_]+")
_WORDY_PART = late_re(r"[^\W\d_]+\d{0,2}|\d{1,4}")
_HUMP = late_re(r"[A-Z]?[a-z]+|[A-Z]+")
_HEX = late_re(r"[0-9a-fA-F]{32,}")
_NO_VALUE = late_re(r"\d{4}-\d\d-\d\d(?:[T ].*)?|arn:aws.*|x:\d+:.*")
_GENERATED_PART = late_re(r"(?<![^.])(?=[A-Z]*+\w*\d)(?=\w*[A-Z])(?=\w*[a-z])\w{20,}(?![^.])")
_GENERATED = late_re(r"(?=\D*\d)(?!\d{4}-\d\d)[\w.~+/|-]+={0,2}")
_NOISE = late_re(r"[^#!&@$^*;%~+?]")
_REGEX = late_re(r"\(\?|\[[^\[\]]*\]|\\[dws]")
_NOISY = 4  # different symbols: neither words nor code have so many
_PADDED = late_re(r"(?=[^A-Z]*[A-Z])(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)")
_INNER_SYMBOL = late_re(r"\w[@#$%^!]+\w")
_COMPOUND = late_re(r"\w+(?:-[A-Za-z]+)+")  # sha256-hashed
_WRITTEN = late_re(r"\\+u([0-9a-fA-F]{4})")  # a character, as in JSON
_LEAST_LENGTH = 3
_LEAST_QUOTED = 6
_LEAST_BARE = 8
_LEAST_LONG = 16
_SHORT_HUMPS = 2.5  # letters between changes of case; words have more


def is_placeholder(value: str) -> bool:
    """Whether a value stands in for a secret: a mark, a mask, a template, ``your-key-here``, a secret's name."""
    if MARK.search(value) or _TEMPLATE.fullmatch(value) or _MASKED.search(value) or _ALGORITHM.fullmatch(value):
        return True
    humps = [hump.lower() for part in _PART.findall(value) for hump in (_HUMP.findall(part) or [part])]
    if not humps or len(set(value)) == 1:
        return True
    if humps[0].startswith("your") or humps[0] in _STAND_INS:
        return is_wordy(value)
    if _DIGIT.search(value):
        return False
    if not value.isascii():  # a word, a label, in a language that this module has no lists for
        return True
    whole = {part.lower() for part in _PART.findall(value)}
    return bool(_NAMES & (whole | set(humps))) or all(word in _WORDS for word in humps)


def is_wordy(value: str) -> bool:
    """Whether a value is made of words and small numbers, as names are and generated secrets are not."""
    if len(set(_NOISE.sub("", value))) >= _NOISY and not (_SPACE.search(value) or _REGEX.search(value)):
        return False
    return not _HEX.fullmatch(value) and all(
        _WORDY_PART.fullmatch(part)
        and (len(part) < _LEAST_LONG or len(part) > _SHORT_HUMPS * len(_HUMP.findall(part)))
        for part in _PART.findall(value)
    )


def is_opaque(value: str, least: int) -> bool:
    """Whether a value of at least so many characters looks generated."""
    return (
        len(value) >= least
        and _LETTER.search(value) is not None
        and not _SPACE.search(value)
        and not is_wordy(value)
        and (not _CODE.fullmatch(value) or _GENERATED_PART.search(value) is not None)
    )


def is_secret(value: str, proof: Proof, style: Style) -> bool:
    """Whether a value is a secret, given what its name promises and how it is written."""
    if "\\u" in value:
        value = _WRITTEN.sub(lambda found: chr(int(found[1], 16)), value)
    if len(value) < _LEAST_LENGTH or is_placeholder(value) or _NO_VALUE.fullmatch(value):
        return False
    if proof is Proof.ANY:
        return _is_password(value, style)
    if proof is Proof.GENERATED:
        return _GENERATED.fullmatch(value) is not None and is_opaque(value, _LEAST_LONG)
    if proof is Proof.LONG:
        return is_opaque(value, _LEAST_LONG)
    if style is Style.SHELL:
        return not (_CODE.fullmatch(value) or PATH.fullmatch(value) or _SPACE.search(value))
    return is_opaque(value, _LEAST_BARE if style in LOOSE else _LEAST_QUOTED)


def _is_password(value: str, style: Style) -> bool:
    if _SPACE.search(value):
        mixed = _INNER_SYMBOL.search(value) or _DIGIT.search(value) or value.count(" ") > 1
        return bool(mixed and _PHRASE.fullmatch(value)) and not _PROSE.match(value)
    if style is Style.QUOTED:
        return True
    if PASSPHRASE.fullmatch(value):
        return True
    if style is Style.ASIDE and _COMPOUND.fullmatch(value):
        return False
    if _CODE.fullmatch(value) or PATH.fullmatch(value):
        return False
    return style not in LOOSE or _is_bare_password(value)


def _is_bare_password(value: str) -> bool:
    if value.strip("-.").isdigit() and len(value) <= _LEAST_LENGTH:  # a count, a flag
        return False
    if value[-1].isdigit() and value.isascii() and is_placeholder(value[:-1]):  # password=password1 is an argument
        return False
    return (_DIGIT.search(value) or _INNER_SYMBOL.search(value) or _PADDED.fullmatch(value)) is not None
