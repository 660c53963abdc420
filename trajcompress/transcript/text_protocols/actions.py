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
from trajcompress.transcript.text_protocols.acted import Acted, after_thought, without_end_token
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
from trajcompress.transcript.text_protocols.fences import last_fence
from trajcompress.transcript.text_protocols.framed_calls import framed
from trajcompress.transcript.text_protocols.last_lines import (
    browsed,
    invoked_last,
    labelled_last,
    marked_last,
    prompted,
)
from trajcompress.transcript.text_protocols.token_calls import tag_calls, token_calls
from trajcompress.transcript.text_protocols.written_calls import (
    FINAL,
    invocations,
    json_calls,
    json_or_text,
    json_script,
    named_calls,
    new_call,
    script_call,
    step_calls,
)
from trajcompress.transcript.trajectory import ToolCall

SCAN_CHARS = 40_000
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
_TOOL_FENCES = frozenset({"tool_code", "tool_call", "tool"})
"""Languages of fenced code that no chat shows."""
_ADDRESSED = late_re(r"^-{0,20} ?\w[\w ]{0,40} \(-> ?[\w -]{1,40}\)(?: ?-{2,20}|:)?[ \t]*$", re.MULTILINE)

_LABELLED = late_re(
    r"^[ \t>#*]{0,8}(?:(?:ASSISTANT|Assistant|Agent) )?(?:(?:ACTION|Action|Act)(?:[ \t]?\d{1,3})?|COMMAND|CMD"
    r"|(?:TOOL|Tool)(?: Name)?"
    r"(?=[ \t]?\**[ \t]?:[^\n]{1,100}\n[ \t*]{0,8}(?:Tool )?(?i:input|arg|param))"
    r"|action(?=[ \t]?\**[ \t]?:[^\n]{1,100}\n[ \t*]{0,8}action[ _]input)|行动|行動|动作|操作|执行"
    r"|(?:Function|Tool)[ _][Cc]alls?(?=[ \t]?:[ \t]?[\[{])"
    r"|アクション|행동|액션|AKTION|Aktion|BEFEHL|KOMMANDO|ACCIÓN|Acción|COMANDO|AZIONE|Azione|AÇÃO|Ação|COMMANDE"
    r"|ДЕЙСТВИЕ|Действие|КОМАНДА|Команда|命令|指令|コマンド|명령)[ \t]?\**[ \t]?[:：][ \t*]{0,8}",
    re.MULTILINE,
)
_LABEL_HINTS = (
    *(
        "ction",
        "CTION",
        "Act",
        "COMMAND",
        "ommand: ",
        "CMD",
        "Tool",
        "TOOL",
        "：",
        "행",
        "アク",
        "AKTION",
        "Aktion",
        "BEFEHL",
    ),
    *("KOMMANDO", "ACCIÓN", "Acción", "COMANDO", "AZIONE", "Azione", "AÇÃO", "Ação", "ЕЙСТВИЕ", "ействие"),
    *("КОМАНДА", "Команда", "命令", "指令", "コマ", "명령"),
)
_INPUT = late_re(
    r"\n[ \t*]{0,8}(?:(?:ASSISTANT|Assistant|Agent) )?(?:(?i:(?:action|tool)[ _]input)|Input|INPUT"
    r"|Arg(?:ument)?s?|Param(?:eter)?s|行动输入"
    r"|动作输入|输入|参数|入力|입력)[ \t]?\**[ \t]?[:：][ \t*]{0,4}"
)
_WITH_INPUT = late_re(r"(?<=\w) with action input: ?(?=\{)", re.IGNORECASE)
_NEXT_LABEL = late_re(
    r"\n[ \t*]{0,8}(?:(?:Observation|OBSERVATION|Thought|THOUGHT|PAUSE|Obs)\b[ \t\d]{0,4}\**:?|(?:观察|思考|観察|관찰"
    r"|생각)[:：])"
)
_IMAGINED = ("obs", "观", "観", "관")

