"""Which files a script in Python writes for certain, by what it names itself; nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from trajcompress.outcomes.action.scripts import parsed
from trajcompress.processes.late_patterns import holds_any, late_re

_READ_CHARS = 20_000
_HANDED = late_re(r"\bpython[\d.]{0,5}(?: -\S{0,20}){0,4} ?<<-? ?['\"]?(\w{1,40})['\"]?[^\n]{0,200}\n")
_SAVED = late_re(
    r"\bcat > ?(?P<to>[\w./-]{1,200}\.py) ?<<-? ?['\"]?(?P<word>\w{1,40})['\"]?[ \t]{0,8}\n"
    r"|\bcat <<-? ?['\"]?(?P<ends>\w{1,40})['\"]? ?> ?(?P<into>[\w./-]{1,200}\.py)[ \t]{0,8}\n"
)
_RAN = late_re(r"\bpython[\d.]{0,5} (?:-\S{1,20} ){0,4}([\w./-]{1,200}\.py)(?![\w/.])")
_WRITING, _WRITE_MODES = ("write", "open("), frozenset("wax")
_ENDS = ("SystemExit", "exit(", "quit(")


class Written(NamedTuple):
    """Files that are written where a script runs to its end; with some, what it prints once they are, if at all."""

    files: tuple[str, ...] = ()
    said: tuple[tuple[str, str], ...] = ()

    def __or__(self, other: Written) -> Written:
        files = dict.fromkeys(self.files + other.files)
        return Written(tuple(files), tuple(dict.fromkeys(self.said + other.said)))


NOTHING_WRITTEN = Written()


def written_by(code: str) -> Written:
    r"""Return the files that a script in Python writes whatever holds, by the names that it gives them itself.

    One that may end before, without an error, has to print something that is known behind the last of them.

    >>> written_by("p = Path('a.py')\ntext = p.read_text()\np.write_text(text + '\\n')\nopen('b.log', 'a')").files
    ('a.py', 'b.log')
    >>> written_by("if not found:\n    raise SystemExit('none')\nopen('a.py', 'w').write(found)\nprint('patched')")
    Written(files=('a.py',), said=(('a.py', 'patched'),))

    So has one that may not write at all, where it does.

    >>> written_by("if it in text:\n    open('a.py', 'w').write(text)\n    print('patched')\nelse:\n    print('no')")
    Written(files=('a.py',), said=(('a.py', 'patched'),))
    """
    if len(code) > _READ_CHARS or not holds_any(code, _WRITING) or (tree := parsed(code)) is None:
        return NOTHING_WRITTEN
    known: dict[str, str] = {}
    shared = {name for each in ast.walk(tree) if isinstance(each, ast.Global) for name in each.names}
    straight: list[tuple[ast.expr, Mapping[str, str]]] = []
    chosen = NOTHING_WRITTEN
    for statement in tree.body:
        chosen |= _written_in_branch(statement, known) if isinstance(statement, ast.If) else NOTHING_WRITTEN
        given = _given(statement, known)
        bound = {name: given.get(name, "") if name not in shared else "" for name in _bound_in(statement)}
        known = {**known, **bound} if bound else known
        straight += [(value, known) for value in _certain(statement)]
    files, said = _in_order(straight)
    if holds_any(code, _ENDS):
        return _once_said(files, said) | chosen if said else NOTHING_WRITTEN
    return Written(files) | Written(chosen.files, tuple(pair for pair in chosen.said if pair[0] not in files))


def _once_said(files: tuple[str, ...], said: str) -> Written:
    return Written(files, tuple((path, said) for path in files))


def _written_in_branch(statement: ast.If, known: Mapping[str, str]) -> Written:
    """Return what one branch writes, with what that prints behind it and no other does; nothing of several."""
    bound = set(_bound_in(statement))
    outside = {name: path for name, path in known.items() if name not in bound}
    branches = [chain(*map(_certain, branch)) for branch in (statement.body, statement.orelse)]
    found = [_in_order((value, outside) for value in values) for values in branches]
    told = [_printed(node) for node in ast.walk(statement) if isinstance(node, ast.Call)]
    writing = [(files, said) for files, said in found if files and said and told.count(said) == 1]
    return _once_said(*writing[0]) if len(writing) == 1 else NOTHING_WRITTEN


def _in_order(values: Iterable[tuple[ast.expr, Mapping[str, str]]]) -> tuple[tuple[str, ...], str]:
    """Return the files that expressions write one after the other, and what is printed first behind the last."""
    files: dict[str, None] = {}
    said = ""
    for value, known in values:
        if isinstance(value, ast.Call):
            path = _written(value, known)
            files |= {path: None} if path else {}
            said = "" if path else said or _printed(value)
    return tuple(files), said


def _given(statement: ast.stmt, known: Mapping[str, str]) -> dict[str, str]:
    """Return the names that a statement gives a path whatever holds."""
    if not isinstance(statement, ast.Assign):
        return {}
    path = _path(statement.value, known)
    return {target.id: path for target in statement.targets if isinstance(target, ast.Name)}


def _bound_in(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement may bind, in whatever stands within it, or delete."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            yield from () if isinstance(node.ctx, ast.Load) else (node.id,)
        else:  # what is defined, imported, caught or matched
            named = (getattr(node, field, None) for field in ("name", "asname", "rest"))
            yield from (name.partition(".")[0] for name in named if isinstance(name, str))


def written_in(command: str) -> Written:
    r"""Return what scripts write that a command line hands to Python as documents, or saves so and runs.

    >>> written_in("cat > fix.py <<'EOF'\nopen('a.py', 'w').write('x = 1')\nEOF\npython3 fix.py").files
    ('a.py',)
    >>> written_in("cd src && python3 - <<'PY'\nopen('a.py', 'w').write('x = 1')\nPY\npytest").files
    ('a.py',)
    """
    written = NOTHING_WRITTEN
    at = 0
    while handed := _HANDED.search(command, at):
        end = command.find(f"\n{handed[1]}", handed.end() - 1)
        at = end if end >= 0 else len(command)
        written |= written_by(command[handed.end() : at])
    at = 0
    last = {ran[1].removeprefix("./"): ran.start() for ran in _RAN.finditer(command)}  # where each script runs
    while last and (saved := _SAVED.search(command, at)):
        end = command.find(f"\n{saved['word'] or saved['ends']}", saved.end() - 1)
        at = end if end >= 0 else len(command)
        if last.get((saved["to"] or saved["into"]).removeprefix("./"), -1) >= at:
            written |= written_by(command[saved.end() : at])
    return written


def _printed(call: ast.Call) -> str:
    """Return the text that a call prints, where that is all it prints."""
    is_print = isinstance(call.func, ast.Name) and call.func.id == "print" and len(call.args) == 1
    value = call.args[0] if is_print else None
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def _certain(statement: ast.stmt) -> Iterable[ast.expr]:
    """Return the expressions that a statement evaluates whatever holds."""
    if isinstance(statement, ast.With):
        return [*(item.context_expr for item in statement.items), *chain(*map(_certain, statement.body))]
    return [statement.value] if isinstance(statement, ast.Expr | ast.Assign) and statement.value else []


def _written(call: ast.Call, known: Mapping[str, str]) -> str:
    """Return the file that a call writes, or opens for what is called on it; nothing where it does not say which."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in {"write", "writelines"}:
        inner = call.func.value
        return _opened(inner, known) if isinstance(inner, ast.Call) else ""
    if isinstance(call.func, ast.Attribute) and call.func.attr in {"write_text", "write_bytes"}:
        return _path(call.func.value, known)
    return _opened(call, known)


