"""What of an answer is talk: refusals, politeness, lead-ins and offers, in the languages of ``phrases.toml``. Pure.

All rules look at what a sentence begins with, and at the sentences that an answer begins or ends with, so that a
summary may tell of a refusal, or quote one.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple, TypeAlias

Talk: TypeAlias = Literal["refusal", "talk", "lead_in", "none"]


class Opening(NamedTuple):
    """The kinds of the sentences of talk that a text begins with, and whether nothing stands behind them."""

    kinds: list[Talk]
    ends: bool


_MOST_SENTENCES = 40  # at the start of an answer that are looked at
_MOST_CHARS = 4_000
_SENTENCE = re.compile(r"[^\n。！？؟।]+?(?:[.!?…]{1,8}[\"'*_)\]]{0,4}(?=\s|$)|[。！？؟।][\"'*_)\]」]{0,4}|(?=\n)|$)")
_EDGES = " \t\r\n*_#>~`|-–—•·=:;,"
_QUOTES = {'"': '"', "'": "'", "「": "」"}


class _Folding(dict[int, str]):
    """Maps each character to one in small letters, of half width and without accents; quotes become plain ones."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = "".join(each for each in unicodedata.normalize("NFKD", character) if not unicodedata.combining(each))
        folded = plain.lower() if len(plain) == 1 else character.lower()
        self[code] = folded if len(folded) == 1 else character
        return self[code]


_FOLDING = _Folding(
    {ord(quote): "'" for quote in "‘’‚‛ʼ′´＇"} | {ord(quote): '"' for quote in "“”„‟«»‹›『』″＂"}
    | {ord("’"): "'", ord("¿"): " ", ord("¡"): " "}
)  # fmt: skip


def fold(text: str) -> str:
    """Return a text of the same length whose spelling does not matter: case, width, accents, kinds of quotes."""
    return text.translate(_FOLDING)


_INVISIBLE = re.compile("[\u00ad\u0610-\u061a\u0640\u064b-\u065f\u0670\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_CONCRETE = re.compile(r"[\d`/\\_=<>{}]|\w\.\w")
_PLACEHOLDER = re.compile(
    r"[\[<({]{1,3}\s{0,4}(?:insert|your|the|a|full|final|concise|brief)?\s{0,4}(?:summary|record|text|content|answer|"
    r"response|placeholder|redacted|empty|none|todo|insert|your|blank)[^\n\])}>]{0,60}[\])}>]{1,3}\.?"
)
_GAP = r"[\s\W_]{0,4}"
_END = r"[\s\W_]{0,12}$"
_BUT = r"(?:but|however|pero|mais|aber|ma|mas|maar|ale|но)\b"


class _Patterns:
    """The patterns, made of all languages where they are first needed: that takes a third of a second."""

    def __init__(self) -> None:
        ack, sorry, ask = self._one_of("ack"), self._one_of("sorry"), self._one_of("ask")
        some = rf"(?:{ack}(?!\w){_GAP}){{1,4}}"
        acks = rf"(?:{some})?"
        sorry = rf"(?:{sorry}(?!\w){_GAP}(?:{_BUT}{_GAP})?)"
        self.refusal = re.compile(rf"{acks}{sorry}{{0,2}}{self._one_of('refusal')}")
        self.talk = re.compile(
            rf"(?:{some}|{sorry}{{1,2}}){_END}|{acks}{sorry}{{0,2}}{ask}|{acks}{self._one_of('offer')}"
        )
        self.offer = re.compile(rf"{acks}{self._one_of('offer')}")
        self.ack = re.compile(rf"{some}{_END}")
        self.lead_in = re.compile(rf"[\s\W_]{{0,8}}{acks}{self._one_of('here')}(?P<rest>[^\n]{{0,160}})$")
        self.noun = re.compile(self._one_of("noun"))
        self.none = re.compile(rf"{self._one_of('none')}{_END}")

    @staticmethod
    def _one_of(kind: str) -> str:
        joined = "|".join("|".join(language[kind].splitlines()) for language in load_phrases().values())
        folded = fold(unicodedata.normalize("NFC", joined))
        return "(?:" + re.sub(r" (\??)(?![^\[\]]*\])", lambda space: r"\s?" if space[1] else r"\s+", folded) + ")"


_patterns = cache(_Patterns)


def prepare() -> None:
    """Make the patterns now, so that it holds nobody up who waits for an answer."""
    _patterns()


def load_phrases() -> dict[str, dict[str, str]]:
    """Load the phrases by language and kind, one or several in each line."""
    return tomllib.loads((resources.files("trajcompress.summarize") / "phrases.toml").read_text("utf-8"))


def sentences(text: str) -> Iterator[str]:
    """Yield the first sentences of a text, folded, without markup at their edges; lines end sentences."""
    found = 0
    for line in text[:_MOST_CHARS].splitlines():  # one by one: mostly the first tells that a text is no talk
        plain = line if line.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFC", line))
        for match in _SENTENCE.finditer(fold(plain)):
            sentence = match[0].strip(_EDGES)
            if sentence:
                found += 1
                if found > _MOST_SENTENCES:
                    return
                yield sentence


def kind_of(sentence: str) -> Talk | None:
    """Return what kind of talk a folded sentence is; None where it says something."""
    if _patterns().refusal.match(sentence):
        return "refusal"
    if is_none(sentence):
        return "none"
    if _patterns().talk.match(sentence):
        return "talk"
    return "lead_in" if is_lead_in(sentence) else None


def is_none(folded: str) -> bool:
    """Tell whether a folded sentence, or point of a list, holds nothing."""
    bare = folded.strip(_EDGES).strip("\"'()[]{}<>.!?。 ")
    return not bare or bool(_patterns().none.fullmatch(bare) or _PLACEHOLDER.fullmatch(folded.strip(" \t*_`~#")))


def is_lead_in(folded: str) -> bool:
    """Tell whether a folded line only leads in a summary: it names one and nothing else."""
    found = _patterns().lead_in.match(folded)
    return bool(found and _patterns().noun.search(folded) and not _CONCRETE.search(found["rest"]))


def is_ack(folded: str) -> bool:
    """Tell whether a folded line is a politeness and nothing else."""
    return bool(folded.strip(_EDGES)) and bool(_patterns().ack.fullmatch(folded.strip(_EDGES)))


def is_offer(folded: str) -> bool:
    """Tell whether a folded sentence is a closing offer or politeness."""
    return bool(_patterns().offer.match(folded))


def unquoted(text: str) -> str:
    """Return a text without the quotes or markup around all of it; one that only begins with a quote stays."""
    while True:
        text = text.strip(_EDGES)
        plain = fold(text)
        end = _QUOTES.get(plain[:1])
        if end is None or len(text) < 2 or plain[-1] != end or end in plain[1:-1] or plain[0] in plain[1:-1]:  # noqa: PLR2004
            return text
        text = text[1:-1]


def opening(text: str) -> Opening:
    """Return the talk that a text begins with."""
    kinds: list[Talk] = []
    for sentence in sentences(unquoted(text)):
        kind = kind_of(sentence)
        if kind is None:
            return Opening(kinds, ends=False)
        kinds.append(kind)
    return Opening(kinds, ends=len(text) <= _MOST_CHARS and len(kinds) < _MOST_SENTENCES)
