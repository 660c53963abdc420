"""Which steps of a record matter most: what was changed, what turned out otherwise than before, what is needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from trajcompress.outcomes.action.shell import INSTALLS
from trajcompress.outcomes.outcome import Outcome
from trajcompress.outcomes.refusals import denied_by_person
from trajcompress.outcomes.steps import Step, file_name
from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.extractive.fit import RECENT
from trajcompress.summarize.extractive.left_out import COMMAND, Left, left_of

KIND_SCORE = {"change": 3.0, "run": 2.0, "read": 1.0, "idle": 0.3}
LAST = 3.0
_FAILED, _TESTED, _NEEDED, _MOST_NEEDED = 1.0, 1.5, 2.0, 6.0
_EDITED, _TURNED = 2.0, 4.0  # what changed what was there, and what came out otherwise than when it ran before
_QUOTED = 2.0  # for each point of what is quoted
_LEAST_FAILED, _LEAST_REFUSED = 7.0, 10.0  # of what did not so again
_REPEATED = -2.0  # what the same call said again later

_CREATES = late_re(r"\b(?:create|write|touch|tee|mkdir)|>", re.IGNORECASE)
_REMOVES = late_re(r"(?:git )?rm\b")
_JOINTS = late_re(r" ?(?:&&|;) ")
_LITTLE = frozenset({"pwd", "echo", "cd", "clear", "sleep", "set", "export", "source", "true", "date"})


class Told(Struct):
    """A step on its way to a line."""

    step: Step
    label: str
    outcome: Outcome | None
    uses: float  # of it by kept turns, in facts
    times: int = 1
    files: tuple[str, ...] = ()  # changed
    in_short: str = ""  # what is told of it in short, where that are not its first words
    quoted: str = ""  # what kept turns quote of it, with its first words
    quotes: float = 0.0  # how much these tell
    pages: tuple[str, ...] = ()  # what is told in short of one in a browser, with what it shows and without

    @property
    def removes(self) -> bool:
        """Whether it removes files."""
        return self.step.action is not None and _REMOVES.match(self.step.action.target) is not None

    @property
    def is_refused(self) -> bool:
        """Whether somebody did not let it run."""
        return self.outcome is not None and denied_by_person(self.outcome.said)

    @property
    def left(self) -> Left:
        """What it is counted as where it is left out."""
        files = self.step.action.files if self.step.action else ()
        file = file_name(files[0]) if len(files) == 1 else ""
        return left_of(self.tool, file, failed=self.outcome is not None and self.outcome.failed)

    @property
    def tool(self) -> str:
        """What it called: a tool, with its command for a file, or a program; nothing where it was asked in words."""
        action = self.step.action
        if action is None or action.in_words:
            return "" if action else self.label.partition(" ")[0]
        if not self.label.startswith(action.name) or not action.name:
            return _program(self.label)
        verb, _, rest = action.target.partition(" ")
        on_file = bool(action.files) and verb.isidentifier() and rest.startswith(action.files[0])
        through = action.through
        name = f"{through}{COMMAND}{action.name.removeprefix(through).strip()}" if through else action.name
        return f"{name}{COMMAND}{verb}" if on_file else name


def _program(command: str) -> str:
    """Return the program that a command line is for, and not one that only looks where it is, or says something."""
    programs = [part.lstrip("( ").partition(" ")[0] for part in _JOINTS.split(command)]
    return next((name for name in programs if name not in _LITTLE), programs[0])


def scores(told: Sequence[Told], turns: int) -> Iterator[tuple[float, float, bool]]:
    """Say of each step how much it matters, how much what it says at length does, and whether it is told at all cost.

    The last of each kind matters most to who goes on from there, and the first failure shows what is to be mended.
    """
    last_of: dict[str, int] = {}
    for place, each in enumerate(told):
        for kind in _kinds(each):
            last_of[kind] = place
    failed = (place for place, each in enumerate(told) if "failed" in (kinds := _kinds(each)) and "run" in kinds)
    last = {*last_of.values(), next(failed, -1)}
    turned = _turned(told)
    ends = {last_of.get(kind, -1) for kind in ("run", "tests", "failed")}
    again = Counter(map(_came, told))
    for place, each in enumerate(told):
        again[_came(each)] -= 1
        action, outcome = each.step.action, each.outcome
        score = KIND_SCORE[action.kind if action else "read"] + RECENT * (each.step.turn + 1) / turns
        score += min(_NEEDED * each.uses, _MOST_NEEDED)
        score += LAST * (place in last) + _REPEATED * (again[_came(each)] > 0)
        score += turned.get(place, 0.0)
        if outcome is not None:
            score += _FAILED * outcome.failed + _TESTED * outcome.tests
        ends_so = not again[_came(each)]
        refused = each.is_refused and ends_so
        if refused or (ends_so and outcome and outcome.failed):  # left out it passes for having gone well
            score = max(score, _LEAST_REFUSED if refused else _LEAST_FAILED)
        is_first = place in turned or place in ends or refused
        yield score, score + _NEEDED * each.uses + _QUOTED * each.quotes, is_first


def _turned(told: Sequence[Told]) -> dict[int, float]:
    """Return which steps changed what was there, installed something, or came out otherwise than before."""
    found: dict[int, float] = {}
    came: dict[str, str] = {}  # of each command how it failed last, if it did
    failing: set[str] = set()  # tools that failed the last time
    made: set[str] = set()  # files that the agent wrote itself
    for place, each in enumerate(told):
        action, outcome = each.step.action, each.outcome
        if action is None or outcome is None:
            continue
        how, before = outcome.said if outcome.failed else "", came.get(each.label, "")
        came[each.label] = how
        mends = action.kind == "run" and not outcome.failed and each.tool in failing
        failing = failing | {each.tool} if outcome.failed else failing - {each.tool}
        installs = action.kind in {"run", "change"} and INSTALLS.search(action.target)
        turned = before != how and (action.kind == "run" or not how)  # of others that they went well at last
        if installs or mends or turned:
            found[place] = _TURNED
        elif action.kind == "change" and not outcome.failed and not each.removes:
            if each.files and _CREATES.search(f"{action.name} {action.target}"):
                made.update(each.files)
            elif not (each.files and made.issuperset(each.files)):
                found[place] = _EDITED
    return found


def _came(each: Told) -> tuple[str, str]:
    """Return what must come again for a step to tell little: of a failure and of a test run also what came of it."""
    outcome = each.outcome
    matters = outcome and (outcome.failed or outcome.tests or each.is_refused)
    return each.label, outcome.said if outcome and matters else ""


def _kinds(each: Told) -> list[str]:
    kinds = []
    if each.outcome is not None:
        kinds += ["tests"] * each.outcome.tests + ["failed"] * each.outcome.failed
        kinds.append(each.step.action.kind if each.step.action else "read")
    return [*kinds, *(f"changed {file}" for file in each.files)]
