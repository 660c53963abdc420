"""A private helper gets a better name, everywhere."""

from __future__ import annotations

import re

from recorder import source
from recorder.agent import Agent, UnsuitableError, amount
from recorder.house import found_house, note_change, open_task
from recorder.study import reading_order, recall, study
from recorder.topics import Topic

_Use = tuple[str, int]  # path and line

_MIN_USES = 2
_MAX_USES = 12
_SUFFIXES = ("impl", "helper", "internal", "unchecked", "step")


def rename(agent: Agent, topic: Topic) -> None:
    """Rename a private function; one use is forgotten at first and found by a search."""
    path, function, uses = _choose(agent, topic)
    old = function.name
    new = f"{old}_{agent.pick(_SUFFIXES)}"
    house = found_house(agent, topic)
    suite = f"tests.test_{topic.name}"
    open_task(
        agent,
        topic,
        agent.pick(
            (
                (
                    f"Please rename the private helper `{old}` in `{topic.name}` to `{new}`, in every place that "
                    f"uses it. Nothing else may change. Ticket {house.ticket}."
                ),
                (
                    f"{house.ticket}: `{old}` is too vague a name. Make it `{new}` throughout src/ and tests/ and "
                    "show me that nothing broke."
                ),
            )
        ),
    )
    agent.search("Is the new name free?", rf"\b{new}\b")
    agent.search(f"It is. Now every mention of `{old}`.", rf"\b{re.escape(old)}\b")
    files = sorted({use_path for use_path, _ in uses})
    agent.read(
        f"{len(uses)} lines in {amount(len(files), 'file')}. The definition is at line {function.line} of `{path}`.",
        path,
        function.line - 2,
        function.line + 30,
    )
    order = [name for name in reading_order(agent, topic, *files) if name.startswith("src/")]
    findings = study(agent, order, f"whether anything builds the name `{old}` at run time")
    agent.search("A name could also be built from a string.", rf"(getattr|globals|__dict__).*{old.strip('_')}", "src")
    agent.test("The suite as it is now, to compare with.", suite)
    forgotten = agent.pick([use for use in uses if use != (path, function.line)])
    for use_path, line in uses:
        if (use_path, line) != forgotten:
            _replace(agent, (use_path, line), old, new, f"`{use_path}` line {line}.")
    outcome = agent.test(f"{amount(len(uses) - 1, 'line')} changed. The tests:", suite)
    doubt = "They pass, which is no proof that nothing was left out."
    if "\nOK" not in outcome:
        doubt = f"They fail ({outcome.strip().split(chr(10))[-2]}), so something still uses the old name."
    agent.search(f"{doubt} I search again.", rf"\b{old}\b")
    _replace(agent, forgotten, old, new, f"I had missed `{forgotten[0]}` line {forgotten[1]}.")
    left = agent.search("Once more.", rf"\b{old}\b")
    outcome = agent.test("None left. The suite again." if not left else "Only those remain.", suite)
    note_change(agent, house, topic, f"`{old}` is now called `{new}`")
    places = "\n".join(f"- `{use_path}` line {line}" for use_path, line in uses)
    verdict = "pass" if "\nOK" in outcome else "do not pass"
    agent.reply(
        f"`{old}` is now `{new}` on {len(uses)} lines:\n\n{places}\n\nThe one at line {forgotten[1]} of "
        f"`{forgotten[0]}` I had overlooked at first. The tests of `{suite}` {verdict}; `{house.changelog}` names "
        f"{house.ticket} and {house.reviewer}. {recall(agent, findings)}".rstrip()
    )


def _choose(agent: Agent, topic: Topic) -> tuple[str, source.Function, list[_Use]]:
    workspace = agent.workspace
    candidates = []
    for path in workspace.sources_of(topic):
        names = [function for function in source.functions(workspace.text(path)) if not function.decorated]
        candidates += [(path, f) for f in names if re.fullmatch(r"_[a-z]\w+", f.name)]
    agent.rng.shuffle(candidates)
    texts = {name: workspace.lines(name) for name in workspace.paths()}
    for path, function in candidates:
        wanted = re.compile(rf"\b{re.escape(function.name)}\b")
        uses = [
            (name, number)
            for name, lines in texts.items()
            for number, line in enumerate(lines, 1)
            if wanted.search(line)
        ]
        in_topic = all(f"/{topic.name}" in name or f"test_{topic.name}." in name for name, _ in uses)
        if in_topic and _MIN_USES <= len(uses) <= _MAX_USES:
            return path, function, uses
    raise UnsuitableError(f"no private helper of {topic.name} with a handful of uses")


def _replace(agent: Agent, use: _Use, old: str, new: str, text: str) -> None:
    path, line = use
    before = agent.workspace.lines(path)[line - 1]
    agent.change_line(text, path, line, re.sub(rf"\b{re.escape(old)}\b", new, before))
