"""What the turns after a result bring in: what of it these take up tells the most of what came of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise
from types import MappingProxyType
from typing import TypeAlias

from trajcompress.facts.parts import Wanted
from trajcompress.facts.reading import readable
from trajcompress.facts.taken import PLAIN, STRONG, telling_words, words_in_order
from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.transcript.trajectory import Turn

Later: TypeAlias = Wanted
"""Words that the next turns of the assistant bring in, and how much each tells of where it stands."""

NOTHING_LATER: Later = MappingProxyType({})

_TURNS = 2  # of the assistant
_READ_AHEAD = 8  # turns
_TURN_CHARS = 3_000
_MOST_WORDS = 60
_PATH_PARTS = 2
_WORD, _DIGIT = late_re(r"[\w.@/-]+", re.ASCII), re.compile(rb"\d")
_STANDS = re.compile(rb"\x01+")  # of a byte for each pair of words
_LINES = late_re(r"\b[Ll]ines?\s{1,4}(\d{1,6})(?:\s{0,2}(?:-|–|to|and)\s{0,2}(\d{1,6}))?\b")
_NAMING_LINES = "ine"  # without it there is none; quicker to see than to match
_FEW_LINES = 8  # are told each
_NUMBERS = ("{}", "{}→", "{} |", "{}\t", "{}:")  # of a line that is named, and as listings have it
_OPENED = late_re(r"\"view_range\": ?\[(\d{1,6}), ?(\d{1,6})\]|\bsed -n ['\"]?(\d{1,6}),(\d{1,6})p")
_OPENERS = ("view_range", "sed -n")
_OPENED_LINES = 60  # matches of a search within so many were what is looked at
_CODE = late_re(r"(?<!`)`([^`\n]{1,120})`(?!`)")
_LEAST_CODE = 3  # characters of code, but for spaces
_LEAST_WORDS, _MOST_RUNS = 4, 40
_RESULT_CHARS = 60_000


class _Spoken:
    """What a turn says and passes to tools, as far as it is read; its words, and which of them follow each other."""

    def __init__(self, turn: Turn) -> None:
        calls = () if turn.in_text else turn.calls
        said = (turn.text, *(part for call in calls for part in (call.name, call.arguments)))
        self.text = readable("\n".join(part[:_TURN_CHARS] for part in said)[: 2 * _TURN_CHARS])

    @cached_property
    def words(self) -> list[bytes]:
        """Its words in their order."""
        return words_in_order(self.text)

    @cached_property
    def pairs(self) -> set[tuple[bytes, bytes]]:
        """Words that follow each other."""
        return set(pairwise(self.words))

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Where each word begins and ends."""
        return [match.span() for match in _WORD.finditer(self.text)]

    @cached_property
    def code(self) -> Sequence[str]:
        """What it quotes as code; names alone are among its words."""
        found = (code[1].strip() for code in _CODE.finditer(self.text))
        return list(
            islice((code for code in found if len(code) >= _LEAST_CODE and not code.isidentifier()), _MOST_RUNS)
        )

    @cached_property
    def lines_named(self) -> Sequence[str]:
        """The numbers of lines that it names, of a few also those between; of what it opens as a search has them."""
        found: list[str] = []
        for opened in _OPENED.finditer(self.text) if holds_any(self.text, _OPENERS) else ():
            first, last = int(opened[1] or opened[3]), int(opened[2] or opened[4])
            found += (f"{line}:" for line in range(first, last + 1) if last - first <= _OPENED_LINES)
        for lines in _LINES.finditer(self.text) if _NAMING_LINES in self.text else ():
            first, last = int(lines[1]), int(lines[2] or lines[1])
            few = range(first, last + 1) if last - first < _FEW_LINES else (first, last)
            found += [number.format(line) for line in few for number in _NUMBERS]
        return found


