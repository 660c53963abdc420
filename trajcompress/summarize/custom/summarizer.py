"""A summariser of one's own as one of ours: within the limits, without secrets, and its answers judged."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import inspect
import threading
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from trajcompress.errors import NO_SUMMARY, SummarizerUnusableError, SummaryError
from trajcompress.facts import facts_in, facts_missing
from trajcompress.redact import Redacted, redact
from trajcompress.redact.spans import MARK_START
from trajcompress.summarize.answer import strip_prefixes
from trajcompress.summarize.answers.judge import first_room, judge_text, note_for
from trajcompress.summarize.answers.phrases import prepare
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.summarize.custom.load import LoadedSummarizer, OpenSummarizer
from trajcompress.summarize.endpoint.limits import Limiter
from trajcompress.summarize.prompt import last_goal, overlong_note
from trajcompress.summarize.retry import one_line
from trajcompress.summarize.transcript import shown_turns
from trajcompress.summarizers import SummaryInput

BROKEN = "summarizer_error"
"""The reason of a row whose summariser raised something."""


def _place_of(error: Exception) -> str:
    """Return where code of others raised an error, as `` (file.py:12)``; nothing where that is not known."""
    *_, frame = [None, *traceback.extract_tb(error.__traceback__)]
    return f" ({Path(frame.filename).name}:{frame.lineno})" if frame else ""


class CustomSummarizer:
    """A :class:`~trajcompress.summarize.base.Summarizer` that calls one of the user's own.

    An answer that is no summary is asked for once more, with a note on why. What the summariser raises fails its row
    at once, as it knows best what to try again; where it fails at so many calls in a row, it is given up, until one
    that is asked for after that is answered.

    Args:
        loaded: the summariser of the user, as it was loaded.
        limiter: admits its calls.
        redact_secrets: whether secrets in what it is given, and in what it writes, become marks.
        most_in_a_row: how many calls may fail in a row.
    """

    def __init__(
        self, loaded: LoadedSummarizer, *, limiter: Limiter, redact_secrets: bool, most_in_a_row: int
    ) -> None:
        self._loaded = loaded
        self._limiter = limiter
        self._redact = redact_secrets
        self._most_in_a_row = most_in_a_row
        self._failures = 0  # in a row
        self._has_answered = False
        self._last_failure = ""
        self._opened: asyncio.Task[OpenSummarizer] | None = None
        self._given: tuple[SummaryRequest, SummaryInput, int] | None = None  # asked for twice, as by PromptBuilder

    @property
    def name(self) -> str:
        """Its own name."""
        return self._loaded.name

    def request_key(self, request: SummaryRequest, *, anywhere: bool = False) -> str:  # noqa: ARG002 - it is one place
        """Return a digest of what shapes the answer to a request."""
        given, _ = self._read(request)
        shaping = (
            "custom",
            self._loaded.name,
            self._loaded.version,
            given.turns,
            given.goal,
            given.previous,
            given.facts,
            given.target_tokens,
            given.focus,
            given.note,
        )
        return hashlib.sha256(msgspec.json.encode(shaping)).hexdigest()

    async def aclose(self) -> None:
        """Close it, where it was made here and can be closed."""
        if self._opened is None or not self._opened.done() or self._opened.exception() is not None:
            return
        close = self._opened.result().close
        if close is not None:
            closed = close()
            if inspect.isawaitable(closed):
                await closed

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Summarise ``request.region``.

        Raises:
            SummaryError: it raised something, or wrote no summary twice.
            SummarizerUnusableError: it says so, or has failed at too many calls in a row.
        """
        given, redactions = self._read(request)
        usage.redactions += redactions
        await asyncio.to_thread(prepare)
        is_again = False
        while True:
            said = await self._ask(given, request, usage)
            written = redact(said) if self._redact else Redacted(said)  # before it is kept
            verdict = judge_text(written.text, request, asked_again=is_again)
            if isinstance(verdict, str):
                usage.errors -= 1
                return Summary(verdict, self.name, min(written.count, verdict.count(MARK_START)))
            usage.non_summaries += verdict.reason in NO_SUMMARY
            if is_again:
                raise SummaryError(verdict.reason, f"{self.name}: {verdict.detail}")
            request.emit("retried", model=self.name, attempt=1, reason=verdict.reason)
            given, is_again = replace(given, note=note_for(verdict) or verdict.detail), True

    def _read(self, request: SummaryRequest) -> tuple[SummaryInput, int]:
        """Return what it is given for a request, and how many secrets were taken out of that."""
        if self._given is None or self._given[0] is not request:
            self._given = (request, *_input_for(request, redact_secrets=self._redact))
        return self._given[1:]

    async def _ask(self, given: SummaryInput, request: SummaryRequest, usage: Usage) -> str:
        tries_anyway = self._is_given_up  # whoever comes later asks whether it works again
        with request.waiting():
            opened = await self._open()
        size = 0
        if self._limiter.tpm is not None:
            texts = "\n".join((given.turns, given.goal, given.previous or "", *given.facts))
            size = await asyncio.to_thread(request.count, texts) + first_room(request.target_tokens)
        async with contextlib.AsyncExitStack() as stack:
            with request.waiting():
                turn = await stack.enter_async_context(self._limiter.slot(size))
            if self._is_given_up and not tries_anyway:
                raise self._given_up()
            turn.sent()
            request.emit("sent")
            usage.api_calls += 1
            usage.errors += 1  # until its answer proves usable
            usage.cost_usd = None  # nobody knows
            loop = asyncio.get_running_loop()
            began, result = loop.time(), "cancelled"
            try:
                said = await _call(opened.call, given)
                result = "answered"
            except asyncio.CancelledError:
                self._note_failure("no answer in the time that a row has")
                raise
            except (SummaryError, SummarizerUnusableError) as error:  # it knows what it says
                result = error.reason
                raise
            except Exception as error:  # what runs is code of others; its error is that of the row
                result = BROKEN
                words = one_line(redact(f"{type(error).__name__}: {error}").text) + _place_of(error)
                self._note_failure(words)
                if self._is_given_up:
                    raise self._given_up() from error
                raise SummaryError(BROKEN, f"{self.name} raised {words}") from error
            finally:
                usage.latency_s += loop.time() - began
                request.emit("called", model=self.name, result=result, latency_s=round(loop.time() - began, 3))
        if not isinstance(said, str):
            words = f"it returned {type(said).__name__}, no text"
            self._note_failure(words)
            raise self._given_up() if self._is_given_up else SummaryError(BROKEN, f"{self.name}: {words}")
        self._failures, self._has_answered = 0, True
        return said

    async def _open(self) -> OpenSummarizer:
        """Make it ready, once, for the first that asks; what it loads may take long."""
        if self._opened is None:
            self._opened = asyncio.create_task(asyncio.to_thread(self._loaded.open))
        try:
            return await asyncio.shield(self._opened)
        except Exception as error:  # as above, of the run
            words = one_line(redact(f"{type(error).__name__}: {error}").text)
            raise SummarizerUnusableError(BROKEN, f"{self.name} cannot be made without arguments: {words}") from error

    @property
    def _is_given_up(self) -> bool:
        return self._failures >= self._most_in_a_row

    def _note_failure(self, words: str) -> None:
        self._failures += 1
        self._last_failure = words

    def _given_up(self) -> SummarizerUnusableError:
        return SummarizerUnusableError(
            "every_call_fails",
            f"{self.name} failed at {self._failures} calls in a row, the last one with: {self._last_failure}",
            has_answered=self._has_answered,
        )


