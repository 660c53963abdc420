"""What a command line does: whether it changes, runs or reads something, and which files it writes."""

from __future__ import annotations

import re
from typing import Literal

from trajcompress.processes.late_patterns import holds_any, late_re

Kind = Literal["change", "run", "read", "idle"]

_SHELL_CHANGE = late_re(
    r"^(?:sed -i|mv|cp|rm|mkdir|touch|git (?:commit|apply|checkout|stash|reset)|pip3? install|create|edit"
    r"|insert|submit|str_replace|tee|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP)\b"
    r"|(?<![-\d&=])>{1,2}\s?(?!/dev/)[\w./]"
)
_QUOTED = late_re(r"'[^'\n]{0,2000}'|\"(?:[^\"\\\n]|\\.){0,2000}\"")
_OF_SHELL = r"\b(?:ba|z)?sh (?:-\w{1,4} )?-\w?c\b"
OF_SHELL = late_re(_OF_SHELL)  # which runs what is quoted
_GIVEN = late_re(rf"(?:/\S{{1,40}}/)?{_OF_SHELL} (['\"])(.*)\1\s{{0,8}}\Z", re.DOTALL)
_ESCAPED = late_re(r"\\([\"\\$`])")
_ASKS = late_re(r"(?:SELECT|WITH|EXPLAIN)\b", re.IGNORECASE)
_SHELL_IDLE = late_re(r"^(?:ls|pwd|cd|scroll_\w+|which|DESC\w*|SHOW|sleep|clear|goto|whoami)\b")
_SHELL_READ = late_re(
    r"^(?:cat|head|tail|sed -n|grep|rg|ag|find|awk|less|open|search_\w+|find_file"
    r"|git (?:log|show|diff|status|blame)|wc"
    r"|SELECT)\b"
)
_SED_SCRIPT = r"(?: '[^']{0,400}'| \"[^\"]{0,400}\"| [^\s'\"-]\S{0,400})"
_SHELL_WRITES = late_re(
    r"(?<![-\d&=>])>{1,2} ?([\w./~+-]{1,200})(?![\w/]*&)|^(?:(?:create|str_replace \S+)( [\w./~+-]{1,200})"
    rf"|(?:sed -i\S*(?: '')?(?: -[^\se]\S*)*(?:{_SED_SCRIPT}|(?: -e{_SED_SCRIPT}){{1,9}})"
    r"|tee(?: -a)?|touch|rm(?: -\S+)?)((?: [\w./~+-]{1,200}){1,20}))(?=\s|$|;|&|\|)"
)
INSTALLS = late_re(
    r"(?:^|[\s;/&|])(?:pip3?|conda|mamba|apt|apt-get|dnf|yum|apk|brew|npm|yarn|pnpm|gem|poetry|uv|cargo|go)"
    r"(?: -\S{1,40})? (?:install|add|get|sync|ci)\b"
)
_ENDS, _PACKAGE, _MOST_PACKAGES = late_re(r"[;&|\n]"), late_re(r"@?[A-Za-z][\w./-]{1,80}"), 20
_MOVES = ("mv ", "move ", "Move-Item ", "ren ", "rename ")
_PATH = r"(?:\"([^\"\n]{1,300})\"|'([^'\n]{1,300})'|([^\s\"';&|<>-][^\s\"';&|<>]{0,300}))"
_MOVED = late_re(
    r"(?:^|[;&|\n]\s{0,8})(?:git )?(?:mv|move|Move-Item|ren|rename)(?: -[a-zA-Z]{1,12}| /[a-zA-Z])*"
    rf" {_PATH} (?:-Destination )?{_PATH}(?=\s*(?:[;&|\n]|\Z))"
)


def moved(text: str) -> tuple[tuple[str, str], ...]:
    r"""Return the files that commands move, each with its new name: as it stands, or in a folder that is named.

    >>> moved("mkdir -p lib; move a.py lib\\a.py && mv b.py lib/")
    (('a.py', 'lib/a.py'), ('b.py', 'lib/b.py'))
    """
    found = _MOVED.findall(text) if holds_any(text, _MOVES) else []
    pairs = (("".join(groups[:3]), "".join(groups[3:])) for groups in found)
    return tuple((plain_path(old), _in_folder(plain_path(old), plain_path(new))) for old, new in pairs)


def given_to_shell(text: str) -> str:
    r"""Return the command that a shell is given in quotes, else the text itself.

    >>> given_to_shell("/bin/bash -lc 'grep -n \"int n\" a.c'")
    'grep -n "int n" a.c'
    """
    given = _GIVEN.match(text)
    if given is None:
        return text
    if given[1] == "'":
        return text if "'" in given[2].replace("'\\''", "") else given[2].replace("'\\''", "'")
    return text if '"' in _ESCAPED.sub("", given[2]) else _ESCAPED.sub(r"\1", given[2])


def installed(command: str) -> tuple[str, ...]:
    r"""Return the packages that a command is to install, without versions and extras.

    >>> installed("cd app && uv add 'chainlit[all]>=2' httpx -q; ls")
    ('chainlit', 'httpx')
    """
    found = INSTALLS.search(command)
    given = _ENDS.split(command[found.end() :], 1)[0].split() if found else []
    names = (_PACKAGE.match(word.strip("'\"")) for word in given[:_MOST_PACKAGES] if not word.startswith("-"))
    return tuple(name[0] for name in names if name)


def plain_path(path: str) -> str:
    """Return a path as most write it: with slashes, and without the folder at hand before it."""
    return path.replace("\\", "/").removeprefix("./")


def _in_folder(old: str, new: str) -> str:
    name = old.rpartition("/")[2]
    is_folder = new.endswith("/") or new in {".", ".."} or ("." in name and "." not in new.rpartition("/")[2])
    return f"{new.rstrip('/')}/{name}".removeprefix("./") if is_folder else new


def kind_of(first: str, redirecting: str) -> Kind:
    """Say what a command does by its first line, and by that without the signs that send no output to a file."""
    if _SHELL_CHANGE.search(redirecting):
        return "change"
    if _SHELL_IDLE.match(first):
        return "idle"
    return "read" if _SHELL_READ.match(first) else "run"


def files_written(redirecting: str) -> list[str]:
    """Return the files that a line writes for certain: by their names, no word that may be anything."""
    written = _SHELL_WRITES.search(redirecting)
    named = " ".join(filter(None, written.groups())).split() if written else []
    return [path for path in named if ("." in path or "/" in path) and path[0] != "-"]


def without_quoted_signs(line: str) -> str:
    """Return a command without signs that compare or quote: of those left each sends output to a file."""
    if OF_SHELL.search(line):
        return line
    if _ASKS.match(line):
        return line.replace(">", " ")
    return _QUOTED.sub(lambda quoted: quoted[0].replace(">", " "), line) if ">" in line else line
