"""Command lines: whether a text, as a whole, is one that an environment executes, and which tool it calls. Pure."""

from __future__ import annotations

import re
import shlex

from trajcompress.processes.late_patterns import late_re

_SQL = late_re(
    r"(?:SELECT\s|SHOW\s+(?:FULL\s|CREATE\s)?(?:TABLES?|DATABASES|SCHEMAS|COLUMNS|INDEX|GRANTS|VARIABLES|STATUS)\b"
    r"|DESC(?:RIBE)?\s+[\w.`\"]+\s*;?\s*\Z|INSERT INTO\s|UPDATE\s+[\w.`\"]+(?:\s+\w+)?\s+SET\s|DELETE FROM\s"
    r"|(?:CREATE|ALTER|DROP)\s+(?:OR REPLACE\s+|TEMP(?:ORARY)?\s+|UNIQUE\s+)?(?:TABLE|VIEW|INDEX|DATABASE|SCHEMA"
    r"|FUNCTION|TRIGGER|USER|SEQUENCE|MATERIALIZED|EXTENSION)\b|WITH\s+(?:RECURSIVE\s+)?[\w`\"]+(?:\s*\([^)]*\))?\s+AS\s*\("
    r"|USE\s+[\w`\"]+\s*;?\s*\Z|EXPLAIN\s+(?:ANALYZE\s+)?(?:SELECT|WITH|UPDATE|DELETE|INSERT)\b|PRAGMA\s)",
    re.IGNORECASE,
)
_COMMANDS = frozenset(
    (  # noqa: SIM905 - a literal of strings would fill a screen
        "ls cat cd grep egrep rg find echo printf python python3 pip pip3 git sed awk mkdir rm rmdir mv cp"
        " touch chmod chown head tail wc sort uniq cut tr du df ps top kill tar zip unzip gzip npm npx node"
        " yarn docker curl wget bash sh sudo export source make cmake gcc g++ cargo go java javac mvn gradle"
        " pytest tree stat file which whoami pwd env date basename dirname diff patch tee xargs ssh scp apt"
        " apt-get yum conda uv poetry ruby perl php psql mysql sqlite3 jq ln md5sum sha256sum uname hostname"
        " id nl less more man type test seq sleep true false"
    ).split()
)
_TOOLS = frozenset(
    (  # noqa: SIM905 - as above
        "submit open edit create insert goto scroll_down scroll_up search_dir search_file find_file"
        " str_replace_editor execute_bash cmd"
    ).split()
)
"""Commands of an agent's own interface."""
_KNOWN = _COMMANDS | _TOOLS
_COMMAND = late_re(r"(?:\$ )?(?:\w{1,40}=\S{0,200} ){0,4}([\w./+-]{1,80})(?=[\s;|&>(]|\Z)")
_FLAGS = late_re(r"\A[A-Za-z][\w.-]{1,60}(?: (?![^\n]{0,60}[a-z]: )[^\n]{1,600})? --?[A-Za-z][\w-]{0,40}(?:[ =]|\Z)")
_TOOL_FLAGS = late_re(r"\A[A-Za-z][A-Za-z0-9]{0,40}(?:[_-][A-Za-z0-9]{1,40}){1,8} --\w[\w-]{0,60}[ =]")
_INVOCATION = late_re(r"\A[A-Za-z_][\w.]{1,80}(?:\[[^\n]{0,1900}\]|\([^\n]{0,1900}\)\.?)\Z")
_FLAG = late_re(r"--([A-Za-z][\w-]{0,60})(?:=(.*))?", re.DOTALL)
_FLAGS_CHARS = 8_000
SQL_CHARS = 10_000
COMMAND_CHARS = 2_000
COMMAND_LINES = 40


def is_command(text: str) -> bool:
    """Whether a text, as a whole, reads like a shell command, a query, or one invocation, and not like a sentence."""
    text = text.strip()
    if _SQL.match(text):
        return not text.endswith(("?", "."))
    if _INVOCATION.match(text):
        return True
    first = _COMMAND.match(text)
    if (
        first is None
        or text.endswith(("?", "!", ":"))
        or (text.endswith(".") and not text.endswith((" .", "/.", "..")))
    ):
        return False
    known = first[1].rsplit("/", 1)[-1] in _KNOWN or first[1].startswith(("./", "/"))
    return known or _FLAGS.match(text[first.start(1) :]) is not None


def is_tool_line(text: str) -> bool:
    """Whether a text begins with a tool's name and a flag: no program of a shell is named so."""
    return _TOOL_FLAGS.match(text) is not None


def is_invocation(text: str) -> bool:
    """Whether a text, as a whole, is ``name(…)`` or ``name[…]``."""
    return _INVOCATION.match(text) is not None


def longest_command(text: str) -> int:
    """Return how many characters a text may have that is nothing but a command."""
    return SQL_CHARS if _SQL.match(text) else COMMAND_CHARS


def flagged(line: str) -> tuple[str, dict[str, str]] | None:
    """Read ``name --key value --key value`` as a call of a tool; None for anything else, as a program's own flags."""
    if len(line) > _FLAGS_CHARS or " --" not in line:
        return None
    try:
        name, *words = shlex.split(line)
    except ValueError:
        return None
    if name in _COMMANDS or not name.replace("-", "_").isidentifier():
        return None
    given: dict[str, str] = {}
    while words:
        flag = _FLAG.fullmatch(words.pop(0))
        if flag is None or (flag[2] is None and not words):
            return None
        given[flag[1]] = flag[2] if flag[2] is not None else words.pop(0)
    return name, given
