"""What of an answer is talk: refusals, politeness, lead-ins and offers, in the languages of ``phrases.toml``. Pure.

All rules look at what a sentence begins with, and at the sentences that an answer begins or ends with, so that a
summary may tell of a refusal, or quote one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple, TypeAlias

from trajcompress.processes.late_patterns import late_re

Talk: TypeAlias = Literal["refusal", "talk", "lead_in", "none"]


class Opening(NamedTuple):
    """The kinds of the sentences of talk that a text begins with, and whether nothing stands behind them."""

    kinds: list[Talk]
    ends: bool


_MOST_SENTENCES = 40  # at the start of an answer that are looked at
_MOST_CHARS = 4_000
_SENTENCE = late_re(r"[^\n。！？؟।]+?(?:[.!?…]{1,8}[\"'*_)\]]{0,4}(?=\s|$)|[。！？؟।][\"'*_)\]」]{0,4}|(?=\n)|$)")
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


_INVISIBLE = late_re("[\u00ad\u0610-\u061a\u0640\u064b-\u065f\u0670\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_CONCRETE = late_re(r"[\d`/\\_=<>{}]|\w\.\w")
_PLACEHOLDER = late_re(
    r"[\[<({]{1,3}\s{0,4}(?:insert|your|the|a|full|final|concise|brief)?\s{0,4}(?:summary|record|text|content|answer|"
    r"response|placeholder|redacted|empty|none|todo|insert|your|blank)[^\n\])}>]{0,60}[\])}>]{1,3}\.?"
)
_EDGE = late_re(r"[\s\W_]{0,8}")
_END = r"[\s\W_]{0,12}$"
_NOTHING = late_re(_END)
_APART = late_re(r"(?:\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)|[^()|\n])+")  # groups stay whole
_MOST_ACKS = 4
_MOST_SORRIES = 2


class _Patterns:
    """The patterns of each kind of phrase in all languages, made where they are first needed, each once.

    Together, as kinds follow each other in a sentence, they would take several times as long to make.
    """

    def __init__(self) -> None:
        languages = load_phrases().values()
        ack, sorry, refusal, ask, offer, noun, here, none = (
            _one_of(language[kind] for language in languages)
            for kind in ("ack", "sorry", "refusal", "ask", "offer", "noun", "here", "none")
        )
        gap, but = r"(?!\w)[\s\W_]{0,4}", r"(?:but|however|pero|mais|aber|ma|mas|maar|ale|но)\b"
        self.ack = re.compile(ack + gap)
        self.sorry = re.compile(rf"{sorry}{gap}(?:{but}[\s\W_]{{0,4}})?")
        self.refusal, self.ask, self.offer, self.noun = map(re.compile, (refusal, ask, offer, noun))
        self.here = re.compile(rf"{here}(?P<rest>[^\n]{{0,160}})$")
        self.none = re.compile(none + _END)

    def behind_acks(self, sentence: str, at: int = 0) -> list[int]:
        """Where a sentence may go on behind politeness, farthest first; its start is the last."""
        return _ends_of(self.ack, sentence, at, _MOST_ACKS)

    def behind_sorries(self, sentence: str, at: int) -> list[int]:
        """Where it may go on behind apologies."""
        return _ends_of(self.sorry, sentence, at, _MOST_SORRIES)


def _ends_of(pattern: re.Pattern[str], text: str, at: int, most: int) -> list[int]:
    """Where up to so many matches in a row may end, farthest first; ``at`` itself is the last."""
    ends = [at]
    while len(ends) <= most and (found := pattern.match(text, ends[-1])) and found.end() > ends[-1]:
        ends.append(found.end())
    return ends[::-1]


def _one_of(phrases: Iterable[str]) -> str:
    """A pattern of any of the phrases, long ones first, as a match ends with the first that fits."""
    folded = fold(unicodedata.normalize("NFC", "\n".join(phrases)))
    spaced = re.sub(r" (\??)(?![^\[\]]*\])", lambda space: r"\s?" if space[1] else r"\s+", folded)
    return f"(?:{'|'.join(sorted(_APART.findall(spaced), key=len, reverse=True))})"


_patterns = cache(_Patterns)


def prepare() -> None:
    """Make the patterns now, so that it holds nobody up who waits for an answer."""
    _patterns()


def load_phrases() -> dict[str, dict[str, str]]:
    """Load the phrases by language and kind, one or several in each line."""
    import tomllib  # takes as long as a hundred answers

    return tomllib.loads((resources.files("trajcompress.summarize.answers") / "phrases.toml").read_text("utf-8"))


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
    patterns = _patterns()
    behind_acks = patterns.behind_acks(sentence)
    spoken = [end for at in behind_acks for end in patterns.behind_sorries(sentence, at)]
    if any(patterns.refusal.match(sentence, at) for at in spoken):
        return "refusal"
    if is_none(sentence):
        return "none"
    if (
        any(patterns.ask.match(sentence, at) for at in spoken)
        or any(patterns.offer.match(sentence, at) for at in behind_acks)
        or any(at and _nothing_behind(sentence, at) for at in (*behind_acks, *patterns.behind_sorries(sentence, 0)))
    ):
        return "talk"
    return "lead_in" if is_lead_in(sentence) else None


def is_none(folded: str) -> bool:
    """Tell whether a folded sentence, or point of a list, holds nothing."""
    bare = folded.strip(_EDGES).strip("\"'()[]{}<>.!?。 ")
    return not bare or bool(_patterns().none.fullmatch(bare) or _PLACEHOLDER.fullmatch(folded.strip(" \t*_`~#")))


def is_lead_in(folded: str) -> bool:
    """Tell whether a folded line only leads in a summary: it names one and nothing else."""
    patterns = _patterns()
    begins = _EDGE.match(folded)
    starts = patterns.behind_acks(folded, begins.end() if begins else 0)
    found = next(filter(None, (patterns.here.match(folded, at) for at in starts)), None)
    return bool(found and patterns.noun.search(folded) and not _CONCRETE.search(found["rest"]))


def is_ack(folded: str) -> bool:
    """Tell whether a folded line is a politeness and nothing else."""
    bare = folded.strip(_EDGES)
    return any(at and _nothing_behind(bare, at) for at in _patterns().behind_acks(bare))


def is_offer(folded: str) -> bool:
    """Tell whether a folded sentence is a closing offer or politeness."""
    patterns = _patterns()
    return any(patterns.offer.match(folded, at) for at in patterns.behind_acks(folded))


def _nothing_behind(folded: str, at: int) -> bool:
    return _NOTHING.match(folded, at) is not None


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
