"""The line that counts the requests and steps which a record leaves out, written and read again. Pure.

It names the tools that most of the steps called and the files they were used on, and says how many of them failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from trajcompress.processes.late_patterns import late_re

COMMAND = "\0"
"""Stands between a tool and its command, in what a step is counted by: the names of some have spaces."""
REQUEST = "\1"
"""Stands for the tool where a person asked for something."""
OTHERS = "\2"
"""Begins the tool of steps of which no more is known than which tools, named behind it, they did not call."""
MOST_WORDS = 3
"""Of the name of a tool with its command for a file."""

_MOST_TOOLS, _MOST_FILES = 3, 3  # that are named
_MORE = late_re(
    r"… besides [^\n]{1,200}|… (?:\d{1,6} more requests?(?:, (?=\d)|\Z))?"
    r"(?:\d{1,6} more (?:action|step)s?(?: between these)?(?:: [^\n]{1,600})?)?"
)  # as any version counted them
_REQUESTS = late_re(r"… (\d{1,6}) more requests?")
_COUNT = late_re(r"\d{1,6}(?= × | more)")
_TOOL = late_re(r"(?:(\d{1,6}) × )?([^,×\n]{1,80}?)(?: \(([^()\n]{1,200})\))?(?=, \d{1,6} × |, …\Z|\Z)")
_FAILED = late_re(r"(?:(\d{1,6}) )?failed\Z")
_FILE_NAME = late_re(r"[\w.@+=~-]{1,60}")
_AND_MORE = late_re(r" \(and (\d{1,9}) more\) → ")
_TIMES = late_re(r" ×(\d{1,9})\Z")
_UNNAMED = "…"


class Left(NamedTuple):
    """What is known of a step that is left out: its tool, the name of the one file it was used on, how it ended."""

    tool: str = ""
    file: str = ""
    failed: bool = False


def left_of(tool: str, file: str, *, failed: bool) -> Left:
    """Return what is known of a step; files whose names the line could not be read by go without."""
    return Left(tool, file if _FILE_NAME.fullmatch(file) else "", failed)


def counts(line: str) -> bool:
    """Whether a line of an earlier summary counts what is left out."""
    return _MORE.fullmatch(line) is not None


def steps_in(line: str) -> int:
    """Return how many steps a line tells."""
    times = _TIMES.search(line.partition(" → ")[0])
    return int(times[1]) if times else 1 + sum(map(int, _AND_MORE.findall(line)))


def tool_named(line: str, tools: Mapping[str, str]) -> str:
    """Return which of the tools, by their names in a line, its first words name; nothing where none.

    >>> tool_named("edit view a.py → 3 lines", {"edit": "editor", "edit view": "viewer"})
    'viewer'
    """
    words = line.partition(" → ")[0].split(" ", MOST_WORDS)[:MOST_WORDS]
    named = (" ".join(words[:size]) for size in range(len(words), 0, -1))
    return next((tools[name] for name in named if name in tools), "")


def write_left(left: Counter[Left], *, files: bool) -> str:
    """Count requests and steps that are left out, the latest first, and name what most of the steps called.

    Args:
        left: what is left out.
        files: whether it is said on which files, too.
    """
    steps = Counter(left)
    requests = steps.pop(Left(REQUEST), 0)
    told = [f"{requests} more request{'s' if requests > 1 else ''}"] if requests else []
    if count := steps.total():
        others = [each.tool[1:].split(",") for each in steps if each.tool.startswith(OTHERS)]
        by_name: dict[str, Counter[Left]] = {}  # of an editor its commands
        for each, times in steps.items():
            by_name.setdefault(each.tool.rpartition(COMMAND)[2], Counter())[each] += times
        # A number is told where none of the others may have called the same.
        certain = [
            (name, of_it) for name, of_it in by_name.items() if name[:1] not in {"", OTHERS} and _in_all(others, name)
        ]
        ranked = sorted(certain, key=lambda each: (-each[1].total(), each[0]))[:_MOST_TOOLS]
        named = [f"{f'{of_it.total()} × ' * (count > 1)}{name}{_on(of_it, files=files)}" for name, of_it in ranked]
        named += ["…"] if named and sum(of_it.total() for _, of_it in ranked) < count else []
        told.append(f"{count} more step{'s' if count > 1 else ''}{': ' if named else ''}{', '.join(named)}")
    return f"… {', '.join(told)}"


def _on(steps: Counter[Left], *, files: bool) -> str:
    """Name the files that steps with one tool were used on most, else last, and count those that failed."""
    on: Counter[str] = Counter()
    for each, times in steps.items():
        on[each.file] += times if files else 0
    names = [file for file, times in on.most_common() if file and times]
    most = names[:_MOST_FILES]
    failed = sum(times for each, times in steps.items() if each.failed)
    told = [file for file in reversed(on) if file in most]
    told += [_UNNAMED] * bool(names and ("" in on or len(names) > _MOST_FILES))
    said = [", ".join(told)] if told else []
    if failed:
        said.append("failed" if steps.total() == 1 else f"{failed} failed")
    return f" ({'; '.join(said)})" if said else ""


def _in_all(lists: Sequence[Sequence[str]], name: str) -> bool:
    return all(name in each for each in lists)


def read_left(said: str) -> Counter[Left]:
    """Return the requests and steps that a line counts, these by what they called where it names that."""
    left: Counter[Left] = Counter()
    if asked := _REQUESTS.match(said):
        left[Left(REQUEST)] = int(asked[1])
        said = said[asked.end() :]
    counted, _, named = said.partition(": ") if " more " in said else (said, "", "")
    count = sum(map(int, _COUNT.findall(counted)))
    tools = []
    for times, tool, on in _TOOL.findall(named):
        if not tool.strip(" …"):
            continue
        tools.append(tool)
        left += _read_on(tool, int(times or count), on)
    rest = count - sum(times for each, times in left.items() if each.tool != REQUEST)
    return left + Counter({Left(OTHERS + ",".join(tools)): rest})


def _read_on(tool: str, times: int, on: str) -> Counter[Left]:
    """Return steps with one tool by the files that are named; of what is not known the first has most."""
    names, _, end = on.rpartition("; ") if "; " in on else ("", "", on) if _FAILED.match(on) else (on, "", "")
    failed = int(found[1] or 1) if (found := _FAILED.match(end)) else 0
    named = dict.fromkeys(names.split(", ")) if names else {_UNNAMED: None}
    files = [name if name != _UNNAMED else "" for name in named][:times]
    most = files[-1] if "" in files else files[0]
    left: Counter[Left] = Counter()
    for file in files:
        of_it = 1 + (times - len(files)) * (file == most)
        left[Left(tool, file, failed=True)] += (failing := min(failed, of_it))
        left[Left(tool, file)] += of_it - failing
        failed -= failing
    return +left
