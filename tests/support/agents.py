"""A model of agents on this machine: it calls a tool, again and again, and answers each request at last."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from loopback import LoopbackServer
from loopback_replies import Reply, Seen


class AgentModel(LoopbackServer):
    """Answers agents as a model does, and whoever sends no tools as a summariser.

    Args:
        reads: How often it calls the tool for each request, in turn.
        paths: Files that it reads.
    """

    def __init__(self, reads: Sequence[int], paths: Sequence[str]) -> None:
        super().__init__(self._choose_reply)
        self.sent: list[list[dict[str, Any]]] = []
        """What agents sent, call by call."""
        self._left = list(reads)
        self._paths = paths

    @property
    def summaries(self) -> int:
        """How many summaries were asked for."""
        return len(self.seen) - len(self.sent)

    def _choose_reply(self, seen: Seen) -> Reply | None:
        if "tools" not in seen.body:
            return None
        number = len(self.sent)
        self.sent.append(seen.messages)
        if self._left[0]:
            self._left[0] -= 1
            arguments = {"path": self._paths[number % len(self._paths)], "start": 97 * number}
            call = {"name": "read", "arguments": json.dumps(arguments)}
            message: dict[str, Any] = {
                "content": f"Step {number}: what I saw leads to {arguments['path']}, so I read that next.",
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}],
            }
        else:
            self._left.pop(0)
            message = {"content": f"I have read {number} pieces, and that is the answer."}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
        body = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 0, "model": seen.model}
        return Reply("agent", body={**body, "choices": [choice]})
