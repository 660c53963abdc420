"""A conversation of many questions about the code, each answered from it."""

from __future__ import annotations

import re
from collections.abc import Callable

from recorder import source
from recorder.agent import Agent, UnsuitableError, amount, amount_of_lines
from recorder.house import found_house, open_task
from recorder.source import Function
from recorder.topics import Topic

_MIN_QUESTIONS = 3
_MAX_QUESTIONS = 40
_LONG = 110  # lines of one function that are read in one go

Answer = str
Asker = Callable[[Agent, str, Function], Answer | None]


def questions(agent: Agent, topic: Topic) -> None:
    """Ask and answer until the record is long enough, then have the answers written down."""
    own = agent.workspace.sources_of(topic)
    paths = [path for path in own if source.functions(agent.workspace.text(path))]
    if not paths:
        raise UnsuitableError(f"{topic.name} has no functions")
    house = found_house(agent, topic)
    open_task(
        agent,
        topic,
        f"I am reviewing our copy of `{topic.name}` ({topic.purpose}) for {house.ticket} and have a number of "
        "questions. Answer each from the code, with path and line. First see what there is.",
        ("list_dir", {"path": "src"}),
    )
    agent.reply(
        f"`{topic.name}` has {amount(len(own), 'file')} here: {', '.join(f'`{path}`' for path in own[:8])}. Go ahead."
    )
    answers: list[Answer] = []
    for asker, path, function in _agenda(agent, paths):
        if len(answers) >= _MIN_QUESTIONS and not agent.room(2500):
            break
        answer = asker(agent, path, function)
        if answer:
            agent.reply(answer)
            answers.append(answer)
    if len(answers) < _MIN_QUESTIONS:
        raise UnsuitableError(f"{topic.name} is too small for a conversation")
    page = f"docs/review-{house.ticket.lower()}.md"
    agent.user(f"That will do. Put all {len(answers)} answers into `{page}`, in the order in which I asked.")
    listed = "\n\n".join(f"{number}. {answer}" for number, answer in enumerate(answers, 1))
    agent.write("As given above.", page, f"# Review notes: {topic.name} ({house.ticket})\n\n{listed}\n")
    agent.reply(f"`{page}` holds the {len(answers)} answers. The first was: {answers[0]}")


def _agenda(agent: Agent, paths: list[str]) -> list[tuple[Asker, str, Function]]:
    """Every question that can be asked, once, in random order, but no more than a person has patience for."""
    agenda: list[tuple[Asker, str, Function]] = []
    for path in paths:
        functions = source.functions(agent.workspace.text(path))
        agenda += [(asker, path, f) for f in functions for asker in (_what_it_takes, _who_uses, _what_it_calls)]
        agenda += [(asker, path, functions[0]) for asker in (_what_is_raised, _which_classes)]
    agent.rng.shuffle(agenda)
    return agenda[:_MAX_QUESTIONS]


def _what_it_takes(agent: Agent, path: str, function: Function) -> Answer:
    agent.user(f"What are the parameters of `{function.qualified}` in `{path}`, and which have defaults?")
    agent.search(f"Looking for `{function.name}`.", rf"def {function.name}\b", path)
    agent.read(
        f"Line {function.line}. I read on to see how they are used.",
        path,
        function.line,
        min(function.end, function.line + _LONG),
    )
    needed = [name for name in function.required if name not in {"self", "cls"}]
    must = f"Required: {', '.join(f'`{name}`' for name in needed)}." if needed else "None of them is required."
    return f"`{function.name}{function.signature}`, at line {function.line} of `{path}`. {must}"


def _who_uses(agent: Agent, path: str, function: Function) -> Answer:
    agent.user(f"Who uses `{function.name}`?")
    hits = agent.search("Over all of src and tests.", rf"\b{re.escape(function.name)}\b")
    places = [hit.split(":")[:2] for hit in hits]
    for used_in, line in places[:3]:
        agent.read(f"`{used_in}` line {line}.", used_in, int(line) - 10, int(line) + 15)
    in_tests = sum(place[0].startswith("tests/") for place in places)
    first = ", ".join(f"`{used_in}:{line}`" for used_in, line in places[:5])
    return (
        f"`{function.name}` (defined at line {function.line} of `{path}`) is mentioned on "
        f"{amount_of_lines(places)}, {in_tests} of them in tests; the first are {first}."
    )


def _what_is_raised(agent: Agent, path: str, _: Function) -> Answer | None:
    raised = source.raised(agent.workspace.text(path))
    if not raised:
        return None
    errors = sorted({name for _, name in raised})
    agent.user(f"Which exceptions does `{path}` raise itself, and where?")
    agent.search("Every raise statement.", r"^\s*raise\b", path)
    line = agent.pick(raised)[0]
    agent.read(
        f"{len(raised)} raise an exception by name. One of them closer, line {line}.", path, line - 20, line + 8
    )
    listed = "; ".join(
        f"`{error}` at {', '.join(str(number) for number, name in raised if name == error)}" for error in errors[:8]
    )
    return f"`{path}` has {len(raised)} raise statements that name an exception, by line: {listed}."


def _which_classes(agent: Agent, path: str, _: Function) -> Answer | None:
    classes = source.classes(agent.workspace.text(path))
    if not classes:
        return None
    agent.user(f"Which classes does `{path}` define, and what do they derive from?")
    agent.search("The class statements.", r"^\s*class \w+", path)
    line, name, _bases = agent.pick(classes)
    agent.read(f"{len(classes)} classes. `{name}` as an example, from line {line}.", path, line, line + 60)
    listed = ", ".join(
        f"`{cls}` ({', '.join(bases) or 'object'}; line {number})" for number, cls, bases in classes[:10]
    )
    return f"`{path}` defines {len(classes)} of them: {listed}{' and more' if classes[10:] else ''}."


def _what_it_calls(agent: Agent, path: str, function: Function) -> Answer | None:
    called = function.calls
    if not called:
        return None
    agent.user(f"What does `{function.qualified}` depend on?")
    agent.do(
        f"`{function.qualified}` is in `{path}`; I read it and the head of the file, for the imports.",
        ("read_file", {"path": path, "start": function.line, "end": min(function.end, function.line + _LONG)}),
        ("search", {"pattern": r"^(import|from) ", "path": path}),
    )
    listed = ", ".join(f"`{name}`" for name in called[:12])
    return f"`{function.qualified}` (`{path}`, line {function.line}) calls {listed}."
