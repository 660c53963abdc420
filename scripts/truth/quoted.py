"""What kept turns of the agent take from results: values and runs of words that nobody else said before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from truth.who import Story
from truth.words import words

RUN = 4
"""Words that two texts share one behind the other are no chance."""
MOST = 40  # of a turn
VALUE = re.compile(r"(?<![\w.-])(?=[\w.:/-]*\d)[A-Za-z0-9$][\w.,:/-]{2,40}(?<![.,:/-])|\b[a-z]\w*[_A-Z]\w+\b")
FIGURE = re.compile(r"(?<=\d),(?=\d)")


def quotes(story: Story, kept: set[str]) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield turn, kind (``value`` or ``words``) and words of what each kept turn of the agent takes from results.

    Args:
        story: the row as it was.
        kept: the texts of the agent's turns that stand in the output.
    """
    told: set[tuple[str, ...]] = set()  # by results
    said: set[tuple[str, ...]] = set()  # by anybody else
    for place, turn in enumerate(story.turns):
        text = turn.whole.replace("\\n", "\n")
        run = words(text)
        pieces = {tuple(run[at : at + RUN]) for at in range(len(run) - RUN + 1)}
        values = {tuple(words(FIGURE.sub("", value))) for value in VALUE.findall(text)}
        alone = {(word,) for word in run} | values
        if turn.kind == "observation":
            told |= (
                pieces | alone | {tuple(run[at : at + size]) for size in (2, 3) for at in range(len(run) - size + 1)}
            )
            continue
        if turn.assistant and turn.whole in kept:
            found = [("value", value) for value in values if value and value in told and value not in said]
            found += [("words", piece) for piece in _runs(run, told, said)]
            yield from ((place, kind, taken) for kind, taken in sorted(set(found))[:MOST])
        said |= pieces | alone


def _runs(run: list[str], told: set[tuple[str, ...]], said: set[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The longest runs of words that results told and nobody else said."""
    start: int | None = None
    for at in range(len(run) - RUN + 2):
        piece = tuple(run[at : at + RUN])
        fresh = len(piece) == RUN and piece in told and piece not in said
        if fresh and start is None:
            start = at
        elif not fresh and start is not None:
            yield tuple(run[start : at + RUN - 1])
            start = None


class Told:
    """What the output tells besides what the agent says in it."""

    def __init__(self, texts: list[str]) -> None:
        self._pieces: set[tuple[str, ...]] = set()
        for text in texts:
            run = words(text.replace("\\n", "\n"))
            for size in (1, 2, 3, RUN):
                self._pieces |= {tuple(run[at : at + size]) for at in range(len(run) - size + 1)}

    def tells(self, taken: tuple[str, ...]) -> bool:
        """Whether a value, or four fifths of a run of words, stand there."""
        if len(taken) <= RUN:
            return taken in self._pieces
        pieces = [taken[at : at + RUN] for at in range(len(taken) - RUN + 1)]
        return sum(piece in self._pieces for piece in pieces) >= 0.8 * len(pieces)
