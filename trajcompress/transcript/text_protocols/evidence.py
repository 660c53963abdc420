"""Whether a row is a text-protocol agent's, and which of its user turns are observations then. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from trajcompress.transcript.text_protocols.acted import Acted
from trajcompress.transcript.text_protocols.actions import shown_code
from trajcompress.transcript.text_protocols.announced import Announced
from trajcompress.transcript.text_protocols.announced_actions import add_announced
from trajcompress.transcript.text_protocols.bare_commands import is_code, terse_action
from trajcompress.transcript.text_protocols.continued import continued
from trajcompress.transcript.text_protocols.delegated import delegated, named_alike
from trajcompress.transcript.text_protocols.feedback import ENDED, SUBMITTED, is_feedback, is_verdict
from trajcompress.transcript.text_protocols.observation_parts import LONG
from trajcompress.transcript.text_protocols.openings import form_of, label_of, opening_of
from trajcompress.transcript.text_protocols.printed import begins_spoken, is_named_person
from trajcompress.transcript.text_protocols.prompts import has_it_played, is_relayed
from trajcompress.transcript.text_protocols.replies import (
    acknowledges,
    gives_result_of,
    is_played_by,
    is_slang,
    quotes,
    ran_words,
    settled,
)
from trajcompress.transcript.text_protocols.tasks import new_tasks
from trajcompress.transcript.text_protocols.turn_evidence import TurnEvidence
from trajcompress.transcript.text_protocols.unnamed_actions import (
    add_bare,
    add_moves,
    behaves,
    fills_forms,
    is_labelled,
)
from trajcompress.transcript.trajectory import Turn

_MARKS = ("[", "<", "`", "------", "The executed result")  # of what begins so, turn after turn, none is a person's
_ACTION_ENDS = ("</answer>", "</action>")  # in which agents that are trained in games put their moves
_MANY = 3
_BRIEF_CHARS = 160
_LINE_CHARS = 60


class Row(TurnEvidence):
    """The evidence of one row: what its turns tell together."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        super().__init__(turns)
        self._is_played = has_it_played(self.prompt)
        self._person = set() if self._is_played else add_announced(self, Announced(self.prompt))
        self.prints.update(settled(self.prints, self.acts))
        # What stands before the first reply is rules, examples, the task.
        self._first_reply = next((i for i, turn in enumerate(turns) if turn.role == "assistant"), len(turns))
        self._first_act = min(self.acts, default=len(turns))
        behind = [self.prints[i + 1] for i in self.answered]
        self._unmistakable = sum(said.unmistakable for said in behind)
        self._certain = sum(said.certain for said in behind)
        self._marked = sum(said.certain and said.begin.lstrip().startswith(_MARKS) for said in behind)
        self._answer_labels: Counter[str] = Counter()  # of what answers certain actions

    def observations(self) -> dict[int, Acted | None]:
        """Return the user turns that are observations, each with the action that it answers, if that can be read.

        Nothing where the row is no text-protocol agent's.
        """
        found = self._known_by_form()
        named = {i + 1 for i, acted in self.acts.items() if acted.sure == "named" and self._is_answered(i)}
        if not found and fills_forms(self):
            named = set()
        alone = not found and not named
        if alone and not (is_labelled(self, self.acts) if self._is_played else behaves(self)):
            return {}
        add_bare(self, played=self._is_played)
        answering = found | named
        if not alone and not self._is_played and 2 * len(answering) < len(self.answered):
            add_moves(self)
        self._answer_labels = Counter(label_of(self.prints[i].begin) for i in answering)
        found.update(i for i in self.prints if i not in found and self._answers(i, alone=alone))
        others = [i for i in self.prints if i not in found and self._may_continue(i)]
        found |= continued(self.turns, found, others, self.is_chatty, self.acts)
        found.update(i for i in self.prints if i - 1 in found and self._goes_on_printed(i))
        return {} if self._is_chat(found) else self._without_tasks(found)

    def _known_by_form(self) -> set[int]:
        """Return the turns that are observations by how they are written, or whose they are."""
        found = {i for i in self.prints if self._is_named(i)}
        found |= self._known_to_answer()
        found |= delegated(self.turns, (i + 1 for i in self.answered))
        return found | named_alike(self.turns, (i + 1 for i in self.acts), self.is_output)

    def _known_to_answer(self) -> set[int]:
        """Return the turns that could not be said unless what stands before them had been run."""
        exchanges = {i + 1: (self.turns[i + 1].text, self.turns[i].text) for i in self.answered}
        found = {i for i, (reply, said) in exchanges.items() if ran_words(reply, said) or acknowledges(reply, said)}
        if found or self._is_judged():  # so all that is said is taken for an action
            return found | {i for i in exchanges if not self.prints[i].person}
        return {i for i, (reply, said) in exchanges.items() if gives_result_of(reply, said)}

    def _is_judged(self) -> bool:
        """Whether most turns are code or commands alone, and most replies to them what a harness says of such."""
        judged = sum(is_feedback(self.prints[i + 1].begin) for i in self.answered)
        if judged < _MANY or 2 * judged < len(self.answered):
            return False
        return all(terse_action(self.turns[i].text) is not None for i in self.answered)

    def _is_answered(self, act: int) -> bool:
        """Whether no person answers an action, nor is asked."""
        said = self.prints[act + 1]
        return not self.hands_over(act) and (not said.person or said.pasted or is_feedback(said.begin))

    def _is_chat(self, found: set[int]) -> bool:
        """Whether people answer after all: they relay what is said, or write as only they do, and nothing prints."""
        chats = is_relayed(self.prompt) or (not self.system and any(is_slang(self.turns[i].text) for i in found))
        return chats and not any(said.certain and not said.worded for said in self.prints.values())

    def _without_tasks(self, found: set[int]) -> dict[int, Acted | None]:
        """Return observations with their actions, less those in which the next task stands."""
        asked = new_tasks(self.turns, (i for i in found if not self.prints[i].said))
        return {i: self.acts.get(i - 1) or self._brief_act(i - 1) for i in sorted(found - asked)}

    def _brief_act(self, index: int) -> Acted | None:
        """Read a turn that is one short line as a command, if an observation answers it in whatever form."""
        turn = self.turns[index]
        text = turn.text.strip()
        is_line = turn.role == "assistant" and 0 < len(text) <= _LINE_CHARS and "\n" not in text
        return terse_action(text) if is_line else None

    def _may_continue(self, index: int) -> bool:
        """Whether a turn may be an observation by what it has in common with others."""
        text = self.turns[index].text
        if self.turns[index - 1].role != "assistant" or opening_of(text) in self._person or is_named_person(text):
            return False
        return index - 1 not in self.acts or not (self.hands_over(index - 1) or self.edits(index))

    def _goes_on_printed(self, index: int) -> bool:
        """Whether a turn right behind an observation is one, too: of the next action of the same turn."""
        if self.turns[index].text == self.turns[index - 1].text:  # a record has it twice
            return True
        form = form_of(self.prints[index].begin)
        return form != "" and form == form_of(self.turns[index - 1].text) and not self.prints[index].person

    def _is_named(self, index: int) -> bool:
        """Whether a turn has a form that environments alone write, behind somebody's action."""
        said = self.prints[index]
        if acted := self.acts.get(index - 1):
            return said.certain or (acted.sure == "named" and said.named and not said.person) or self._judges(index)
        before = self.turns[index - 1]
        others = self._unmistakable - (before.role == "assistant")  # which counts those behind a turn of its own
        if said.unmistakable and others:
            return True
        acts = "```" in before.text or self._first_act < index or self._marked >= _MANY or is_code(before.text)
        acts = acts or before.text.rstrip().endswith(_ACTION_ENDS)
        if not acts and said.certain and self._certain >= _MANY:
            acts = terse_action(before.text) is not None
        return said.certain and self._first_reply < index and acts

    def _judges(self, index: int) -> bool:
        """Whether a turn says what came of edits that the prompt asks for, of which chats have as many."""
        said = self.prints[index]
        return self.edits(index) and (
            is_feedback(said.begin) or (self.is_output(index) and (said.pasted or not said.person))
        )

    def _answers(self, index: int, *, alone: bool) -> bool:
        """Whether a turn is an observation, in a row that is a text-protocol agent's.

        Where actions stand ``alone``, without a name, what may be a person's words is taken for these.
        """
        acted, said = self.acts.get(index - 1), self.prints[index]
        if opening_of(self.turns[index].text) in self._person:
            return said.certain and acted is not None  # who asked speaks again
        brief = not self.is_set_up or len(self.turns[index].text) < _BRIEF_CHARS  # a game tells much of "you"
        person = (said.chatty if alone and brief else said.person) and not said.pasted
        person = person and not (acted and quotes(self.turns[index].text, self.turns[index - 1].text))
        if acted is not None and acted.sure == "named" and len(text := self.turns[index].text) > LONG // 2:
            person = person and not said.shaped and begins_spoken(text)  # a page may end with words of anybody
        if acted is None:
            return self.turns[index - 1].role == "assistant" and self._follows_nothing(index, person=person)
        if self.edits(index):
            return False
        if self.hands_over(index - 1):
            return self._is_of_answer(index, person=person)
        named = self.are_named_back and self.names_call(index)
        return not person or named or is_feedback(said.begin) or said.begin.startswith(f"{acted.calls[-1].name}: ")

    def _follows_nothing(self, index: int, *, person: bool) -> bool:
        """Whether a turn behind one in which no action can be read is an observation."""
        said = self.prints[index]
        label = label_of(said.begin)
        if not person and self._first_act < index - 1:
            if label and said.named and self._answer_labels[label] >= _MANY:
                return True  # as others that answer actions
            if self.comes_again(index):
                return True
        if not self.is_set_up:
            shows = not person and self.is_output(index) and shown_code(self.turns[index - 1].text) is not None
            return shows or is_feedback(said.begin)
        if acknowledges(said.begin, self.turns[index - 1].text):
            return True
        return self.said[said.begin] > 1 or is_feedback(said.begin) or (said.shaped and not person)

    def _is_of_answer(self, index: int, *, person: bool) -> bool:
        """Whether what follows an action that hands over is said of what it hands in."""
        said, text, call = self.prints[index], self.turns[index].text, self.acts[index - 1].calls[-1]
        name = call.name.strip().lower()
        if is_played_by(text) or self.is_voiced(index) or (name in SUBMITTED and self.is_told_again(index)):
            return True
        if person or name not in ENDED:
            return not person and said.named
        return said.named or self.is_state(index) or (name in SUBMITTED and is_verdict(said.begin))
