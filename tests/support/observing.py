"""Which turns of made rows are observations."""

from __future__ import annotations

from summed_up import ask

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.summarize.extractive import extract


def observed(system, *turns):
    """Return which of the turns behind a system turn are observations, counted from 0."""
    messages = [{"role": "system", "content": system}] if system else []
    for number, text in enumerate(turns):
        messages.append({"role": "assistant" if number % 2 else "user", "content": text})
    read = read_trajectory({"messages": messages}, "row", FormatOptions()).turns
    return [index for index, turn in enumerate(read[1:] if system else read) if turn.answers]


def recorded(*turns):
    """Return the summary of all turns but the first, which user and assistant take in turn."""
    messages = [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(turns)]
    read = read_trajectory({"messages": messages}, "row", FormatOptions()).turns
    return extract(ask(region=read[1:], head=read[:1], budget=2_000))


LISTING = "total 8\n-rw-r--r-- 1 root root 20 Mar  1 10:00 a.py"
