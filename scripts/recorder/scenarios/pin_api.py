"""Pin the public signatures of a module in a test, so that a sync cannot change them unseen."""

from __future__ import annotations

import re

from recorder import source
from recorder.agent import Agent, UnsuitableError
from recorder.house import found_house, note_change, open_task
from recorder.study import reading_order, recall, study
from recorder.topics import Topic
from recorder.workspace import ADDRESS

_MIN_FUNCTIONS = 2
_MAX_FUNCTIONS = 10


def pin_api(agent: Agent, topic: Topic) -> None:
    """Read the functions, write the test from reading, let it fail where reading was careless, correct it."""
    path, module, functions = _choose(agent, topic)
    house = found_house(agent, topic)
    test = f"test_{module.replace('.', '_')}_signatures"
    open_task(
        agent,
        topic,
        agent.pick(
            (
                (
                    f"Each sync may change a signature in `{module}` without anybody noticing. Please write "
                    f"`tests/{test}.py`, which pins the public ones. Ticket {house.ticket}."
                ),
                (
                    f"{house.ticket}: I want a test that fails when a public function of `{module}` gets other "
                    f"parameters. Call it `{test}`."
                ),
            )
        ),
    )
    agent.search("Is there such a test for another module, to follow its style?", r"inspect\.signature", "tests")
    agent.search("No. The public functions, then.", r"^def [a-z]", path)
    findings = study(agent, reading_order(agent, topic, path), "which of these are meant to be public")
    for function in functions:
        if agent.room(3000):
            agent.read(
                f"`{function.name}`, line {function.line}.",
                path,
                function.line,
                min(function.end, function.line + 25),
            )
    code = _ask(module, functions)
    real = dict(line.split(" ", 1) for line in agent.workspace.run_python(code).split("\n") if "(" in line)
    with_defaults = [function for function in functions if "=" in real[function.name]]
    careless = agent.pick(with_defaults or functions)
    forgetful = f"({', '.join(careless.required)})"
    guess = {**real, careless.name: forgetful if with_defaults else f"{real[careless.name][:-1]}=None)"}
    agent.write(f"{len(real)} functions to pin. From what I read:", f"tests/{test}.py", _test(module, guess))
    agent.test("Does it hold?", f"tests.{test}")
    agent.python(
        f"`{careless.name}` is not what I wrote down. I ask Python instead of trusting my eye.",
        code,
    )
    edit = {
        "path": f"tests/{test}.py",
        "old": f"    {careless.name!r}: {guess[careless.name]!r},",
        "new": f"    {careless.name!r}: {real[careless.name]!r},",
    }
    agent.do(f"It is `{careless.name}{real[careless.name]}`. Corrected.", ("edit_file", edit))
    outcome = agent.test("Again.", f"tests.{test}")
    agent.test(f"The suite of `{topic.name}` too, since CONTRIBUTING.md asks for it.", f"tests.test_{topic.name}")
    note_change(agent, house, topic, f"public signatures of `{module}` are pinned")
    listed = "\n".join(f"- `{name}{signature}`" for name, signature in real.items())
    verdict = "passes" if "\nOK" in outcome else "still fails"
    agent.reply(
        f"`tests/{test}.py` pins {len(real)} signatures of `{module}` and {verdict}:\n\n{listed}\n\n"
        f"`{careless.name}` (line {careless.line} of `{path}`) I had first written down as "
        f"`{guess[careless.name]}`. The entry for {house.ticket} is in `{house.changelog}`. "
        f"{recall(agent, findings)}".rstrip()
    )


def _choose(agent: Agent, topic: Topic) -> tuple[str, str, list[source.Function]]:
    paths = agent.workspace.sources_of(topic)
    agent.rng.shuffle(paths)
    for path in paths:
        module = path.removeprefix("src/").removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        public = [
            function
            for function in source.functions(agent.workspace.text(path))
            if function.qualified == function.name and re.match("[a-z]", function.name) and not function.decorated
        ]
        functions = list({function.name: function for function in public if function.required}.values())
        functions = functions[:_MAX_FUNCTIONS]
        if len(functions) >= _MIN_FUNCTIONS:
            answer = agent.workspace.run_python(_ask(module, functions))
            if answer.endswith("[exit code 0]") and ADDRESS not in answer:  # an address cannot be pinned
                return path, module, functions
    raise UnsuitableError(f"{topic.name} has no file with enough public functions")


def _ask(module: str, functions: list[source.Function]) -> str:
    names = [function.name for function in functions]
    return (
        f"import inspect, {module}\nfor name in {names!r}:\n"
        f"    print(name, inspect.signature(getattr({module}, name)))\n"
    )


def _test(module: str, signatures: dict[str, str]) -> str:
    rows = "\n".join(f"    {name!r}: {signature!r}," for name, signature in signatures.items())
    return (
        f"import inspect\nimport unittest\n\nimport {module}\n\nSIGNATURES = {{\n{rows}\n}}\n\n\n"
        "class SignaturesTest(unittest.TestCase):\n    def test_signatures_are_as_pinned(self):\n"
        "        for name, expected in SIGNATURES.items():\n            with self.subTest(name=name):\n"
        f"                self.assertEqual(str(inspect.signature(getattr({module}, name))), expected)\n"
    )
