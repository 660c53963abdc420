"""Events of the log for requests to a model: one for each, however it ends."""

from __future__ import annotations

from typing import Any, Self

from trajcompress.summarize.answer import Answer
from trajcompress.summarize.base import SummaryRequest, Usage
from trajcompress.summarize.retry import Adapt, Decision, Retry


class CallEvent:
    """Sends the event of the one call made within it, if there was one; ``answer`` is its result, to be set there.

    ``verdict`` is what becomes of an answer: the text of a summary, or why it is none.
    """

    def __init__(self, request: SummaryRequest, usage: Usage, model: str) -> None:
        self._emit = request.emit
        self.usage = usage
        self.began = 0.0  # loop time, set where it goes out, as are these
        self.parameters: dict[str, Any] = {}
        self._model = model
        self._calls, self._latency_s = usage.api_calls, usage.latency_s
        self.answer: Answer | Decision | Adapt | None = None
        self.verdict: str | Retry | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.usage.api_calls == self._calls:  # given up while it waited for its turn
            return
        answered = self.answer if isinstance(self.answer, Answer) else None
        self._emit(
            "called",
            model=self._model,
            result=_result(self.verdict if isinstance(self.verdict, Retry) else self.answer),
            latency_s=round(self.usage.latency_s - self._latency_s, 3),
            prompt_tokens=answered.prompt_tokens if answered else None,
            completion_tokens=answered.completion_tokens if answered else None,
            cached_tokens=answered.cached_tokens if answered else None,
        )


def _result(answer: Answer | Decision | Adapt | None) -> str:
    if isinstance(answer, Answer):
        return "answered"
    if isinstance(answer, Adapt):
        return f"refused_{answer.parameter}"
    return "cancelled" if answer is None else answer.reason
