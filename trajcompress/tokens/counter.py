"""Counting trajectories: the tokens that the trainer will see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trajcompress.tokens.chat_template import ChatTemplate, TemplateRefusedError
from trajcompress.tokens.tokenizer import LoadedTokenizer
from trajcompress.trajectory import Trajectory, Turn

CountMethod: TypeAlias = Literal["template", "content", "content_template_refused"]

IMAGE_TOKENS = 1024
"""The fixed charge for an image: about what a one-megapixel picture costs with the vision encoders in use."""


@dataclass(frozen=True, slots=True)
class Count:
    """Tokens of a trajectory. ``note`` holds the template's words where it refused the row."""

    tokens: int
    method: CountMethod
    note: str | None = None


class TokenCounter:
    """Counts with one tokenizer, by its chat template where it has one and ``content`` is not asked for."""

    def __init__(self, tokenizer: LoadedTokenizer, method: Literal["template", "content"] | None = None) -> None:
        self.tokenizer = tokenizer
        use_template = tokenizer.has_template and method != "content"
        self._template = ChatTemplate(tokenizer.hf) if use_template else None

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

    def count(self, trajectory: Trajectory) -> Count:
        """Return the tokens of a trajectory as the trainer sees it. Raises as :meth:`count_texts`."""
        note = None
        if self._template is not None:
            try:
                text = self._template.render(trajectory)
            except TemplateRefusedError as error:
                note = str(error)
            else:
                images = IMAGE_TOKENS * sum(turn.images for turn in trajectory.turns)
                return Count(self.count_text(text) + images, "template")
        tokens = sum(self.count_turns(trajectory.turns))
        return Count(tokens, "content" if note is None else "content_template_refused", note)


def turn_text(turn: Turn) -> str:
    """Return what ``content`` counting counts of a turn: text, reasoning, and the calls that its text leaves out."""
    pieces = [turn.text]
    if turn.reasoning:
        pieces.append(turn.reasoning)
    pieces += [f'{{"name": "{call.name}", "arguments": {call.arguments}}}' for call in turn.calls if not call.in_text]
    return "\n".join(piece for piece in pieces if piece)
