"""What in a text could be a fact: paths, names, ids, addresses, figures, quoted strings. By shape alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from trajcompress.facts.forms import time_as_data
from trajcompress.processes.late_patterns import late_re

FACT_CHARS = 100
_MIN_CHARS = 3
_BLOB_CHARS = 44  # a git hash has 40
_VALUE_CHARS = 60
_ID_CHARS, _MOST_ID_CHARS = 6, 18

_URL = late_re(r"https?://[\w.~:/?#@!$&*+,;=%-]{3,200}", re.ASCII)
_TOKEN = late_re(  # neither the 123 of 1,123 nor of 123,456; fields that commas part are none of these
    r"(?<![\w./@~%+-])(?!(?<=\d,)(?<!\d{4},)\d{3}(?!\d))[\w./@~%+-]{3,120}+(?!(?<=\d)(?<!\d{4}),\d{3}(?!\d))",
    re.ASCII,
)
_TOKEN_CHARS = 120
_TO_TOKENS = bytes(byte if _TOKEN.match(chr(byte) * 3) else 32 for byte in range(256))
_REMEMBERED = 1 << 15
_QUOTED = late_re(
    r"\"([^\"\n]{3,60})\"|“([^”\n]{2,60})”|「([^」\n]{2,60})」|『([^』\n]{2,60})』|《([^》\n]{2,60})》|`([^`\n]{3,60})`"
)
_QUOTED_ASCII = late_re(r"\"([^\"\n]{3,60})\"|`([^`\n]{3,60})`")  # the same, where it can be no other
_UNITS = (
    "ms|s|sec|seconds|min|minutes|h|hours?|days?|weeks?|months?|years?|kg|g|km|cm|mm|m|GB|MB|KB|TB|GiB|MiB|Hz|kHz|MHz"
    "|GHz|px|°C|USD|EUR|dollars|euros|points?|元|円|원"
)
_UNIT = rf"(?=[{''.join(sorted({unit[0] for unit in _UNITS.split('|')}))}])(?:{_UNITS})(?![\w-])"
_FIGURE = late_re(rf"[$€£¥\d][\d.,:]{{0,24}}(?:%| ?{_UNIT})?", re.ASCII)
_TELLING_FIGURE = late_re(
    r"\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,9})?"  # 12,500.00
    r"|\d{1,2}:\d{2}(?::\d{2})?"  # 14:30
    r"|[$€£¥]\d{1,9}(?:\.\d{1,9})?"
    r"|\d{1,9}(?:\.\d{1,9})?(?:%| ?[^\d.,:%]{1,7})",  # 45%, 20 km
    re.ASCII,
)
_IN_FIGURE = late_re(r"\d,[\w./@~%+-]", re.ASCII)  # without any, what stands around a token does not matter
# Without any, no figure is telling, nor is there any of the above.
_FIGURE_SIGN = late_re(rf"[$€£¥\d](?:(?<=\D)\d|,[\w./@~%+-]|:\d|%| ?{_UNIT})", re.ASCII)

_SHAPE = late_re(
    r"(?P<email>[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{2,20}){1,4})"
    r"|(?P<flag>--[a-z][\w-]{2,40})"
    r"|(?P<date>\d{4}[-/]\d\d[-/]\d\d(?:T\d\d)?|\d\d?/\d\d?/\d{2,4})"
    r"|(?P<integer>\d{3,18})"
    r"|(?P<decimal>v?\d{1,12}(?:\.\d{1,12}){1,4}(?:(?:rc|[ab]|\.?dev|\.?post)\d{1,3})?)",
    re.ASCII,
)
_EXTENSION = late_re(
    r"[\w@+-][\w@+.-]{0,80}\.(?:py|pyi|pyx|ipynb|[jt]sx?|mjs|vue|java|c|cc|cpp|h|hpp|rs|go|rb|php|cs|kt|swift|scala|lua|r"
    r"|md|rst|txt|json|jsonl|ya?ml|toml|cfg|ini|conf|env|sh|bash|html?|css|scss|xml|csv|tsv|sql|db|sqlite|lock|tex|pdf|png"
    r"|jpe?g|gif|svg|log|parquet|pkl|npy|diff|patch|docx?|xlsx?|pptx?|zip|gz|tar|whl|mp[34]|wav)",
    re.ASCII,
)
_NAME = late_re(r"[A-Za-z]\w{0,80}(?:\.[A-Za-z_]\w{0,80}){1,8}", re.ASCII)
_SENTENCE_END = late_re(r"[a-z)]{2,30}\.[A-Z][a-z]{0,30}")
_IDENTIFIER = late_re(
    r"_{0,2}[A-Za-z][A-Za-z0-9]{0,60}(?:_[A-Za-z0-9]{1,60}){1,12}_{0,2}"  # snake_case
    r"|_[A-Za-z][A-Za-z0-9]{2,60}"
    r"|[A-Za-z]{1,40}[a-z][A-Z][A-Za-z]{1,60}"  # camelCase, SomeError
    r"|(?=[A-Za-z-]{0,40}\d)(?=[\d-]{0,40}[A-Za-z])[A-Za-z0-9]{1,60}(?:-[A-Za-z0-9]{1,40}){0,8}",  # HAT083, ORD-17
    re.ASCII,
)
_ERROR = late_re(r"[A-Z]\w{0,60}(?:Error|Exception|Warning|Interrupt)", re.ASCII)

# Its letter joins no name. A path of Windows is none: there a word stands before it, or more than a letter behind the
# next backslash.
_ESCAPE = late_re(r"(?:(?<![^\s\"'`(|^/=])|(?<=\?:))(\\{1,4})[bBdDsSwWAZ](?=\w)(?!\w{0,80}+\\{1,4}\w\w)", re.ASCII)
_PUNCTUATION = late_re(r"[./@~%+]+")
_ROUND = late_re(r"\d0{2,}")
# A model knows these without being told.
_LIBRARIES = frozenset(
    (  # noqa: SIM905 - a literal of strings would fill a screen
        "os sys re json math time datetime random logging np numpy pd pandas plt torch unittest pytest argparse"
        " typing subprocess collections itertools functools pathlib console window document Math Object JSON"
    ).split()
)
_NOISE = frozenset(
    (  # noqa: SIM905 - as above
        "JavaScript TypeScript GitHub GitLab YouTube LinkedIn OpenAI PyPI iPhone eBay PostgreSQL MySQL NoSQL"
        " DataFrame utf-8 UTF-8 utf8 UTF8 base64 python3 Python3 py3 pip3 x86 x64 a.m p.m U.S U.K e.g i.e Ph.D"
        " 1st 2nd 3rd 4th 5th 10th h1 h2 h3 /bin/bash /bin/sh /usr/bin/env /dev/null /tmp /usr /usr/bin /bin"
        " viewBox currentColor preserveAspectRatio linearGradient radialGradient clipPath xMidYMid"
        " className classList innerHTML textContent addEventListener querySelector querySelectorAll getElementById"
        " text/html text/plain __init__.py README.md tool_call tool_calls tool_response function_call"
    ).split()
)
_VARIABLES = ("HOME/", "PWD/")  # of every shell
_STYLE = late_re(  # a class of Tailwind, which says how an element looks
    r"(?:[a-z]{1,8}:){0,2}-?(?:(?:[pm][xytblrse]?|[wh]|gap(?:-[xy])?|space-[xy]|z|inset|m(?:in|ax)-[wh]|leading|opacity"
    r"|rounded|border|ring|duration|grid-cols|col-span)-(?:\d{1,3}(?:\.5|/\d{1,2})?|px|auto|full|screen|\d?xl|[sml][dmg])"
    r"|(?:text|bg|border|ring|divide|fill|stroke|from|to|via|placeholder)-(?:slate|gray|zinc|neutral|stone|red|orange"
    r"|amber|yellow|lime|green|emerald|teal|cyan|sky|blue|indigo|violet|purple|fuchsia|pink|rose)-\d{2,3}(?:/\d{1,3})?"
    r"|(?:text|font|items|justify|rounded|shadow|flex|tracking)-(?:xs|sm|base|md|lg|\d?xl|left|center|right|medium|bold"
    r"|semibold|between|start|end|col|row|wrap|full|white|black))",
    re.ASCII,
)
_MARKUP = frozenset("<>|｜[]{}\\")
_CODE = frozenset("=;()*$#\n")
_JOINING = frozenset("/._- ")


def candidates(text: str) -> dict[str, None]:
    """Find what could be a fact in a text: an ordered set, in order within each kind."""
    if not text:  # as thoughts mostly are
        return {}
    said: dict[str, None] = {}
    for match in _URL.finditer(text) if "://" in text else ():
        url = match[0].rstrip(".,;:!?*)")
        page = url.partition("?")[0]
        said.update(dict.fromkeys((url, page, "/".join(page.split("/")[:3]), *_ids_in(page))))  # page and host too
    rest = _URL.sub(" ", text) if said else text
    rest = _ESCAPE.sub(r"\1 ", rest) if "\\" in rest else rest
    has_figures = _FIGURE_SIGN.search(rest) is not None
    for match in _FIGURE.finditer(rest) if has_figures else ():
        if match[0].isdecimal():  # plain numbers are tokens, found below
            continue
        figure = match[0].rstrip(".,:")
        if not figure.isdecimal() and _TELLING_FIGURE.fullmatch(figure) and not _is_in_word(rest, match.start()):
            end = match.start() + len(figure)
            said.update(dict.fromkeys(time_as_data(figure, rest, end) if ":" in figure else (figure,)))
    for quoted in map(str.strip, map("".join, (_QUOTED_ASCII if rest.isascii() else _QUOTED).findall(rest))):
        if (" " in quoted or not quoted.isascii()) and is_telling(quoted):
            said[quoted] = None
    rest = rest.replace("</", "<")  # the end of an element is no path
    tokens = _TOKEN.findall(rest) if has_figures and _IN_FIGURE.search(rest) else _split(rest)
    return dict.fromkeys(chain(filter(_is_sound, said), chain.from_iterable(map(_FACTS_IN.__getitem__, tokens))))


def value_candidate(value: str) -> str | None:
    """Return a short value of a call's arguments if it is one as a whole: a name, a city, a code, a title."""
    value = value.strip()
    fits = _MIN_CHARS <= len(value) <= _VALUE_CHARS or (len(value) > 1 and not value.isascii())
    return value if fits and len(value) <= _VALUE_CHARS and is_telling(value) and _is_sound(value) else None


