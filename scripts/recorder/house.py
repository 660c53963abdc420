"""The rules of the workspace, which every task starts from and ends with."""

from __future__ import annotations

from dataclasses import dataclass

from recorder.agent import Agent, Call
from recorder.topics import Topic

_SYSTEM = (
    (
        "You are a coding agent. You work in a checkout through the tools you are given. Read before you edit, "
        "and run the tests before you say that you are done."
    ),
    (
        "You help maintain a vendored copy of Python modules. src/ holds the code, tests/ the unit tests. Use "
        "the tools; never guess what a file contains. Quote paths and line numbers in your answers."
    ),
    (
        "You are a careful software engineer. Keep changes minimal, follow CONTRIBUTING.md, and report what you "
        "found, what you changed and how you checked it."
    ),
)
_CHANGELOGS = ("docs/CHANGES.md", "NEWS.md", "docs/history/unreleased.md", "CHANGELOG.md")
_REVIEWERS = ("@mira", "@okonkwo", "@jlind", "@tadeusz", "@yuki-s", "@ferreira")
_PREFIXES = ("VEND", "LIB", "CORE", "PLAT", "STD")


@dataclass(frozen=True, slots=True)
class House:
    """What CONTRIBUTING.md asks for; drawn anew for every task, so it has to be remembered from where it was read."""

    ticket: str
    changelog: str
    version: str
    reviewer: str

    def entry(self, topic: Topic, what: str) -> str:
        """A changelog line in the form that the rules ask for."""
        return f"- {topic.name}: {what} ({self.ticket}, {self.reviewer})"


def found_house(agent: Agent, topic: Topic) -> House:
    """Draw the rules and put them into the workspace."""
    rng = agent.rng
    house = House(
        ticket=f"{rng.choice(_PREFIXES)}-{rng.randint(1001, 9899)}",
        changelog=rng.choice(_CHANGELOGS),
        version=f"{rng.randint(1, 6)}.{rng.randint(0, 14)}.{rng.randint(0, 9)}",
        reviewer=rng.choice(_REVIEWERS),
    )
    agent.workspace.put(
        "CONTRIBUTING.md",
        f"""# Working on this tree

- `src/` is a vendored copy of Python modules; `tests/test_<module>.py` holds our tests for each.
- Run the suite of a module with unittest, for example `tests.test_{topic.name}`. It must pass before review.
- Error messages name the function and the argument at fault.
- Every change gets one line in `{house.changelog}`, under `## {house.version} (unreleased)`:
  `- module: what changed (TICKET, reviewer)`.
- The reviewer for `{topic.name}` is {house.reviewer}.
- No reformatting of vendored code: change only the lines you have to.
""",
    )
    agent.workspace.put(house.changelog, f"# Changes\n\n## {house.version} (unreleased)\n\n")
    return house


def open_task(agent: Agent, topic: Topic, request: str, *first: Call) -> list[str]:
    """System turn (not always), the request, and a first look round; returns the results of ``first``."""
    if agent.chance(0.7):
        agent.system(agent.pick(_SYSTEM))
    agent.user(request)
    look: tuple[Call, ...] = (("list_dir", {"path": "."}), ("read_file", {"path": "CONTRIBUTING.md"}))
    opening = agent.pick(
        (
            f"I start with the layout of the checkout and its rules, then look at `{topic.name}`.",
            "First a look round, and at what CONTRIBUTING.md asks for.",
            "Let me see how the tree is laid out and which rules apply.",
        )
    )
    if agent.chance(0.4):
        return agent.do(opening, *look, *first)[len(look) :]
    agent.do(opening, look[0])
    agent.do("There is a CONTRIBUTING.md; its rules come before anything else.", look[1])
    return agent.do(f"Now the task itself, for `{topic.name}`.", *first) if first else []


def note_change(agent: Agent, house: House, topic: Topic, what: str) -> None:
    """Add the line that CONTRIBUTING.md asks for."""
    heading = f"## {house.version} (unreleased)\n"
    edit = {"path": house.changelog, "old": heading, "new": f"{heading}\n{house.entry(topic, what)}"}
    agent.do(
        agent.pick(
            (
                f"The rules want a line in `{house.changelog}` under {house.version}, with ticket and reviewer.",
                f"What is missing is the entry in `{house.changelog}` for {house.ticket}.",
            )
        ),
        ("edit_file", edit),
    )
