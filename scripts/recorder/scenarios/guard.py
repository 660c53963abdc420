"""A public function gets a clear error for None, test first."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recorder import source
from recorder.agent import Agent, UnsuitableError, amount_of_lines
from recorder.house import House, found_house, note_change, open_task
from recorder.study import reading_order, recall, study
from recorder.topics import Topic

_TRIES = 8
_NOT_FOR_US = {"main", "test", "demo", "wrapper", "interact", "basicConfig", "listen", "shutdown"}  # these do or wait


@dataclass(frozen=True, slots=True)
class _Target:
    path: str
    module: str
    function: source.Function

    @property
    def parameter(self) -> str:
        return self.function.required[0]

    @property
    def message(self) -> str:
        return f"{self.function.name}() argument '{self.parameter}' must not be None"

    @property
    def call(self) -> str:
        return f"{self.module}.{self.function.name}({', '.join(['None'] * len(self.function.required))})"

    def guard(self, indent: int) -> str:
        margin = " " * indent
        return f"{margin}if {self.parameter} is None:\n{margin}    raise TypeError({self.message!r})"


def guard(agent: Agent, topic: Topic) -> None:
    """Show today's error, write the failing test, add the guard, run everything."""
    targets = _choose(agent, topic)
    house = found_house(agent, topic)
    first = targets[0]
    open_task(
        agent,
        topic,
        agent.pick(
            (
                (
                    f"`{first.call}` does not say what is wrong. It should raise TypeError and name the argument, "
                    f"as our rules ask. Write the test first, please. Ticket {house.ticket}."
                ),
                (
                    f"{house.ticket}: a user passed None to `{first.module}.{first.function.name}` and could not "
                    "make sense of what came back. Add a guard with a clear TypeError and a test that fails "
                    "without it."
                ),
            )
        ),
    )
    _add_guard(agent, topic, first, house, follow_up=False)
    for other in targets[1:2]:
        if agent.chance(0.6):
            agent.user(f"Good. The same for `{other.module}.{other.function.name}` please, with its own test.")
            _add_guard(agent, topic, other, house, follow_up=True)


def _add_guard(agent: Agent, topic: Topic, target: _Target, house: House, *, follow_up: bool) -> None:
    function = target.function
    before = agent.python(
        f"What happens today with `{target.call}`?", f"import {target.module}\nprint(repr({target.call}))"
    )
    last = before.split("\n")[-2 if before.count("\n") else 0]
    lines = agent.search(f"It ends with `{last[:160]}`. Where is the function?", rf"def {function.name}\b", "src")
    start = next(int(line.split(":")[1]) for line in lines if line.startswith(f"{target.path}:"))
    agent.read(
        f"`{target.path}` line {start}.", target.path, start - 2, start + min(function.end - function.line, 60)
    )
    mentions = agent.search("Who calls it, and does anyone pass None on purpose?", rf"\b{function.name}\(", "src")
    callers = [mention for mention in mentions if f"def {function.name}(" not in mention]
    remark = f"Apart from the definition, {amount_of_lines(callers)} with a call, and no literal None among them."
    if any(f"{function.name}(None" in caller for caller in callers):
        remark = f"{amount_of_lines(callers)} with a call, and one of them does pass None; the suite will tell."
    order = reading_order(agent, topic, target.path)
    findings = study(agent, order, f"how errors are worded elsewhere in `{topic.name}`")
    test_module = f"test_{topic.name}_{function.name.lower()}_none"
    content = (
        f"import unittest\n\nimport {target.module}\n\n\nclass NoneIsRefused(unittest.TestCase):\n"
        f"    def test_{function.name.lower()}_names_the_argument(self):\n"
        f"        with self.assertRaises(TypeError) as caught:\n            {target.call}\n"
        f"        self.assertEqual(str(caught.exception), {target.message!r})\n"
    )
    agent.write(f"{remark} The test first.", f"tests/{test_module}.py", content)
    agent.test("It has to fail now.", f"tests.{test_module}")
    text = agent.workspace.lines(target.path)
    current = next(f for f in source.functions("\n".join(text)) if f.qualified == function.qualified)
    first_line = text[current.body_line - 1]
    agent.change_line(
        f"It fails as it should. The guard goes in front of line {current.body_line}.",
        target.path,
        current.body_line,
        f"{target.guard(current.body_indent)}\n{first_line}",
    )
    agent.test("Now the new test.", f"tests.{test_module}")
    outcome = agent.test(f"And the tests that `{topic.name}` had before.", f"tests.test_{topic.name}")
    count = re.search(r"Ran (\d+) test", outcome)
    note_change(agent, house, topic, f"`{function.name}` refuses None with a clear TypeError")
    opening = "Done for this one as well" if follow_up else "Done"
    agent.reply(
        f"{opening}. `{target.call}` used to end with `{last[:160]}`; it now raises `TypeError: "
        f"{target.message}`. The guard is at line {current.body_line} of `{target.path}`, its test in "
        f"`tests/{test_module}.py`. The {count[1] if count else '?'} tests that were there pass, and "
        f"`{house.changelog}` has a line for {house.ticket}. {recall(agent, findings)}".rstrip()
    )


def _choose(agent: Agent, topic: Topic) -> list[_Target]:
    """Up to two functions whose guard breaks nothing."""
    candidates = []
    for path in agent.workspace.sources_of(topic):
        if "server" not in path:  # a server's functions may wait for clients
            module = path.removeprefix("src/").removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            candidates += [
                _Target(path, module, function)
                for function in source.functions(agent.workspace.text(path))
                if function.required
                and not function.decorated
                and function.qualified == function.name
                and not function.name.startswith("_")
                and function.name not in _NOT_FOR_US
                and not module.endswith("__main__")
                and function.body_line > function.line
            ]
    agent.rng.shuffle(candidates)
    good = [target for target in candidates[:_TRIES] if _harmless(agent, topic, target)][:2]
    if not good:
        raise UnsuitableError(f"no public function of {topic.name} takes the guard")
    return good


def _harmless(agent: Agent, topic: Topic, target: _Target) -> bool:
    workspace = agent.workspace
    today = workspace.run_python(f"import {target.module}\nprint(repr({target.call}))")
    if today.startswith("TimeoutError") or "ImportError" in today or "must not be None" in today:
        return False
    text = workspace.text(target.path)
    lines = workspace.lines(target.path)
    lines.insert(target.function.body_line - 1, target.guard(target.function.body_indent))
    workspace.put(target.path, "\n".join(lines) + "\n")
    after = workspace.run_python(f"import {target.module}\n{target.call}")
    passed = "\nOK" in workspace.run_tests(f"tests.test_{topic.name}")
    workspace.put(target.path, text)
    return passed and f"TypeError: {target.message}" in after
