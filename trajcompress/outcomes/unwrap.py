"""What a tool itself said: a result without what harness and protocol put around it."""

from __future__ import annotations

import json
import re
from typing import Any

from trajcompress.outcomes.aider import told_by_aider
from trajcompress.outcomes.autogen import told_by_autogen
from trajcompress.outcomes.cli_reports import told_by_cli, without_size
from trajcompress.outcomes.compact import parse
from trajcompress.outcomes.editor import told_by_editor, without_notices
from trajcompress.outcomes.logged import messages_of
from trajcompress.outcomes.mcp import content_of
from trajcompress.outcomes.opencode import lines_read
from trajcompress.outcomes.openhands import told_by_openhands
from trajcompress.outcomes.reports.exits import exit_code
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.notes import without_notes
from trajcompress.transcript.text_protocols.harness_forms import BEFORE_PRINTED
from trajcompress.transcript.text_protocols.harness_words import NEXT_ASKED
from trajcompress.transcript.text_protocols.observation_parts import in_observation

_ASKS_ON = "\n\nUSER'S INPUT\n----"  # as LangChain's conversational agent does behind a result
_NEXT_CHARS = 300
_NEXT = late_re(rf"\n\s{{0,8}}(?:{'|'.join(NEXT_ASKED)})\s{{0,8}}\Z")
_HEADING_CHARS = 300
_NEXT_STEP = late_re(  # as a console or a log puts above what comes then, and a few words of that
    r"\n(?:[^\w\n]{0,12}(?:Step|STEP|Turn|TURN|Round|Iteration)|#{1,6} (?:step|turn|round)) ?\d{1,4}"
    r"(?: ?(?:/|of) ?\d{1,4})?[^\w\n]{0,12}(?:\n\n {0,8}\S{1,40}(?: \S{1,40}){0,3})?\s{0,8}\Z"
)
_LABELLED = late_re(r"\n[*#]{0,4} ?(?:Result|Output|Observation|Response)\*{0,2}:?\*{0,2}\s{1,4}```\w{0,12}\n")
_LABELLED_CHARS = 20_000
_REFUSED = late_re(
    r"^\w[\w ]{0,30}: \W{0,2}(?:[Ff]alse|[Ff]ailed|[Rr]ejected|[Ii]nvalid)\b[^\n]{0,80}$", re.MULTILINE
)
_WARNED = late_re(  # of how it read the reply, as Terminus does before a screen
    r"\s{0,4}Previous response had warnings:\n(?:[^\n]{1,400}\n){1,20}\n"
    r"(?=New Terminal Output:|Current Terminal Screen:)"
)
_HAS_LOOKED = late_re(  # as an agent says of itself before what it found for another
    r"(?:(?:perfect|excellent|great|good|okay|done|now)[!.,]? {1,4})?(?:now )?i (?:now )?have "
    r"(?:gathered |collected |found )?"
    r"(?:all|enough|everything|sufficient|a (?:complete|clear|comprehensive|full|good))\b[^.:\n]{0,40}?"
    r"\b(?:information|context|picture|understanding|(?:over)?view|details|evidence|i need)\b[^.:\n]{0,160}[.:]"
    r"\s{1,4}"
    r"(?:(?:let me|i'll|i will|here(?:'s| is)) [^.:\n]{0,200}[.:]\s{1,4})?(?=\S)",
    re.IGNORECASE,
)
_ENDS, _END_CHARS = late_re(r"\nEnd of matches for [^\n]{1,600}\Z"), 700  # of SWE-agent's searches
_NAMED_CHARS = 1_000_000  # of a result that names its tool, and holds one text
_NAMED = late_re(r"\s{0,8}\{\s{0,8}\"(?:name|tool_call_id|role|id)\"\s{0,4}:")
_ELEMENTS, _NEXT_ELEMENT = late_re(r"\[\d{1,4}\]: [^\n\t]{0,400};\t\["), ";\t["  # of a page, as WebVoyager lists them
_FENCE, _PAIR, _ARROW = "```", 2, "→ "
_OPENED = late_re(  # what stands behind it else is the beginning of what was printed
    r"\s{0,4}```(?:json|python|py|bash|sh|shell|console|te?xt|plaintext|output|xml|html|ya?ml|csv|sql|markdown|md|diff|log)?"
    r"[ \t]{0,4}\r?\n",
    re.IGNORECASE,
)
_STATE = late_re(
    r"\s{0,8}[^\n]{1,80}:\n```json\n.{0,100000}\n```\s{0,8}", re.DOTALL
)  # which a harness tells each time
_FAILED_AT = "Code execution failed at line '"  # as smolagents says: it stands in the code, why comes behind it
_DUE_TO, _DUE_CHARS, _ERROR = "' due to: ", 4_000, "Error:\n"
_OF_SHELL = late_re(r'\s{0,8}\{[^{}]{0,300}?"(?:std(?:out|err)|output|logs?)"\s{0,4}:')
_PRINTED = ("stdout", "output", "log", "logs", "stderr")  # in this order
_CODES = ("exit_code", "exitCode", "exitcode", "returncode", "return_code", "returnCode", "exit_status", "code")
_OF_STEP = late_re(r'\s{0,8}\{\s{0,8}"(?:kind|type)"\s{0,4}:\s{0,4}"\w{0,40}_(?:observation|result|output)"')
_STEP_TEXTS = ("text", "content", "output", "result")
_SHOWN = late_re("|".join(BEFORE_PRINTED))