def _opened(call: ast.Call, known: Mapping[str, str]) -> str:
    """Return the file that a call opens to write: by the function, or by the method of a path."""
    if isinstance(call.func, ast.Attribute):
        return _path(call.func.value, known) if call.func.attr == "open" and _writes(call.args, call.keywords) else ""
    is_open = isinstance(call.func, ast.Name) and call.func.id == "open" and bool(call.args)
    return _path(call.args[0], known) if is_open and _writes(call.args[1:], call.keywords) else ""


def _writes(given: Sequence[ast.expr], named: Iterable[ast.keyword]) -> bool:
    """Whether a mode is one of writing: the first of what is given, or what is given by that name."""
    mode = next(iter((*given[:1], *(each.value for each in named if each.arg == "mode"))), None)
    return isinstance(mode, ast.Constant) and str(mode.value)[:1] in _WRITE_MODES


def _path(value: ast.expr, known: Mapping[str, str]) -> str:
    """Return the path that a script names: as it stands, by a name for it, or as a ``Path`` of one of these."""
    if isinstance(value, ast.Call):
        func, given = value.func, value.args
        of_module = (
            isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "pathlib"
        )
        called = func.attr if isinstance(func, ast.Attribute) and of_module else getattr(func, "id", "")
        value = given[0] if called == "Path" and len(given) == 1 else value
    if isinstance(value, ast.Constant):
        return value.value if isinstance(value.value, str) else ""
    return known.get(value.id, "") if isinstance(value, ast.Name) else ""
