"""The prompt: a versioned Markdown file, filled in with the turns as fenced data."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from importlib import resources
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.facts import facts_missing
from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.answer import strip_prefixes
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.transcript import render_turn, shown_turns
from trajcompress.transcript.observations import is_request, request_text
from trajcompress.transcript.trajectory import Turn

PROMPT_VERSION = "summary.v7"
"""The name of the file; a changed text is a new file, so that old summaries are not reused."""

_PART = late_re(r"^<!-- (user|previous|focus|facts|missing) -->$", re.MULTILINE)
_PLACES = {"so_far": "previous", "focus_on": "focus", "must_survive": "facts", "left_out": "missing"}
_PLACEHOLDER = late_re(r"\{\{(\w+)\}\}")
_CHAT_TOKENS = 32  # roles and separators around the two messages


class Prompt(Struct, frozen=True):
    """What is sent: the instructions, and the turns as data."""

    system: str
    user: str

    def tokens(self, count: Callable[[str], int]) -> int:
        """Estimate what a server counts."""
        return _CHAT_TOKENS + count(f"{self.system}\n{self.user}")


def build_prompt(request: SummaryRequest, *, note: str = "") -> Prompt:
    """Fill the prompt in for one request.

    Models overrun, and count with another tokenizer, so they are asked for four fifths of the budget.

    Args:
        request: What to summarise.
        note: Why an earlier answer could not be used, for the model to read.
    """
    missing: tuple[str, ...] = ()
    if request.answer is not None:
        missing = facts_missing(request.facts, request.answer)
        size = request.count(request.answer)
        note = note or (overlong_note(size, request.target_tokens) if size > request.target_tokens else "")
    data = {
        "goal": last_goal(request.head),
        "previous": strip_prefixes(request.previous or ""),
        "turns": shown_turns(request) or "(none: only the summary so far)",
        "facts": "\n".join(request.facts),
        "missing": "\n".join(missing),
        "focus": request.focus or "",
    }
    values = {
        **data,
        "delimiter": delimiter_for("\n".join(data.values())),
        "max_tokens": str(max(request.target_tokens * 4 // 5, 1)),
        "note": f" An earlier answer could not be used: {note}." if note else "",
    }
    template = load_template(PROMPT_VERSION)
    for place, part in _PLACES.items():
        values[place] = fill(template[part], values) + "\n\n" if data[part] else ""
    return Prompt(fill(template["system"], values), fill(template["user"], values))


def overlong_note(tokens: int, target_tokens: int) -> str:
    """Say what is wrong with an answer that is longer than asked."""
    return f"it had {tokens} tokens, and {target_tokens} are allowed"


@cache
def load_template(version: str) -> dict[str, str]:
    """Load the parts of a prompt by name: ``system``, ``user``, and what the latter says of each thing given."""
    path = resources.files("trajcompress.summarize") / "prompts" / f"{version}.md"
    system, *rest = _PART.split(path.read_text("utf-8"))
    parts = zip(rest[::2], rest[1::2], strict=True)
    return {"system": system.strip(), **{name: text.strip() for name, text in parts}}


def fill(template: str, values: dict[str, str]) -> str:
    """Put ``values`` in place of ``{{name}}``, in one pass: a placeholder inside a value stays as it is."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


def delimiter_for(data: str) -> str:
    """Return a line that does not occur in ``data``; mostly the same one, so that prompts begin alike."""
    candidates = (f"=====TURNS-{hashlib.sha256(str(salt).encode()).hexdigest()[:16]}=====" for salt in count())
    return next(candidate for candidate in candidates if candidate not in data)


def last_goal(head: tuple[Turn, ...]) -> str:
    """Return what the user last asked for in ``head``."""
    asked = [turn for turn in head if is_request(turn) and request_text(turn).strip()]
    if not asked:
        return "(not given)"
    return render_turn(replace(asked[-1], text=request_text(asked[-1]), answers=(), in_text=False))