_HTTP = late_re(r"^(GET|POST|PUT|PATCH|DELETE|HEAD) ((?:/|https?://)\S{0,2000})[^\n]{0,2000}$", re.MULTILINE)
_METHODS = ("GET ", "POST ", "PUT ", "PATCH ", "DELETE ", "HEAD ")
_HTTP_BODY_CHARS = 4_000
_INLINE = late_re(r"```[ \t]?([^`\n]{1,500}?)[ \t]?```[.)]?\Z")
_THOUGHT, _CODE = "Thought:", "\nCode:"  # of smolagents
_DISCUSSES = "DISCUSSION\n"  # of SWE-agent
_ACTION_END = ("<end_code>", "<end_action>")
_PRINTED = late_re(r"\Aprint\((.*)\)\s*\Z", re.DOTALL)

_EDIT_MARK = late_re(r"^(<{4,7}|={4,7}|>{4,7})(?: [^\n]{1,40})?$", re.MULTILINE)
_CLOSING = late_re(r"\s{0,4}</\w{1,20}>\Z")
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
    if tag in _NAMING_TAGS and (found := named_calls(body) or _fenced_calls(body)):
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


def _labelled(text: str) -> Acted | None:
    """Read the last ``Action:`` line of a turn; what an agent goes on to imagine behind it was not executed."""
    if not holds_any(text, _LABEL_HINTS):
        return None
    labels = list(_LABELLED.finditer(text))
    if not labels:
        return None
    imagined = _NEXT_LABEL.search(text, labels[0].end())
    label = labels[-1]
    if imagined and imagined[0].lstrip(" \n\t*").lower().startswith(_IMAGINED) and not _ends_with(text, label):
        label = labels[0]
    ended = _NEXT_LABEL.search(text, label.end())
    body = text[label.end() : ended.start() if ended else len(text)].strip()
    if not body:
        return None
    if (given := _INPUT.search(body) or _WITH_INPUT.search(body)) is not None:
        name = body[: given.start()].strip(" `*\n")
        call = new_call(name, json_or_text(body[given.end() :].strip()))
        return Acted((call,), "named", label.start())
    calls = named_calls(body) or _fenced_calls(body)
    if not calls:
        line = body.partition("\n")[0].strip(" `")
        calls = (new_call(line if "```" in body else "", line),)
    return Acted(calls, "named", label.start())


def _ends_with(text: str, label: re.Match[str]) -> bool:
    """Whether a label stands before the answer, with which all is told: what runs it, and what it is asked for."""
    calls = named_calls(text[label.end() :].strip().partition("\n")[0])
    return bool(calls) and calls[0].name.lower() in FINAL


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
    if found := json_calls(body.strip()) or step_calls(body.strip()):
        return Acted(found, "named", start)
    script = json_script(body.strip())
    return Acted((script,), "shape", start) if script else None


def _http(text: str) -> Acted | None:
    if (
        not holds_any(text, _METHODS)
        or (match := _HTTP.search(text)) is None
        or len(text) - match.end() > _HTTP_BODY_CHARS
    ):
        return None
    return Acted((new_call(match[1], text[match.start(2) :].strip(" `\n")),), "named", match.start())


def _fenced(text: str) -> Acted | None:
    """Read the fenced code that ends a turn."""
    if match := _INLINE.search(text[-600:]):
        calls = named_calls(match[1]) or (new_call("", match[1].strip()),)
        return Acted(calls, "shape", max(len(text) - 600, 0) + match.start())
    if (fence := last_fence(text)) is None:
        return None
    if fence.language in _TOOL_FENCES:
        calls = json_calls(fence.code) or (script_call("python", _PRINTED.sub(r"\1", fence.code)),)
        return Acted(calls, "named", fence.start)
    before = text[: fence.start].rstrip()
    thinks = before.startswith(_DISCUSSES) or (before.startswith(_THOUGHT) and before.endswith(_CODE))
    return Acted((script_call(fence.language, fence.code),), "named" if thinks else "shape", fence.start)


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


def _fenced_calls(text: str) -> tuple[ToolCall, ...]:
    acted = _fenced(text)
    return acted.calls if acted else ()


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
    _labelled,
    labelled_last,
    _as_json,
    _http,
    browsed,
    _edited,
    _fenced,
    prompted,
    invoked_last,
    _bare,
)
