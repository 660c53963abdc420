"""The observations of OpenHands' SDK that stand as its own objects: their words, and how a command ended."""

from __future__ import annotations

from trajcompress.outcomes.compact import parse
from trajcompress.processes.late_patterns import late_re

_BEGINS = late_re(r"\s{0,8}\{\s{0,8}\"content\"\s{0,4}:\s{0,8}\[\s{0,8}\{")
_KIND, _SAYS_KIND = "Observation", '"kind"'
_MOST_CHARS = 1_000_000


def told_by_openhands(text: str) -> str | None:
    r"""Give what an observation says, with the exit code of a command that failed; None of another result.

    >>> told_by_openhands('{"content": [{"type": "text", "text": "no"}], "exit_code": 1, "kind": "MyObservation"}')
    'no\nexit code: 1'
    """
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
