"""What is new in a text that was sent, written or shown before: code that runs once more, a file written anew."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from trajcompress.facts.reading import readable
from trajcompress.outcomes.action.actions import SHELLS, Action
from trajcompress.outcomes.action.change import whole_text, written_anew
from trajcompress.outcomes.compact import parse
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.line_numbers import NUMBER
from trajcompress.transcript.trajectory import ToolCall

_CODE_KEYS = ("code", "script")
_NUMBER = late_re(rf"[ \t]{{0,8}}(?:\d{{1,7}} ?\| ?|{NUMBER})")
_READ_CHARS = 100_000


class Before:
    """The last text of each file and of each tool that runs code, as a row has them up to a step."""

    def __init__(self) -> None:
        """Know of none."""
        self._texts: dict[str, str] = {}
        self._shown: dict[str, str] = {}

    def since(self, action: Action, call: ToolCall) -> Action:
        """Tell of a file that is written whole once more, and of code that is sent again, what is new in it."""
        if action.change and action.changes:
            new = self._new(action.changes[0], whole_text(parse(call.arguments)))
            return replace(action, change=f"… {new}") if new else action
        if action.kind == "run" and ("\\n" in call.arguments or "\n" in call.arguments):
            new = self._new(f"{action.name}(", _code(action, parse(call.arguments)))
            return replace(action, target=f"… {new}") if new else action
        return action

    def shown(self, action: Action | None, result: str | None) -> None:
        """Take what a call shows of a file."""
        if action and result and action.kind == "read" and len(action.files) == 1:
            self._shown[action.files[0]] = result

    def _new(self, name: str, text: str) -> str:
        before = self._texts.get(name) or _without_numbers(self._shown.get(name, ""))
        if text:
            self._texts[name] = text
        return written_anew(text, before) if text and before else ""


def _code(action: Action, given: Any) -> str:
    """Return the code that a call runs in a tool that is no shell; nothing of another call."""
    if action.name.lower() in SHELLS:
        return ""
    if isinstance(given, str):
        return given
    found = (given.get(key) for key in _CODE_KEYS) if isinstance(given, dict) else ()
    return next((each for each in found if isinstance(each, str)), "")


def _without_numbers(shown: str) -> str:
    """Return a file that a result shows without the numbers of its lines; of JSON its longest text."""
    shown = shown[:_READ_CHARS]
    data = parse(shown) if shown.startswith("{") else None
    if isinstance(data, dict):
        shown = max((value for value in data.values() if isinstance(value, str)), key=len, default="")
    lines = (shown if "\n" in shown.strip() else readable(shown)).splitlines()
    bare = [number.string[number.end() :] for number in map(_NUMBER.match, lines) if number]
    return "\n".join(bare if 2 * len(bare) > len(lines) else lines)
