"""One action of the agent: which tool it calls, on what, and what that changes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.outcomes.action.apart import inner_call
from trajcompress.outcomes.action.change import BULK_KEYS as EDIT_KEYS
from trajcompress.outcomes.action.change import (
    CHANGE_CHARS,
    GIST_CHARS,
    brought_in,
    diff_sides,
    first_text,
    is_diff,
    told_lines,
    whole_text,
)
from trajcompress.outcomes.action.commands import cut_command, without_comments
from trajcompress.outcomes.action.labels import named
from trajcompress.outcomes.action.patches import Patch, patch_of
from trajcompress.outcomes.action.places import COUNT_KEYS, PATH_KEYS, SPAN_KEYS, files_of, span_of
from trajcompress.outcomes.action.queries import bare_statements, changes_records
from trajcompress.outcomes.action.quotes import closed
from trajcompress.outcomes.action.scripts import called_in, told_call
from trajcompress.outcomes.action.shell import (
    OF_SHELL,
    Kind,
    files_written,
    given_to_shell,
    kind_of,
    moved,
    without_quoted_signs,
)
from trajcompress.outcomes.action.usual import NOTHING_USUAL, Usual, own_arguments
from trajcompress.outcomes.action.verbs import kind_of_tool
from trajcompress.outcomes.action.written_files import NOTHING_WRITTEN, written_by, written_in
from trajcompress.outcomes.compact import compact, is_false, opened
from trajcompress.outcomes.text import one_line, shorten
from trajcompress.processes.late_patterns import late_re

TARGET_CHARS, GIVEN_CHARS = 140, 240
SCAN_CHARS, _COUNTED_CHARS = 2_000, 200_000
_TYPED_CHARS = 20_000
_MOST_FILES = 20  # of one call
_ROOMY_CHARS = 50  # of code, which have room in any label

SHELLS = frozenset(
    (  # noqa: SIM905 - a literal of strings would fill a screen
        "bash sh shell zsh terminal cmd powershell execute_bash run_bash run_command run_shell execute_command"
        " execute run mswea_bash_command run_terminal_cmd bash_command sql shell_command run_shell_command"
        " exec exec_command local_shell developer__shell run_in_terminal container.exec"
    ).split()
)
"""Tools whose command says all."""

_MORE_LINES = " line)", " lines)"
_NAMES = late_re(r"[A-Za-z_]\w{0,60} ?= ?(?:[rbfu]?\"[^\"\n]*\"|[rbfu]?'[^'\n]*'|-?\d[\d._]*|True|False|None)\s*")
_TEXT_KEYS = ("command", "cmd", "code", "script")
_DOCUMENTS = (".md", ".mdx", ".markdown")
_WAIT_KEYS = ("duration", "seconds", "timeout", "wait")
_BULK_KEYS = frozenset((*EDIT_KEYS, *PATH_KEYS, *SPAN_KEYS))

_HEREDOC = late_re(r"<<-?\s?['\"]?(\w{1,40})")
_QUERY = late_re(r"[A-Z]{4,10}(?![^\s])")
_WRITES = late_re(r"write|create|edit|replace|insert|patch|append|save|update|delete|remove", re.IGNORECASE)
_OPEN_EDIT = late_re(r"(?:edit|insert) +\d+(?::\d+)?\b")
_TAKES_BACK = late_re(
    r"\bgit (checkout|restore|stash(?! (?:pop|apply|list|show|drop))|reset --hard)\b([^\n;&|]{0,300})"
)
_CD = late_re(r"^cd [^\s;&|]{1,300}[ \t]{0,4}(?:\s{0,4}(?:&&|;)|\n)\s{0,4}(?=\S)")
_FILE = late_re(  # with a slash from the root, or with an extension; never a plain word
    r"(?<![\w./~@+:$-])(?:~?/(?:[\w.@+-]{1,80}/){1,16}[\w.@+-]{1,80}"
    r"|(?:\.{1,2}/)?(?:[\w.@+-]{1,80}/){0,16}[\w@+-][\w@+.-]{0,80}"
    r"\.(?:py|pyi?|[jt]sx?|java|c|cc|cpp|h|hpp|rs|go|rb|php|cs|kt|swift|scala|md|rst|txt|json|jsonl|ya?ml|toml"
    r"|cfg|ini|sh|html?"
    r"|css|xml|csv|sql|ipynb|lock|gradle|tex|pdf|png|jpe?g|log|parquet|diff|patch|docx?|xlsx?|pptx?|zip)(?![\w/(]))"
)
_NOT_FILE = late_re(r"^\d|\.(?:com|org|net|io|edu|gov)$|^/dev/")


class Action(Struct, frozen=True):
    """One call: the tool, what it was used on, and what it does.

    ``span`` are lines read, ``change`` the lines that an edit brings in. ``changes`` are the files that it changes
    if it succeeds, for certain; ``edits_open_file``: that is the one which an editor shows. ``beside`` are arguments
    that most calls have. ``in_words``: no call was read, so it is all that was said, as to another agent. ``through``
    is the tool with which the name begins where that calls others, ``passed`` what that is given besides. ``saved``
    are files that hold what runs, and are written before it does, whether or not it fails; ``moves`` those that get
    another name, each before that.
    ``typed`` is all that a shell is given, as a terminal shows it again. ``said_when_done`` has for some files what
    is printed once they are changed, if they are; ``said_each``: it says of each file that it changed it. ``where``
    is the folder it ran in, if most ran in another. ``given`` is all that a tool is given which changes records,
    lists and objects, too.
    """

    name: str
    target: str
    kind: Kind
    files: tuple[str, ...] = ()
    span: str = ""
    change: str = ""
    changes: tuple[str, ...] = ()
    edits_open_file: bool = False
    beside: str = ""
    in_words: bool = False
    through: str = ""
    saved: tuple[str, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    typed: str = ""
    said_when_done: tuple[tuple[str, str], ...] = ()
    said_each: bool = False
    where: str = ""
    given: str = ""
    passed: str = ""


def describe(name: str, data: Any, usual: Usual = NOTHING_USUAL, apart: Collection[str] = frozenset()) -> Action:
    """Describe a call by its arguments: an object where they are JSON, else any text.

    Args:
        name: of the tool.
        data: its arguments.
        usual: those that most calls have, whatever the tool, which tell it from no other: no part of its target.
        apart: names of those that tell it from another call of the tool.
    """
    name = shorten(one_line(name), 60)
    if (patch := patch_of(data)) or not isinstance(data, dict):
        return _patched(name, patch) if patch else _on_text(name, data)
    inner, given = inner_call(data)
    if inner:  # a tool that calls tools
        passed = one_line(compact({key: item for key, item in data.items() if item != inner}, TARGET_CHARS))
        return replace(describe(f"{name} {inner}", given, usual, apart), through=name, passed=passed)
    files = files_of(data)
    if len(files) > 1:
        return together([describe(name, each, usual, apart) for each in files[:_MOST_FILES]], len(files))
    data = files[0] if files else data
    path = first_text(data, PATH_KEYS)
    text = first_text(data, _TEXT_KEYS) or _vector(data)
    if path is not None:
        return _on_file(name, data, one_line(path), text, (usual, apart))
    if text is not None or "keystrokes" in data:
        return replace(_run(data, text, apart), name=name)
    is_tool = bool(name) and name.lower() not in SHELLS
    known = usual if name else NOTHING_USUAL  # else one may be the tool
    data = bare_statements(data)
    target, beside = _arguments(data, known, apart, alone=is_tool)
    kind = "change" if changes_records(data) else kind_of_tool(name)
    own = {key: opened(item) for key, item in own_arguments(data, known).items()}
    all_given = one_line(compact(own, GIVEN_CHARS)) if kind == "change" and is_tool else ""
    return Action(name, target, kind, files_in(target), beside=beside, given=all_given)


def _patched(name: str, patch: Patch) -> Action:
    """Describe a call that applies a patch: a tool of its own, or a command."""
    names = ", ".join(patch.files)
    target = shorten(f"apply_patch {names}" if not name or name.lower() in SHELLS else names, TARGET_CHARS)
    files = tuple(patch.files[:_MOST_FILES])
    return Action(
        name, target, "change", files, change=patch.change, changes=tuple(patch.files), moves=tuple(patch.moves)
    )


def _on_text(name: str, data: Any) -> Action:
    if isinstance(data, str) and name.lower() in SHELLS:
        return replace(command(data), name=name)
    target = shorten(one_line(compact(data, TARGET_CHARS)), TARGET_CHARS)
    return Action(name, target, kind_of_tool(name), files_in(target))


def together(actions: Sequence[Action], number: int) -> Action:
    """Describe several calls, of which one result tells, as one: it may fail for any of them.

    Args:
        actions: the first of them.
        number: how many there are.
    """
    first = actions[0]
    alike = all(each.name == first.name for each in actions)
    targets = [each.target if alike else f"{each.name} {each.target}".strip() for each in actions]
    told: list[str] = []
    for target in dict.fromkeys(targets):
        if told and sum(map(len, told)) + len(target) > TARGET_CHARS:
            break
        told.append(target)
    more = number - len(told)
    others = f" ({number} times)" if len(told) == len(set(targets)) == 1 else f" (and {more} more)"
    target = "; ".join(told) + (others if more else "")
    files = tuple(dict.fromkeys(file for each in actions for file in each.files))
    kinds: tuple[Kind, ...] = ("change", "run", "read", "idle")
    kind = min((each.kind for each in actions), key=kinds.index)
    changes = tuple(dict.fromkeys(path for each in actions for path in each.changes))
    return Action(first.name if alike else "", target, kind, files, changes=changes, said_each=True)


def _arguments(data: dict[str, Any], usual: Usual, apart: Collection[str], *, alone: bool) -> tuple[str, str]:
    """Name the arguments that are a call's own, and those that are usual; a number may stand ``alone``."""
    own = own_arguments(data, usual)
    others = {key: value for key, value in data.items() if key not in own}
    unclear = bool if alone else int | float
    keyed = bool(others) or all(isinstance(value, unclear) for value in own.values())
    return named(own, TARGET_CHARS, keyed=keyed, first=apart), named(others, TARGET_CHARS, keyed=True)


