"""Reading code page by page, with remarks on what each page really held."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recorder.agent import Agent, amount, amount_of_lines
from recorder.topics import Topic

_DEFINITION = re.compile(r"^ *(\d+)\t *(?:async )?(?:class|def) (\w+)")
_RAISE = re.compile(r"^ *(\d+)\t *raise ([A-Z]\w*)")
_PAGES = (90, 120, 160, 200, 250)
_RESERVE = 9000  # characters that the rest of a scenario takes, about


@dataclass(frozen=True, slots=True)
class Finding:
    """A definition that was seen while reading."""

    path: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"`{self.name}` (`{self.path}` line {self.line})"


def reading_order(agent: Agent, topic: Topic, *first: str) -> list[str]:
    """These files, then the topic's others, then the rest of src."""
    everything = [*first, *agent.workspace.sources_of(topic), *agent.workspace.paths("src")]
    return list(dict.fromkeys(everything))


def study(agent: Agent, paths: Sequence[str], purpose: str) -> list[Finding]:
    """Read files, in order, until the record is nearly as long as it should be; returns what was defined there."""
    found: list[Finding] = []
    remark = f"Before I go on I want to know {purpose}."
    for path in paths:
        total = len(agent.workspace.lines(path))
        page = agent.pick(_PAGES)
        for start in range(1, total + 1, page):
            if not agent.room(_RESERVE):
                return found
            end = min(start + page - 1, total)
            shown = agent.read(f"{remark} {_announce(agent, path, start, end)}", path, start, end)
            seen = [Finding(path, int(m[1]), m[2]) for m in map(_DEFINITION.match, shown.split("\n")) if m]
            found += seen
            remark = _remark(path, (start, end), seen, shown)
            if seen and agent.chance(0.25) and agent.room(_RESERVE):
                remark = _chase(agent, remark, agent.pick(seen))
    return found


def _announce(agent: Agent, path: str, start: int, end: int) -> str:
    if start == 1:
        return agent.pick((f"I open `{path}`.", f"Next is `{path}`, from the top.", f"Reading `{path}`, first page."))
    return agent.pick(
        (f"On to line {start}.", f"Lines {start}-{end} are next.", f"The file goes on at line {start}.")
    )


def _remark(path: str, span: tuple[int, int], seen: Sequence[Finding], shown: str) -> str:
    errors = [(int(m[1]), m[2]) for m in map(_RAISE.match, shown.split("\n")) if m]
    parts = [f"Lines {span[0]}-{span[1]} of `{path}`"]
    if seen:
        names = ", ".join(f"`{finding.name}` (line {finding.line})" for finding in seen[:4])
        more = f" and {len(seen) - 4} more" if len(seen) > len(seen[:4]) else ""
        parts.append(f"define {names}{more}")
    else:
        parts.append("define nothing by name")
    if errors:
        parts.append(f"and raise {', '.join(f'{name} at line {line}' for line, name in errors[:3])}")
    return f"{' '.join(parts)}."


def _chase(agent: Agent, remark: str, finding: Finding) -> str:
    uses = agent.search(
        f"{remark} Who uses `{finding.name}`?", rf"\b{re.escape(finding.name)}\b", finding.path.rsplit("/", 1)[0]
    )
    files = {use.split(":")[0] for use in uses}
    return f"`{finding.name}` is mentioned on {amount_of_lines(uses)} in {amount(len(files), 'file')}."


def recall(agent: Agent, findings: Sequence[Finding]) -> str:
    """A sentence that looks back at a few definitions, for a closing report; empty where nothing was read."""
    telling = [finding for finding in findings if not finding.name.startswith("__")]
    if not telling:
        return ""
    chosen = agent.rng.sample(telling, min(3, len(telling)))
    chosen.sort(key=lambda finding: (finding.path, finding.line))
    return f"From reading on the way, for whoever looks here next: {', '.join(map(str, chosen))}."
