"""What Gemini CLI and Codex CLI say around what a command printed: how it ended, and how long it took."""

from __future__ import annotations

from collections.abc import Iterable

from trajcompress.outcomes.text import NO_OUTPUT
from trajcompress.processes.late_patterns import late_re

_UNTRUSTED, _UNTRUSTED_END = "<untrusted_context>\n", "\n</untrusted_context>"
_COMMAND, _PRINTED = "Command: ", "Output: "
_CODE, _GROUP = "Exit Code", "Process Group PGID"
_BEHIND = ("Error", _CODE, "Signal", "Background PIDs", _GROUP)  # in this order
_BESIDE = late_re(r"\nDirectory: [^\n]{1,1000}\n(Stdout|Output): ")
_OF_ERRORS = "\nStderr: "
_NOTHING = frozenset({"(none)", "(empty)", "0", "null"})
_EMPTY = "(empty)"
_OF_CODEX = late_re(
    r"\s{0,8}(?:Command: [^\n]{1,2000}\n)?(?:Chunk ID: [^\n]{1,80}\n)?(?:Exit code: (?P<code>-?\d{1,5})\n)?"
    r"Wall time: [\d.]{1,20} seconds\n(?:Process exited with code (?P<exited>-?\d{1,5})\n)?"
    r"(?:(?P<runs>Process running with session ID \d{1,12})\n)?(?:Original token count: \d{1,12}\n)?"
    r"(?:Total output lines: \d{1,12}\n)?Output:(?:\n|\Z)"
)
_CUT = late_re(r"(?:Warning: truncated output \([^()\n]{1,60}\)\n)?Total output lines: \d{1,12}\n\n")


def told_by_cli(text: str) -> str | None:
    """Give what a command printed, with why and how it failed where it did; None of another result."""
    body = text.strip()
    if body.startswith(_UNTRUSTED) and body.endswith(_UNTRUSTED_END):
        inside = body[len(_UNTRUSTED) : -len(_UNTRUSTED_END)]
        told = _of_gemini(inside.strip())
        return inside if told is None else told
    if body.startswith((_COMMAND, _PRINTED)) and (told := _of_gemini(body)) is not None:
        return told
    opened = _OF_CODEX.match(body)
    if opened is None:
        return None
    printed = without_size(body[opened.end() :]).strip("\n")
    return _told((opened["runs"] or "", printed), opened["code"] or opened["exited"] or "")


def without_size(printed: str) -> str:
    """Return what was printed without how long Codex says that it was before it was cut."""
    cut = _CUT.match(printed)
    return printed[cut.end() :] if cut else printed


def _of_gemini(body: str) -> str | None:
    """Give what Gemini CLI reports of a command: of the newer form only what its last line tells apart."""
    before, held = _fields_behind(body)
    streams = [before.removeprefix(_PRINTED)]
    if body.startswith(_COMMAND):
        beside = _BESIDE.search(before)
        is_cut = _CODE not in held  # then a command of several lines may be any text
        if beside is None or (is_cut and before.find("\n") < beside.start()):
            return None
        printed = before[beside.end() :]
        streams = [*printed.rpartition(_OF_ERRORS)[::2]] if beside[1] == "Stdout" else [printed]
    elif _GROUP not in held:
        return None
    shown = [stream.strip("\n") for stream in streams if stream.strip() != _EMPTY]
    said = {label: f"{label}: {value}" for label, value in held.items() if value not in _NOTHING}
    lines = said.get("Background PIDs", ""), *shown, said.get("Error", ""), said.get("Signal", "")
    return _told(lines, held.get(_CODE, "") if _CODE in said else "")


def _fields_behind(body: str) -> tuple[str, dict[str, str]]:
    """Return a report without the fields at its end, and these."""
    held: dict[str, str] = {}
    for label in reversed(_BEHIND):
        before, _, last = body.rpartition("\n")
        if last.startswith(f"{label}: "):
            body, held[label] = before, last[len(label) + 2 :].strip()
    return body, held


def _told(lines: Iterable[str], code: str) -> str:
    said = [line for line in lines if line.strip()]
    if code in {"", "0"}:
        return "\n".join(said)
    return "\n".join([*(said or [NO_OUTPUT]), f"exit code: {code}"])
