"""What the agent is asked to do. A scenario is a function of an agent in its workspace and a topic."""

from __future__ import annotations

from collections.abc import Callable

from recorder.agent import Agent
from recorder.scenarios.audit import audit
from recorder.scenarios.callgraph import callgraph
from recorder.scenarios.fix_bug import fix_bug
from recorder.scenarios.guard import guard
from recorder.scenarios.pin_api import pin_api
from recorder.scenarios.questions import questions
from recorder.scenarios.rename import rename
from recorder.topics import Topic

SCENARIOS: dict[str, Callable[[Agent, Topic], None]] = {
    "fix-bug": fix_bug,
    "rename": rename,
    "guard": guard,
    "audit": audit,
    "callgraph": callgraph,
    "pin-api": pin_api,
    "questions": questions,
}