def _on_file(
    name: str, data: dict[str, Any], path: str, text: str | None, known: tuple[Usual, Collection[str]]
) -> Action:
    """Describe a call of a tool that works on a file."""
    verb = one_line(text) if text is not None and one_line(text).isidentifier() else ""
    span = span_of(data)
    counts = span or whole_text(data)  # which are told, or stand in the turn
    said = _BULK_KEYS | COUNT_KEYS if counts else _BULK_KEYS
    rest = {key: value for key, value in data.items() if key not in said and value != text and not is_false(value)}
    arguments, beside = _arguments(rest, *known, alone=False)
    target = " ".join(part for part in (verb, path, arguments) if part)
    kind = kind_of_tool(verb or name)
    is_file = any(sign in path for sign in "/.\\")
    change = brought_in(data, is_document=path.lower().endswith(_DOCUMENTS)) if kind == "change" else ""
    changes = (path,) if kind == "change" and is_file and (change or verb or _WRITES.search(name)) else ()
    files = (path,) if is_file else ()
    return Action(name, shorten(one_line(target), TARGET_CHARS), kind, files, span, change, changes, beside=beside)


def _run(data: dict[str, Any], text: str | None, apart: Collection[str]) -> Action:
    """Describe what a shell or an interpreter is given, or what is typed into a terminal."""
    if text is None:
        return _typed(data)
    return _script(text, apart) if "code" in data else command(text)