def _input_for(request: SummaryRequest, *, redact_secrets: bool) -> tuple[SummaryInput, int]:
    redactions = 0

    def clean(text: str) -> str:
        nonlocal redactions
        if not redact_secrets:
            return text
        cleaned = redact(text)
        redactions += cleaned.count
        return cleaned.text

    return SummaryInput(
        turns=clean(shown_turns(request)),
        goal=clean(last_goal(request.head)),
        previous=clean(strip_prefixes(request.previous or "")) or None,
        facts=tuple(map(clean, request.facts)),
        target_tokens=request.target_tokens,
        focus=request.focus,
        note=_note(request),
        count_tokens=request.count,
    ), redactions


def _note(request: SummaryRequest) -> str | None:
    """Say how the last answer could be better."""
    if request.answer is None:
        return None
    size = request.count(request.answer)
    if size > request.target_tokens:
        return overlong_note(size, request.target_tokens)
    missing = facts_missing(request.facts, request.answer)
    listed = facts_in(missing, request.answer)
    absent = [fact for fact in missing if fact not in listed]
    said = [f"it left out: {', '.join(absent)}"] if absent else []
    said += [f"it lists without what they mean: {', '.join(listed)}"] if listed else []
    return "; ".join(said) or None


async def _call(function: Callable[[SummaryInput], Any], given: SummaryInput) -> Any:
    """Call a function, one that is not ``async`` in a thread of its own: it may block, or never come back."""
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
    said = function(given) if is_async else await _in_thread(function, given)
    if not inspect.isawaitable(said):
        return said
    try:
        return await _awaited(said)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and not task.cancelling():  # it was not we who cancelled
            raise RuntimeError("it was cancelled") from error
        raise


async def _awaited(said: Awaitable[Any]) -> Any:
    return await said


async def _in_thread(function: Callable[[SummaryInput], Any], given: SummaryInput) -> Any:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(error: BaseException | None, said: Any) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(said)
        else:
            done.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))

    def work() -> None:
        error: BaseException | None = None
        said = None
        try:
            said = function(given)
        except StopIteration as stopped:  # no future takes it
            error = RuntimeError(repr(stopped))
        except BaseException as raised:  # noqa: BLE001 - an exit, too, ends its row and not the run
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, error, said)

    threading.Thread(target=work, name="trajcompress-summarizer", daemon=True).start()
    return await done
