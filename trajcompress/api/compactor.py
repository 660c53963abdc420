"""Compaction of the context of a running agent: the same core, before each call of its model."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from trajcompress.api.lifecycle import Closable
from trajcompress.api.opened_compactor import NEAR_FULL, OpenedCompactor, Window
from trajcompress.api.options import documented, resolved
from trajcompress.api.results import CompactedMessages, RunningSummary
from trajcompress.api.rows import Messages
from trajcompress.errors import SettingsError
from trajcompress.events import Event, Figure, nobody
from trajcompress.run.interrupt import raising_interrupts
from trajcompress.settings.keywords import CompactOptions

Tools: TypeAlias = Sequence[Mapping[str, Any]]
"""The schemas of the tools that the model is offered."""

_HALF = 2


@documented(CompactOptions)
class Compactor(Closable[OpenedCompactor]):
    """Keeps the context of a running agent within the window of its model.

    Call :meth:`compact` before each call of the model, and go on with the messages that it gives back. Below 85 % of
    the window they are those that were given; from there on it brings them down to ``target_max_tokens``, as rows are
    brought to their target: old observations are cleared first, then turns of the middle are summarised. The head
    (system prompt, first request, first step unless that is long), the last request, word for word, and a tail of
    ``tail_tokens`` stay.
    The summary before is updated. Between two compactions messages are only added, so that a provider finds what went
    before in its prompt cache; the head stays the same for good.

    It may serve any number of conversations, from several threads and event loops at once: they share the
    connections, the rate limits, the retries and the ``cache``. What it knows of each stands in what it gives back.
    Use it in ``with`` or ``async with``, or call :meth:`close`.

    Args:
        config: A YAML file of settings, as the command line takes it.
        context_window: Tokens of the model's window, the room for its answer included. By default twice
            ``target_max_tokens``.
        cool_down: Seconds for which a conversation is not compacted again after a failure.
        on_event: Called with the name of each event and its figures: ``pressure`` where :meth:`pressure` finds 85 %
            or more, and of compactions ``planned``, ``called``, ``retried``, ``paused`` and so on. May be called from
            several threads. What it raises is logged, by the logger ``trajcompress``, and changes nothing.
        **options: What the file does not say, or says otherwise; options of the command line, with underscores.
            ``target_max_tokens`` is half of ``context_window`` by default, ``tail_tokens`` a quarter of that.

    Raises:
        SettingsError: An argument or the config file is wrong.
        TokenizerError: The tokenizer cannot be loaded.
    """

    def __init__(
        self,
        config: str | Path | None = None,
        *,
        context_window: int | None = None,
        cool_down: float = 60.0,
        on_event: Callable[..., None] | None = None,
        **options: Unpack[CompactOptions],
    ) -> None:
        _check_window(context_window)
        _check_cool_down(cool_down)
        if on_event is not None and not callable(on_event):
            raise SettingsError(f"argument on_event: should be called with events, not be {type(on_event).__name__}")
        settings_given = partial(resolved, config, options, CompactOptions, "Compactor", form="as-read")
        found = settings_given()
        if context_window is not None and found.origins["compression.target_max_tokens"] == "default":
            try:
                found = settings_given(target_max_tokens=context_window // _HALF)
            except SettingsError as error:
                text = str(error).replace("argument target_max_tokens", "argument context_window")
                raise SettingsError(text) from error
        settings, target = found.settings, found.settings.compression.target_max_tokens
        window = Window(context_window or target * _HALF, cool_down)
        if target >= window.near_full:
            raise SettingsError(
                f"argument target_max_tokens, argument context_window: {target} should be below {NEAR_FULL:.0%} of "
                f"{window.tokens}, from where on a context is compacted to it"
            )
        emit = partial(_tell, on_event) if on_event else nobody
        super().__init__(partial(OpenedCompactor, settings, window, emit))

    async def compact(
        self, messages: Messages, *, tools: Tools | None = None, previous: RunningSummary | None = None
    ) -> CompactedMessages:
        """Compact a context where it is near full, while the event loop goes on.

        Nothing that goes wrong with a summary is raised: the messages are given back as they were, and ``reason``
        and ``error`` say why. For ``cool_down`` seconds the conversation is left alone then (``cooling_down``). It
        is left alone, too, where two compactions in a row saved less than a tenth, until it has grown by a tenth
        (``saves_too_little``).

        Args:
            messages: What is to be sent: the messages of the last result, and what was said since.
            tools: What is sent as tools.
            previous: The ``summary`` of the last result; None at first.

        Raises:
            InputError: An argument is wrong; names it.
            RuntimeError: The compactor is closed.
        """
        return await asyncio.wrap_future(self._open().begin(messages, tools, previous))

    def compact_sync(
        self, messages: Messages, *, tools: Tools | None = None, previous: RunningSummary | None = None
    ) -> CompactedMessages:
        """Compact as :meth:`compact` does, where no event loop runs, or may wait."""
        begun = self._open().begin(messages, tools, previous)
        try:
            with raising_interrupts():
                return begun.result()
        finally:
            begun.cancel()  # where it was interrupted

    def pressure(self, messages: Messages, *, tools: Tools | None = None) -> float:
        """Return the share of the window that a context takes; from 0.85 on the event ``pressure`` is emitted.

        Raises:
            InputError: An argument is wrong; names it.
            RuntimeError: The compactor is closed.
        """
        return self._open().pressure(messages, tools)


def _tell(listener: Callable[..., None], event: Event, /, **figures: Figure) -> None:
    try:
        listener(event, **figures)
    except Exception:  # a mistake of the caller's listener: it is told whole in the log, and the row goes on
        logging.getLogger("trajcompress").exception("on_event failed at the event %r", event)


def _check_window(tokens: object) -> None:
    if tokens is not None and (isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < _HALF):
        raise SettingsError(f"argument context_window: should be a number of tokens, not {tokens!r}")


def _check_cool_down(seconds: object) -> None:
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 <= seconds < math.inf:  # type: ignore[operator]
        raise SettingsError(f"argument cool_down: should be a number of seconds from 0 up, not {seconds!r}")
