"""Actions of text-protocol agents: what an assistant turn writes out for an environment to execute. Pure.

A protocol marks its actions: by tags, by a line ``Action:``, as JSON, as the fenced code that ends the turn, or by
nothing at all where the whole turn is a command. Only what stands where its protocol reads it is an action; code that
is quoted while thinking is none. Whether what looks like an action was executed is told by the row:
:mod:`trajcompress.transcript.observations`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from trajcompress.processes.late_patterns import holds_any, last_match, late_re
from trajcompress.transcript.roles import addressee_of
from trajcompress.transcript.text_protocols.acted import SCAN_CHARS, Acted, after_thought, without_end_token
from trajcompress.transcript.text_protocols.bare_commands import LABELS
from trajcompress.transcript.text_protocols.command_lines import (
    COMMAND_LINES,
    is_command,
    is_invocation,
    is_tool_line,
    longest_command,
)
from trajcompress.transcript.text_protocols.elements import children, element
from trajcompress.transcript.text_protocols.exported import exported, exported_at
from trajcompress.transcript.text_protocols.fenced_actions import fenced, fenced_calls
from trajcompress.transcript.text_protocols.fences import last_fence
from trajcompress.transcript.text_protocols.framed_calls import framed
from trajcompress.transcript.text_protocols.labelled_actions import labelled
from trajcompress.transcript.text_protocols.last_lines import (
    browsed,
    called_last,
    invoked_last,
    labelled_last,
    marked_last,
    prompted,
)
from trajcompress.transcript.text_protocols.token_calls import tag_calls, token_calls
from trajcompress.transcript.text_protocols.written_calls import (
    invocations,
    json_calls,
    json_script,
    named_calls,
    new_call,
    script_call,
    step_calls,
)
from trajcompress.transcript.trajectory import ToolCall

EDIT = "edit"
"""The name of edits that stand between marks."""

_EXECUTED = late_re(
    r"<([Ee]xecute(?:_\w{1,30})?|Code|Python|Action|bash|shell|cmd|command|python|ipython|sql|run|action|act"
    r"|(?:text_|image_|web_)?search|code|interpreter|tool"
    r"|browse)>"
    r"(.*?)(?:</\1>|\Z)",
    re.DOTALL,
)
_NAMING_TAGS = frozenset({"action", "act", "tool", "code"})
"""Tags around what may name a tool itself."""
_LANGUAGE_OF_TAG = (
    {"execute": "python", "execute_bash": "bash", "execute_ipython": "python", "execute_sql": "sql"}
    | {tag: tag for tag in ("bash", "shell", "python", "ipython", "sql")}
    | dict.fromkeys(("cmd", "command", "run", "code"), "")
)
_ADDRESSED = late_re(r"^-{0,20} ?\w[\w ]{0,40} \(-> ?[\w -]{1,40}\)(?: ?-{2,20}|:)?[ \t]*$", re.MULTILINE)

_HTTP = late_re(r"^(GET|POST|PUT|PATCH|DELETE|HEAD) ((?:/|https?://)\S{0,2000})[^\n]{0,2000}$", re.MULTILINE)
_METHODS = ("GET ", "POST ", "PUT ", "PATCH ", "DELETE ", "HEAD ")
_HTTP_BODY_CHARS = 4_000
_ACTION_END = ("<end_code>", "<end_action>")
_EDIT_MARK = late_re(r"^(<{4,7}|={4,7}|>{4,7})(?: [^\n]{1,40})?$", re.MULTILINE)
_CLOSING = late_re(r"\s{0,4}</\w{1,20}>\Z")
_PRINTED = "{'"  # as Python prints it
_EDIT_SIGNS = "<=>"  # in this order
_EDIT_END_CHARS = 60
_NAME_CHARS = 200


def find_actions(text: str) -> Acted | None:
    """Find what an assistant's text has executed, if the row turns out to be one of a text-protocol agent."""
    begin = after_thought(text)
    said = text[begin:]
    if len(said) > SCAN_CHARS:
        cut = len(said) - SCAN_CHARS
        head = exported_at(said)
        cut = min(cut, head) if head >= 0 else cut  # nothing but arguments stand below it
        begin, said = begin + cut, said[cut:]
    said = without_end_token(said)
    if not said:
        return None
    acted = next((acted for read in _FORMS if (acted := read(said))), None)
    if acted is None:
        return None
    ends = acted.sure == "shape" and text.rstrip().endswith(_ACTION_END)
    return acted._replace(start=begin + acted.start, sure="named" if ends else acted.sure)


def shown_code(text: str) -> Acted | None:
    """Read the edits of a turn, or its last fenced code, whatever is said behind it, where output answers it."""
    if edited := _edited(text, anywhere=True):
        return edited
    if (fence := last_fence(text, anywhere=True)) is None:
        return None
    calls = json_calls(fence.code) if fence.language == "json" else ()
    return Acted(calls or (script_call(fence.language, fence.code),), "shape", fence.start)


def _tagged(text: str) -> Acted | None:
    found = token_calls(text) or tag_calls(text)
    return Acted(found[0], "named", found[1]) if found else None


