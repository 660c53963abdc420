"""When a conversation is not to be compacted again: after a failure for a while, or while that saves next to nothing.

A conversation is known by the messages that were given back last: what it goes on with begins with them.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, TypeAlias

Refusal: TypeAlias = Literal["cooling_down", "saves_too_little"]

LITTLE = 0.1
"""The share that a compaction saves at least, if it is to be worth it; and by which a context has grown at least."""
_IN_A_ROW = 2  # compactions that save less: the next would, too
_CONVERSATIONS = 1024  # that are remembered


@dataclass(frozen=True, slots=True)
class Past:
    """What came of the last compactions of a conversation.

    ``saved_little`` counts those in a row that did, ``tokens`` are those after the last. ``cool_until`` is the time
    before which no other is tried, in seconds of a monotonic clock.
    """

    saved_little: int = 0
    tokens: int = 0
    cool_until: float = 0.0

    def refusal(self, tokens: int, now: float) -> Refusal | None:
        """Say why a context of so many tokens is not to be compacted now; None where it may be."""
        if now < self.cool_until:
            return "cooling_down"
        has_grown = tokens >= self.tokens * (1 + LITTLE)
        return "saves_too_little" if self.saved_little >= _IN_A_ROW and not has_grown else None

    def after(self, before: int, tokens: int) -> Past:
        """Return the past after one more compaction, of so many tokens before and after it."""
        saved_little = before - tokens < before * LITTLE
        return Past(self.saved_little + 1 if saved_little else 0, tokens)


class Conversations:
    """The pasts of the latest conversations. Safe to use from several threads."""

    def __init__(self) -> None:
        self._pasts: OrderedDict[bytes, Past] = OrderedDict()
        self._lock = Lock()

    def past(self, messages: Sequence[Mapping[str, Any]]) -> Past:
        """Return the past of the conversation that these messages go on with."""
        with self._lock:
            known = (self._pasts.get(digest) for digest in reversed(_digests(messages)))
            return next((past for past in known if past is not None), Past())

    def keep(self, messages: Sequence[Mapping[str, Any]], past: Past) -> None:
        """Keep the past of a conversation that goes on with these messages."""
        digest = _digests(messages)[-1]
        with self._lock:
            self._pasts[digest] = past
            self._pasts.move_to_end(digest)
            while len(self._pasts) > _CONVERSATIONS:
                self._pasts.popitem(last=False)


def _digests(messages: Sequence[Mapping[str, Any]]) -> list[bytes]:
    """Return the digest of the first message, of the first two, and so on."""
    running, digests = hashlib.blake2b(digest_size=16), []
    for message in messages:
        running.update(json.dumps(message, sort_keys=True, default=str).encode())
        digests.append(running.digest())
    return digests