def _script(text: str, apart: Collection[str]) -> Action:
    """Describe code, which may be a command, by its first lines or, where they have no room, by what it calls."""
    body, beyond = _read_of(text.strip())
    called = called_in(text)
    if called is None and "\n" not in text:
        return command(text)
    lines = body.splitlines()
    told = told_lines(lines, GIST_CHARS, beyond)
    if told.endswith(_MORE_LINES):  # what names a value for the rest tells least
        lines.sort(key=lambda line: _NAMES.fullmatch(line) is not None)
        told = told_lines(lines, GIST_CHARS, beyond)
    if called and (len(told) > _ROOMY_CHARS or told.endswith(_MORE_LINES)):
        told = told_call(called, GIST_CHARS, apart)
    written = written_by(text)
    return Action("", told, "run", files_in(body), changes=written.files, said_when_done=written.said)


def _typed(data: dict[str, Any]) -> Action:
    """Describe what is typed into a terminal; where that is nothing, how long is waited."""
    keys = str(data["keystrokes"])
    if keys.strip():
        return command(keys)
    seconds = next((data[key] for key in _WAIT_KEYS if isinstance(data.get(key), int | float)), None)
    return Action("", "wait" if seconds is None else f"wait {seconds:g} s", "idle")


def command(text: str) -> Action:
    """Describe a shell command, an editor command or a query."""
    text = given_to_shell(text)
    if patch := patch_of(text):
        return _patched("", patch)
    scanned, beyond = _read_of(without_comments(text.strip()))
    body = _CD.sub("", scanned)
    first, _, rest = body.partition("\n")
    redirecting = without_quoted_signs(first)
    kind = kind_of(first, redirecting)
    if first.endswith("\\") or _QUERY.match(first):
        first, rest = body.replace("\\\n", " "), ""
    behind = ""
    if rest and (heredoc := _HEREDOC.search(first)):
        rest, ended, behind = f"\n{rest}".partition(f"\n{heredoc[1]}\n")
        beyond = "" if ended else beyond.partition(f"\n{heredoc[1]}\n")[0].removesuffix(f"\n{heredoc[1]}")
        rest = rest.removesuffix(f"\n{heredoc[1]}").removeprefix("\n")
    edits = kind == "change" and _OPEN_EDIT.match(first) is not None
    lines = diff_sides(rest)[0] if is_diff(rest) else rest.splitlines()
    change = told_lines(lines, CHANGE_CHARS if edits or is_diff(rest) else GIST_CHARS, beyond if rest else "")
    changes = tuple(map(one_line, files_written(redirecting))) if kind == "change" and not edits else ()
    written = written_in(text) if "<<" in first else NOTHING_WRITTEN
    first = closed(first) if rest else first
    first = "; ".join((first, *filter(None, map(one_line, behind.splitlines()))))  # whose output came last
    return Action(
        "",
        cut_command(one_line(first), TARGET_CHARS),
        kind,
        files_in(first),
        change=change,
        changes=(*changes, *written.files),
        edits_open_file=edits,
        moves=moved(body),
        typed=text[:_TYPED_CHARS],
        said_when_done=written.said,
    )


