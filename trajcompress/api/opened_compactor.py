"""Compaction of contexts, many at once, with what stays open between calls."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

from msgspec import structs

from trajcompress.api.conversations import Conversations, Past
from trajcompress.api.opened import Opened
from trajcompress.api.results import CompactedMessages, RunningSummary
from trajcompress.api.rows import as_row, is_messages
from trajcompress.compaction.driver import RowDriver
from trajcompress.compaction.happened import Happened, why
from trajcompress.compaction.previous_summary import PreviousSummary, read_summary
from trajcompress.compaction.provenance import provenance_of_previous, summary_turn
from trajcompress.compaction.state import State
from trajcompress.errors import EngineMismatchError, InputError, RowError, SummaryError, UncountableTextError
from trajcompress.events import Emit
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.formats.messages import MESSAGES
from trajcompress.metrics.row import RowMetrics
from trajcompress.run.build.components import build_live_policy
from trajcompress.settings import Settings
from trajcompress.summarize.base import Usage
from trajcompress.tokens.counter import Count
from trajcompress.transcript.summary_marks import PROVENANCE_COLUMN
from trajcompress.transcript.trajectory import RowId, Trajectory

_SOURCE = "<context>"
NEAR_FULL = 0.85
"""The share of its window from which on a context is compacted."""


@dataclass(frozen=True, slots=True)
class Window:
    """How large a context may be, in tokens, and how long nothing is tried after a failure, in seconds."""

    tokens: int
    cool_down_s: float

    @property
    def near_full(self) -> int:
        """The tokens from which on a context is compacted."""
        return int(self.tokens * NEAR_FULL)


@dataclass(frozen=True, slots=True)
class Context:
    """What was given: the messages as a trajectory, its count, and the tokens of tools that the count leaves out."""

    trajectory: Trajectory
    count: Count
    uncounted: int

    @property
    def tokens(self) -> int:
        """All that is sent."""
        return self.count.tokens + self.uncounted


class _Try(NamedTuple):
    """A context that was compacted, by whom, and as which row."""

    driver: RowDriver
    row_id: RowId
    happened: Happened


class OpenedCompactor(Opened):
    """Compacts contexts; a failure at one says nothing of the others."""

    def __init__(self, settings: Settings, window: Window, emit: Emit) -> None:
        self._window = window
        self._emit = emit
        super().__init__(_never_given_up(settings))

    def _prepare(self, settings: Settings) -> None:
        self._numbers = count()
        self._messages_field = settings.input.messages_field or MESSAGES
        self._policy = build_live_policy(settings)
        self._conversations = Conversations()

    def pressure(self, messages: object, tools: object) -> float:
        """Return the share of the window that a context takes, and emit an event where it is near full."""
        tokens = self._read(messages, tools, None).tokens
        share = tokens / self._window.tokens
        if tokens >= self._window.near_full:
            self._emit("pressure", tokens=tokens, window=self._window.tokens, share=round(share, 4))
        return share

    def begin(self, messages: object, tools: object, previous: object) -> Future[CompactedMessages]:
        """Begin to compact a context. The result raises InputError where an argument is wrong.

        Raises:
            RuntimeError: it is closed.
        """
        return self._background.submit(self._compact(messages, tools, previous))

    async def _compact(self, messages: object, tools: object, previous: object) -> CompactedMessages:
        context = await self._off_loop(self._read, messages, tools, previous)
        given = _messages_of(context.trajectory, context.trajectory.row)
        unchanged = CompactedMessages(given, _summary(previous), context.tokens, context.tokens, changed=False)
        if context.tokens < self._window.near_full:
            return replace(unchanged, reason="fits")
        past = self._conversations.past(given)
        if refusal := past.refusal(context.tokens, time.monotonic()):
            return replace(unchanged, reason=refusal)
        try:
            async with asyncio.timeout(self._policy.timeout_s):
                happened, metrics = await self._compacted(context)
        except (SummaryError, TimeoutError, EngineMismatchError) as error:
            return self._failed(unchanged, past, *why(error, self._policy.timeout_s))
        if happened.failed:
            return replace(self._failed(unchanged, past, happened.reason, happened.error), metrics=metrics)
        made = _made(unchanged, context, happened, metrics)
        self._conversations.keep(made.messages, past.after(made.tokens_before, made.tokens_after))
        return made

    async def _compacted(self, context: Context) -> tuple[Happened, RowMetrics]:
        """Compact to the target; where that is not to be had, to what is not near full."""
        target, near_full = self._policy.target_max_tokens, self._window.near_full - 1
        tries = [await self._try(context, target)]
        if not tries[0].happened.failed and _tokens(tries[0].happened, context) > near_full:
            tries.append(await self._try(context, near_full))
        best = min(tries, key=lambda each: _tokens(each.happened, context))
        usage = Usage()
        for each in tries:
            usage.add(each.happened.usage)
        happened = structs.replace(
            best.happened,
            usage=usage,
            passes=sum(each.happened.passes for each in tries),
            redactions=sum(each.happened.redactions for each in tries),
        )
        return happened, best.driver.metrics(best.row_id, context.trajectory, happened)

    async def _try(self, context: Context, tokens: int) -> _Try:
        policy = structs.replace(self._policy, target_max_tokens=max(1, tokens - context.uncounted))
        driver = RowDriver(self._counter, self._summarizer, policy, self._executor, emit=self._emit)
        row_id = RowId(_SOURCE, next(self._numbers))
        return _Try(driver, row_id, await driver.compact(context.trajectory, row_id, context.count))

    def _failed(
        self, unchanged: CompactedMessages, past: Past, reason: str | None, error: str | None
    ) -> CompactedMessages:
        cooling = replace(past, cool_until=time.monotonic() + self._window.cool_down_s)
        self._conversations.keep(unchanged.messages, cooling)
        return replace(unchanged, reason=reason, error=error)

    def _read(self, messages: object, tools: object, previous: object) -> Context:
        """Read and count what was given.

        Raises:
            InputError: it is no context; names the argument.
        """
        _check_messages(messages)
        row: dict[str, Any] = {self._messages_field: messages}
        if tools is not None:
            row["tools"] = _checked_tools(tools)
        before = _summary(previous)
        try:
            trajectory = read_trajectory(as_row(row, self._messages_field), "context", self._formats)
        except RowError as error:
            raise InputError(f"argument messages: {error.detail}") from error
        if trajectory.source_columns:
            raise InputError(
                f"argument messages: these are of {trajectory.source}; give messages as of OpenAI's chat completions"
            )
        if before is not None:
            provenance = provenance_of_previous(_standing(before, trajectory), before.start, before.end)
            trajectory = structs.replace(trajectory, row={**trajectory.row, PROVENANCE_COLUMN: provenance})
        try:
            counted = self._counter.count(trajectory)
            leaves_out_tools = counted.method in {"content", "content_template_refused"} and trajectory.tools
            uncounted = self._counter.count_text(json.dumps(trajectory.tools)) if leaves_out_tools else 0
        except UncountableTextError as error:
            raise InputError(f"argument messages: {error}") from error
        return Context(trajectory, counted, uncounted)


def _never_given_up(settings: Settings) -> Settings:
    """Let a summariser of the user's own be called again however often it failed: an agent outlives its failures."""
    chosen = settings.summarization
    if not chosen.is_custom:
        return settings  # an endpoint is asked again, one call at a time
    return replace(settings, summarization=replace(chosen, max_failures_in_a_row=sys.maxsize))


