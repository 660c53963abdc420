"""Fallback summarisers: another model, then the built-in one, for rows that the first choice fails at."""

from __future__ import annotations

from collections.abc import Callable

from trajcompress.errors import SummarizerUnusableError, SummaryError
from trajcompress.summarize.base import Summarizer, Summary, SummaryRequest, Usage
from trajcompress.summarize.retry import OF_THE_SERVER


class FallbackSummarizer:
    """Asks ``first``; where it fails, ``model``; where that fails too, ``builtin``.

    Args:
        first: The model that was asked for.
        model: Another model, to be tried for a row that ``first`` fails at, and for every row where ``first`` is
            unknown to the endpoint.
        replaced: Called for each failure of ``first`` that ``model`` has made good, with what it cost, so that
            neither is paid for again.
        builtin: The built-in summariser, for a row that the models fail at. A run whose models refuse every call
            stops all the same: it would end up without a single summary by the model that was asked for.
    """

    def __init__(
        self,
        first: Summarizer,
        *,
        model: Summarizer | None = None,
        replaced: Callable[[SummaryRequest, SummaryError, Usage], None] | None = None,
        builtin: Summarizer | None = None,
    ) -> None:
        self._first = first
        self._model = model
        self._replaced = replaced
        self._builtin = builtin
        self._first_unknown: SummarizerUnusableError | None = None

    @property
    def name(self) -> str:
        """The name of the first choice."""
        return self._first.name

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Summarise with the first that can; ``Summary.summarizer`` names it.

        Raises:
            SummaryError: all of them failed; the reason is that of the first, unless the server failed at the other.
            SummarizerUnusableError: a model refuses every call.
        """
        try:
            return await self._by_model(request, usage)
        except SummarizerUnusableError:
            raise
        except SummaryError:
            if self._builtin is None:
                raise
            return await self._builtin.summarize(request, usage)

    async def aclose(self) -> None:
        """Close all of them."""
        for summarizer in (self._first, self._model, self._builtin):
            if summarizer is not None:
                await summarizer.aclose()

    async def _by_model(self, request: SummaryRequest, usage: Usage) -> Summary:
        if self._model is None:
            return await self._first.summarize(request, usage)
        cost = Usage()
        try:
            return await self._by_first(request, cost)
        except SummarizerUnusableError as error:
            if error.reason != "unknown_model":
                raise
            failure: SummaryError = error
        except SummaryError as error:
            failure = error
        finally:
            usage.add(cost)
        failure.__traceback__ = None  # frames that hold it, and the row: they would live until cycles are looked for
        try:
            summary = await self._model.summarize(request, usage)
        except SummarizerUnusableError:
            raise
        except SummaryError as error:
            detail = str(failure).removeprefix(f"{failure.reason}: ")
            reason = error.reason if error.reason in OF_THE_SERVER else failure.reason  # it may pass
            raise SummaryError(reason, f"{detail}; then {error}") from error
        if self._replaced is not None and not isinstance(failure, SummarizerUnusableError):
            self._replaced(request, failure, cost)
        return summary

    async def _by_first(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Ask the first model, unless the endpoint has said that it has none of that name."""
        if self._first_unknown is not None:
            raise self._first_unknown
        try:
            return await self._first.summarize(request, usage)
        except SummarizerUnusableError as error:
            if error.reason == "unknown_model":
                self._first_unknown = error
            raise
