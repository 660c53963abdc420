"""One trajectory from a seed and a number, and the files that they go to."""

from __future__ import annotations

import gzip
import json
import platform
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import IO, cast

from recorder.agent import Agent, Step, UnsuitableError
from recorder.rows import Row, openai_row, sharegpt_row
from recorder.scenarios import SCENARIOS
from recorder.topics import Topic, available_topics
from recorder.workspace import Workspace

_CHARACTERS_PER_TOKEN = 3.2  # numbered source code, about
_GOALS = ((1_500, 6_000), (17_500, 26_000), (26_000, 45_000), (55_000, 95_000))  # tokens
_GOAL_WEIGHTS = (27, 40, 24, 9)
_ENOUGH = 0.45  # of a long record; companions give the rest
_MAX_COMPANIONS = 3
_SPOKEN = (0.0, 0.0, 0.3, 0.8)  # how silent an agent may be


def record(seed: int, number: int) -> Row:
    """Record trajectory ``number`` of a seed; the same arguments and the same Python give the same row."""
    rng = Random(f"{seed}-{number}")  # noqa: S311 - variety, not secrecy
    names = list(SCENARIOS)
    scenario = names[number % len(names)]
    low, high = rng.choices(_GOALS, _GOAL_WEIGHTS)[0]
    goal = int(rng.uniform(low, high) * _CHARACTERS_PER_TOKEN)
    for topic in _topics_of_size(rng, goal):
        companions = rng.sample(
            [other for other in available_topics() if other != topic], rng.randint(0, _MAX_COMPANIONS)
        )
        try:
            steps = _play(rng, scenario, goal, [topic, *companions])
        except UnsuitableError:
            continue
        return _row(number, scenario, steps, {"seed": seed, "topic": topic.name})
    raise UnsuitableError(f"no topic suits {scenario}")


def _topics_of_size(rng: Random, goal: int) -> list[Topic]:
    """All topics in random order, but those that have enough to read for a long record first."""
    topics = rng.sample(available_topics(), len(available_topics()))
    return sorted(topics, key=lambda topic: topic.characters() < _ENOUGH * goal)


def _play(rng: Random, scenario: str, goal: int, topics: list[Topic]) -> tuple[Step, ...]:
    with tempfile.TemporaryDirectory(prefix="record-agent-") as folder:
        workspace = Workspace(Path(folder), topics)
        if "\nOK" not in workspace.run_tests(f"tests.test_{topics[0].name}"):
            raise UnsuitableError(f"the suite of {topics[0].name} does not pass on this Python")
        agent = Agent(workspace, rng, goal, silence=rng.choice(_SPOKEN))
        SCENARIOS[scenario](agent, topics[0])
    return tuple(agent.steps)


def _row(number: int, scenario: str, steps: tuple[Step, ...], meta: Row) -> Row:
    head = {"id": f"agent-{number:05d}", "task": scenario}
    meta |= {"python": platform.python_version(), "tool_calls": sum(len(step.calls) for step in steps)}
    return openai_row(head, steps, meta) if number % 2 else sharegpt_row(head, steps, meta)


def write_files(output: Path, seed: int, count: int) -> Iterator[tuple[str, Row]]:
    """Record ``count`` rows into ``output``, one at a time; yields each row with the name of its file once written.

    Questions have files of their own, of other kinds: a JSON array and gzipped JSONL.
    """
    with ExitStack() as stack:
        files: dict[str, IO[bytes]] = {}
        for number in range(count):
            row = record(seed, number)
            name = _file_of(row)
            first = name not in files
            if first:
                files[name] = _open(stack, output / name)
            if name.endswith(".json"):
                files[name].write(b"[\n" if first else b",\n")
            files[name].write(json.dumps(row, ensure_ascii=False).encode())
            if not name.endswith(".json"):
                files[name].write(b"\n")
            yield name, row
        for name, file in files.items():
            if name.endswith(".json"):
                file.write(b"\n]\n")


def _file_of(row: Row) -> str:
    if row["task"] == "questions":
        return "questions-openai.jsonl.gz" if "messages" in row else "questions-sharegpt.json"
    return "code-agent-openai.jsonl" if "messages" in row else "code-agent-sharegpt.jsonl"


def _open(stack: ExitStack, path: Path) -> IO[bytes]:
    file = stack.enter_context(path.open("wb"))
    if path.suffix != ".gz":
        return file
    # No name and no time in the header: the same rows give the same bytes.
    return cast("IO[bytes]", stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)))
