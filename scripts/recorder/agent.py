"""The scripted agent: acts through the workspace's tools and keeps the record of what was said and returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from recorder.workspace import MAX_MATCHES, Workspace

T = TypeVar("T")
Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A tool call and what it returned."""

    id: str
    name: str
    arguments: dict[str, Any]
    result: str


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of the conversation; an assistant's step has its calls and their results with it."""

    role: str  # system, user or assistant
    text: str
    calls: tuple[RecordedCall, ...] = ()


def amount(number: int, thing: str) -> str:
    """A number and what it counts: ``1 line``, ``2 lines``."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def amount_of_lines(found: Sequence[object]) -> str:
    """How many lines a search gave, with due doubt where it stopped showing them."""
    return f"{MAX_MATCHES} lines or more" if len(found) >= MAX_MATCHES else amount(len(found), "line")


class UnsuitableError(Exception):
    """The scenario finds nothing to do in this topic; another topic may do."""


@dataclass(slots=True)
class Agent:
    """Says and does things; ``goal`` is about how many characters the whole record should have."""

    workspace: Workspace
    rng: Random
    goal: int
    silence: float = 0.0  # how often calls come without a word
    steps: list[Step] = field(default_factory=list)
    size: int = 0

    def pick(self, options: Sequence[T]) -> T:
        """One of several options."""
        return self.rng.choice(options)

    def chance(self, probability: float) -> bool:
        """True with that probability."""
        return self.rng.random() < probability

    def room(self, reserve: int = 0) -> bool:
        """True while the record is shorter than its goal, less ``reserve`` characters for what is still to come."""
        return self.size < self.goal - reserve

    def system(self, text: str) -> None:
        """Open the conversation with a system turn."""
        self._add(Step("system", text))

    def user(self, text: str) -> None:
        """The person asks."""
        self._add(Step("user", text))

    def reply(self, text: str) -> None:
        """Answer without calling a tool."""
        self._add(Step("assistant", text))

    def do(self, text: str, *calls: Call) -> list[str]:
        """Call tools, in parallel where there are several, and return their results in order."""
        spoken = "" if self.chance(self.silence) else text
        recorded = []
        for name, arguments in calls:
            result = self.workspace.call(name, arguments)
            recorded.append(RecordedCall(f"call_{self.rng.getrandbits(64):016x}", name, arguments, result))
        self._add(Step("assistant", spoken, tuple(recorded)))
        return [call.result for call in recorded]

    def read(self, text: str, path: str, start: int, end: int) -> str:
        """Read a range of lines."""
        return self.do(text, ("read_file", {"path": path, "start": max(1, start), "end": end}))[0]

    def search(self, text: str, pattern: str, path: str = ".") -> list[str]:
        """Search, and return the matching lines that were shown (none where nothing matched)."""
        result = self.do(text, ("search", {"pattern": pattern, "path": path}))[0]
        if result.startswith(("No matches", "FileNotFoundError")):
            return []
        return [line for line in result.split("\n") if not line.startswith("... ")]

    def test(self, text: str, target: str) -> str:
        """Run tests."""
        return self.do(text, ("run_tests", {"target": target}))[0]

    def python(self, text: str, code: str) -> str:
        """Run a snippet."""
        return self.do(text, ("run_python", {"code": code}))[0]

    def write(self, text: str, path: str, content: str) -> str:
        """Write a file."""
        return self.do(text, ("write_file", {"path": path, "content": content}))[0]

    def change_line(self, text: str, path: str, line: int, new: str) -> None:
        """Edit one line: first by its bare text, and where that is ambiguous once more with its neighbours."""
        lines = self.workspace.lines(path)
        old = lines[line - 1]
        if self.do(text, ("edit_file", {"path": path, "old": old, "new": new}))[0].startswith("Edited"):
            return
        whole = self.workspace.text(path)
        first, last = line, line
        while whole.count("\n".join(lines[first - 1 : last])) > 1:
            first, last = max(1, first - 1), min(len(lines), last + 1)
        before, after = lines[first - 1 : line - 1], lines[line:last]
        edit = {"path": path, "old": "\n".join([*before, old, *after]), "new": "\n".join([*before, new, *after])}
        self.do(f"That text is not unique, so I give lines {first}-{last} as context.", ("edit_file", edit))

    def _add(self, step: Step) -> None:
        self.steps.append(step)
        self.size += len(step.text)
        self.size += sum(len(call.result) + sum(map(len, map(str, call.arguments.values()))) for call in step.calls)
