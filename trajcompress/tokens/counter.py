"""Counting trajectories: the tokens that the trainer will see."""

from __future__ import annotations

import json
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from msgspec import structs

from trajcompress.errors import UncountableTextError
from trajcompress.settings.choices import ArgumentsAs, Counting, Target
from trajcompress.tokens.chat_template import ChatTemplate, TemplateRefusedError
from trajcompress.tokens.engines import FastEngine
from trajcompress.tokens.handed_over import handed_over
from trajcompress.tokens.llama_factory.template import LlamaFactoryTemplate
from trajcompress.tokens.pieces import CUT, cut, find_delimiters
from trajcompress.tokens.rendering import Renderer
from trajcompress.tokens.row_options import options_of
from trajcompress.tokens.tokenizer import LoadedTokenizer
from trajcompress.tokens.trainer_templates import chat_template_of
from trajcompress.transcript.targets import DEMANDS
from trajcompress.transcript.trajectory import Trajectory, Turn

CountMethod: TypeAlias = Literal[Counting, "content_template_refused", "content_framed"]
Known: TypeAlias = dict[str, int]
"""The tokens of texts that were counted: those of turns, and pieces of what the template makes of them."""

_BY_PARTS: frozenset[Target] = frozenset({"llama-factory", "mistral", "verl"})
"""Targets that tokenize parts of a row by themselves."""
_MESSAGE_FRAMING, _NAME_FRAMING, _REPLY_FRAMING = 4, 1, 3
"""What OpenAI puts around a message (its role among it), besides a name, and before the reply, as it says itself."""
IMAGE_TOKENS = 1024
"""The fixed charge for an image: about what a one-megapixel picture costs with the vision encoders in use."""


@dataclass(frozen=True, slots=True)
class Count:
    """Tokens of a trajectory.

    ``note`` holds the template's words where it refused the row, or why the count is an estimate. ``by_turn`` holds
    the tokens of each turn where the turns were what was counted, ``pieces`` what the template made of them where
    that was. ``known`` are the tokens of all texts that were counted, for counts of what holds many of them again.
    ``as_it_is``: the chat template took the row's own messages, none changed.
    """

    tokens: int
    method: CountMethod
    note: str | None = None
    by_turn: tuple[int, ...] | None = None
    pieces: tuple[str, ...] = field(default=(), repr=False)
    known: Known = field(default_factory=dict, repr=False, compare=False)
    as_it_is: bool = field(default=False, repr=False, compare=False)


