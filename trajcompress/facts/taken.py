"""Words that the agent's later turns take from results: names, figures, and what else is not said everywhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, repeat

from trajcompress.facts.forms import as_data, in_other_forms
from trajcompress.facts.parts import Wanted
from trajcompress.facts.quoted import QUOTED, by_result, quotes
from trajcompress.facts.reading import Reader
from trajcompress.facts.scripts import UNSPACED, foreign_words, letters
from trajcompress.transcript.line_numbers import is_line_number
from trajcompress.transcript.trajectory import Turn

_IN_WORDS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.@/")
_EDGES = b"./-@"  # what stands at the end of a word is no part of it
_TO_WORDS = bytes(byte if byte in _IN_WORDS else 32 for byte in range(256))
_REMEMBERED = 1 << 14
_REMEMBERED_CHARS = 64  # longer ones, such as encoded data, hardly come again
_MOST_PLACES = 100  # at which a figure is looked at
_LONG_CHARS, _TITLE_CHARS, _NAME_CHARS, _FIGURE_CHARS = 6, 4, 3, 2
STRONG, _TITLE, PLAIN = 2.0, 1.5, 0.5
"""How much names and figures tell, words with a capital, and long plain ones."""


class _Words(dict[bytes, str | None]):
    """Each token as a word, if it tells something; what was looked up is remembered."""

    def __missing__(self, token: bytes) -> str | None:
        word = token.strip(_EDGES).decode()
        if len(token) > _REMEMBERED_CHARS:
            return word if _weight(word) else None
        if len(self) >= _REMEMBERED:
            self.clear()
        found = self[token] = word if _WEIGHTS[word] else None
        return found


class _Weights(dict[str, float]):
    """How much each word tells; remembered, too."""

    def __missing__(self, word: str) -> float:
        weight = _weight(word)
        if len(word) <= _REMEMBERED_CHARS:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[word] = weight
        return weight


_WORDS, _WEIGHTS = _Words(), _Weights()


def _weight(word: str) -> float:
    if word.isalpha() and (word.islower() or word.istitle()):
        if word.istitle() and len(word) >= _TITLE_CHARS:
            return _TITLE
        return PLAIN if len(word) >= _LONG_CHARS else 0.0
    return STRONG if len(word) >= (_FIGURE_CHARS if word.isdecimal() else _NAME_CHARS) else 0.0


def _tokens(text: str) -> dict[bytes, None]:
    """Return what stands between spaces and signs, each once: a text repeats most of it."""
    return dict.fromkeys(_split(text))


def _split(text: str) -> list[bytes]:
    return text.encode("ascii", "replace").translate(_TO_WORDS).split()


def words_in_order(text: str) -> list[bytes]:
    """Return the words, names and paths of a text as they follow each other; what is not ASCII separates."""
    return list(map(bytes.strip, _split(text), repeat(_EDGES)))


def telling_words(text: str) -> Iterator[tuple[str, float]]:
    """Yield the words of a text that tell something, each once, and how much."""
    yield from _telling(text, _tokens(text))


def _telling(text: str, tokens: Iterable[bytes]) -> Iterator[tuple[str, float]]:
    for word in dict.fromkeys(map(_WORDS.__getitem__, tokens)):
        if word is not None:
            yield word, _WEIGHTS[word]
    if not text.isascii():
        for word in dict.fromkeys(foreign_words(text)):
            if (weight := _foreign_weight(word)) > 0:
                yield word, weight


def _foreign_weight(word: str) -> float:
    long = letters(word)
    if word[0].isupper() and long >= _TITLE_CHARS:
        return _TITLE
    return 2 * PLAIN if long > _LONG_CHARS and word[0] >= UNSPACED else PLAIN if long >= _LONG_CHARS else 0.0


def words_taken(
    texts: Sequence[str],
    results: Sequence[bool],
    agent: Sequence[bool],
    seen: Callable[[int, Collection[bytes]], object] = lambda _index, _tokens: None,
) -> dict[int, Wanted]:
    """Return for each result the words that the agent says after it, and nobody but results said before.

    A word that several results tell is taken from the last of them. A value that none tells as it is said is taken
    from where it stands in another form.

    Args:
        texts: what the turns of a row say.
        results: whether each is a result.
        agent: whether each is the agent's.
        seen: is given the place of each text, and all words, names and paths in it: they are found once.
    """
    said = _said_first(texts, results, agent, seen)
    told: dict[str, int] = {}
    taken_up = {word.encode() for word in said if word.isascii()}
    foreign = {word for word in said if not word.isascii()}
    for index, text in enumerate(texts):
        if results[index]:  # most of their words nobody takes up, so these are left out in one go
            tokens = _tokens(text)
            seen(index, tokens)
            found = taken_up.intersection(map(bytes.strip, tokens, repeat(_EDGES)))
            for word in chain(map(bytes.decode, found), foreign.intersection(foreign_words(text)) if foreign else ()):
                if index < said[word][0] and not (word.isdecimal() and _only_numbers_lines(word, text)):
                    told[word] = index
    taken: dict[int, dict[str, float]] = {}
    for word, (_, weight) in said.items():
        if word in told:
            taken.setdefault(told[word], {})[word] = weight
    untold = {word: index for word, (index, _) in said.items() if word not in told}
    for index, form in in_other_forms(texts, results, untold):
        taken.setdefault(index, {})[form] = max(STRONG, QUOTED * len(form))
    return dict(taken)


def _only_numbers_lines(figure: str, text: str) -> bool:
    """Whether a figure stands in a text only as the number of a line: what is said later is another."""
    at, numbers = text.find(figure), False
    for _ in range(_MOST_PLACES):
        if at < 0:
            return numbers
        end = at + len(figure)
        around = f"{text[at - 1 : at]}{text[end : end + 1]}"
        if is_line_number(text, at, end):
            numbers = True
        elif not (around.isascii() and any(map(str.isalnum, around))):  # else it is in a longer one
            return False
        at = text.find(figure, end)
    return False


def _said_first(
    texts: Sequence[str],
    results: Sequence[bool],
    agent: Sequence[bool],
    seen: Callable[[int, Collection[bytes]], object],
) -> dict[str, tuple[int, float]]:
    """Return the words that the agent says before all others but results: where, and how much they tell."""
    said: set[str] = set()
    read: set[bytes] = set()
    first: dict[str, tuple[int, float]] = {}
    for index, text in enumerate(texts):
        if results[index]:
            continue
        tokens = _tokens(text)
        seen(index, tokens)
        tokens |= _tokens(" ".join(as_data(text, figures=agent[index])))
        new = [token for token in tokens if token not in read]  # most were said before
        read.update(new)
        for word, weight in _telling(text, new):
            if word not in said:
                said.add(word)
                if agent[index]:
                    first[word] = index, weight
    return first


def words_used(head: Sequence[Turn], region: Sequence[Turn], tail: Sequence[Turn]) -> dict[int, Wanted]:
    """Return the words that the tail takes from each turn of a region, by its place, and the head does not say.

    With them go the blocks of lines that it quotes.
    """
    turns = (*head, *region, *tail)
    read = [Reader().said(turn) for turn in turns]
    texts = [said.whole for said in read]
    end = len(head) + len(region)
    quoted = [each for each in quotes(turns, [said.arguments for said in read]) if each.result < end <= each.turn]
    gone = [bool(turn.answers) or len(head) <= place < end for place, turn in enumerate(turns)]
    agent = [turn.role == "assistant" and not away for turn, away in zip(turns, gone, strict=True)]
    taken = words_taken(texts, gone, agent)
    for place, blocks in by_result(quoted, end).items():
        taken[place] = {**taken.get(place, {}), **blocks}
    return {place - len(head): words for place, words in taken.items() if len(head) <= place < end}
