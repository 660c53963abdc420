"""Rendering rows as a trainer renders them, and judging what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from trajcompress.formats.turns import add_text
from trajcompress.results.check.seen import is_shown, unseen
from trajcompress.settings.choices import Target
from trajcompress.tokens.handed_over import handed_over
from trajcompress.tokens.message_by_message import MessageByMessage, Piece
from trajcompress.tokens.rendering import Renderer
from trajcompress.tokens.row_options import options_of
from trajcompress.tokens.template_messages import Arguments, ChatMessages, parsed, plain_message
from trajcompress.transcript.trajectory import Trajectory, Turn
from trajcompress.transcript.violation import NOTES, TEMPLATE_REFUSES, Violation

_SHORT = 64
"""Characters up to which a text may stand in a rendered row besides where it is said."""


class RowRenderer:
    """Renders rows with a tokenizer's chat template, from the messages that a trainer hands to it.

    With ``may_differ`` the trainer takes rows whose messages by themselves are not the whole.
    """

    def __init__(self, tokenizer: Any, target: Target, *, may_differ: bool = False) -> None:
        self._target = target
        self._may_differ = may_differ
        self._render = Renderer(tokenizer).render
        self._one_by_one = MessageByMessage(self._render) if target == "verl" else None

    def violations(self, trajectory: Trajectory) -> list[Violation]:
        """Return that the template refuses a row, or what it leaves out of it."""
        messages, tools = handed_over(trajectory, self._target)
        options = options_of(trajectory.row, self._target)
        try:
            text = self._render(messages, tools, options)
        except Exception as error:  # noqa: BLE001  a template is a program; whatever it raises is its refusal
            return [Violation(TEMPLATE_REFUSES, None, _first_line(error))]
        missed = self._confirmed(unseen(text, trajectory.turns, trajectory.system), trajectory)
        found = [*_unseen_tools(text, tools or []), *_printed_parts(text, messages), *missed]
        if self._one_by_one is None:
            return found
        pieces: list[Piece] = []
        try:
            pieces.extend(self._one_by_one.pieces(messages, tools, options))
        except Exception as error:  # noqa: BLE001  likewise
            return [*found, Violation("mask_prefix_mismatch", len(pieces), f"alone: {_first_line(error)}")]
        trained = unseen("".join(piece.text for piece in pieces), trajectory.turns, trajectory.system)
        shown = [each for each in found if each.kind not in NOTES]
        mismatch = () if self._may_differ else _mismatch(pieces, text)
        return [*shown, *mismatch, *(each for each in trained if each.kind in NOTES)]

    def behind_refusal(self, trajectory: Trajectory) -> list[Violation] | None:
        """Return what the template leaves out of a row that it refuses, in the first plainer form that it takes.

        None where it refuses these, too. They are those in which such rows are counted.
        """
        conversions: tuple[Arguments | None, ...] = (None, str, parsed)
        for convert in conversions:
            turns = tuple(_plain(turn, convert) for turn in trajectory.turns)
            found = self.violations(replace(trajectory, turns=turns))
            if all(each.kind != TEMPLATE_REFUSES for each in found):
                return found
        return None

    def _confirmed(self, missed: list[Violation], trajectory: Trajectory) -> list[Violation]:
        """Return what is missing also where no turn is so short that it stands elsewhere, as in the system prompt."""
        if all(each.kind in NOTES for each in missed):
            return missed
        longer = tuple(_lengthened(index, turn) for index, turn in enumerate(trajectory.turns))
        messages, tools = handed_over(replace(trajectory, turns=longer), self._target)
        try:
            text = self._render(messages, tools, options_of(trajectory.row, self._target))
        except Exception:  # noqa: BLE001  a template that takes the words of the row alone
            return missed
        again = {(each.kind, each.turn) for each in unseen(text, longer, trajectory.system)}
        return [each for each in missed if each.kind in NOTES or (each.kind, each.turn) in again]


def _plain(turn: Turn, convert: Arguments | None) -> Turn:
    return replace(turn, raw=plain_message(turn, turn.own_role or turn.role, convert))


def _lengthened(index: int, turn: Turn) -> Turn:
    """Return a short turn of words with a text behind it that stands nowhere else; any other as it is."""
    if not turn.text.strip() or len(turn.text) > _SHORT or "<" in turn.text or turn.calls:
        return turn
    return add_text(turn, after=f" {f'turn{index:07d}' * 4}")


def _unseen_tools(text: str, tools: Sequence[dict[str, Any]]) -> Iterator[Violation]:
    """Yield the first tool of another shape than the standard's whose name or description the template does not show.

    A template that shows no tools does so whatever their shape.
    """
    for index, tool in enumerate(tools):
        function = tool.get("function")
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            continue
        said = {**tool, **(function if isinstance(function, dict) else {})}
        named = {key: value for key, value in said.items() if key.startswith(("name", "description"))}
        for key, value in named.items():
            if isinstance(value, str) and not is_shown(value, text):
                yield Violation("tools_shape", None, f"{key} of tool {index} is nowhere in what is rendered")
                return


def _printed_parts(text: str, messages: ChatMessages) -> Iterator[Violation]:
    """Yield the first content that is a list of parts, and that the template writes as Python prints lists."""
    for index, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, list) and content and str(content) in text:
            yield Violation("content_shape", index, f"the chat template writes the list itself: {str(content)[:60]}")
            return


def _mismatch(pieces: Sequence[Piece], whole: str) -> Iterator[Violation]:
    """Yield the first turn from which on the messages by themselves are not the whole, and what they have there."""
    at = turn = 0
    for piece in pieces:
        if piece.cut_short or not whole.startswith(piece.text, at):
            detail = f"alone it is {_around(piece.text, whole[at : at + len(piece.text)])}"
            yield Violation("mask_prefix_mismatch", turn, detail)
            return
        at, turn = at + len(piece.text), turn + 1
    if at < len(whole):
        yield Violation("mask_prefix_mismatch", turn - 1, f"after it the whole has {whole[at : at + 40]!r}")


def _around(piece: str, whole: str) -> str:
    """Return where a piece begins to differ."""
    pairs: Iterator[tuple[str, str]] = zip(piece, whole, strict=False)
    at = next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(piece), len(whole)))
    return f"…{piece[max(0, at - 10) : at + 30]!r}, in the whole {whole[max(0, at - 10) : at + 30]!r}"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