def unwrap(text: str) -> str:
    """Take off what harness and protocol put around the tool's own words, and a tool around those of its shell."""
    text = without_notes(text) or text
    if _ASKS_ON in text:
        text = text[: text.find(_ASKS_ON)]
    text = _labelled(_without_place(text))
    if warned := _WARNED.match(text):
        text = text[warned.end() :]
    body = _unwrapped(text)
    body = body if body == text else _unwrapped(body)
    if "\nEnd of matches for " in body[-_END_CHARS:]:
        body = _ENDS.sub("", body.rstrip())
    body = messages_of(body).removeprefix(_ARROW)
    if _ELEMENTS.match(body):
        body = body.replace(_NEXT_ELEMENT, ";\n[")
    if looked := _HAS_LOOKED.match(body):
        body = body[looked.end() :]
    if heading := _NEXT_STEP.search(body, max(len(body) - _HEADING_CHARS, 0)):
        body = body[: heading.start()].rstrip()
    return _NEXT.sub("", body) if "?" in body[-_NEXT_CHARS:] or body.endswith("action.") else body


def _labelled(text: str) -> str:
    """Return the result alone that is fenced behind its label, where what stands above it is fenced, too."""
    found = _LABELLED.search(text, text.find(_FENCE) + 1) if text.count(_FENCE) > _PAIR else None
    if found is None or text.count(_FENCE, 0, found.end()) <= _PAIR:
        return text
    end = text.find(f"\n{_FENCE}", found.end() - 1, found.end() + _LABELLED_CHARS)
    refused = _REFUSED.findall(text[: text.find(_FENCE)])
    return "\n".join([*refused, text[found.end() : end]]) if end >= 0 else text


def _without_place(text: str) -> str:
    """Leave out where code failed, so that the reason comes first."""
    at = text.rfind(_FAILED_AT)
    why = text.find(_DUE_TO, at, at + _DUE_CHARS) if at >= 0 else -1
    return f"{text[:at].removesuffix(_ERROR)}{text[why + len(_DUE_TO) :]}" if why >= 0 else text


def _unwrapped(text: str) -> str:
    text = content_of(_named_content(text))
    for told_by in (told_by_cli, told_by_openhands, told_by_autogen):
        if (printed := told_by(text)) is not None:
            return printed
    if _OF_SHELL.match(text) and (printed := _printed(parse(text.strip()))) is not None:
        return printed
    if _OF_STEP.match(text) and len(text) <= _NAMED_CHARS:
        text = _of_step(parse(text.strip())) or text
    text = without_notices(text)
    start, end, _ = in_observation(text, 0)  # whoever takes a result has left out what a person says beside it
    held = text[start:end]
    if told := told_by_editor(held) or lines_read(held) or told_by_aider(held):
        return told
    if shown := _SHOWN.match(text, start):
        start = min(shown.end(), end)
    body = text[start:end].rstrip()
    if body.endswith(f"\n{_FENCE}") and body.count(_FENCE) == _PAIR and (opened := _OPENED.match(body)):
        start, end = start + opened.end(), start + len(body) - len(_FENCE)
    elif (opened := _OPENED.match(body)) and (closes := body.find(f"\n{_FENCE}\n", opened.end())) >= 0:
        inside, behind = body[opened.end() : closes], body[closes + len(_FENCE) + 1 :]
        return inside if _STATE.fullmatch(behind) else f"{inside}{behind}"  # what it prints, and then more
    if (code := exit_code(text)) not in {None, "0"} and exit_code(text[start:end]) is None:
        return f"{text[start:end].strip()}\nexit code: {code}"
    return text[start:end].strip()


def _named_content(text: str) -> str:
    """Give the content of a result that names its tool, as those in ``<tool_response>`` tags may."""
    if _NAMED.match(text) is None or len(text) > _NAMED_CHARS or not isinstance(data := parse(text.strip()), dict):
        return text
    content = data.get("content")
    if not data.keys() <= {"name", "content", "role", "id", "tool_call_id"} or content is None:
        return text
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _printed(data: Any) -> str | None:
    """Give what a command printed where its streams are fields of an object, with how it ended; None of another."""
    if not isinstance(data, dict):
        return None
    held = {**meta, **data} if isinstance(meta := data.get("metadata"), dict) else data
    code = next((value for key in _CODES if isinstance(value := held.get(key), int)), None)
    texts = [text for key in _PRINTED if isinstance(text := data.get(key), str)]
    if not texts or (code is None and not data.keys() & {"stdout", "stderr"}):
        return None
    printed = [without_size(text).strip("\n") for text in texts if text.strip()]
    if isinstance(error := data.get("error"), str) and error not in "".join(printed):
        printed.append(f"Error: {error}")
    return "\n".join([*printed, *([f"exit code: {code}"] if code else [])])


def _of_step(data: Any) -> str:
    """Give the text of a step by its type, as of a page that is seen; nothing where it failed, or has none."""
    if not isinstance(data, dict) or data.get("error"):
        return ""
    texts = [text for key in _STEP_TEXTS if isinstance(text := data.get(key), str) and "\n" in text.strip()]
    return texts[0] if len(texts) == 1 else ""