class TokenCounter:
    """Counts with one tokenizer, by its chat template where it has one and ``content`` is not asked for."""

    def __init__(self, tokenizer: LoadedTokenizer, method: Counting | None = None) -> None:
        self.tokenizer = tokenizer
        use_template = tokenizer.has_template and method != "content"
        self._template = (
            (tokenizer.trainers or chat_template_of(tokenizer.hf, tokenizer.target)) if use_template else None
        )
        gaps = self._template.gaps() if self._template else ()
        self._is_framed = tokenizer.encoding is not None and method is None and not use_template
        self._delimiters = find_delimiters(tokenizer.hf, tokenizer.engine, gaps)
        self.special_tokens = tokenizer.special_tokens

    @property
    def engine(self) -> str:
        """The engine that counts, as named in the metrics."""
        return self.tokenizer.engine.name

    @property
    def renders(self) -> bool:
        """Whether a chat template is rendered to count."""
        return self._template is not None

    @property
    def takes_parts(self) -> bool:
        """Whether the content of a user may be a list of parts, as far as the chat template goes."""
        return not isinstance(self._template, ChatTemplate) or self._template.takes_parts

    @property
    def tools_as_prose(self) -> bool:
        """Whether LLaMA-Factory's template may write out names and parameters of tools, not their JSON."""
        return isinstance(self._template, LlamaFactoryTemplate) and self._template.tools_as_prose

    @property
    def hides_calls(self) -> bool:
        """Whether a chat template is rendered that shows no calls of tools."""
        return self.renders and self.arguments_wanted() == "unseen"

    def arguments_wanted(self) -> ArgumentsAs:
        """Return how calls hold their arguments so that the chat template renders them right."""
        return self._template.takes_arguments_as() if self._template else "text"

    def system_with_tools(self, system: str | None, tools: list[dict[str, Any]]) -> str | None:
        """Return the system prompt that is rendered without tools as this one is with them; None where none is."""
        return self._template.system_with_tools(system, tools) if self._template else None

    @property
    def hands_over(self) -> bool:
        """Whether the target hands its rows to the tokenizer's own chat template, which is rendered."""
        return isinstance(self._template, ChatTemplate) and DEMANDS[self.tokenizer.target].renders

    def refuses(self, trajectory: Trajectory) -> bool:
        """Tell whether the chat template refuses a row as the trainer would hand it over, in no other form.

        False where no chat template of a tokenizer is rendered.
        """
        if not self.hands_over:
            return False
        messages, tools = handed_over(trajectory, self.tokenizer.target)
        own = map(operator.is_, messages, (turn.raw for turn in trajectory.turns))
        known_plain = trajectory.is_plain and len(messages) == len(trajectory.turns) and all(own)
        options = options_of(trajectory.row, self.tokenizer.target)
        try:
            self._as_handed_over.render(messages, tools, options, known_plain=known_plain)
        except Exception:  # noqa: BLE001  a template is a program; whatever it raises is its refusal
            return True
        return False

    @cached_property
    def _as_handed_over(self) -> Renderer:
        return Renderer(self.tokenizer.hf)

    def count_texts(self, texts: Sequence[str], known: Known | None = None) -> list[int]:
        """Return the number of tokens of each text.

        Texts that are ``known`` are not counted again, and others are known from then on.

        Raises:
            UncountableTextError: a text holds lone surrogates.
            EngineMismatchError: the fast engine was caught miscounting.
        """
        if known is None:
            return self.tokenizer.engine.count(texts)
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(fresh, self.tokenizer.engine.count(fresh), strict=True))
        return [known[text] for text in texts]

    def count_text(self, text: str) -> int:
        """Return the number of tokens of one text. Raises as :meth:`count_texts`."""
        return self.count_texts([text])[0]

    def count_turns(self, turns: Sequence[Turn], known: Known | None = None) -> list[int]:
        """Return the tokens of each turn's own text, reasoning, calls and images, whatever the template adds."""
        counts = self.count_texts([turn_text(turn) for turn in turns], known)
        return [count + IMAGE_TOKENS * turn.media for count, turn in zip(counts, turns, strict=True)]

    def count(self, trajectory: Trajectory, known: Known | None = None) -> Count:
        """Return the tokens of a trajectory as the trainer sees it. Raises as :meth:`count_texts`.

        ``known`` are the texts of an earlier count, of a trajectory with many of the same turns. Of a preference pair
        the answer counts that makes the row longer.
        """
        known = {} if known is None else known
        count = self._count_whole(trajectory, known)
        split = trajectory.split
        if split is None or split.other is None:
            return count
        turns = (*trajectory.turns[: len(trajectory.turns) - trajectory.fixed_turns], *split.other_turns)
        other = self._count_whole(structs.replace(trajectory, turns=turns), known)
        return replace(count, tokens=max(count.tokens, other.tokens))

    def _count_whole(self, trajectory: Trajectory, known: Known) -> Count:
        """Count the turns of a trajectory."""
        if self._is_framed:
            return self._count_framed(trajectory, known)
        if self._template is None:
            return self._count_by_turn(trajectory, known, "content", self.tokenizer.estimate)
        if self.tokenizer.target == "trl" and trajectory.split and trajectory.split.is_text:
            return self._count_text_row(trajectory, known)
        try:
            if isinstance(self._template, ChatTemplate) and self._template.target == "template":
                texts, as_it_is = self._template.rendered(trajectory)
            else:
                texts, as_it_is = self._template.renderings(trajectory), False
        except TemplateRefusedError as error:
            if trajectory.system is None:
                return self._count_by_turn(trajectory, known, "content_template_refused", str(error))
            plain = structs.replace(trajectory, system=None)  # some take no system prompt at all
            without = self._count_whole(plain, known)
            return replace(without, tokens=without.tokens + self.count_texts([trajectory.system], known)[0])
        images = IMAGE_TOKENS * sum(turn.media for turn in trajectory.turns)
        most = max((self._count_rendered(text, images, known) for text in texts), key=lambda count: count.tokens)
        return replace(most, as_it_is=True) if as_it_is else most

    def _count_by_turn(
        self, trajectory: Trajectory, known: Known, method: CountMethod, note: str | None = None
    ) -> Count:
        by_turn = tuple(self.count_turns(trajectory.turns, known))
        system = self.count_texts([trajectory.system], known)[0] if trajectory.system else 0
        return Count(sum(by_turn) + system, method, note, by_turn, known=known)

    def _count_text_row(self, trajectory: Trajectory, known: Known) -> Count:
        """Count a prompt and a completion that are text: TRL renders no template, and puts the end token behind."""
        end: str = self.tokenizer.hf.eos_token or ""
        text = "".join(turn.text for turn in trajectory.turns)
        whole = self.count_texts([text if text.endswith(end) else text + end], known)[0]
        by_turn = self._count_by_turn(trajectory, known, "content")
        added: int = self.tokenizer.hf.num_special_tokens_to_add()
        return replace(by_turn, tokens=whole + added)

    def _count_framed(self, trajectory: Trajectory, known: Known) -> Count:
        """Count the turns exactly, and what OpenAI's API puts around them as it is told to."""
        plain = self._count_by_turn(trajectory, known, "content_framed", self.tokenizer.estimate)
        names = self.count_texts([turn.name or "" for turn in trajectory.turns], known)
        framing = [_MESSAGE_FRAMING + (name + _NAME_FRAMING if name else 0) for name in names]
        by_turn = tuple(map(sum, zip(plain.by_turn or (), framing, strict=True)))
        around = _REPLY_FRAMING + (_MESSAGE_FRAMING if trajectory.system else 0)
        if trajectory.tools:
            around += self.count_texts([json.dumps(trajectory.tools, ensure_ascii=False)], known)[0]
        return replace(plain, tokens=plain.tokens + sum(framing) + around, by_turn=by_turn)

    def _count_rendered(self, text: str, images: int, known: Known) -> Count:
        parts = text.split(CUT) if self.tokenizer.target in _BY_PARTS else [text]
        pieces = tuple(piece for part in parts if part for piece in cut(part, self._delimiters))
        tokens = self._count_pieces(text, pieces, known) + images
        return Count(tokens, "template", self.tokenizer.estimate, pieces=pieces, known=known)

    def _count_pieces(self, text: str, pieces: Sequence[str], known: Known) -> int:
        engine = self.tokenizer.engine
        if not known and isinstance(engine, FastEngine) and self.tokenizer.target not in _BY_PARTS:
            counts = engine.count_pieces(text, pieces, self._delimiters)
            known.update(zip(pieces, counts, strict=True))
            return sum(counts)
        try:
            return sum(self.count_texts(pieces, known))
        except UncountableTextError:
            return self.count_text(text)  # to say where in the whole it is


def turn_text(turn: Turn) -> str:
    """Return what ``content`` counting counts of a turn: text, reasoning, and the calls that its text leaves out."""
    if not turn.calls and not turn.reasoning:
        return turn.text
    pieces = [turn.text]
    if turn.reasoning:
        pieces.append(turn.reasoning)
    pieces += [f'{{"name": "{call.name}", "arguments": {call.arguments}}}' for call in turn.calls if not call.in_text]
    return "\n".join(piece for piece in pieces if piece)
