"""Words of scripts other than ASCII, with or without spaces between them, and how much each tells of its place."""

from __future__ import annotations

from collections.abc import Iterator

from trajcompress.processes.late_patterns import late_re

_FOREIGN = late_re(  # few letters before, from their first on, as a long run of them is looked through once
    r"(?:(?<![A-Za-z])[A-Za-z]{1,40}+)?[\u00aa-\u2000\u2c00-\uffff]+(?:['’-]?[A-Za-z\u00aa-\u2000\u2c00-\uffff])*"
)
_ANY = late_re(r"[\u00aa-\u2000\u2c00-\uffff]")  # many texts have but an arrow or an ellipsis
_WORD = late_re(r"[^\W\d_]+")
_HAN = late_re(r"[\u30a0-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# Of scripts without spaces: what stands between the most frequent characters, which are words of their own.
_BETWEEN = late_re(
    r"(?:(?![的了是在和与與有为為将將我您你他她它们們这這那个個到从從及或请請可以会會要也就都而被把对對于於之其并並但如则則所])"
    r"[\u30a0-\u30ff\u3400-\u9fff\uf900-\ufaff]){2,}"
)
_HANGUL = late_re(r"[\uac00-\ud7a3]{2,}")
_PIECE = 3
UNSPACED = "\u3040"
"""Where letters begin that are joined to words or particles without a space."""


def foreign_words(text: str) -> Iterator[str]:
    """Yield the words of a text that are not ASCII alone, of long ones without spaces each three characters."""
    if text.isascii() or not _ANY.search(text):
        return
    for stretch in _FOREIGN.findall(text):
        if _HAN.search(stretch):
            for run in _BETWEEN.findall(stretch):
                yield from (run[at : at + _PIECE] for at in range(max(len(run) - _PIECE + 1, 1)))
        elif found := _HANGUL.findall(stretch):  # a particle may end each
            yield from found
            yield from (word[:-1] for word in found if len(word) >= _PIECE)
        else:
            yield from (word for word in _WORD.findall(stretch) if not word.isascii())


def letters(word: str) -> float:
    """Return to how many letters of a word in English a word comes: a character of Chinese tells as much as three."""
    return len(word) * (3 if word[0] >= UNSPACED else 1)
