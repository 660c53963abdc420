"""Whether a row is a text-protocol agent's, and which of its user turns are observations then. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.summary_marks import tells_of_steps
from trajcompress.transcript.text_protocols.acted import Acted, without_end_token
from trajcompress.transcript.text_protocols.addressing import addresses, common_lead, hands_over
from trajcompress.transcript.text_protocols.announced import Announced, Marked, names_call, told_apart
from trajcompress.transcript.text_protocols.bare_commands import said_in_words, terse_action
from trajcompress.transcript.text_protocols.continued import continued
from trajcompress.transcript.text_protocols.delegated import delegated, named_alike
from trajcompress.transcript.text_protocols.feedback import ENDED, SUBMITTED, is_feedback, is_verdict
from trajcompress.transcript.text_protocols.moves import are_led_by, find_moves, taken_up
from trajcompress.transcript.text_protocols.observation_parts import LONG
from trajcompress.transcript.text_protocols.openings import begin_of, label_of, opening_of, without_figures
from trajcompress.transcript.text_protocols.printed import printed, shows_failure
from trajcompress.transcript.text_protocols.promised import is_relayed
from trajcompress.transcript.text_protocols.prompts import has_form, has_it_played, sets_up, tells_of_answers
from trajcompress.transcript.text_protocols.replies import (
    acknowledges,
    are_forms,
    is_played_by,
    is_slang,
    mirrors,
    quotes,
    settled,
)
from trajcompress.transcript.text_protocols.tasks import new_tasks
from trajcompress.transcript.text_protocols.turn_evidence import TurnEvidence, acted_of
from trajcompress.transcript.text_protocols.written_calls import FINAL
from trajcompress.transcript.trajectory import Turn

_NAME = late_re(r"[a-z][a-z0-9]{0,30}(?:[_-][a-zA-Z0-9]{1,30}|[A-Z][a-z0-9]{1,30}){1,8}")
_MARKS = ("[", "<", "`", "------", "The executed result")  # of what begins so, turn after turn, none is a person's
_MANY = 3
_MOSTLY = 0.75
_HALF = 0.5
_OFTEN = 0.4
_SELDOM = 0.2
_TELLING_CHARS = 20
_BRIEF_CHARS = 160
_FEW_CHARS = 6
_LINE_CHARS = 60
_SOME = 2


class Row(TurnEvidence):
    """The evidence of one row: what its turns tell together."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        super().__init__(turns)
        self.person: set[str] = set()  # labels by which whoever asks is named
        self.ends_apart = False  # whether the last turn is no line as those before it
        self.is_set_up = False  # whether prompts tell of an environment that commands alone are given to
        self.labels: Counter[str] = Counter()  # by which what answers certain actions begins
        self.begun: Counter[str] = Counter()  # how replies begin, whatever the figures
        self.is_played = has_it_played(self.prompt)
        if not self.is_played:
            self._add_announced(Announced(self.prompt))
        self.prints.update(settled(self.prints, self.acts))
        # What stands before the first reply is rules, examples, the task.
        self.first_reply = next((i for i, turn in enumerate(turns) if turn.role == "assistant"), len(turns))
        self.first_act = min(self.acts, default=len(turns))
        behind = [said for i, said in self.prints.items() if turns[i - 1].role == "assistant"]
        self.certain = sum(said.certain for said in behind)
        self.marked = sum(said.certain and said.begin.lstrip().startswith(_MARKS) for said in behind)

    def _add_announced(self, announced: Announced) -> None:
        """Read as actions what the prompt announced as such, where turns have them again and again."""
        turns = self.turns
        replies = [i for i in self.prints if turns[i - 1].role == "assistant"]
        if not replies:
            return
        said = {
            i: announced.action(without_end_token(turn.text))
            for i, turn in enumerate(turns)
            if turn.role == "assistant"
        }
        acting = {i: act for i, act in said.items() if act}
        written = [turns[i].text[act.start :].strip() for i, act in acting.items()]
        # A chat whose prompt says how to answer has nothing but such answers, or forms that are filled in.
        forms = any(text.startswith(("{", "<")) or ("\n" in text and not text.startswith("```")) for text in written)
        self.is_template = len({act.name for act in acting.values()}) == 1 and (forms or len(acting) == len(said))
        marks = {i - 1: acting[i - 1] for i in replies if i - 1 in acting}
        last = max(said)
        self.ends_apart = last not in acting or acting[last].name not in {acting[i].name for i in marks if i != last}
        asked = [turn for turn in turns[: min(replies, default=0)] if turn.role == "user"][-1:]
        fresh, self.person = told_apart(turns, replies, asked, [i for i, act in marks.items() if act.sure])
        answered = [i for i, act in marks.items() if act.name.lower() not in FINAL and i + 1 in fresh]
        told = [i for i in answered if announced.replies_with(turns[i + 1].text, turns[i].text)]
        told += [i for i in answered if names_call(turns[i + 1].text, marks[i].name)]
        told += [i for i in self.acts if i + 1 in fresh and announced.reports(turns[i + 1].text)]
        if not told and not self._act(marks, answered, asked):
            return
        for i in told:
            if i in self.acts:
                self.acts[i] = self.acts[i]._replace(sure="named")
        for i, act in marks.items():
            if i not in self.acts:
                self.acts[i] = Acted((act.call,), "named", act.start)
            elif self.acts[i].sure != "named":
                self.acts[i] = self.acts[i]._replace(sure="named")

    def _act(self, marks: Mapping[int, Marked], answered: Sequence[int], asked: Sequence[Turn]) -> bool:
        """Whether lines as a prompt announced them are actions, by what answers them."""
        said = [self.prints[i + 1] for i in answered]
        chatty = sum(self._is_chatty(i + 1) and not self.prints[i + 1].shaped for i in answered)
        if 2 * chatty <= len(said) and sum(marks[i].sure for i in answered) > 1:
            return True
        if len(said) <= 1:  # once is no protocol
            return False
        if 2 * chatty <= len(said) and self._is_told_of(answered):
            return True
        if self.is_template or chatty > (1 - _MOSTLY) * len(said):
            return False
        if any(printed(turn.text).shaped for turn in asked):  # each turn gives something to work on
            return False
        up = taken_up((self.turns[i].text, self.turns[i + 1].text) for i in answered)
        several = len({marks[i].name for i in answered}) > 1
        ends = up and several and self.ends_apart and not are_led_by(self.turns, answered)
        return ends or self._is_printed(answered, up=up)

    def _is_printed(self, answered: Sequence[int], *, up: bool) -> bool:
        """Whether most of what answers some lines is output, which takes these up, comes again, or ends with them."""
        said = [self.prints[i + 1] for i in answered]
        labels = Counter(opening_of(self.turns[i + 1].text) for i in answered)
        printed_so = sum(self._is_output(i + 1) or labels[opening_of(self.turns[i + 1].text)] > 1 for i in answered)
        persons = sum(each.person and not is_feedback(each.begin) for each in said)
        if 2 * printed_so < len(said) or persons > (1 - _MOSTLY) * len(said):
            return False
        begins = Counter(without_figures(each.begin, _FEW_CHARS) for each in said)
        return up or self.ends_apart or max(begins.values()) >= max(2, len(said) / 2)

    def observations(self) -> dict[int, Acted | None]:
        """Return the user turns that are observations, each with the action that it answers, if that can be read."""
        found = {index for index in self.prints if self._is_named(index)}
        found |= delegated(self.turns, (i for i in self.prints if self.turns[i - 1].role == "assistant"))
        found |= named_alike(self.turns, (i + 1 for i in self.acts), self._is_output)
        named = {i for i, acted in self.acts.items() if acted.sure == "named" and not self._hands_over(i)}
        named = {
            i for i in named if not (said := self.prints[i + 1]).person or said.pasted or is_feedback(said.begin)
        }
        if not found and self._fills_forms():
            named = set()
        alone = not found and not named
        if alone and not (self._is_labelled(list(self.acts)) if self.is_played else self._behaves()):
            return {}
        self._add_bare()
        if not alone:
            answered = self._answered()
            if not self.is_played and 2 * len(found | {i + 1 for i in named}) < len(answered):
                self._moves(answered)
        answering = found | {i + 1 for i in named}
        self.labels = Counter(label_of(self.prints[i].begin) for i in answering)
        found.update(i for i in self.prints if i not in found and self._answers(i, alone=alone))
        answers = [i for i in self.prints if i not in found and self._may_continue(i)]
        found |= continued(self.turns, found, answers, self._is_chatty)
        chats = is_relayed(self.prompt) or (not self.system and any(is_slang(self.turns[i].text) for i in found))
        if chats and not any(said.certain and not said.worded for said in self.prints.values()):
            return {}
        asked = new_tasks(self.turns, (index for index in found if not self.prints[index].said))
        return {index: self.acts.get(index - 1) for index in sorted(found - asked)}

    def _fills_forms(self) -> bool:
        """Whether all that is said are forms, to the last, and no output stands between: a chat's template."""
        turns = self.turns
        if turns[-1].role != "assistant" or sets_up(self.prompt, self.system):
            return False
        replies = [i + 1 for i in self.acts]
        if 2 * sum(self._is_output(i) or self._is_repeated(i) for i in replies) >= len(replies):
            return False
        said = [turn.text for turn in turns if turn.role == "assistant"]
        last = acted_of(turns[-1])
        answered = [(turns[i - 1].text, turns[i].text) for i in replies]
        return are_forms(said, answered, ends=last is not None and hands_over(last.calls[-1]))

    def _may_continue(self, index: int) -> bool:
        """Whether a turn may be an observation by what it has in common with others."""
        if self.turns[index - 1].role != "assistant" or opening_of(self.turns[index].text) in self.person:
            return False
        return index - 1 not in self.acts or not (self._hands_over(index - 1) or self._edits(index))

    def _is_named(self, index: int) -> bool:
        """Whether a turn has a form that environments alone write, behind somebody's action."""
        said = self.prints[index]
        if acted := self.acts.get(index - 1):
            return said.certain or (acted.sure == "named" and said.named and not said.person) or self._judges(index)
        before = self.turns[index - 1]
        acts = "```" in before.text or self.first_act < index or self.marked >= _MANY
        if not acts and said.certain and self.certain >= _MANY:
            acts = terse_action(before.text) is not None
        return said.certain and self.first_reply < index and acts

    def _judges(self, index: int) -> bool:
        """Whether a turn says what came of edits that the prompt asks for, of which chats have as many."""
        said = self.prints[index]
        return self._edits(index) and (
            is_feedback(said.begin) or (self._is_output(index) and (said.pasted or not said.person))
        )

    def _answers(self, index: int, *, alone: bool) -> bool:
        """Whether a turn is an observation, in a row that is a text-protocol agent's.

        Where actions stand ``alone``, without a name, what may be a person's words is taken for these.
        """
        acted, said = self.acts.get(index - 1), self.prints[index]
        if opening_of(self.turns[index].text) in self.person:
            return said.certain and acted is not None  # who asked speaks again
        brief = not self.is_set_up or len(self.turns[index].text) < _BRIEF_CHARS  # a game tells much of "you"
        person = (said.chatty if alone and brief else said.person) and not said.pasted
        person = person and not (acted and quotes(self.turns[index].text, self.turns[index - 1].text))
        if acted is not None and acted.sure == "named" and said.shaped and len(self.turns[index].text) > LONG // 2:
            person = False  # a page may end with words of anybody
        if acted is None:
            return self.turns[index - 1].role == "assistant" and self._follows_nothing(index, person=person)
        if self._edits(index):
            return False
        if self._hands_over(index - 1):
            return self._is_of_answer(index, person=person)
        return not person or is_feedback(said.begin) or said.begin.startswith(f"{acted.calls[-1].name}: ")

    def _follows_nothing(self, index: int, *, person: bool) -> bool:
        """Whether a turn behind one in which no action can be read is an observation."""
        said = self.prints[index]
        label = label_of(said.begin)
        if label and said.named and not person and self.first_act < index - 1 and self.labels[label] >= _MANY:
            return True  # as others that answer actions
        if not person and self.first_act < index - 1 and self._comes_again(index):
            return True
        if not self.is_set_up:
            return is_feedback(said.begin)
        if acknowledges(said.begin, self.turns[index - 1].text):
            return True
        return self.said[said.begin] > 1 or is_feedback(said.begin) or (said.shaped and not person)

    def _add_bare(self) -> None:
        """Read a turn that is a tool's name alone as a call, or what is no sentence where all turns are commands."""
        known = list(self.acts)
        least = max(_MANY, _MOSTLY * len(known))
        bare = sum(self.acts[i].sure != "named" and not self._thought(i) for i in known) >= least
        lines = {} if self.is_played else Counter(begin_of(self.turns[i].text) for i in known if self._is_line(i))
        begins = {begin for begin, times in lines.items() if times >= max(_SOME, _MOSTLY * len(known))}
        for index, said in self.prints.items():
            text = self.turns[index - 1].text
            if self.turns[index - 1].role != "assistant" or index - 1 in self.acts:
                continue
            answered = not said.chatty and (
                (bare and self._is_output(index))
                or (begin_of(text) in begins and (len(text) <= _LINE_CHARS or not begin_of(text).isalnum()))
            )
            if (answered or _NAME.fullmatch(text.strip())) and (acted := terse_action(text)):
                self.acts[index - 1] = acted

    def _is_of_answer(self, index: int, *, person: bool) -> bool:
        """Whether what follows an action that hands over is said of what it hands in."""
        said, text, call = self.prints[index], self.turns[index].text, self.acts[index - 1].calls[-1]
        name = call.name.strip().lower()
        if is_played_by(text) or self._is_voiced(index) or (name in SUBMITTED and self._is_told_again(index)):
            return True
        if person or name not in ENDED:
            return not person and said.named
        return said.named or self._is_state(index) or (name in SUBMITTED and is_verdict(said.begin))

    def _behaves(self) -> bool:
        """Whether the row goes as an agent's does that has no names for what it does: action, reply, and again."""
        turns = self.turns
        answered = self._answered()
        self.is_set_up = sets_up(self.prompt, self.system)
        if self.is_set_up:
            for i in answered:
                if i not in self.acts and (acted := terse_action(turns[i].text)):
                    self.acts[i] = acted
            if sum(self._is_foretold(i + 1) for i in answered) >= max(_MANY, _HALF * len(answered)):
                self.acts.update({i: said_in_words(turns[i].text) for i in answered if i not in self.acts})
        return self._acts_unnamed(answered) or self._moves(answered)

    def _acts_unnamed(self, answered: Sequence[int]) -> bool:
        """Whether forms that a chat may show as well are actions, by how many there are and what answers them."""
        turns = self.turns
        unnamed = [i for i, acted in self.acts.items() if acted.sure != "named"]
        if self._is_labelled(unnamed):
            return True
        lead = common_lead(list(map(self._thought, unnamed)))
        whole = [i for i in unnamed if self._thought(i) in {"", lead}]
        acts = [i for i in unnamed if not addresses(self._thought(i))]
        if len(acts) < _MOSTLY * len(answered):
            acts = whole
        bare = sum("```" not in turns[i].text for i in acts) > _HALF * len(acts)  # else a chat may show as much
        chatty = sum(self._is_chatty(i + 1) and not (self.is_set_up and self._is_output(i + 1)) for i in acts)
        if not acts or chatty > (_HALF if self.is_set_up and bare else 1 - _MOSTLY) * len(acts):
            return False
        if any(turn.role == "user" and tells_of_steps(turn.text) for turn in turns):
            return True  # the row was compressed, and most of what it shows is gone
        self.is_set_up = self.is_set_up and len(acts) >= _OFTEN * len(answered)
        if self.is_set_up:
            return self._is_borne_out(acts)
        alone = sum("```" not in turns[i].text for i in whole)
        mostly = len(whole) >= _MOSTLY * len(answered) or alone >= _MOSTLY * len(unnamed)
        if shows_failure(turns[answered[0] - 1].text):
            mostly = False  # who asks for help with what was printed shows what is printed then
        output = sum(
            self.prints[i + 1].shaped or ("```" not in turns[i].text and self._is_output(i + 1)) for i in acts
        )
        spoken = [i for i in answered if not self._is_repeated(i + 1)]
        often = len(acts) >= _OFTEN * len(spoken)
        return mostly and often and output >= (len(acts) / 2 if len(acts) >= _MANY else len(acts))

    def _is_borne_out(self, acts: Sequence[int]) -> bool:
        """Whether some actions are those that a prompt tells of, by how they are written or what answers them."""
        turns = self.turns
        asked = next((turn.text for turn in turns if turn.role == "user"), "")
        if printed(asked).person and mirrors((turns[i].text, turns[i + 1].text) for i in acts):
            return False
        if tells_of_answers(self.prompt):
            return True
        told = sum(self._is_foretold(i + 1) for i in acts)
        if told >= max(_MANY, _HALF * len(acts)):
            return True
        output = told + sum(self._is_output(i + 1) or self._is_repeated(i + 1) for i in acts)
        shown = sum(self.acts[i].sure == "shape" for i in acts)  # as a person may have asked for
        if not has_form(self.prompt):
            least = (_HALF if shown == len(acts) else _MOSTLY) * len(acts)
            return self._is_told_of(acts) or (output >= least and not printed(asked).shaped)
        return 2 * output >= len(acts) or 2 * shown <= len(acts)

    def _moves(self, answered: Sequence[int]) -> bool:
        """Whether turns are commands that have no form at all."""
        if sum(self._is_chatty(i + 1) for i in answered) > _SELDOM * len(answered):
            return False
        self.begun = Counter(without_figures(self.turns[i + 1].text) for i in answered)
        moves = find_moves(self.turns, answered, self._prints, self._is_chatty)
        self.acts.update({i: acted for i, acted in moves.items() if i not in self.acts})
        return bool(moves)

    def _prints(self, index: int) -> bool:
        begin = without_figures(self.turns[index].text)
        alike = "0" in begin and self.begun[begin] >= max(_MANY, self.begun.total() / 2)
        said = self.prints[index]
        return said.named or self._is_output(index) or alike or is_feedback(said.begin)

    def _is_labelled(self, acts: Sequence[int]) -> bool:
        """Whether most of what answers some actions begins with the same label: nobody pastes so, turn after turn."""
        replies = [said for i in acts if (said := self.prints[i + 1]).named and not said.person]
        labels = Counter(label for said in replies if (label := label_of(said.begin)))
        return max(labels.values(), default=0) >= max(_MANY, _MOSTLY * len(acts))