def _read_of(text: str) -> tuple[str, str]:
    """Return what is read of a text, in whole lines, or words where its first is longer, and what is beyond."""
    if len(text) <= SCAN_CHARS:
        return text, ""
    end = max(text.rfind("\n", 0, SCAN_CHARS), 0)
    if end:
        return text[:end], text[end:_COUNTED_CHARS]
    end = text.rfind(" ", 0, SCAN_CHARS)
    return (f"{text[:end]} …" if end > 0 else text[:SCAN_CHARS]), ""


def undoes_edit(action: Action) -> bool:
    """Whether a call of an editor takes the last edit of its file back."""
    return "undo_edit" in f"{action.name} {action.target}"


def is_taken_back(path: str, action: Action) -> bool:
    """Whether a command takes changes of a file back, as ``git checkout -- FILE``, ``git stash`` do."""
    for verb, given in _TAKES_BACK.findall(action.target) if "git " in action.target else ():
        if verb not in {"checkout", "restore"}:
            return True
        names = (name.removeprefix("./").rstrip("/") for name in given.split() if not name.startswith("-"))
        if any(name == "." or f"/{name}/" in f"/{path}/" for name in names):
            return True
    return False


def files_in(text: str) -> tuple[str, ...]:
    """Find the file paths in a command, in order, each once."""
    found = dict.fromkeys(one_line(path) for path in _FILE.findall(text))
    return tuple(path for path in found if "." in path.rsplit("/", 1)[-1] and not _NOT_FILE.search(path))[:6]


def _vector(data: dict[str, Any]) -> str | None:
    """Return the command of an argument vector; of a shell that is given one, that alone."""
    words: list[Any] = next((data[key] for key in _TEXT_KEYS if isinstance(data.get(key), list)), [])
    if not words or not all(isinstance(word, str) for word in words):
        return None
    return str(words[-1]) if OF_SHELL.fullmatch(" ".join(words[:-1]).rpartition("/")[2]) else " ".join(words)