def is_file_name(fact: str) -> bool:
    """Whether a fact is the name of a file, by its ending."""
    return _EXTENSION.fullmatch(fact) is not None


def is_telling(said: str) -> bool:
    """Whether a quoted string is more than a common word or a piece of code."""
    if not _CODE.isdisjoint(said) or said.isdecimal() or said.endswith(":") or ": " in said or "&&" in said:
        return False
    if " " in said:
        return len(said) > 2 * _MIN_CHARS and not ("-" in said and _are_styles(said.split()))
    return not said.isascii() or (any(map(str.isupper, said)) and said not in _NOISE)


def _are_styles(words: Sequence[str]) -> bool:
    """Whether words are the classes of an element, as Tailwind names them: no more than how it looks."""
    return 2 * sum(_STYLE.fullmatch(word) is not None for word in words) >= len(words)


def _split(text: str) -> list[str]:
    """Split a text into tokens; they may be too short to tell anything, or longer than what is read of them.

    Much quicker than matching; what is in no token is split at, what is not ASCII becomes a question mark.
    """
    return text.encode("ascii", "replace").translate(_TO_TOKENS).decode().split()


class _FactsIn(dict[str, tuple[str, ...]]):
    """The facts in each token; what was looked up is remembered, more cheaply than by ``lru_cache``."""

    def __missing__(self, token: str) -> tuple[str, ...]:
        if len(token) > _TOKEN_CHARS:
            return self[token[:_TOKEN_CHARS]]
        if len(self) >= _REMEMBERED:
            self.clear()
        facts = self[token] = _facts_in(token)
        return facts


