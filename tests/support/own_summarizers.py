"""Summarisers as users write them: good ones, and all that can be wrong with one."""

from __future__ import annotations

import asyncio
import threading
import time

from trajcompress import SummarizerUnusableError, SummaryError, SummaryInput

calls: list[SummaryInput] = []
"""What :func:`record` was given, last first cleared by the test."""


def record(given: SummaryInput) -> str:
    calls.append(given)
    lines = (line[:60] for line in given.turns.splitlines() if line.strip())
    told = " ".join(given.facts)
    return "\n".join(["So far: " + (given.previous or "nothing")[:80], told, *list(lines)[:6]])


async def record_async(given: SummaryInput) -> str:
    await asyncio.sleep(0)
    return record(given)


def record_later(given: SummaryInput):
    """A plain function that returns something to await."""
    return record_async(given)


def meeting(size: int):
    """Make a summariser whose calls each wait until so many are under way."""
    all_are_there = asyncio.Barrier(size)

    async def writer(given: SummaryInput) -> str:
        await all_are_there.wait()
        return f"All went well so far. {given.facts}"

    return writer


class Recorder:
    """As a package would offer it, made for the first call."""

    name = "recorder"
    version = "1.2"
    made = 0
    closed = 0

    def __init__(self):
        type(self).made += 1

    async def summarize(self, given: SummaryInput) -> str:
        return record(given)

    async def aclose(self):
        type(self).closed += 1


class Unversioned:
    name = "unversioned"

    def summarize(self, given):
        return record(given)


class Impostor:
    name = "extractive"
    version = "1"

    def summarize(self, given):
        return record(given)


class CannotBeMade:
    name = "cannot"
    version = "1"

    def __init__(self):
        raise OSError("no such model")

    def summarize(self, given):
        return record(given)


def raises(given):
    raise ValueError("no luck with sk-" + "a1B2c3D4" * 6)


def returns_none(given):
    return None


def far_too_long(given):
    return " ".join(f"word{number} did {number * 7}" for number in range(given.target_tokens * 5))


def exits(given):
    raise SystemExit(3)


def stops(given):
    raise StopIteration


async def cancels(given):
    raise asyncio.CancelledError


def gives_up_row(given):
    raise SummaryError("too_hard", "this row is too hard")


def gives_up(given):
    raise SummarizerUnusableError("no_licence", "buy one")


def hangs(given):
    threading.Event().wait()


async def hangs_async(given):
    await asyncio.Event().wait()


def slow(given):
    time.sleep(0.2)
    return record(given)


takes_nothing = lambda: "text"  # noqa: E731
not_callable = 5
