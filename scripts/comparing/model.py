"""A model that always answers the same to the same: what it says depends on what is asked, and how often it was."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).resolve().parents[2] / "tests" / "support"
sys.path.insert(0, str(_TESTS))
from loopback import LoopbackServer  # noqa: E402 - lies with the tests
from loopback_replies import Reply, Seen, empty, failed, obedient, saying, some_words, truncated  # noqa: E402

_TOO_LONG = "This model's maximum context length is 8192 tokens."
_NO_SUMMARIES = re.split(
    r"^%% ?.*\n", (_TESTS / "data" / "labelled" / "none.txt").read_text("utf-8"), flags=re.MULTILINE
)[1:]


def _talkative(seen: Seen) -> Reply:
    said = obedient(seen).text or "## Goal\n- The build is mended, and its tests pass.\n"
    return saying(f"<think>What is asked?</think>Sure, here is the summary:\n\n{said}\n\nLet me know!")


def _half(seen: Seen) -> Reply:
    lines = (obedient(seen).text or "").splitlines()
    return replace(obedient(seen), text="\n".join(lines[: 1 + len(lines) // 2])) if len(lines) > 1 else Reply()


def _no_summary(seen: Seen) -> Reply:
    return saying(_NO_SUMMARIES[_number(seen) // 100 % len(_NO_SUMMARIES)].rstrip("\n"))


# Nothing that speaks against the server: how long that is waited for depends on the clock.
_ALWAYS: dict[int, Callable[[Seen], Reply]] = {
    0: lambda _: failed(400, "The request is not valid.", "invalid_request_error"),
    1: lambda _: failed(400, _TOO_LONG, "context_length_exceeded"),
    2: lambda _: empty(),
    3: _no_summary,
    **dict.fromkeys(range(4, 8), _talkative),
    **dict.fromkeys(range(8, 12), lambda _: saying(some_words(900))),
    **dict.fromkeys(range(12, 20), lambda _: Reply()),  # leaves out what must survive
    **dict.fromkeys(range(20, 36), _half),
}
_AT_FIRST: dict[int, Callable[[Seen], Reply]] = {
    **dict.fromkeys(range(80, 83), lambda _: empty()),
    **dict.fromkeys(range(83, 86), lambda _: truncated()),
    **dict.fromkeys(range(86, 92), lambda _: saying(some_words(4000))),
    **dict.fromkeys(range(92, 100), _no_summary),
}


def _number(seen: Seen) -> int:
    return int(hashlib.sha256(json.dumps(seen.messages).encode()).hexdigest()[:12], 16)


class ScriptedModel:
    """Answers several versions at once, each known by its API key; keeps what each asked, in order."""

    def __init__(self) -> None:
        self._server = LoopbackServer(self._answer)
        self._asked: Counter[tuple[str, int]] = Counter()
        self._bodies: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)

    def __enter__(self) -> str:
        """Start the server; return its base URL."""
        self._server.__enter__()
        return self._server.base_url

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    def taken(self, version: str) -> list[dict[str, Any]]:
        """Return the requests of a version since it was last asked for them, and forget them."""
        self._server.seen.clear()
        for key in [key for key in self._asked if key[0] == version]:
            del self._asked[key]
        return self._bodies.pop(version, [])

    def _answer(self, seen: Seen) -> Reply:
        version = seen.headers["authorization"].removeprefix("Bearer ")
        self._bodies[version].append(seen.body)
        number = _number(seen)
        self._asked[version, number] += 1
        first = _AT_FIRST.get(number % 100) if self._asked[version, number] == 1 else None
        return (first or _ALWAYS.get(number % 100, obedient))(seen)