class LaterReader:
    """Reads what the turns after a result bring in; each turn once."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        """Take the turns of a row, or of a region."""
        self._turns = turns
        self._words: dict[int, dict[str, float]] = {}
        self._each: dict[int, _Spoken] = {}
        self._after: dict[int, Later] = {}

    def after(self, index: int) -> Later:
        """Return what the assistant says and passes to tools next, but for the words of the action before.

        Of its last turn that is what it says as it stands in the result. What the action before names by the
        numbers of lines is looked for, so it is taken up; where nothing comes after the result, all that it names.
        """
        if index not in self._after:
            self._after[index] = self._taken_up(index)
        return self._after[index]

    def _taken_up(self, index: int) -> Later:
        ahead, acted = self._ahead(index), self._acted(index)
        if not ahead:
            return self._looked_for(index, acted)
        said = dict(self._said(ahead[0]))
        for at in ahead[1:]:
            said |= self._said(at)
        for word in self._said(acted).keys() & said.keys() if acted is not None else ():
            del said[word]
        before = ""
        if acted is not None:
            before = self._spoken(acted).text
            said |= dict.fromkeys(self._spoken(acted).lines_named, STRONG)  # what it looks for
        shown = self._turns[index].text[:_RESULT_CHARS]
        spoken = map(self._spoken, dict.fromkeys((*ahead, self._last)))
        as_it_stands = _said_as_in(list(spoken), shown)[:_MOST_RUNS]
        return {**said, **dict.fromkeys((word for word in as_it_stands if word not in before), STRONG)}

    def _looked_for(self, index: int, acted: int | None) -> Later:
        """Return what the agent names in the action itself, also in plain words, where it says nothing after it."""
        if acted is None or index == len(self._turns):
            return NOTHING_LATER
        spoken = self._spoken(acted)
        as_it_stands = _said_as_in([spoken], self._turns[index].text[:_RESULT_CHARS])[:_MOST_RUNS]
        words = dict(islice(telling_words(spoken.text), _MOST_WORDS))
        return {**dict.fromkeys(words, STRONG), **self._said(acted), **dict.fromkeys(as_it_stands, STRONG)}

    def _spoken(self, index: int) -> _Spoken:
        if index not in self._each:
            self._each[index] = _Spoken(self._turns[index])
        return self._each[index]

    @cached_property
    def _last(self) -> int:
        """The last turn of the assistant: it reports what was found on the way."""
        return max(at for at, turn in enumerate(self._turns) if turn.role == "assistant")

    def _acted(self, index: int) -> int | None:
        return next((at for at in range(index - 1, -1, -1) if self._turns[at].role == "assistant"), None)

    def _ahead(self, index: int) -> list[int]:
        last = min(index + 1 + _READ_AHEAD, len(self._turns))
        return [at for at in range(index + 1, last) if self._turns[at].role == "assistant"][:_TURNS]

    def _said(self, index: int) -> dict[str, float]:
        """Return the names and figures of a turn, with how much they tell; of paths also how they end.

        Another folder may be that from which they are named elsewhere.
        """
        if index not in self._words:
            spoken = self._spoken(index)
            weighed = (word for word in telling_words(spoken.text) if word[1] > PLAIN)
            found = self._words[index] = dict(islice(weighed, _MOST_WORDS))
            found |= dict.fromkeys(spoken.lines_named, STRONG)
            for path in [word for word in found if "/" in word]:
                ends = path.split("/")[-_PATH_PARTS:]
                if "." in ends[-1]:
                    found[f"{path.rpartition('/')[0]}:"] = STRONG  # as `ls -R` names the folder that it lists
                found |= {"/".join(ends[at:]): STRONG for at in range(len(ends)) if _is_named("/".join(ends[at:]))}
        return self._words[index]


def _said_as_in(spoken: Sequence[_Spoken], result: str) -> list[str]:
    """Return what is said as it stands in a result: code, and runs of four or more words, or of two with a figure.

    Of what stands there with other spaces or quotes the line.
    """
    pairs = set().union(*(each.pairs for each in spoken))
    stands = pairs.intersection(pairwise(words_in_order(result)))  # in one go, as a result may be long
    said = [code for each in spoken for code in each.code]
    said += [run for each in spoken if stands for run in _runs(each, stands)]
    found = {text: text in result for text in said}
    other = [text for text, stands_there in found.items() if not stands_there]
    return [text for text in said if found[text]] + _lines_with(other, result)


def _lines_with(said: Iterable[str], result: str) -> list[str]:
    """Return the lines of a result that have something but for the spaces within it, and the kind of its quotes."""
    short = map(_squeezed, said)
    bare = list(islice((text for text in short if len(text) >= _LEAST_CODE and not text.isalnum()), _MOST_RUNS))
    squeezed = _squeezed(result) if bare else ""
    lines = [squeezed.count("\n", 0, at) for text in bare if (at := squeezed.find(text)) >= 0]
    whole = result.split("\n") if lines else []
    return [whole[line].strip() for line in dict.fromkeys(lines)]


def _squeezed(text: str) -> str:
    """Return a text without the spaces within its lines, and with one kind of quotes, as they mean the same."""
    return text.replace(" ", "").replace("\t", "").replace('"', "'")


def _runs(spoken: _Spoken, stands: Collection[tuple[bytes, bytes]]) -> Iterator[str]:
    words = spoken.words
    for pairs in _STANDS.finditer(bytes(map(stands.__contains__, pairwise(words)))):
        first, last = pairs.start(), pairs.end() + 1
        if last - first >= _LEAST_WORDS or any(map(_DIGIT.search, words[first:last])):
            yield spoken.text[spoken.spans[first][0] : spoken.spans[last - 1][1]].rstrip(".-")


def _is_named(end: str) -> bool:
    return "." in end or "/" in end
