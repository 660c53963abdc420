"""What Roo Code and its kin say of a file that was written: what was done to it, and what is wrong with it since."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from trajcompress.outcomes.compact import parse
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.result_labels import NAMED_RESULT

_TAG, _OPERATION, _PROBLEMS, _USER_EDITS = "file_write_result", "operation", "problems", "user_edits"
_KEYS = frozenset({"path", _OPERATION, _PROBLEMS, _USER_EDITS, "notice"})
_JSON = late_re(r"\s{0,8}\{\s{0,8}\"path\"\s{0,4}:")
_BEGIN_CHARS, _MOST_CHARS = 100, 200_000
_BULLET, _PROBLEM = "- ", "- ["
_HEADING = "New problems detected after saving the file:"
_MADE = late_re(r"[a-z]{1,20}, \d{1,6} new problems?: ")
_AROUND = late_re(r"^(?:</?files?>|<content[^>\n]{0,80}>|</content>){1,4}", re.MULTILINE)
_OF_FILE = late_re(r"^<path>([^<\n]{0,400})</path>", re.MULTILINE)
_ELEMENT = late_re(r"^<(?:notice|error)>([^<\n]{0,2000})</(?:notice|error)>$", re.MULTILINE)
_SAVED = late_re(  # as Cline says it, with the whole file below
    rf"\s{{0,4}}(?:{NAMED_RESULT}\s{{1,4}})?The content was successfully (saved) to [^\n]{{1,600}}\.\n"
)
_SHOWN_END = "</final_file_content>"
_FAILED = late_re(r"File: [^\n]{1,600}\n(Error: [^\n]{1,4000})")
_NOTICE = late_re(  # what the harness says behind each result of a kind
    r"\s{0,8}<notice>\s{0,8}(?:<i>|You do not need to re-read\b|Making multiple related changes\b)"
    r"(?:[^<]|<(?!/notice>)){0,600}</notice>"
)


def told_by_editor(text: str) -> str:
    """Say what became of a file in the editor's own word, and the problems below, or what was read of it.

    Nothing of another result.
    """
    if len(text) > _MOST_CHARS:
        return ""
    begin = text[:_BEGIN_CHARS].lstrip()
    if begin.startswith("<files>"):
        return _of_reading(text)
    if begin.startswith("File: ") and (failed := _FAILED.fullmatch(text.strip())):
        return failed[1]
    if _HEADING in text and (saved := _SAVED.match(text)):
        return _said({_OPERATION: saved[1], _PROBLEMS: _below_heading(text)})
    return _written(text, begin) if _OPERATION in text else ""


def _below_heading(text: str) -> str:
    """Return the problems that stand below the file as it was saved."""
    return text[max(text.rfind(_SHOWN_END), 0) :].partition(_HEADING)[2].partition("\n<")[0]


def _written(text: str, begin: str) -> str:
    if f"<{_TAG}>" in begin:
        return _of_element(text)
    data = parse(text.strip()) if _JSON.match(text) else None
    return _said(data) if isinstance(data, dict) and data.keys() <= _KEYS else ""


def is_made(said: str) -> bool:
    """Whether what the editor says of a file is that it was written, though there are problems in it."""
    return "new problem" in said[:_BEGIN_CHARS] and _MADE.match(said) is not None


def without_notices(text: str) -> str:
    """Return a result without the notices that a harness has behind each."""
    return _NOTICE.sub("", text) if "<notice>" in text else text


def _of_element(text: str) -> str:
    before, _, rest = text.partition(f"<{_TAG}>")
    written, closed, behind = rest.partition(f"</{_TAG}>")
    said = _said({key: _inside(written, key) for key in _KEYS}) if closed and not before.strip() else ""
    return "\n".join(filter(None, (said, without_notices(behind).strip()))) if said else ""


def _inside(written: str, key: str) -> str:
    return unescape(written.partition(f"<{key}>")[2].partition(f"</{key}>")[0])


def _said(data: Mapping[str, Any]) -> str:
    operation, problems, edits = (str(data.get(key) or "") for key in (_OPERATION, _PROBLEMS, _USER_EDITS))
    if not operation.strip().isalpha():
        return ""
    lines = problems.replace(_HEADING, "").strip().splitlines()
    at = [place for place, line in enumerate(lines) if line.startswith(_PROBLEM)]
    if at:  # the file's name stands above the first
        first = f", {len(at)} new problem{'s' if len(at) > 1 else ''}: {lines[at[0]].removeprefix(_BULLET)}"
        operation, lines = operation.strip() + first, lines[at[0] + 1 :]
    edited = ["The user edited it as well:", edits.strip("\n")] if edits.strip() else []
    return "\n".join([operation.strip(), *lines, *edited])


def _of_reading(text: str) -> str:
    """Return what of files was read, or why not, with their names where there are several."""
    text = _AROUND.sub("", text)
    named = len(_OF_FILE.findall(text)) > 1
    text = _AROUND.sub("", _OF_FILE.sub(r"\1\n" if named else "", text))
    return "\n".join(line for line in _ELEMENT.sub(r"\1", text).splitlines() if line.strip())
