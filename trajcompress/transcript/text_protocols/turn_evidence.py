"""What each turn of a row may be, by itself and beside the others: action, output, or a person's words. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from trajcompress.transcript.summary_marks import SUMMARY_PREFIX, without_summary
from trajcompress.transcript.text_protocols.acted import Acted, after_thought
from trajcompress.transcript.text_protocols.actions import EDIT, find_actions
from trajcompress.transcript.text_protocols.addressing import hands_over
from trajcompress.transcript.text_protocols.delegated import is_person
from trajcompress.transcript.text_protocols.feedback import asks_again, is_feedback
from trajcompress.transcript.text_protocols.labelled_actions import is_input
from trajcompress.transcript.text_protocols.moves import are_led_by, taken_up
from trajcompress.transcript.text_protocols.openings import begin_of, label_of, without_figures
from trajcompress.transcript.text_protocols.printed import Printed, is_output, printed
from trajcompress.transcript.text_protocols.prompts import has_form, prompt_of, sets_up, tells_of_answers
from trajcompress.transcript.text_protocols.replies import echoes, names_call
from trajcompress.transcript.trajectory import Turn

_PARTS = 3  # a thought, an action, its input
_NARRATES, _NARRATED_CHARS = "You ", 20  # of a game, to who plays it
_TELLING_CHARS = 20
_BRIEF_CHARS = 160
_LINE_CHARS = 60
_SOME = 2
_MANY = 3
_MOSTLY = 0.6
_MOSTLY_NAMED = 0.75


def may_answer(turn: Turn) -> bool:
    """Whether a turn may be what answers an action."""
    return turn.role == "user" and not turn.answers and not turn.text.startswith(SUMMARY_PREFIX)


class TurnEvidence:
    """What each turn of a row would be if the row were a text-protocol agent's; indices are those of its turns.

    ``acts`` grow while it is found out what the row's actions are. ``is_set_up``: the prompt tells of an environment
    that commands alone are given to, and nothing speaks against it.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.acts: dict[int, Acted] = {}  # turns with an action, if the next turn may answer it
        self.prints: dict[int, Printed] = {}
        for index in range(1, len(turns)):
            turn, before = turns[index], turns[index - 1]
            if not may_answer(turn) or before.role not in {"assistant", "user"}:
                continue
            self.prints[index] = printed(without_summary(turn.text))
            if before.role == "assistant" and (acted := acted_of(before) or _ended_by(turns, index - 1)):
                self.acts[index - 1] = acted
        self.is_set_up = False
        self.prompt, self.system = prompt_of(turns), prompt_of(turns, "system")
        self.said = Counter(said.begin for said in self.prints.values() if len(said.begin) > _TELLING_CHARS)

    @cached_property
    def answered(self) -> list[int]:
        """The assistant's turns that the next turn may answer."""
        return [i - 1 for i in self.prints if self.turns[i - 1].role == "assistant"]

    @cached_property
    def _openings(self) -> Counter[str]:
        """How often user turns begin so, whatever the figures."""
        return Counter(without_figures(self.turns[i].text) for i in self.prints)

    @cached_property
    def _signs(self) -> Counter[str]:
        """With what kinds of character user turns begin."""
        return Counter(begin_of(self.turns[i].text) for i in self.prints)

    @cached_property
    def _labels(self) -> Counter[str]:
        """Under which labels user turns stand."""
        return Counter(label_of(said.begin) for said in self.prints.values())

    def is_state(self, index: int) -> bool:
        """Whether a turn begins as others that are output: in the same words whatever the figures, or with a sign."""
        text = self.turns[index].text
        sign = begin_of(text)
        signed = not sign.isalnum() and self._signs[sign] > max(_SOME, _MOSTLY * (len(self.prints) - 1))
        return self.is_output(index) and (signed or self.comes_again(index))

    def comes_again(self, index: int) -> bool:
        """Whether several user turns begin in these words, whatever the figures."""
        return self._openings[without_figures(self.turns[index].text)] > _SOME

    def edits(self, index: int) -> bool:
        """Whether a turn follows edits, in the form that the prompt asks for."""
        return self.acts[index - 1].calls[-1].name == EDIT and "SEARCH" in self.prompt

    def is_line(self, index: int) -> bool:
        """Whether a turn is nothing but a short command."""
        text = self.turns[index].text.strip()
        return self.acts[index].start == 0 and len(text) <= _LINE_CHARS and "\n" not in text

    def hands_over(self, index: int) -> bool:
        """Whether the action of a turn speaks to a person, or gives the answer."""
        return hands_over(self.acts[index].calls[-1])

    def names_call(self, index: int) -> bool:
        """Whether a turn begins by naming what the action before it called, or with its command."""
        return names_call(self.turns[index].text, self.acts[index - 1].calls[-1])

    @cached_property
    def are_named_back(self) -> bool:
        """Whether most of what answers actions names what was called, in no person's words."""
        named = sum(self.names_call(i + 1) and not self.prints[i + 1].person for i in self.acts)
        return named >= max(_MANY, _MOSTLY_NAMED * len(self.acts))

    def is_told_again(self, index: int) -> bool:
        """Whether a turn repeats the answer that was handed in, or tells by which command to do so again."""
        text = self.turns[index].text
        again = acted_of(self.turns[index + 1]) if index + 1 < len(self.turns) else None
        return echoes(text, self.acts[index - 1].calls[-1].arguments) or (
            again is not None and asks_again(text, again.calls[-1].name.strip().lower())
        )

    def is_voiced(self, index: int) -> bool:
        """Whether a turn has the label of another, of whom the prompt tells, and who is not the one that asks."""
        label = label_of(self.turns[index].text)
        often = label != "" and self._labels[label] > 1
        return often and not is_person(label) and label.rstrip(":：").casefold() in self.prompt.casefold()

    def is_told_of(self, acts: Sequence[int]) -> bool:
        """Whether the prompt tells of an environment; what promises one is borne out by replies to some actions."""
        if tells_of_answers(self.prompt) or has_form(self.prompt):
            return True
        if not acts or not sets_up(self.prompt, self.system) or are_led_by(self.turns, acts):
            return False
        return taken_up((self.turns[i].text, self.turns[i + 1].text) for i in acts)

    def is_chatty(self, index: int) -> bool:
        """Whether a person may say a turn, and no harness does."""
        said = self.prints[index]
        return said.chatty and not is_feedback(said.begin)

    def is_repeated(self, index: int) -> bool:
        """Whether another turn begins in the same words, at length, or a harness does."""
        begin = self.prints[index].begin
        return self.said[begin] > 1 or is_feedback(begin)

    def is_foretold(self, index: int) -> bool:
        """Whether a turn says what the prompt quotes as a reply, or tells what is done in words of the prompt."""
        said = self.turns[index].text.strip()
        if said.startswith(_NARRATES) and said[:_NARRATED_CHARS] in self.prompt and len(said) >= _NARRATED_CHARS:
            return True
        quoted = (f"{begin}{said}{end}" for begin, end in ('""', "''", "``", "“”", "«»", "「」"))
        return len(said) <= _BRIEF_CHARS and any(map(self.prompt.__contains__, quoted))

    def is_output(self, index: int) -> bool:
        """Whether a turn has the shape of output, or is a value alone."""
        return is_output(self.prints[index], self.turns[index].text)

    def thought(self, index: int) -> str:
        """Return what a turn says before it acts, to whom it may be; not what it thinks in tags."""
        text = self.turns[index].text
        return text[after_thought(text) : self.acts[index].start].strip()


def acted_of(turn: Turn) -> Acted | None:
    """Return what a turn has executed: its own calls, or what its text has."""
    if turn.calls:
        return Acted(turn.calls, "named", 0)
    return find_actions(turn.text)


def _ended_by(turns: Sequence[Turn], index: int) -> Acted | None:
    """Return the action that a turn ends which stood in the turns of the assistant right before it."""
    if not is_input(turns[index].text):
        return None
    first = index
    while first > max(index - _PARTS, 0) and turns[first - 1].role == "assistant" and not turns[first - 1].calls:
        first -= 1
    acted = find_actions("\n".join(turn.text for turn in turns[first : index + 1])) if first < index else None
    return acted._replace(start=0) if acted else None
