"""One pass over a region: every turn read once, as an action, a result, a statement or a request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import filterfalse

from trajcompress.summarize.extractive import calls, prose, results
from trajcompress.summarize.extractive.actions import Action
from trajcompress.summarize.extractive.fit import Item
from trajcompress.summarize.extractive.text import clip, names, shorten, weigh, words
from trajcompress.transcript.tool_groups import Place, match_results
from trajcompress.transcript.trajectory import Turn

_NAME_CHARS = 2_400
_LABEL_CHARS = 60
_STATEMENTS = 4
_RECENT = 1.5
_PENDING = 40  # calls that may wait for their results, and results in one turn
_FEW_WORDS = 5
_NEW_SHARE = 0.25  # a line with fewer new words than this says again what was said
_RESTATED = 0.4

_IN_TEXT = frozenset({"name", "adjacency"})
"""Evidence of a call that the row does not mark; its turn may have several."""

_OUTPUT = re.compile(
    r"\s{0,20}(?:<tool_response>|<function_response>|<returncode>|<output>|OBSERVATION\b|Observation\s?:"
    r"|EXECUTION RESULT|exit ?code:|Traceback \(most|\[File: |\[\(|\[\]|Error executing)"
)
_PROMPT = "bash-$"
_PAIR = re.compile(r"\w{1,60}=")


class Walk:
    """Reads a region; what it finds stands in its attributes.

    Attributes:
        items: lines for the record, but for those that need the whole region.
        actions: the calls, in order, with their outcomes.
        errors: each error line with how often and in which turn it came last.
        names: names with how much they were used; speech and calls weigh more than results.
        about: the words of the goal, and of the topic that was asked for.
    """

    def __init__(
        self, head: Sequence[Turn], region: Sequence[Turn], line_chars: int, topic: frozenset[str] = frozenset()
    ) -> None:
        self.region = region
        self.line_chars = line_chars
        self.items: list[Item] = []
        self.actions: list[Action] = []
        self.errors: dict[str, tuple[int, int]] = {}
        self.names: Counter[str] = Counter()
        self._call_of = {match.result: match.call for match in match_results(region) if match.by not in _IN_TEXT}
        self._action_of: dict[Place | None, Action] = {}  # of calls that the row marks
        self._said: set[str] = set()
        self._open_file: str | None = None
        self._is_shell = _is_shell(region)
        self._begins_after_code = bool(head) and (calls.is_bare(head[-1].text) or "```" in head[-1].text)
        self.goal = next((said for turn in _askers(head) if (said := prose.goal(clip(turn.text)))), "")
        self.about = words(self.goal or (prose.goal(clip(region[0].text)) if region else "")) | topic
        self._told = set(self.about)
        for index, turn in enumerate(region):
            if turn.role == "tool" or self.is_output(index):
                self._result(turn, index)
            elif turn.role == "assistant" or (
                turn.role == "user" and turn.name
            ):  # one agent among several has a name
                self._speech(turn, index)
            elif turn.role == "user":
                self._request(turn, index)

    def add(self, section: str, order: float, score: float, text: str, label: str = "") -> None:
        """Note a line for the record."""
        self.items.append(Item(section, order, score, text, label))

    def recency(self, index: int) -> float:
        """Rise towards the end of the region: what was last said matters most to what follows."""
        return _RECENT * (index + 1) / len(self.region)

    def is_output(self, index: int) -> bool:
        """Whether a turn is a user turn that carries what a command printed."""
        turn = self.region[index]
        if turn.role != "user":
            return False
        if turn.answers or _OUTPUT.match(turn.text):
            return True
        ran = self.actions[-1].turn == index - 1 if self.actions else index == 0 and self._begins_after_code
        return self._is_shell and ran and not turn.name

    def _result(self, turn: Turn, index: int) -> None:
        chunks = [turn.text]
        if "<tool_response>" in turn.text:
            parts = turn.text.split("<tool_response>", _PENDING)[1:]
            chunks = [part.partition("</tool_response>")[0] for part in parts]
        for place, chunk in enumerate(chunks):
            action = self._action_of.get(self._call_of.get((index, place))) or self._waiting()
            kind = action.kind if action else "read"
            outcome = results.read(_without_echo(chunk, action), kind, self.about, self._recent_targets)
            if action:
                action.outcome, action.failed = outcome.phrase, outcome.failed
                if action.kind == "change" and not action.files and (touched := outcome.file or self._open_file):
                    action.files = (touched,)
                    action.target += f" in {touched}"
            self._open_file = outcome.file or self._open_file
            for error in outcome.errors:
                self.errors[error] = self.errors.get(error, (0, 0))[0] + 1, index
            self._count_names(outcome.names, 1)
            label = _label(action) if action else turn.name or ""
            for rank, value in enumerate(outcome.values):
                score = 0.5 * weigh(value, self.about) + self.recency(index) - 0.3 * rank
                self._note("Results and values", index + rank / 100, score, value, label)

    def _recent_targets(self) -> str:
        return " ".join(action.target for action in self.actions[-_PENDING:])

    def _waiting(self) -> Action | None:
        """Find the action that an output answers where nothing says which: the first one without an outcome."""
        return next((action for action in self.actions[-_PENDING:] if action.outcome is None), None)

    def _speech(self, turn: Turn, index: int) -> None:
        thought, said = calls.thoughts(clip(turn.text))
        following = self.region[index + 1].role if index + 1 < len(self.region) else "user"
        actions, rest = calls.find(turn, said, index, ran=self._is_shell and following in {"user", "tool"})
        self._action_of |= {(index, number): actions[number] for number in range(len(turn.calls))}
        self.actions += actions
        if rest.strip():
            self._state(rest, index, 1.0)
        else:
            self._state(thought or clip(turn.reasoning), index, 0.5)
        self._count_names(" ".join((rest[:_NAME_CHARS], *(action.target for action in actions))), 2)

    def _state(self, text: str, index: int, weight: float) -> None:
        """Keep the best of what a turn states; what pins nothing down only where nothing was done."""
        found = sorted(prose.statements(text, self.about), key=lambda one: -one[1])[:_STATEMENTS]
        for sentence, score, decided in found:
            if score or not self.actions:
                section = "Decisions" if decided else "Results and values"
                self._note(section, index, (score + self.recency(index)) * weight, sentence)

    def _request(self, turn: Turn, index: int) -> None:
        text = clip(turn.text)
        self._count_names(text, 2)
        first = not self.goal and not any(one.role == "user" for one in self.region[:index])
        said = prose.goal(text) if first else prose.request(text)
        if said:
            score = 5.0 if first else 0.5 + weigh(said) + self.recency(index)
            self._note("Goal", index, score, said if first else f"then: {said}")

    def _note(self, section: str, order: float, score: float, text: str, label: str = "") -> None:
        """Note what somebody said, once."""
        text = shorten(text, self.line_chars)
        if text in self._said:
            return
        self._said.add(text)
        told = words(text)
        if len(told) > _FEW_WORDS and len(told - self._told) < _NEW_SHARE * len(told):
            score *= _RESTATED
        self._told |= told
        self.add(section, order, score, text, label)

    def _count_names(self, text: str, weight: int) -> None:
        if len(text) > _NAME_CHARS:
            text = f"{text[: _NAME_CHARS * 2 // 3]} {text[-_NAME_CHARS // 3 :]}"
        found = names(text)
        if weight == 1:  # numbers in results are mostly line numbers; those that matter are spoken of
            found = list(filterfalse(str.isdecimal, found))
        self.names.update(weight * found)


def _askers(head: Sequence[Turn]) -> list[Turn]:
    """List the turns that may state the goal: of users, or where there are none, whoever speaks first."""
    users = [turn for turn in head if turn.role == "user" and not turn.name]
    return users or [turn for turn in head if turn.role != "system"][:1]


def _is_shell(region: Sequence[Turn]) -> bool:
    """Whether user turns carry what commands in the assistant's text printed."""
    for turn in region:
        if turn.role == "user" and (_OUTPUT.match(turn.text) or turn.text[-40:].rstrip().endswith(_PROMPT)):
            return True
    spoken = [turn.text for turn in region if turn.role == "assistant"]
    return 2 * sum(calls.is_bare(text) for text in spoken) > len(spoken) > 0


def _label(action: Action) -> str:
    target = action.name if _PAIR.match(action.target) else action.target
    return shorten(target or action.name, _LABEL_CHARS)


def _without_echo(text: str, action: Action | None) -> str:
    """Drop a first line that repeats the command."""
    typed = action.target.rstrip("…")[:60] if action else ""
    first = text[:2000].partition("\n")[0]
    return text[len(first) + 1 :] if " " in typed and typed in first else text
