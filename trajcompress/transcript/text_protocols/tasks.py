"""The turns in which a row's next task stands, under the label of the first: a person's, whatever is around. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.transcript.trajectory import Turn

_TASK = late_re(
    r"\n[ \t*#]{0,4}((?:(?:your|current|new|next|user|the) )?(?:objective|task|question|query|goal|instruction"
    r"|problem|request)(?: is(?: to)?)?|问题|任务|题目|质问|タスク|aufgabe|frage|tâche|tarea|pregunta|задача|вопрос)"
    r"[ \t*]{0,3}[:：][ \t*\"'`]{0,4}([^\s\"'`*][^\n]{3,300})"
)
_HINTS = (
    *("objective", "task", "question", "query", "goal", "instruction", "problem", "request", "问题", "任务", "题目"),
    *("质问", "タスク", "aufgabe", "frage", "tâche", "tarea", "pregunta", "задача", "вопрос"),
)
_BOX = "─ new run ─"  # on a console, as smolagents writes
_BOXED = late_re(rf"({_BOX})─*╮\n│ {{0,400}}│\n│ {{0,8}}(\S[^\n│]{{3,300}})")
_READ_CHARS = 20_000
_PROMPT_CHARS = 80_000
_KNOWN_CHARS = 60


def new_tasks(turns: Sequence[Turn], candidates: Iterable[int]) -> set[int]:
    """Return those of some turns that tell a task that none before them does, labelled as the prompt labels its own.

    Args:
        turns: all turns of a row.
        candidates: places of turns of the user.
    """
    first = next((at for at, turn in enumerate(turns) if turn.role == "assistant"), 0)
    labels = {label for turn in turns[:first] for label, _ in tasks_of(turn.text)}
    if not labels:
        return set()
    prompt = "\n".join(turn.text[:_READ_CHARS] for turn in turns[:first])[-_PROMPT_CHARS:].lower()
    told: set[str] = set()
    found: set[int] = set()
    for index in sorted(candidates):
        tasks = [task for label, task in tasks_of(turns[index].text) if label in labels]
        if any(task not in told and task not in prompt for task in tasks):
            found.add(index)
            told.update(tasks)
    return found


def tasks_of(text: str) -> list[tuple[str, str]]:
    """Return how the tasks begin that lines of a text are labelled as, each with its label; in small letters."""
    low = text[:_READ_CHARS].lower()
    found = _TASK.findall(f"\n{low}") if holds_any(low, _HINTS) else []
    found += _BOXED.findall(low) if _BOX in low else []
    return [(label, task[:_KNOWN_CHARS].rstrip(" .\"'`*")) for label, task in found]
