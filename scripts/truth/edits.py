"""Which files the actions of a row changed, by what the actions say and what came of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from truth.who import Action, Story

CHANGING = re.compile(
    r"(?i)(edit|writ|creat|replace|insert|append|patch|rename|save|move|delete|fix|undo|update|download|generate|export"
    r"|convert|add|upload|merge|touch)"
)
ARGUMENT = re.compile(r"(?im)^(?:\w+=)*\w*(?:path|file|file_?name|filepath|destination|dest)=(\S+)")
SHELL = [
    re.compile(r"(?<![0-9&<>=-])[12&]?>{1,2}\s*[\"']?([\w./~$-]+)"),
    re.compile(r"\btee\s+(?:-a\s+)?[\"']?([\w./~-]+)"),
    re.compile(r"\bopen\(\s*[rf]?[\"']([^\"']+)[\"']\s*,\s*(?:mode=)?[\"'][wax]"),
    re.compile(r"(?:to_\w+|savefig|save|write_text|write_bytes|imwrite)\(\s*[\"']([^\"']+)[\"']"),
    re.compile(r"(?:\s-o|--output|-O)[= ]\s*[\"']?([\w./~-]+)"),
]
MOVING = re.compile(
    r"(?:^|[;&|\n(]|=)\s*(?:sudo\s+)?(?:cp|mv|rm|touch|mkdir|ln|truncate|chmod|dd|patch)\s+([^;&|\n]+)"
)
IN_PLACE = re.compile(r"\b(?:sed|perl)\b[^;&|\n]*?\s-\w*i\S*\s+([^\n]+)")
GIT = re.compile(r"\bgit\s+(?:checkout|restore|rm|mv|apply|stash|reset)\s*([^;&|\n]*)")
VERB = re.compile(r"(?:tool_name|command|action)=(\w+)")
INSIDE = re.compile(r"^\s*(create|edit|insert|append|write|str_replace|rm|mv|set_cursors)\b[^\S\n]*(\S*)")
FAILED = re.compile(
    r"(?i)no replacement was performed|did not appear verbatim|introduced new syntax error|edit was not applied"
    r"|your edit was not|^(?:observation:\s*)?(?:error\b|invalid\b|failed\b)|cannot overwrite files using command"
    r"|no such file or directory|permission denied|access denied|parameter .* is required"
)
FLAGGED = re.compile(r"""isError\\*["']?\s*[:=]\s*[Tt]rue|"result\\*"\s*:\s*\\*"error\b""")
"""How tools of the Model Context Protocol, and editors that answer with data, say that a call failed."""


@dataclass(frozen=True)
class Edit:
    """A change of a file."""

    action: Action
    path: str
    failed: bool
    sure: bool
    """False where a file that the action writes would only do so when it runs."""


def edits(story: Story) -> list[Edit]:
    """All changes of files, in order."""
    found: list[Edit] = []
    for action in story.actions:
        result = action.result or ""
        failed = bool(FAILED.search(result[:300]) or FLAGGED.search(result))
        found += [Edit(action, path, failed, sure) for path, sure in _targets(action).items() if base(path)]
    return found


def base(path: str) -> str:
    """The last part of a path, if it looks like a file's or folder's name."""
    last = path.strip().strip("\"'`,;:)]}").rstrip("/").rsplit("/", 1)[-1]
    return last if re.search(r"\w", last) and last not in {"null", "dev"} else ""


def changed(path: str, found: list[Edit]) -> tuple[bool, bool]:
    """Whether an action says it changed this file, and whether none of those that do went through."""
    of_it = [edit for edit in found if base(edit.path) == base(path)]
    return bool(of_it), bool(of_it) and all(edit.failed for edit in of_it)


def _targets(action: Action) -> dict[str, bool]:
    text = action.text
    if re.search(r"(?m)^(?:\S+ )?command=view\b", text[:400]):
        return {}
    head = " ".join([action.name, *VERB.findall(text[:600])])
    paths: list[str] = ARGUMENT.findall(text) if CHANGING.search(head) and action.name else []
    sure = len(paths)
    if inside := INSIDE.match(text):
        verb, word = inside.groups()
        named = bool(re.search(r"[A-Za-z_]", word)) and not re.fullmatch(r"[\d:]+", word)
        if verb in {"create", "rm", "mv"} and named:
            paths.append(word)
        elif verb in {"edit", "insert", "append"} and action.open_file:
            paths.append(action.open_file)
    for pattern in SHELL:
        paths += pattern.findall(text)
    for pattern in (MOVING, IN_PLACE, GIT):
        for listed in pattern.findall(text):
            paths += [word for word in listed.split() if re.search(r"[\w]", word) and not word.startswith("-")]
    found = {path: not sure or place < sure for place, path in reversed(list(enumerate(paths)))}
    return {path: certain for path, certain in found.items() if not path.startswith(("/dev/", "&"))}
