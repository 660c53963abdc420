"""The built-in summariser: a structured record of the region in its own words, offline and deterministic."""

from __future__ import annotations

import asyncio

from trajcompress.summarize.base import BUILT_IN, Summary, SummaryRequest, Usage
from trajcompress.summarize.extractive import record
from trajcompress.summarize.extractive.fit import fit

__all__ = ["ExtractiveSummarizer", "extract"]


def extract(request: SummaryRequest) -> str:
    """Write the record of ``request.region``, and of what ``request.previous`` tells.

    Pure and deterministic. The text starts with the summary prefix, holds no marks of a chat, and has at most
    ``request.target_tokens`` tokens, unless these cannot even hold the prefix: then it is the prefix alone. Of
    ``request.facts``, those that no line holds stand in a list at the end, which takes most of the budget if it must.
    """
    return fit(record.write(request), request.target_tokens, request.count)


class ExtractiveSummarizer:
    """Implements :class:`~trajcompress.summarize.base.Summarizer` without any model."""

    @property
    def name(self) -> str:
        """Named in the metrics."""
        return BUILT_IN

    def write(self, request: SummaryRequest) -> Summary:
        """Summarise ``request.region``; never raises for lack of content."""
        return Summary(extract(request), self.name)

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:  # noqa: ARG002 - it costs nothing
        """Summarise as :meth:`write` does, beside the event loop."""
        return await asyncio.to_thread(self.write, request)

    async def aclose(self) -> None:
        """Hold nothing, release nothing."""
