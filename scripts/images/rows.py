"""Made rows with images: before the words of page 7 stands the picture of page 7, in every layout that rows have."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Shown = tuple[int | None, int]
"""The page whose words follow an image at once, None where no page's do, and the page that the image is of."""


@dataclass(frozen=True)
class Made:
    """A row, and where its images stand."""

    row: dict[str, Any]
    shown: tuple[Shown, ...]


@dataclass(frozen=True)
class Step:
    """What a message shows: pages, each of some lines; without pages it is lines alone."""

    pages: tuple[int, ...]
    lines: int
    task: str = ""


Content = Callable[[Step], Any]
Message = dict[str, Any]

RESULTS = (
    *((1, 12), (1, 12), (2, 12), (0, 30), (1, 40), (3, 12), (1, 12)),
    *((1, 60), (2, 40), (1, 12), (0, 12), (4, 90), (1, 20)),
)
"""Of each result the number of its pages and of the lines of a page: enough that old ones have to go."""

PARQUET = (
    *("results_text", "results_listed", "observations_text", "observations_listed"),
    *("sharegpt", "prompt_completion", "unmarked"),
)
"""Files that are tables: in the others content is now a text, now a list."""

SHAREGPT = {"user": "human", "assistant": "gpt"}
BEFORE, AFTER = "<returncode>0</returncode>\n<output>", "</output>"


def files(pictures: Sequence[Path]) -> dict[str, list[Made]]:
    """The rows of each file by its name; the n-th picture is that of page n."""
    long, short = _steps(), _steps()[:1]

    def both(make: Callable[[list[Step], Content], list[Message]], content: Content, *, listed: bool = False) -> Any:
        made = [make(steps, content) for steps in (long, short)]
        named = zip(("long", "short"), [_listed(each) for each in made] if listed else made, strict=True)
        return [_made({"id": name, "messages": messages}, pictures) for name, messages in named]

    own = {"id": "own", "messages": _called(long, lambda step: _parts(step, pictures))}
    typed = _listed(_typed(long, _parts))
    halves = {"id": "halves", "prompt": typed[:-1], "completion": typed[-1:]}
    said = [{"from": SHAREGPT[message["role"]], "value": message["content"]} for message in _typed(long, _framed)]
    bare = {"id": "bare", "messages": _typed(long, lambda step: _framed(step, mark=""))}
    return {
        "results_text": both(_called, _text),
        "results_parts": both(_called, _parts),
        "results_listed": both(_called, _parts, listed=True),
        "results_own": [Made(own, _shown(long))],
        "observations_text": both(_typed, _framed),
        "observations_parts": both(_typed, _framed_parts),
        "observations_listed": both(_typed, _parts, listed=True),
        "sharegpt": [_made({"id": "sharegpt", "conversations": said}, pictures)],
        "prompt_completion": [_made(halves, pictures)],
        # Of a row without marks all images stand before the first user's words.
        "unmarked": [Made(bare | {"images": [str(place) for place in pictures[:2]]}, ((None, 0), (0, 1)))],
    }


def words(page: int, lines: int) -> str:
    """The words of a page."""
    return f"page {page} lists the flights of day {page}. " + f"Row of the list with a price of day {page}. " * lines


def _steps() -> list[Step]:
    steps, page = [Step((0,), 1, "\nBook a flight from Oslo to Rome.")], 1
    for count, lines in RESULTS:
        steps.append(Step(tuple(range(page, page + count)), lines))
        page += count
    return steps


def _shown(steps: Sequence[Step]) -> tuple[Shown, ...]:
    return tuple((page, page) for step in steps for page in step.pages)


def _made(row: dict[str, Any], pictures: Sequence[Path]) -> Made:
    shown = _shown(_steps()[:1] if row["id"] == "short" else _steps())
    return Made(row | {"images": [str(pictures[page]) for _, page in shown]}, shown)


def _called(steps: Sequence[Step], content: Content) -> list[Message]:
    """Calls and results of tools."""
    first, *results = steps
    made: list[Message] = [{"role": "user", "content": content(first)}]
    for number, step in enumerate(results):
        function = {"name": "click", "arguments": json.dumps({"x": number})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        made += [
            {"role": "assistant", "content": f"I click on {number}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": content(step)},
        ]
    return [*made, {"role": "assistant", "content": "The flight is booked."}]


def _typed(steps: Sequence[Step], content: Content) -> list[Message]:
    """Commands in the text, and what the user's side answers."""
    first, *results = steps
    made: list[Message] = [{"role": "user", "content": content(first)}]
    for number, step in enumerate(results):
        made += [
            {"role": "assistant", "content": f"I click.\n```bash\nclick {number}\n```"},
            {"role": "user", "content": content(step)},
        ]
    return [*made, {"role": "assistant", "content": "The flight is booked."}]


def _text(step: Step, mark: str = "<image>") -> str:
    if not step.pages:
        return "no screen. " + "Nothing was shown here. " * step.lines
    return "\n".join(f"{mark}{words(page, step.lines)}" for page in step.pages) + step.task


def _framed(step: Step, mark: str = "<image>") -> str:
    return _text(step, mark) if step.task else f"{BEFORE}\n{_text(step, mark)}\n{AFTER}"


def _parts(step: Step, own: Sequence[Path] | None = None) -> list[dict[str, str]]:
    if not step.pages:
        return [_part(_text(step))]
    made: list[dict[str, str]] = []
    for page in step.pages:
        image = {"type": "image"} | ({"path": str(own[page])} if own else {})
        made += [image, _part(words(page, step.lines) + step.task)]
    return made


def _framed_parts(step: Step) -> list[dict[str, str]]:
    return _parts(step) if step.task else [_part(BEFORE), *_parts(step), _part(AFTER)]


def _part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _listed(messages: Sequence[Message]) -> list[Message]:
    """All content as lists of parts, which makes a column of one type."""
    texts = [message["content"] for message in messages]
    contents = [[_part(text)] if isinstance(text, str) else text for text in texts]
    return [message | {"content": content} for message, content in zip(messages, contents, strict=True)]
