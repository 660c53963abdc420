"""Calls as XML elements, as editors' agents write them: ``<read_file><path>…</path></read_file>``. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Mapping
from typing import Any

from trajcompress.processes.late_patterns import last_match, late_re
from trajcompress.transcript.text_protocols.acted import Acted, Sure
from trajcompress.transcript.text_protocols.written_calls import new_call
from trajcompress.transcript.trajectory import ToolCall

_NAME = r"[a-z][a-z0-9]{0,30}(?:_[a-z0-9]{1,30}){1,6}"
_ELEMENT_END = late_re(rf"</({_NAME}|[a-z][a-z-]{{2,30}})>\Z")
_CHILD = late_re(r"<([a-z][\w-]{0,40})>(.*?)</\1>\s{0,400}", re.DOTALL)
_MOST_CHILDREN = 40
_FILE = late_re(r"\s{0,40}<file>(.*?)</file>\s{0,40}", re.DOTALL)
_INTERRUPTED, _INTERRUPTED_CHARS = "\n[Response interrupted by a tool use result", 200
_CUT_ELEMENT = late_re(rf"^<({_NAME})>\n(?=<\w)", re.MULTILINE)
_ELEMENT_BEGIN = late_re(rf"^<({_NAME})>", re.MULTILINE)
RESULT_HEADER = late_re(
    rf"^\[(?P<tool>{_NAME})(?: for '(?P<target>[^'\n]{{1,300}})[^\]]{{0,600}})?\] Result:[ \t]?\n?", re.MULTILINE
)
"""What stands above the result of a call, and names it."""
_CUT_CHILD = late_re(r"<([a-z][\w-]{0,40})>")


def element(text: str) -> Acted | None:
    """Read a turn that ends with an element whose name has several words, or was cut off within one."""
    if _INTERRUPTED in text[-_INTERRUPTED_CHARS:]:
        return _cut_off(text[: text.rfind(_INTERRUPTED)])
    ended = _ELEMENT_END.search(text[-200:]) if text.endswith(">") else None
    start = text.rfind(f"<{ended[1]}>") if ended else -1
    if ended is None or start < 0:
        return None
    given = children(text[start + len(ended[1]) + 2 : len(text) - len(ended[0])])
    if given is None or ("_" not in ended[1] and not (given and text[start - 1 : start] in {"", "\n"})):
        return None
    sure: Sure = "named" if "_" in ended[1] else "shape"
    return Acted((new_call(ended[1], _with_files(given)),), sure, start)


def answered_elements(text: str, answer: str) -> tuple[ToolCall, ...]:
    """Read the elements of a turn that its answer names, as ``[write_to_file for 'a.txt'] Result:``.

    Of several calls in one turn some harnesses run the first, and say so.
    """
    headers = [
        (named["tool"], named["target"]) for named in itertools.islice(RESULT_HEADER.finditer(answer), _MOST_CHILDREN)
    ]
    written = _elements_of(text, {tool for tool, _ in headers}) if headers else []
    ran: set[int] = set()
    for tool, target in headers:
        about = (n for n, (name, given) in enumerate(written) if name == tool and _is_about(given, target))
        ran.update([n for n in about if n not in ran][:1])
    return tuple(new_call(name, _with_files(given)) for n, (name, given) in enumerate(written) if n in ran)


def _elements_of(text: str, names: Container[str]) -> list[tuple[str, dict[str, str]]]:
    """Return the elements of some names that begin a line, with what is given in each."""
    found = []
    opened = (each for each in _ELEMENT_BEGIN.finditer(text) if each[1] in names)
    for each in itertools.islice(opened, _MOST_CHILDREN):
        closed = text.find(f"</{each[1]}>", each.end())
        if closed >= 0 and (given := children(text[each.end() : closed])) is not None:
            found.append((each[1], given))
    return found


def _is_about(given: Mapping[str, str], target: str | None) -> bool:
    return not target or any(target in value for value in given.values())


def children(body: str) -> dict[str, str] | None:
    """Read a body that is elements with text in them; None for any other."""
    given, at = _children_at(body.strip(), 0)
    return given if at == len(body.strip()) else None


def _children_at(text: str, at: int) -> tuple[dict[str, str], int]:
    """Read the elements that stand side by side from a place on, and where the last of them ends."""
    given: dict[str, str] = {}
    number = 0
    while number < _MOST_CHILDREN and (child := _CHILD.match(text, at)):
        given[child[1]] = child[2].strip("\n")
        at = child.end()
        number += 1
    return given, at


def _cut_off(text: str) -> Acted | None:
    """Read the element that a harness cut off, and said so: its last child is open."""
    if (opened := last_match(_CUT_ELEMENT, text)) is None:
        return None
    given, at = _children_at(text, opened.end())
    if last := _CUT_CHILD.match(text, at):
        given[last[1]] = text[last.end() :].strip("\n")
    return Acted((new_call(opened[1], given),), "named", opened.start())


def _with_files(given: dict[str, str]) -> dict[str, Any]:
    """Read the files that stand in ``<args>``, each with what is asked of it, as Roo Code's tools are given them."""
    body = given.get("args", "")
    if body.count("<file>") not in range(1, _MOST_CHILDREN) or _FILE.sub("", body).strip():
        return given
    files = [children(file) for file in _FILE.findall(body)]
    rest = {key: value for key, value in given.items() if key != "args"}
    return given if None in files else {**rest, "files": files}
