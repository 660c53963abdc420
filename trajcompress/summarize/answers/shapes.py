"""What an answer is by its shape: a call, a dialogue, an error of a gateway, a loop, no words at all. Pure.

Each rule looks at all of the answer, or at what it begins with; none at words anywhere. All are linear.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import Any

import msgspec

from trajcompress.processes.late_patterns import late_re

_FENCED = late_re(r"```[ \t]*([\w+#.-]{0,20})[^\n]{0,80}\n(.*?)\n?[ \t]*```", re.DOTALL)
_CODE = {
    "python", "py", "bash", "sh", "shell", "zsh", "console", "powershell", "javascript", "js", "typescript", "ts",
    "sql", "java", "go", "rust", "c", "cpp", "c++", "ruby", "php", "tool_code", "tool_call", "tool", "function",
    "function_call", "action",
}  # fmt: skip
_CALL_TAG = r"tool_calls?|function_calls?|tool_use|function|invoke|tool_code|execute\w{0,12}|action"
_CALL_BLOCK = late_re(
    rf"<[|｜]?(?P<tag>{_CALL_TAG})(?:[=\s][^<>\n]{{0,120}})?[|｜]?>(?:(?!</?(?P=tag)\b).)*</(?P=tag)>",
    re.DOTALL | re.IGNORECASE,
)
_CALL_START = late_re(
    rf"<(?:{_CALL_TAG})(?:[=\s][^<>\n]{{0,120}})?>|\[TOOL_CALLS\]|<\|python_tag\|>|functools\[|<[|｜]tool[▁_]calls|"
    r"to=functions\.|<\|(?:start|channel)\|>\w{0,20}\s{0,2}to=",
    re.IGNORECASE,
)
_REACT = late_re(
    r"\s*(?:thought\s{0,2}:[^\n]{0,2000}\n\s{0,8})?action\s{0,2}:[^\n]{1,400}\n\s{0,8}action[ _]input\s{0,2}:",
    re.IGNORECASE,
)
_CODE_LINE = late_re(
    r"(?:import\s+[\w.]{1,80}|from\s+[\w.]{1,80}\s+import\b[^\n]{0,200}|#[^\n]{0,400}"
    r"|(?:[\w.\[\]\"', ]{1,80}\s{0,4}=\s{0,4})?(?:await\s+)?[A-Za-z_][\w.]{0,80}\([^\n]{0,4000}\)[;\s]{0,4})"
)
_MOST_CODE = 4_000  # characters; also of what is looked at behind a summary
_CALL_KEYS = {"name", "tool", "tool_name", "function", "action", "function_name", "recipient_name", "command"}
_ARGUMENT_KEYS = {
    "arguments", "parameters", "args", "input", "action_input", "tool_input", "params", "kwargs", "tool_args",
}  # fmt: skip
_ERROR_KEYS = {
    "error", "errors", "message", "detail", "details", "code", "status", "type", "object", "param", "request_id",
    "success", "timestamp", "path", "id", "statuscode", "status_code", "title", "msg", "ok", "reason", "error_code",
    "error_type",
}  # fmt: skip
_PAGE = late_re(
    r"\s*(?:<!doctype\s+html|<html(?:\s[^<>]{0,200})?>\s*<(?:head|body)|<\?xml\b[^>]{0,200}\?>\s*<(?:error|html))",
    re.IGNORECASE,
)
_GATEWAY = late_re(
    r"(?:(?:http[/ ]?[\d.]{0,4} )?(?:error:? ?)?(?:code:? ?)?[45]\d\d:? ?)?(?:error:? ?)?(?:bad gateway"
    r"|gateway time-?out|service (?:temporarily )?unavailable|internal server error|too many requests"
    r"|upstream (?:request timeout|timed out|connect error or disconnect/reset before headers[^\n]{0,160})"
    r"|no healthy upstream|connection (?:refused|reset(?: by peer)?|timed out|error)|request timed? ?out"
    r"|rate limit (?:reached|exceeded)(?: for requests)?|error code: \d{3,4}|the server had an error while processing"
    r" your request[^\n]{0,120}|(?:the )?(?:server|model) is (?:overloaded|busy)|cuda out of memory\. tried to"
    r" allocate[^\n]{0,200})(?:[\s.!]|nginx[/\d.]{0,10}){0,20}",
    re.IGNORECASE,
)
_USER = (
    "human|user|utilisateur|usuario|usu[aá]rio|benutzer|nutzer|utente|gebruiker|użytkownik|пользователь|человек|用户|用戶"
    "|人类|ユーザー|人間|사용자|المستخدم|उपयोगकर्ता|kullan[ıi]c[ıi]"
)
_ASSISTANT = (
    "assistant|ai|bot|chatbot|assistente|asistente|assistent|asystent|ассистент|помощник|助手|助理|アシスタント"
    "|어시스턴트|المساعد|सहायक|asistan"
)
_LABEL = late_re(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]{0,4}|\[)?"
    rf"(?:(?P<user>{_USER})|(?P<assistant>{_ASSISTANT}))(?:\]|[ \t]{{0,4}}[:：])",
    re.IGNORECASE | re.MULTILINE,
)
_SAID = late_re(
    rf"^[ \t]{{0,3}}(?:(?P<user>{_USER})|(?:{_ASSISTANT}))[ \t]{{0,4}}[:：]\s{{0,4}}(?P<said>[^\n]{{0,400}})",
    re.IGNORECASE | re.MULTILINE,
)
_REPORTS = late_re(  # what somebody did, as a record has it, and no words of theirs
    r"[-*+•\[(]|\d{1,3}[.)]\s|(?:(?:then|also|first|later|finally|initially|again|next|\w{2,20}ly),? )?"
    r"(?:(?:he|she|they|it|user|agent|(?:the|an?) \w{2,20}) )?"
    r"(?:\w{2,20}ed|asks|wants|says|said|ran|reads?|wrote|found|made|gave|told|sent|got|needs|reports|requests|thinks|thought"
    r"|put|went|began|saw|chose|built|kept|took|left|tells|gives|insists|confirms|agrees|refuses)\b(?![^\n]*\?\s*\Z)",
    re.IGNORECASE,
)
_ENDLESS = 3  # turns of a conversation in a row, which no record has by chance
_OTHER_LABEL = late_re(r"^[A-Z][\w ]{1,20}:(?=\s)", re.MULTILINE)  # of a record: Goal, State, Files touched
_INLINE = late_re(r"[.!?。！？] {1,4}(?:human|user|assistant|ai)\s{0,2}:\s", re.IGNORECASE)
_HARD = late_re(
    r"\s{0,8}(?:human\s{0,2}:|#{1,6} {0,4}(?:instruction|human|user|input|system)s?\s{0,2}(?::|\n)|\[INST\]"
    r"|<\|user\|>|<\|im_start\|>\s?(?:user|system)|<start_of_turn>\s?user|<\|start_header_id\|>\s?(?:user|system))",
    re.IGNORECASE,
)
_HARD_BEHIND = late_re(
    r"\n[ \t]{0,8}\n[ \t]{0,3}(?:human\s{0,2}:|#{1,6} {0,4}instruction\s{0,2}:)[^\n]*", re.IGNORECASE
)
_BASE64 = late_re(r"[A-Za-z0-9+/=_\-\s]{60,}")
_MISREAD = late_re(  # a letter of Latin, and what no language writes behind one
    "[\u00c2-\u00f4][\u0080-\u009f\u00a2-\u00a6\u00a8\u00aa\u00ac\u00ad\u00af\u00b4-\u00b6\u00b8\u00b9"
    "\u0153\u0161\u2030\u0192]"
)
_ODD = late_re("[\ufffd\ue000-\uf8ff]")
_LEAST_ODD = 4
_LEAST_WIDE = 8  # characters beyond ASCII
_SOME = 20  # characters
_MOST_SEEN = 1_000
_LONG_WORD = 40
_MOST_LABELS = 50
_TAIL = 900  # characters at the end in which a loop shows
_LONGEST_PERIOD = 220
_LOOPED_LINES = 6
_SHORT_PROSE = 200  # characters before a call, as of an agent that goes on


def is_call(text: str) -> bool:
    """Tell whether an answer is a tool call, or code in place of words."""
    text = text.strip()
    if _REACT.match(text) or _CALL_START.match(text):
        return True
    rest = _CALL_BLOCK.sub("", text)
    if len(rest) < len(text) and len(rest.strip()) <= min(_SHORT_PROSE, len(text) - len(rest)) and "\n#" not in rest:
        return True
    said, fence, block = text.partition("```")
    if fence and len(said) <= _SHORT_PROSE and "#" not in said:  # an agent that goes on
        text = fence + block
    fenced = _fenced(text)
    inside = fenced[2].strip() if fenced else text
    value = _json(inside)
    if value is not None:
        return _is_call_value(value)
    return bool(fenced and fenced[1].lower() in _CODE) or _only_calls(inside)


def is_error(text: str) -> bool:
    """Tell whether an answer is the error of a gateway or a server, as a page, an object or a line."""
    text = text.strip()
    fenced = _fenced(text)
    inside = fenced[2].strip() if fenced else text
    if _PAGE.match(inside) or _GATEWAY.fullmatch(text.strip("*_`\"'# ")):
        return True
    value = _json(inside)
    if not isinstance(value, dict) or not value:
        return False
    keys = {str(key).lower() for key in value}
    return keys <= _ERROR_KEYS and bool(keys & {"error", "errors", "detail", "message", "msg"})


def is_dialogue(text: str, was_read: Callable[[str], bool]) -> bool:
    """Tell whether an answer goes on with a conversation, its speakers named.

    Behind other text, lines that were read are quotes, and so is what a line with a colon leads to.
    """
    if _HARD.match(text):
        return True
    outside = _FENCED.sub("", text)
    behind = _HARD_BEHIND.search(outside, max(0, len(outside) - _MOST_CODE))
    if behind and not was_read(behind[0].strip()):
        return True
    if _runs_on(outside, was_read):
        return True
    said: dict[str, bool] = {}  # role: whether it begins a paragraph
    begins = False
    for match in islice(_LABEL.finditer(outside), _MOST_LABELS):
        first = not outside[: match.start()].strip()
        line = outside[match.start() : match.start() + _MOST_CODE].partition("\n")[0].strip()
        if match.lastgroup and (begins or first or not was_read(line)):
            begins = begins or first
            apart = first or "\n\n" in outside[max(0, match.start() - 8) : match.start()]
            said[match.lastgroup] = said.get(match.lastgroup, False) or apart
    if len(said) > 1:
        others = [
            match for match in islice(_OTHER_LABEL.finditer(outside), _MOST_LABELS) if not _LABEL.match(match[0])
        ]
        return not others and (begins or all(said.values()))
    return begins and bool(_INLINE.search(outside, 0, _MOST_CODE))


def _runs_on(text: str, was_read: Callable[[str], bool]) -> bool:
    """Tell whether a text ends as a conversation of several turns, each by another speaker than the one before."""
    turns = [
        match
        for match in islice(_SAID.finditer(text), _MOST_LABELS)
        if not (_REPORTS.match(match["said"]) or was_read(match[0].strip()))
    ]
    run = turns[-1:]
    for turn in reversed(turns[:-1]):
        if bool(turn["user"]) == bool(run[0]["user"]):
            break
        run.insert(0, turn)
    if len(run) < _ENDLESS:
        return False
    begin = run[0].start()
    others = (match for match in _OTHER_LABEL.finditer(text, begin) if not _LABEL.match(match[0]))
    return not text[:begin].rstrip().endswith((":", "：")) and next(others, None) is None


def is_loop(text: str) -> bool:
    """Tell whether an answer says the same over and over."""
    lines = Counter(line.strip() for line in text.splitlines() if line.strip())
    if lines:
        line, most = lines.most_common(1)[0]
        if most >= _LOOPED_LINES and 3 * most >= 2 * lines.total() and any(map(str.isalnum, line)):
            return True
    tail = " ".join(text[-2 * _TAIL :].split())[-_TAIL:]
    again = tail.rfind(tail[-_LONG_WORD:], 0, -1)  # where the end stood before, which is quick to see
    return (
        len(tail) == _TAIL and again >= len(tail) - _LONG_WORD - _LONGEST_PERIOD and _period(tail) <= _LONGEST_PERIOD
    )


def is_garbled(text: str) -> bool:
    """Tell whether an answer holds no words: bytes as text, base64, symbols, or text read by the wrong encoding."""
    seen = text.strip()
    begin = seen[:_MOST_SEEN]
    if len(begin) >= _SOME and 5 * sum(map(str.isalnum, begin)) < len(begin):
        return True
    if not seen.isascii():
        wide = len(seen) - len(seen.encode("ascii", "ignore"))
        odd = len(_ODD.findall(seen))
        if odd >= _LEAST_ODD and 10 * odd > len(seen):
            return True
        return wide >= _LEAST_WIDE and 5 * wide >= len(seen) and 10 * len(_MISREAD.findall(seen)) >= wide
    if _BASE64.fullmatch(seen) is None:
        return False
    words = seen.split()
    return 10 * sum(len(word) for word in words if len(word) >= _LONG_WORD) >= 8 * sum(map(len, words))


def _fenced(text: str) -> re.Match[str] | None:
    found = _FENCED.fullmatch(text) if text.startswith("```") else None
    return found if found and "```" not in found[2] else None


def _only_calls(text: str) -> bool:
    """Tell whether a text is Python that does nothing but call."""
    lines = [line.strip() for line in text[:_MOST_CODE].splitlines() if line.strip()]
    if len(text) > _MOST_CODE or not all(map(_CODE_LINE.fullmatch, lines)):
        return False
    try:
        body = ast.parse(text.replace("\\", "/")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    values = [node.value for node in body if isinstance(node, (ast.Expr, ast.Assign))]
    calls = [value.value if isinstance(value, ast.Await) else value for value in values]
    imports = sum(isinstance(node, (ast.Import, ast.ImportFrom)) for node in body)
    return bool(calls) and all(isinstance(call, ast.Call) for call in calls) and len(calls) + imports == len(body)


def _json(text: str) -> Any:
    if text[:1] not in {"{", "["}:
        return None
    try:
        return msgspec.json.decode(text.encode())
    except (ValueError, RecursionError):
        return None


def _is_call_value(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_call_value(each) for each in value)
    if not isinstance(value, dict):
        return False
    keys = {str(key).lower() for key in value}
    if keys & {"tool_calls", "tool_uses", "function_call", "tool_call"}:
        return True
    inner = value.get("function")
    return bool(keys & _CALL_KEYS and keys & _ARGUMENT_KEYS) or (isinstance(inner, dict) and _is_call_value(inner))


def _period(text: str) -> int:
    """Return the length of the shortest piece that the text repeats; that of the text where it repeats none."""
    border = [0] * len(text)
    for at in range(1, len(text)):
        length = border[at - 1]
        while length and text[at] != text[length]:
            length = border[length - 1]
        border[at] = length + (text[at] == text[length])
    return len(text) - border[-1]