_FACTS_IN = _FactsIn()


def _facts_in(token: str) -> tuple[str, ...]:
    """Return the token if it has the shape of a fact, else the parts of it that have."""
    whole = _bare(token)
    if len(whole) < _MIN_CHARS or whole in _NOISE or _is_plain(whole) or whole.startswith(_VARIABLES):
        return ()
    shape = _SHAPE.fullmatch(whole)
    return tuple(filter(_is_sound, _by_kind(whole, shape.lastgroup if shape else None)))


def _by_kind(token: str, kind: str | None) -> tuple[str, ...]:
    if kind == "integer":
        return () if _ROUND.fullmatch(token) else (token,)
    if kind == "decimal":
        return (token,) if len(token) > _MIN_CHARS else ()
    if kind in {"email", "flag", "date"}:
        return (token,)
    if _is_path(token):
        return (token, *_ids_in(token))
    parts = tuple(filter(_is_identifier, _PUNCTUATION.split(token)))
    if not _NAME.fullmatch(token) or _SENTENCE_END.fullmatch(token):
        return parts
    return () if token.partition(".")[0] in _LIBRARIES else (token, *parts)


def _ids_in(path: str) -> list[str]:
    """Return the long numbers that are parts of a path: results have them alone, as ids."""
    return [part for part in path.split("/") if _ID_CHARS <= len(part) <= _MOST_ID_CHARS and part.isdecimal()]


