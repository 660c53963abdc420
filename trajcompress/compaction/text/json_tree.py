"""JSON text as a tree of the places where its values stand: parts of it may go, and all else keeps its characters."""

from __future__ import annotations

import re

from msgspec import Struct, field

from trajcompress.processes.late_patterns import late_re

_TOKEN = late_re(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]|[^\s\[\]{}:,"]++', re.DOTALL)


class Node(Struct):
    """A value in JSON text: where it stands, and what it holds (in an object keys and values in turn)."""

    start: int
    end: int
    inner: list[Node] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many characters it has."""
        return self.end - self.start


def tree(text: str) -> Node:
    """Read the tree of values in JSON text that is known to parse."""
    root = Node(0, 0)
    path = [root]
    for token in _TOKEN.finditer(text):
        if token[0] in "]}":
            path.pop().end = token.end()
            continue
        node = Node(token.start(), token.end())
        path[-1].inner.append(node)
        if token[0] in "[{":
            path.append(node)
    return root.inner[0]
