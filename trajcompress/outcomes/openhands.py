"""The observations of OpenHands: what came of a command that it did not run, and the words of its SDK's objects."""

from __future__ import annotations

import re

from trajcompress.outcomes.compact import parse
from trajcompress.processes.late_patterns import late_re

_BEGINS = late_re(r"\s{0,8}\{\s{0,8}\"content\"\s{0,4}:\s{0,8}\[\s{0,8}\{")
_KIND, _SAYS_KIND = "Observation", '"kind"'
_MOST_CHARS = 1_000_000
_REFUSED = late_re(
    r"\s{0,8}(?:EXECUTION RESULT of \[[^\]\n]{0,80}\]:\s{0,8})?"
    r"(?:\[Below is the output of the previous command\.\]\s{0,8})?"
    r"(.{0,20000}?)\[Your command \".{0,4000}?\" is (NOT executed\. The previous command is still running)\b",
    re.DOTALL,
)
_SAYS_REFUSED, _REFUSED_CHARS = " is NOT executed. The previous command", 25_000


def told_by_openhands(text: str) -> str | None:
    r"""Give what an observation says, with the exit code of a command that failed; None of another result.

    >>> told_by_openhands('{"content": [{"type": "text", "text": "no"}], "exit_code": 1, "kind": "MyObservation"}')
    'no\nexit code: 1'
    >>> told_by_openhands('[Your command "ls" is NOT executed. The previous command is still running - You CANNOT …]')
    'NOT executed. The previous command is still running'
    """
    if _SAYS_REFUSED in text[:_REFUSED_CHARS] and (refused := _REFUSED.match(text)):
        return f"{refused[2]}\n{refused[1]}".strip()
    if _BEGINS.match(text) is None or _SAYS_KIND not in text or len(text) > _MOST_CHARS:
        return None
    data = parse(text.strip())
    if not isinstance(data, dict) or not str(data.get("kind")).endswith(_KIND):
        return None
    parts = data["content"] if isinstance(data.get("content"), list) else []
    said = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    code = data.get("exit_code")
    ended = [f"exit code: {code}"] if isinstance(code, int) and code else []
    return "\n".join([*filter(str.strip, said), *ended])
