"""Counting trajectories: the tokens that the trainer will see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trajcompress.tokens.chat_template import ChatTemplate, TemplateRefusedError
from trajcompress.tokens.tokenizer import LoadedTokenizer
from trajcompress.trajectory import Trajectory, Turn

CountMethod: TypeAlias = Literal["template", "content", "content_template_refused"]

IMAGE_TOKENS = 1024
"""The fixed charge for an image: about what a one-megapixel picture costs with the vision encoders in use."""


_NOTHING_KNOWN: Mapping[int, int] = {}


@dataclass(frozen=True, slots=True)
class Count:
    """Tokens of a trajectory.

    ``note`` holds the template's words where it refused the row; ``by_turn`` the tokens of each turn where the turns
    were what was counted.
    """

    tokens: int
    method: CountMethod
    note: str | None = None
    by_turn: tuple[int, ...] | None = None


class TokenCounter:
    """Counts with one tokenizer, by its chat template where it has one and ``content`` is not asked for."""

    def __init__(self, tokenizer: LoadedTokenizer, method: Literal["template", "content"] | None = None) -> None:
        self.tokenizer = tokenizer
        use_template = tokenizer.has_template and method != "content"
        self._template = ChatTemplate(tokenizer.hf) if use_template else None
        self.special_tokens = tokenizer.special_tokens

    @property
    def engine(self) -> str:
        """The engine that counts, as named in the metrics."""
        return self.tokenizer.engine.name

    def count_texts(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text.

        Raises:
            UncountableTextError: a text holds lone surrogates.
            EngineMismatchError: the fast engine was caught miscounting.
        """
        return self.tokenizer.engine.count(texts)

    def count_text(self, text: str) -> int:
        """Return the number of tokens of one text. Raises as :meth:`count_texts`."""
        return self.count_texts([text])[0]

    def count_turns(self, turns: Sequence[Turn]) -> list[int]:
        """Return the tokens of each turn's own text, reasoning, calls and images, whatever the template adds."""
        counts = self.count_texts([turn_text(turn) for turn in turns])
        return [count + IMAGE_TOKENS * turn.images for count, turn in zip(counts, turns, strict=True)]

    def count(self, trajectory: Trajectory, known: Mapping[int, int] = _NOTHING_KNOWN) -> Count:
        """Return the tokens of a trajectory as the trainer sees it. Raises as :meth:`count_texts`.

        ``known`` has the tokens of turns that were counted before, by ``id``; where turns are what is counted, only
        the others are counted again.
        """
        note = None
        if self._template is not None:
            try:
                text = self._template.render(trajectory)
            except TemplateRefusedError as error:
                note = str(error)
            else:
                images = IMAGE_TOKENS * sum(turn.images for turn in trajectory.turns)
                return Count(self.count_text(text) + images, "template")
        fresh = [turn for turn in trajectory.turns if id(turn) not in known]
        tokens = {**known, **dict(zip(map(id, fresh), self.count_turns(fresh), strict=True))}
        by_turn = tuple(tokens[id(turn)] for turn in trajectory.turns)
        return Count(sum(by_turn), "content" if note is None else "content_template_refused", note, by_turn)


def turn_text(turn: Turn) -> str:
    """Return what ``content`` counting counts of a turn: text, reasoning, and the calls that its text leaves out."""
    if not turn.calls and not turn.reasoning:
        return turn.text
    pieces = [turn.text]
    if turn.reasoning:
        pieces.append(turn.reasoning)
    pieces += [f'{{"name": "{call.name}", "arguments": {call.arguments}}}' for call in turn.calls if not call.in_text]
    return "\n".join(piece for piece in pieces if piece)
