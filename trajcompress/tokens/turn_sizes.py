"""What each turn of a counted row holds.

An estimate, and enough for planning: what is assembled is rendered and counted whole.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from trajcompress.tokens.counter import IMAGE_TOKENS, Count, TokenCounter
from trajcompress.transcript.trajectory import Trajectory, Turn

_MOST_FRAMING = 64
"""No chat template spends more tokens than this on framing one turn; what is more is something else."""
_MOST_FRAMING_CHARS = 4 * _MOST_FRAMING
_TELLING_CHARS = 80
"""A turn's first characters, which are found in a fraction of the time of all."""


def turn_sizes(trajectory: Trajectory, counter: TokenCounter, count: Count) -> Sequence[int]:
    """Return the tokens of each turn, with what the template writes around it.

    These are the tokens of a piece that holds one turn and nothing else. The texts of other turns are counted, and
    have an even share of what is left besides.

    Raises:
        UncountableTextError: the template leaves text out that holds lone surrogates.
        EngineMismatchError: the fast engine was caught miscounting.
    """
    if count.by_turn is not None:
        return count.by_turn
    turns = trajectory.turns
    sizes = _sizes_of_pieces(turns, count)
    if others := [index for index, turn in enumerate(turns) if index not in sizes]:
        own = counter.count_turns([turns[index] for index in others], count.known)
        besides = [json.dumps(trajectory.tools)] if trajectory.tools else []
        besides += [trajectory.system] if trajectory.system else []
        left = count.tokens - sum(sizes.values()) - sum(own) - sum(counter.count_texts(besides))
        framing = min(max(left // len(turns), 0), _MOST_FRAMING)
        sizes.update((index, size + framing) for index, size in zip(others, own, strict=True))
    return [sizes[index] for index in range(len(turns))]


def _sizes_of_pieces(turns: Sequence[Turn], count: Count) -> dict[int, int]:
    """Return the tokens of turns that have pieces of the row to themselves, by their places.

    A template that has each part of a turn tokenized alone writes it in several: those up to the next are its own.
    """
    pieces, known = count.pieces, count.known
    places = _pieces_of(turns, pieces)
    held = Counter(places)
    ends = [*places[1:], len(pieces)]
    return {
        index: sum(known[piece] for piece in pieces[place : max(end, place + 1)]) + IMAGE_TOKENS * turn.media
        for index, (turn, place, end) in enumerate(zip(turns, places, ends, strict=False))
        if held[place] == 1 and len(pieces[place]) <= _chars(turn) + _MOST_FRAMING_CHARS
    }


def _pieces_of(turns: Sequence[Turn], pieces: Sequence[str]) -> list[int]:
    """Return which piece holds each turn, one after the other; none where a turn is not found by how it begins."""
    places: list[int] = []
    place = at = 0
    for turn in turns:
        text = turn.text.strip() or (turn.calls[0].name if turn.calls else turn.reasoning.strip())
        begins = text[:_TELLING_CHARS]
        while place < len(pieces) and (found := pieces[place].find(begins, at)) < 0:
            place, at = place + 1, 0
        if place == len(pieces):
            return []
        places.append(place)
        at = found + len(text)
    return places


def _chars(turn: Turn) -> int:
    chars = len(turn.text) + len(turn.reasoning)
    for call in turn.calls:
        chars += 0 if call.in_text else len(call.name) + len(call.arguments)
    return chars
