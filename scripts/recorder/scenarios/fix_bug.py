"""A suite is red: find the line that broke it, mend it, prove it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recorder import source
from recorder.agent import Agent, UnsuitableError, amount_of_lines
from recorder.house import found_house, note_change, open_task
from recorder.source import Bug, Function
from recorder.study import reading_order, recall, study
from recorder.topics import Topic
from recorder.workspace import ADDRESS

_TRIES = 12
_MAX_FAILURES = 4
_FAILURE = re.compile(r"^(?:ERROR|FAIL): (\w+) \((tests\.[\w.]+)\)$", re.MULTILINE)
_ERROR_LINE = re.compile(r"^((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Full|Empty|End)\b.*)$", re.MULTILINE)
_FRAME = re.compile(r'File "(src/[^"]+)", line (\d+), in (\w+)')
_EXPLANATION = {
    "comparison": "it compares with `{now}` where it has to be `{was}`",
    "connective": "the two conditions are joined by `{now}`; they have to be joined by `{was}`",
    "negation": "the `not` is missing, so the branch is taken in exactly the wrong cases",
    "constant": "the constant is {now}, off by one; it has to be {was}",
}


@dataclass(frozen=True, slots=True)
class _Planted:
    path: str
    bug: Bug
    function: Function
    decoys: list[Bug]  # other lines of the same function that could be suspected


def fix_bug(agent: Agent, topic: Topic) -> None:
    """Plant a bug that the suite notices, then let the agent find and mend it."""
    planted = _plant(agent, topic)
    path, bug, function = planted.path, planted.bug, planted.function
    house = found_house(agent, topic)
    suite = f"tests.test_{topic.name}"
    request = agent.pick(
        (
            (
                f"`{suite}` is red since yesterday's sync of src/. Find out why, mend it, and tell me which line "
                f"it was. The ticket is {house.ticket}."
            ),
            (
                f"{house.ticket}: our copy of `{topic.name}` ({topic.purpose}) misbehaves, and the tests say so. "
                "Please find the cause and fix it with as small a change as you can."
            ),
            f"CI fails on {suite} ({house.ticket}). I did not touch the tests, so it must be the code. Please fix.",
        )
    )
    [output] = open_task(agent, topic, request, ("run_tests", {"target": suite}))
    failures = _FAILURE.findall(output)
    test, dotted = failures[0]
    report, error = _report_on(test, output)
    test_file = f"tests/test_{topic.name}.py"
    hits = agent.search(
        f"{len(failures)} failing: {', '.join(f'`{name}`' for name, _ in failures)}. The first ends with "
        f"`{error}`. I look up what `{test}` expects.",
        f"def {test}",
        test_file,
    )
    line = int(hits[0].split(":")[1])
    agent.read(f"It is at line {line} of `{test_file}`.", test_file, line - 2, line + 12)
    words = re.findall(r"[a-z]{4,}(?: [a-z]{3,}){1,3}", error.split(":", 1)[-1])
    if words and agent.chance(0.5):
        phrase = words[0]
        where = agent.search("Does the message come from our own code?", phrase, "src")
        told = f"{amount_of_lines(where)} of src with these words." if where else "No, nothing in src says that."
        agent.search(f"{told} Any old note about it?", f"{topic.name}.*(bug|broken|regress)")
    findings = study(
        agent,
        reading_order(agent, topic, *([path] if agent.chance(0.6) else [])),
        f"how `{topic.name}` gets to that point",
    )
    frames = [frame for frame in _FRAME.findall(report) if f"/{topic.name}" in frame[0]]
    trail = (
        f"Its traceback in the first run leads to `{frames[-1][0]}` line {frames[-1][1]}, in `{frames[-1][2]}`."
        if frames
        else f"There is no traceback into src, so I follow what `{test}` calls."
    )
    agent.search(f"{trail} `{function.name}` is on that way; where is it?", rf"def {function.name}\b", "src")
    agent.read(
        f"I read `{function.qualified}` closely.", path, function.line - 3, min(function.end, bug.line + 40) + 3
    )
    if planted.decoys and agent.chance(0.5):
        _suspect_wrongly(agent, planted, dotted)
    reason = _EXPLANATION[bug.kind].format(was=bug.was, now=bug.now)
    agent.change_line(f"Line {bug.line} is wrong: {reason}. I change that line alone.", path, bug.line, bug.good)
    agent.test(f"`{test}` again, by itself.", dotted)
    outcome = agent.test("And the whole suite.", suite)
    note_change(agent, house, topic, f"restore the {bug.kind} in `{function.qualified}`")
    count = re.search(r"Ran (\d+) test", outcome)
    agent.reply(
        f"Fixed. The cause was line {bug.line} of `{path}`, in `{function.qualified}`: {reason}. It read\n\n"
        f"    {bug.bad.strip()}\n\nand now reads\n\n    {bug.good.strip()}\n\n"
        f"It showed as `{error}` in `{dotted}`. All {count[1] if count else '?'} tests of `{suite}` pass, and "
        f"`{house.changelog}` has the entry for {house.ticket}. {recall(agent, findings)}".rstrip()
    )
    if agent.chance(0.4):
        _who_was_hit(agent, planted, house.ticket)


def _report_on(test: str, output: str) -> tuple[str, str]:
    """What unittest says of one failed test, and its last error line (of chained exceptions the one that counts)."""
    report = re.split(rf"^(?:ERROR|FAIL): {test}\b", output, flags=re.MULTILINE)[1].split("\n=====")[0]
    errors = _ERROR_LINE.findall(report) or ["an error without a message"]
    return report, errors[-1].removesuffix(": ")[:160]


def _plant(agent: Agent, topic: Topic) -> _Planted:
    candidates = []
    for path in agent.workspace.sources_of(topic):
        text = agent.workspace.text(path)
        functions = source.functions(text)
        all_bugs = source.bugs(text)
        for bug in all_bugs:
            inside = [function for function in functions if function.line < bug.line <= function.end]
            if inside:
                decoys = [other for other in all_bugs if inside[0].line < other.line <= inside[0].end]
                candidates.append(_Planted(path, bug, inside[0], [d for d in decoys if d.line != bug.line]))
    agent.rng.shuffle(candidates)
    for planted in candidates[:_TRIES]:
        text = agent.workspace.text(planted.path)
        _set_line(agent, planted.path, planted.bug.line, planted.bug.bad)
        output = agent.workspace.run_tests(f"tests.test_{topic.name}")
        failures = len(_FAILURE.findall(output))
        # unittest marks how two texts differ: where they hold addresses, that differs from run to run.
        lasting = ADDRESS not in output or "\n? " not in output
        if 0 < failures <= _MAX_FAILURES and lasting and "FAILED (" in output and _ERROR_LINE.search(output):
            return planted
        agent.workspace.put(planted.path, text)
    raise UnsuitableError(f"no bug that the suite of {topic.name} notices")


def _set_line(agent: Agent, path: str, line: int, new: str) -> None:
    lines = agent.workspace.lines(path)
    lines[line - 1] = new
    agent.workspace.put(path, "\n".join(lines) + "\n")


def _suspect_wrongly(agent: Agent, planted: _Planted, dotted: str) -> None:
    decoy = agent.pick(planted.decoys)
    agent.change_line(
        f"My first suspicion is line {decoy.line}, `{decoy.good.strip()}`. I try it the other way round.",
        planted.path,
        decoy.line,
        decoy.bad,
    )
    output = agent.test("Does that help?", dotted)
    verdict = "That test passes now, but by a change that makes no sense to me"
    if not output.endswith("[exit code 0]"):
        errors = _ERROR_LINE.findall(output) or ["an error"]
        verdict = f"No, it ends with `{errors[-1].removesuffix(': ')[:120]}`"
    agent.change_line(
        f"{verdict}. Line {decoy.line} was right as it stood; I put it back.", planted.path, decoy.line, decoy.good
    )


def _who_was_hit(agent: Agent, planted: _Planted, ticket: str) -> None:
    name = planted.function.name
    agent.user(f"Thanks. Which callers could have been hit while {ticket} was open?")
    lines = agent.search(f"Everything that mentions `{name}`, then.", rf"\b{re.escape(name)}\b", "src")
    places = [":".join(line.split(":")[:2]) for line in lines]
    listed = "\n".join(f"- `{place}`" for place in places[:15])
    agent.reply(
        f"`{name}` is mentioned on {amount_of_lines(places)} of src, its definition included (line "
        f"{planted.function.line} of `{planted.path}`):\n\n{listed}\n\nWhat matters is whether line "
        f"{planted.bug.line} is reached; the other branches behaved all along."
    )
