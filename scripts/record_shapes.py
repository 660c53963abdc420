"""Record trajectories in shapes that ``data/`` lacks: long ones of text protocols, short ones of each shape.

python scripts/record_shapes.py --long data/text-protocols.jsonl --short tests/support/data/rows
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from pathlib import Path
from random import Random

from recorder.agent import Agent, Step, UnsuitableError
from recorder.scenarios import SCENARIOS
from recorder.scenarios.tour import LANGUAGES, tour
from recorder.shapes import SHAPES, shaped, shortened
from recorder.topics import available_topics
from recorder.workspace import Workspace

LONG = ("swe-agent", "mini-swe-agent", "react")
SHORT_ROWS = 6
TASKS = ("fix-bug", "rename", "guard", "audit", "pin-api", "questions")


def play(rng: Random, scenario: str, goal: int) -> tuple[str, list[Step]]:
    """Play a scenario on the first topic that suits it."""
    for topic in rng.sample(available_topics(), len(available_topics())):
        if topic.characters() < 0.45 * goal:
            continue
        with tempfile.TemporaryDirectory(prefix="record-agent-") as folder:
            others = [other for other in available_topics() if other != topic]
            workspace = Workspace(Path(folder), [topic, *rng.sample(others, 2)])
            if "\nOK" not in workspace.run_tests(f"tests.test_{topic.name}"):
                continue
            agent = Agent(workspace, rng, goal, silence=rng.choice((0.0, 0.3)))
            try:
                if scenario in LANGUAGES:
                    tour(agent, topic, scenario)
                else:
                    SCENARIOS[scenario](agent, topic)
            except UnsuitableError:
                continue
            return topic.name, agent.steps
    raise UnsuitableError(scenario)


def write(path: Path, rows: list[dict[str, object]]) -> None:
    """Write JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    print(f"{path}: {len(rows)} rows, {path.stat().st_size:,} bytes")


def main() -> int:
    """Parse the options, record, and print how many rows went where."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", type=Path, required=True)
    parser.add_argument("--short", type=Path, required=True)
    options = parser.parse_args()
    long = []
    for number in range(6):
        rng = Random(f"11-long-{number}")  # noqa: S311 - variety, not secrecy
        scenario = TASKS[number % len(TASKS)]
        topic, steps = play(rng, scenario, int(rng.uniform(17_500, 25_000) * 3.2))
        meta = {"seed": 11, "topic": topic, "python": platform.python_version(), "protocol": LONG[number % 3]}
        long.append(shaped(LONG[number % 3], number, scenario, steps, meta))
        long[-1]["id"] = f"text-{number:05d}"
    write(options.long, long)
    for shape in SHAPES:
        rows = []
        for number in range(SHORT_ROWS):
            rng = Random(f"11-{shape}-{number}")  # noqa: S311
            scenario = list(LANGUAGES)[number % 2] if shape == "languages" else TASKS[number]
            topic, steps = play(rng, scenario, 4000)
            meta = {"seed": 11, "topic": topic, "python": platform.python_version()}
            rows.append(shaped(shape, number, scenario, shortened(steps, 360, 7), meta))
        write(options.short / f"{shape}.jsonl", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
