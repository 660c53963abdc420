"""Which function calls which? Read it, measure it, write it down."""

from __future__ import annotations

import re

from recorder import source
from recorder.agent import Agent, UnsuitableError, amount_of_lines
from recorder.house import found_house, note_change, open_task
from recorder.study import reading_order, recall, study
from recorder.topics import Topic

_MIN_FUNCTIONS = 6
_MAX_ROWS = 30
_LOOKED_UP = 3


def callgraph(agent: Agent, topic: Topic) -> None:
    """Read a file, follow some calls by search, compute the whole graph, write and check the page."""
    path, functions, edges = _choose(agent, topic)
    callees = sorted({callee for called in edges.values() for callee in called})
    house = found_house(agent, topic)
    page = f"docs/calls-{topic.name}.md"
    open_task(
        agent,
        topic,
        agent.pick(
            (
                (
                    f"I have to take over `{path}`. Please document which of its functions call which others of "
                    f"the same file, in `{page}`. Ticket {house.ticket}."
                ),
                (
                    f"{house.ticket}: we lack a map of `{path}` ({topic.purpose}). Write the internal call graph to "
                    f"`{page}` and tell me where a newcomer should start reading."
                ),
            )
        ),
        ("list_dir", {"path": path.rsplit("/", 1)[0]}),
    )
    agent.search("All definitions first, as a frame.", r"^\s*(class|def) ", path)
    findings = study(agent, reading_order(agent, topic, path), "what the functions do, not only what they are called")
    for callee in agent.rng.sample(callees, min(_LOOKED_UP, len(callees))):
        hits = agent.search(f"Where is `{callee}` called?", rf"\b{re.escape(callee)}\(", path)
        line = int(hits[-1].split(":")[1])
        agent.read(f"{amount_of_lines(hits)} with `{callee}(`. The last is line {line}.", path, line - 6, line + 6)
    code = _measure(path)
    agent.python(
        "Reading shows the idea, but I would rather count than trust my eye.", code.replace("ast.walk(", "walk(")
    )
    agent.python("I left out the module's name. Again.", code)
    total = sum(map(len, edges.values()))
    popular = max(callees, key=lambda name: (sum(name in called for called in edges.values()), name))
    starts = [name for name, called in edges.items() if called and name.split(".")[-1] not in callees]
    rows = "\n".join(
        f"| `{name}` | {functions[name].line} | {', '.join(f'`{callee}`' for callee in called)} |"
        for name, called in list(edges.items())[:_MAX_ROWS]
        if called
    )
    agent.write(
        f"{total} calls between {len(functions)} functions. That is the table.",
        page,
        f"# Calls inside `{path}`\n\n{house.ticket}. {len(functions)} functions, {total} calls among them.\n\n"
        f"| function | line | calls |\n|---|---|---|\n{rows}\n",
    )
    agent.search("Does every row name a function?", r"^\| `", page)
    note_change(agent, house, topic, f"a map of the calls in `{path}`")
    roots = ", ".join(f"`{name}`" for name in starts[:3])
    advice = f"Start at {roots}: nothing else in the file calls them." if roots else "They all call one another."
    agent.reply(
        f"`{page}` is written: {len(functions)} functions, {total} calls among them. The one that most others "
        f"lean on is `{popular}`. {advice} {recall(agent, findings)}".rstrip()
    )
    if agent.chance(0.4):
        name, function = agent.pick(sorted(functions.items()))
        agent.user(f"What does `{name}` take?")
        agent.read("From the source.", path, function.line, function.line + 4)
        agent.reply(f"`{function.name}{function.signature}`, at line {function.line} of `{path}`.")


def _choose(agent: Agent, topic: Topic) -> tuple[str, dict[str, source.Function], dict[str, list[str]]]:
    paths = agent.workspace.sources_of(topic)
    agent.rng.shuffle(paths)
    for path in paths:
        text = agent.workspace.text(path)
        functions = {function.qualified: function for function in source.functions(text)}
        names = {function.name for function in functions.values()}
        edges = {
            name: [callee for callee in function.calls if callee in names] for name, function in functions.items()
        }
        if len(functions) >= _MIN_FUNCTIONS and any(edges.values()):
            return path, functions, edges
    raise UnsuitableError(f"{topic.name} has no file with enough functions")


def _measure(path: str) -> str:
    return (
        "import ast, collections\n"
        f"tree = ast.parse(open({path!r}, encoding='utf-8').read())\n"
        "names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}\n"
        "calls = collections.Counter()\n"
        "for node in ast.walk(tree):\n"
        "    if isinstance(node, ast.Call):\n"
        "        name = getattr(node.func, 'attr', getattr(node.func, 'id', None))\n"
        "        if name in names:\n"
        "            calls[name] += 1\n"
        "for name, count in sorted(calls.items(), key=lambda item: (-item[1], item[0]))[:25]:\n"
        "    print(f'{count:4} {name}')\n"
    )
