"""Observations of text-protocol agents: which user turns are what an environment printed. Pure.

An agent without tool roles writes its action into its own turn, and the environment answers in the next user turn.
Whether a row is of that kind is decided from the whole of it, as a person may well paste output, and an assistant
show code: a form of action or observation that no chat has; or commands alone, turn after turn, answered by what no
person says. In a row of that kind the user turn behind an action is an observation, unless it reads like a person.

What is recognised stands in the turns themselves, as ``Turn.calls`` and ``Turn.answers``, with ``Turn.in_text`` set;
all that comes after reads these. Where nothing is certain, a user turn is a request: a request that is lost is worse
than an observation that is kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.actions import Acted, find_actions, shown_code, terse_action
from trajcompress.transcript.observation_parts import in_observation
from trajcompress.transcript.printed import Printed, printed
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX, tells_of_steps, without_summary
from trajcompress.transcript.trajectory import Turn
from trajcompress.transcript.written_calls import FINAL

Observations: TypeAlias = str | re.Pattern[str]
"""``auto`` recognises text protocols, ``tool`` reads tool roles alone, a pattern matches user turns besides."""

_SETTING_CHARS = 12_000
_SETTING = late_re(
    r"\b(?:(?:interact(?:ing|s)?|operat\w+) with (?:\w+[ -]){1,5}?(?:environment|computer|shell|terminal|system"
    r"|database|browser|website|game|simulator|interpreter|household|shop)"
    r"|(?:issue|output|give|provide|respond with|reply with|return|write|generate|take|execute|produce)"
    r" (?:only |exactly |just |a |an |your |the next |next |at most )*(?:one |single )(?:\w+ ){0,3}?(?:command"
    r"|action|code block|query|bash|step)"
    r"|(?:command|action|code|query)s? (?:per|each|every) (?:turn|round|step|response)"
    r"|observations?\b[^.\n]{0,60}\b(?:action|respond|environment|receive|given|returned)|(?:receive|given?|see"
    r"|get) (?:you )?(?:an |the )?observation"
    r"|every round|(?:guess|move|bid|command|action)\b[^.\n]{0,60}\bbrackets"
    r"|text[- ](?:based )?(?:adventure|game)|submit your (?:move|action)|action space|(?:available"
    r"|admissible|valid|possible) (?:actions|commands)|actions? you (?:may|can) take"
    r"|(?:special|command[- ]line|bash) interface|(?:linux|bash|unix|ubuntu) (?:terminal|shell|os|environment)"
    r"|(?:will be|gets?|are) executed (?:in|by|on|and)|(?:thought|act|action)s? ?[/,:] ?(?:action|obs|observation)"
    r"|(?:following|these|access to) (?:\w+ ){0,2}(?:tools|functions|commands|actions|apis)\b)",
    re.IGNORECASE,
)
_ADDRESSES = late_re(
    r"\b(?:you|your|yours|you're|you'll|try|please|hope|feel free|let me know|here'?s (?:how|a|an|the|some))\b|\?",
    re.IGNORECASE,
)
_NAME = late_re(r"[a-z][a-z0-9]{0,30}(?:[_-][a-zA-Z0-9]{1,30}|[A-Z][a-z0-9]{1,30}){1,8}")
_LABEL = late_re(r"\s{0,20}[^\W\d_][^\n:：]{1,40}[:：](?=\s)")
_MANY = 3
_MOSTLY = 0.75
_OFTEN = 0.4
_TELLING_CHARS = 20
_BEGIN_CHARS = 12
_FEEDBACK = late_re(
    r"(?:your (?:last |previous )?(?:output|response|command|action|message|proposed|edit|input|code)\b.{0,80}\b"
    r"(?:not|error|invalid|fail\w*|empty|could|introduced|incorrect)|invalid (?:action|format|command|response|json)"
    r"|(?:no|exactly one|more than one|multiple) (?:valid |\w{2,6} )?(?:action|command|code|code block"
    r"|function|tool)s?\b"
    r"|format(?:ting)? error|parsing error|failed to (?:match|parse)|you did not use|fix any \w+ errors|(?:please"
    r"|must|should) (?:always )?(?:include|provide|respond|output|use|continue)\b.{0,80}"
    r"\b(?:exactly one|one of|action|command|format|block|tool|task)s?"
    r"|(?:nothing|no) (?:happens|happened|effect|output)\b)",
    re.IGNORECASE | re.DOTALL,
)

_MYSELF = late_re(r"\b(?:I|I'd|I'm|I've|I'll|my|me|mine)\b")


_DEMONSTRATION = late_re(
    r"\b(?:demonstrations?|worked example|examples? (?:of|trajector\w+|interaction)"
    r"|here (?:is|are) (?:an? |some |two |three )?"
    r"(?:\w+ )?(?:examples?|demonstrations?)|few[- ]shot)",
    re.IGNORECASE,
)
_MANUAL = late_re(r"\b(?:api (?:manual|reference|documentation)|documentation of|manual\b)", re.IGNORECASE)
_EXAMPLE_CHARS = 400


def read_rule(rule: str) -> Observations:
    """Return what a setting says: ``auto``, ``tool``, or a regular expression."""
    return rule if rule in {"auto", "tool"} else re.compile(rule)


def read_observations(turns: Sequence[Turn], mode: Observations = "auto") -> tuple[Turn, ...]:
    """Mark the actions and observations that a row has in plain text; the turns themselves where it has none.

    A row with tool roles or structured calls is read by these alone.

    Args:
        turns: all turns of a row.
        mode: what is looked for.
    """
    read = tuple(turns)
    if mode == "tool" or not any(turn.role == "user" for turn in turns[1:]):
        return read
    if isinstance(mode, re.Pattern):
        answers = [i for i, turn in enumerate(turns) if i and _may_answer(turn) and mode.search(turn.text)]
        return _marked(read, {i: find_actions(turns[i - 1].text) for i in answers})
    if any(turn.role == "tool" or any(not call.in_text for call in turn.calls) for turn in turns):
        return read
    found = _Row(read).observations()
    return _marked(read, found) if found else read


def is_request(turn: Turn) -> bool:
    """Whether a turn holds words that a person addressed to the assistant, alone or beside an observation."""
    if turn.role != "user" or turn.example or turn.calls:
        return False
    return not turn.answers or bool(said_beside(turn))


def said_beside(turn: Turn) -> str:
    """Return the words of a person in a turn that holds results; nothing where there are none."""
    if not turn.answers or turn.role != "user":
        return ""
    if not turn.in_text and not turn.text.lstrip().startswith("<tool_response>"):
        return ""  # results stand in parts of their own
    return in_observation(without_summary(turn.text)).said


def request_text(turn: Turn) -> str:
    """Return what a person says in a turn that :func:`is_request`."""
    return said_beside(turn) if turn.answers else turn.text


def demonstration_heading(text: str) -> int:
    """Return where the line ends that calls an example a demonstration; 0 where none does, or it is a manual."""
    begin = text[:_EXAMPLE_CHARS]
    found = _DEMONSTRATION.search(begin)
    return 0 if found is None or _MANUAL.search(begin) else max(begin.find("\n", found.end()), 0)


def _may_answer(turn: Turn) -> bool:
    return turn.role == "user" and not turn.answers and not turn.text.startswith(SUMMARY_PREFIX)


class _Row:
    """The evidence of one row: what each turn would be if the row were a text-protocol agent's."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.acts: dict[int, Acted] = {}  # turns with an action, if the next turn may answer it
        self.prints: dict[int, Printed] = {}
        self.is_set_up = False  # whether prompts tell of an environment that commands alone are given to
        for index in range(1, len(turns)):
            turn, before = turns[index], turns[index - 1]
            if not _may_answer(turn) or before.role not in {"assistant", "user"}:
                continue
            self.prints[index] = printed(without_summary(turn.text))
            if before.role == "assistant" and (acted := _acted(before)):
                self.acts[index - 1] = acted
        self._settle()
        # What stands before the first reply is rules, examples, the task.
        self.first_reply = next((i for i, turn in enumerate(turns) if turn.role == "assistant"), len(turns))
        self.first_act = min(self.acts, default=len(turns))
        behind = [said for i, said in self.prints.items() if turns[i - 1].role == "assistant"]
        self.marked = sum(said.certain and said.begin.lstrip().startswith(("[", "<", "`")) for said in behind)
        self.said = Counter(said.begin for said in self.prints.values() if len(said.begin) > _TELLING_CHARS)

    def observations(self) -> dict[int, Acted | None]:
        """Return the user turns that are observations, each with the action that it answers, if that can be read."""
        found = {index for index in self.prints if self._is_named(index)}
        named = {i for i, acted in self.acts.items() if acted.sure == "named" and not self._hands_over(i)}
        named = {i for i in named if not self.prints[i + 1].person or _is_feedback(self.prints[i + 1].begin)}
        alone = not found and not named
        if alone and not self._behaves():
            return {}
        if not alone:
            self._add_bare_names()
        found.update(i for i in self.prints if i not in found and self._answers(i, alone=alone))
        return {index: self.acts.get(index - 1) for index in sorted(found)}

    def _settle(self) -> None:
        """Take turns that only begin as an environment's do for a person's, where nothing else tells of one."""
        worded = {index: said for index, said in self.prints.items() if said.worded or said.doubtful}
        if not worded or any(acted.sure == "named" for acted in self.acts.values()):
            return
        if any(said.certain and index not in worded for index, said in self.prints.items()):
            return
        others = [
            said.chatty or not said.shaped
            for i, said in self.prints.items()
            if i not in worded and i - 1 in self.acts
        ]
        doubtful = {index: said for index, said in worded.items() if said.doubtful}
        if len(worded) <= len(others) and sum(others) * 2 > len(
            others
        ):  # a few turns of a person who says other things
            doubtful = worded
        begins = Counter(said.begin.lstrip()[:_BEGIN_CHARS] for said in doubtful.values())
        if len(doubtful) == len(worded) and max(begins.values(), default=0) < _MANY:
            for index, said in doubtful.items():
                self.prints[index] = said._replace(certain=False, named=False, person=True, chatty=True)

    def _is_named(self, index: int) -> bool:
        """Whether a turn has a form that environments alone write, behind somebody's action."""
        said = self.prints[index]
        if acted := self.acts.get(index - 1):
            return said.certain or (acted.sure == "named" and said.named and not said.person)
        before = self.turns[index - 1]
        acts = "```" in before.text or self.first_act < index or self.marked >= _MANY
        return said.certain and self.first_reply < index and acts

    def _answers(self, index: int, *, alone: bool) -> bool:
        """Whether a turn is an observation, in a row that is a text-protocol agent's.

        Where actions stand ``alone``, without a name, what may be a person's words is taken for these.
        """
        acted, said = self.acts.get(index - 1), self.prints[index]
        person = (said.chatty if alone else said.person) and not said.pasted
        if acted is None:
            if self.turns[index - 1].role != "assistant":
                return False
            if not self.is_set_up:
                return _is_feedback(said.begin)
            return self.said[said.begin] > 1 or _is_feedback(said.begin) or (said.shaped and not person)
        if self._hands_over(index - 1):
            return said.named and not person
        return not person or _is_feedback(said.begin)

    def _add_bare_names(self) -> None:
        """Read a turn that is a tool's name alone as a call without arguments, where others are certain."""
        for index in self.prints:
            text = self.turns[index - 1].text
            plain = self.turns[index - 1].role == "assistant" and index - 1 not in self.acts
            if plain and _NAME.fullmatch(text.strip()) and (acted := terse_action(text)):
                self.acts[index - 1] = acted

    def _hands_over(self, index: int) -> bool:
        return self.acts[index].calls[-1].name.strip().lower() in FINAL

    def _behaves(self) -> bool:
        """Whether the row goes as an agent's does that has no names for what it does: action, reply, and again."""
        turns = self.turns
        answered = [i for i, turn in enumerate(turns[:-1]) if turn.role == "assistant" and i + 1 in self.prints]
        self.is_set_up = any(
            _SETTING.search(turn.text[:_SETTING_CHARS]) for turn in turns[: min(answered, default=0)]
        )
        if self.is_set_up:
            for i in answered:
                if i not in self.acts and (acted := terse_action(turns[i].text)):
                    self.acts[i] = acted
        unnamed = [i for i, acted in self.acts.items() if acted.sure != "named"]
        if self._is_labelled(unnamed):
            return True
        whole = [i for i in unnamed if not self._thought(i)]
        acts = [i for i in unnamed if not _ADDRESSES.search(self._thought(i))]
        if len(acts) < _MOSTLY * len(answered):
            acts = whole
        if not acts or sum(self.prints[i + 1].chatty for i in acts) > (1 - _MOSTLY) * len(acts):
            return False
        if any(turn.role == "user" and tells_of_steps(turn.text) for turn in turns):
            return True  # the row was compressed, and most of what it shows is gone
        self.is_set_up = self.is_set_up and len(acts) >= _OFTEN * len(answered)
        if self.is_set_up:
            return True
        bare = sum("```" not in turns[i].text for i in whole)
        if len(whole) < _MOSTLY * len(answered) and bare < _MOSTLY * len(unnamed):
            return False
        output = sum(self.prints[i + 1].shaped for i in acts)
        return output >= (len(acts) / 2 if len(acts) >= _MANY else len(acts))

    def _is_labelled(self, acts: Sequence[int]) -> bool:
        """Whether most of what answers some actions begins with the same label: nobody pastes so, turn after turn."""
        replies = [said for i in acts if (said := self.prints[i + 1]).named and not said.person]
        labels = Counter(label[0] for said in replies if (label := _LABEL.match(said.begin)))
        return max(labels.values(), default=0) >= max(_MANY, _MOSTLY * len(acts))

    def _thought(self, index: int) -> str:
        """Return what a turn says before it acts."""
        return self.turns[index].text[: self.acts[index].start].strip()