def _executed(text: str) -> Acted | None:
    found = [match for match in _EXECUTED.finditer(text) if match[2].strip()]
    if not found or text[found[-1].end() :].strip(" \n`*") or not found[-1][0].endswith(">"):
        return None
    calls = [inner for match in found for inner in _in_tag(match[1], match[2].strip())]
    return Acted(tuple(calls), "named", found[0].start())


def _in_tag(tag: str, body: str) -> Iterator[ToolCall]:
    tag = tag.lower()
    if tag in _NAMING_TAGS and (found := named_calls(body) or fenced_calls(body)):
        yield from found
    elif (language := _LANGUAGE_OF_TAG.get(tag)) is not None:
        yield script_call(language, body)
    else:
        yield new_call(tag, children(body) or body)


def _addressed(text: str) -> Acted | None:
    """Read what one named agent of a team tells another, under a line such as ``--- Orchestrator (-> Coder) ---``."""
    found = last_match(_ADDRESSED, text) if "(->" in text else None
    told = text[found.end() :].strip() if found else ""
    return Acted((new_call(addressee_of(found[0]) or "", told),), "named", found.start()) if found and told else None


def _as_json(text: str) -> Acted | None:
    """Read a turn that is a JSON object which names a tool, alone, fenced, or behind words."""
    if not text.endswith(("}", "```", "]")) or "{" not in text:
        return None
    body, start = text, 0
    if text.endswith("```"):
        fence = last_fence(text)
        if fence is None or fence.language.lower() not in {"", "json", "jsonc"}:
            return None
        body, start = fence.code, fence.start
    elif text[0] not in "{[":
        start = (text.find("\n{") if text.endswith("}") else text.find("\n[{")) + 1
        if not start:
            return None
        body = text[start:]
    body = body.strip()
    if found := json_calls(body) or step_calls(body) or (named_calls(body) if body.startswith(_PRINTED) else ()):
        return Acted(found, "named", start)
    script = json_script(body)
    return Acted((script,), "shape", start) if script else None


def _http(text: str) -> Acted | None:
    if (
        not holds_any(text, _METHODS)
        or (match := _HTTP.search(text)) is None
        or len(text) - match.end() > _HTTP_BODY_CHARS
    ):
        return None
    return Acted((new_call(match[1], text[match.start(2) :].strip(" `\n")),), "named", match.start())


def _edited(text: str, *, anywhere: bool = False) -> Acted | None:
    """Read blocks that say what is to stand where (``<<<<``, ``====``, ``>>>>``) at a turn's end, or ``anywhere``."""
    if anywhere and "<<<< SEARCH" not in text:
        return None
    if ended := _CLOSING.search(text[-_EDIT_END_CHARS:]):
        text = text[: len(text) - len(ended[0])]
    if not anywhere and not text.rstrip("`\n ").endswith(">>>") and ">>>>>>> " not in text[-_EDIT_END_CHARS:]:
        return None
    calls: list[ToolCall] = []
    first = start = end = 0
    marks: list[re.Match[str]] = []
    for mark in _EDIT_MARK.finditer(text):
        sign = mark[1][0]
        if sign == "<":
            marks = [mark]
        elif marks and sign == _EDIT_SIGNS[len(marks)]:
            marks.append(mark)
        if len(marks) == len(_EDIT_SIGNS):
            (_, opened), (divided, then), (closed, end) = (each.span() for each in marks)
            name, start = _named_before(text, marks[0].start())
            old, new = text[opened:divided].strip("\n"), text[then:closed].strip("\n")
            first = first if calls else start
            calls.append(new_call(EDIT, {"path": name, "old_str": old, "new_str": new}))
            marks = []
    if not calls or (not anywhere and text[end:].strip("` \n")):
        return None
    return Acted(tuple(calls), "shape", first)


def _named_before(text: str, mark: int) -> tuple[str, int]:
    """Return the file that the line before an edit names, or before the fence around it, and where it begins."""
    start = mark
    for _ in range(2):
        line = text.rfind("\n", 0, max(start - 1, 0)) + 1
        name = text[line : max(start - 1, 0)]
        if name.startswith("```"):
            start = line
            continue
        is_name = 0 < len(name.strip()) <= _NAME_CHARS and "`" not in name and not name.rstrip().endswith((".", ":"))
        return (name.strip(" #*"), line) if is_name else ("", start)
    return "", start


def _bare(text: str) -> Acted | None:
    """Read a turn that is nothing but a command, a query or an invocation."""
    if is_tool_line(text):
        return Acted((script_call("", text),), "named", 0)
    if listed := invocations(text):
        return Acted(listed, "named", 0)
    if len(text) > longest_command(text) or text.count("\n") > COMMAND_LINES:
        return None
    if "```" in text or not is_command(text) or LABELS.match(text):
        return None
    if text.endswith("]") and is_invocation(text) and (calls := named_calls(text)):
        return Acted(calls, "named", 0)
    return Acted((script_call("", text),), "shape", 0)


_FORMS: tuple[Callable[[str], Acted | None], ...] = (
    exported,
    _tagged,
    _executed,
    framed,
    _addressed,
    element,
    marked_last,
    labelled,
    labelled_last,
    _as_json,
    _http,
    browsed,
    _edited,
    fenced,
    prompted,
    invoked_last,
    called_last,
    _bare,
)