def _check_messages(messages: object) -> None:
    if not is_messages(messages):
        raise InputError(f"argument messages: should be a list of messages, not {type(messages).__name__}")
    for number, message in enumerate(messages):  # type: ignore[var-annotated, arg-type]
        if not isinstance(message, Mapping):
            dump = "; give message.model_dump(exclude_none=True)" if hasattr(message, "model_dump") else ""
            raise InputError(
                f"argument messages: message {number} should be a mapping, not {type(message).__name__}{dump}"
            )


def _checked_tools(tools: object) -> list[Any]:
    if not is_messages(tools) or not all(isinstance(tool, Mapping) for tool in tools):  # type: ignore[attr-defined]
        what = type(tools).__name__
        raise InputError(f"argument tools: should be a list of tools, each a mapping with its schema, not {what}")
    return list(tools)  # type: ignore[call-overload, no-any-return]


def _summary(previous: object) -> RunningSummary | None:
    if previous is None or isinstance(previous, RunningSummary):
        return previous
    what = type(previous).__name__
    raise InputError(f"argument previous: should be the summary of the last result, or None, not {what}")


def _standing(previous: RunningSummary, trajectory: Trajectory) -> PreviousSummary:
    """Return the summary that ``previous`` names as it stands in a context."""
    turns, at = trajectory.turns, previous.message
    found = read_summary(turns, at) if type(at) is int and 0 <= at < len(turns) else None
    if found is None or found.text != previous.text:
        raise InputError(
            f"argument previous: its summary does not stand in message {at}; give the messages of the result that it "
            "is of, and what was said since"
        )
    return found


def _messages_of(trajectory: Trajectory, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(row[trajectory.messages_field])


def _tokens(happened: Happened, context: Context) -> int:
    return context.tokens if happened.tokens is None else happened.tokens + context.uncounted


def _made(
    unchanged: CompactedMessages, context: Context, happened: Happened, metrics: RowMetrics
) -> CompactedMessages:
    said = replace(unchanged, reason=happened.reason, error=happened.error, metrics=metrics)
    if happened.last is None:
        return said
    return replace(
        said,
        messages=_messages_of(context.trajectory, replace_turns(context.trajectory, happened.last.written)),
        summary=_running_summary(unchanged.summary, context.trajectory, happened.last),
        tokens_after=_tokens(happened, context),
        changed=True,
    )


def _running_summary(previous: RunningSummary | None, trajectory: Trajectory, last: State) -> RunningSummary | None:
    """Return the summary that stands in a context now, and what it covers of the conversation as it was once."""
    if last.replaced is None:
        return previous
    turns, start, end = last.written, last.replaced.start, last.replaced.end
    message = summary_turn(turns, start)
    found = read_summary(turns, message)
    assert found is not None  # noqa: S101 - it was just put there
    gone = end - start - found.own_turn
    kept = len(turns) - (len(trajectory.turns) - gone)
    if previous is None:
        return RunningSummary(found.text, message, start, end, kept)
    before = read_summary(trajectory.turns, previous.message)
    own_turn = before is not None and before.own_turn
    hidden = previous.end - previous.start - previous.kept - own_turn
    return RunningSummary(found.text, message, min(start, previous.start), end + hidden, kept)