def _acted(turn: Turn) -> Acted | None:
    if turn.calls:
        return Acted(turn.calls, "named", 0)
    return find_actions(turn.text)


def _is_feedback(text: str) -> bool:
    return _FEEDBACK.search(text) is not None and _MYSELF.search(text) is None


def _marked(turns: tuple[Turn, ...], found: Mapping[int, Acted | None]) -> tuple[Turn, ...]:
    """Set the calls and answers of what was found; an action is what stands right before an observation."""
    read = list(turns)
    first_act = len(turns)
    for index, acted in found.items():
        read[index] = replace(turns[index], answers=(None,), in_text=True)
        before = turns[index - 1]
        if index and index - 1 not in found and not before.calls and (acted := acted or shown_code(before.text)):
            read[index - 1] = replace(before, calls=acted.calls, in_text=True)
        first_act = min(first_act, index - 1)
    last = read[-1]
    if last.role == "assistant" and not last.calls and (acted := find_actions(last.text)):
        read[-1] = replace(last, calls=acted.calls, in_text=True)  # nothing answers it any more
    return _with_examples(read, first_act)


def _with_examples(read: list[Turn], first_act: int) -> tuple[Turn, ...]:
    """Mark the worked examples and manuals among the leading user turns: the last of these is the task."""
    leading = [index for index in range(first_act) if read[index].role == "user" and not read[index].answers]
    for index in leading[:-1]:
        begin = read[index].text[:_EXAMPLE_CHARS]
        if _DEMONSTRATION.search(begin) or _MANUAL.search(begin):
            read[index] = replace(read[index], example=True)
    return tuple(read)
