"""The prompt: a versioned Markdown file, filled in with the turns as fenced data."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import count

from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.transcript import render_turn, render_turns
from trajcompress.trajectory import Turn

PROMPT_VERSION = (
    "summary.v2"  # the name of the file; a changed text is a new file, so that old summaries are not reused
)

_USER_PART = "<!-- user -->"
_FACTS_PART = "<!-- facts -->"
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent: the instructions, and the turns as data."""

    system: str
    user: str


def build_prompt(request: SummaryRequest, *, note: str = "") -> Prompt:
    """Fill the prompt in for one request.

    Models overrun, and count with another tokenizer, so they are asked for four fifths of the budget.

    Args:
        request: What to summarise.
        note: Why an earlier answer could not be used, to be told to the model.
    """
    goal, turns, facts = last_goal(request.head), render_turns(request.region), "\n".join(request.facts)
    values = {
        "delimiter": delimiter_for(f"{goal}\n{turns}\n{facts}"),
        "max_tokens": str(max(request.target_tokens * 4 // 5, 1)),
        "goal": goal,
        "turns": turns,
        "facts": facts,
        "note": f" An earlier answer could not be used: {note}." if note else "",
    }
    template = load_template(PROMPT_VERSION)
    values["must_survive"] = fill(template.facts, values) + "\n\n" if facts else ""
    return Prompt(fill(template.system, values), fill(template.user, values))


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt to be filled in: the instructions, the user's part, and what that says of facts if there are any."""

    system: str
    user: str
    facts: str


@cache
def load_template(version: str) -> Template:
    """Load the parts of a prompt."""
    path = resources.files("trajcompress.summarize") / "prompts" / f"{version}.md"
    system, _, rest = path.read_text("utf-8").partition(_USER_PART)
    user, _, facts = rest.partition(_FACTS_PART)
    return Template(system.strip(), user.strip(), facts.strip())


def fill(template: str, values: dict[str, str]) -> str:
    """Put ``values`` in place of ``{{name}}``, in one pass: a placeholder inside a value stays as it is."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


def delimiter_for(data: str) -> str:
    """Return a line that does not occur in ``data``; the same for the same data."""
    candidates = (f"=====TURNS-{hashlib.sha256(f'{salt}:{data}'.encode()).hexdigest()[:16]}=====" for salt in count())
    return next(candidate for candidate in candidates if candidate not in data)


def last_goal(head: tuple[Turn, ...]) -> str:
    """Return what the user last asked for in ``head``."""
    asked = [turn for turn in head if turn.role == "user" and not turn.answers and turn.text.strip()]
    return render_turn(asked[-1]) if asked else "(not given)"