def _bare(token: str) -> str:
    """Take the punctuation off a token, and what may or may not stand before a path or a name."""
    token = token.rstrip(".-/+~%@")
    if not token.startswith(("/", "--", "~", "@", "../")):
        token = token.lstrip(".-+%/")
    return token.removeprefix("self.").removeprefix("this.")


def _is_plain(token: str) -> bool:
    """Whether a token is a word as prose has it, which no kind of fact is."""
    return token.isalpha() and token[1:].islower()


def _is_path(token: str) -> bool:
    if not any(map(str.isalpha, token)) or "//" in token:
        return False
    if "/" not in token:
        return is_file_name(token)
    if token.startswith(("/", "~/", "../")):
        return len(token) > _MIN_CHARS
    parts = [part for part in token.split("/") if part]
    return len(parts) > 2 or _EXTENSION.fullmatch(parts[-1]) is not None or any("_" in part for part in parts)  # noqa: PLR2004 - and/or is no path


def _is_identifier(word: str) -> bool:
    if len(word) <= _MIN_CHARS or word in _NOISE or (word.startswith("__") and word.endswith("__")):
        return False
    if "-" in word and _STYLE.fullmatch(word):
        return False
    return _IDENTIFIER.fullmatch(word) is not None or _ERROR.fullmatch(word) is not None


def _is_in_word(text: str, at: int) -> bool:
    before = text[max(at - 1, 0) : at]
    return before.isalnum() or before in {"_", ".", ",", "/", ":", "-"}


def _is_sound(fact: str) -> bool:
    """Whether a fact can stand in a summary: short, printable, no markup, no encoded data."""
    if len(fact) > FACT_CHARS or fact in _NOISE or not _MARKUP.isdisjoint(fact) or not fact.isprintable():
        return False
    blob = len(fact) > _BLOB_CHARS and _JOINING.isdisjoint(fact)
    return not blob and "  " not in fact and not fact.startswith("[") and any(map(str.isalnum, fact))
