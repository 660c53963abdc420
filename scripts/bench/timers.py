"""Exclusive CPU timers around functions, from outside: nothing is added to the package that is measured.

Each thread has a stack of stages. Time of a thread counts for the stage on top, so a stage never holds what stages
that it calls cost. Coroutines and generators are timed step by step: what runs between two steps is not theirs.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from types import ModuleType
from typing import Any


class Timers:
    """Seconds of CPU and number of calls by stage, over all threads."""

    def __init__(self) -> None:
        self.before: dict[str, float] = {}  # seconds of CPU of the process before each stage was first entered
        self._local = threading.local()
        self._threads: list[_Thread] = []

    @property
    def seconds(self) -> dict[str, float]:
        """Return the seconds of CPU that each stage took without those that it called."""
        total: dict[str, float] = {}
        for thread in self._threads:
            for stage, seconds in thread.seconds.items():
                total[stage] = total.get(stage, 0.0) + seconds
        return total

    @property
    def calls(self) -> Counter[str]:
        """Return how often each stage was entered."""
        return sum((thread.calls for thread in self._threads), Counter())

    def without_timing(self) -> dict[str, float]:
        """Return the seconds of each stage, and ``rest``, all less what timing itself added.

        ``rest`` is what the process used outside stages. What one timed call adds, to its stage and to whatever
        called it, is measured on calls that do nothing.
        """
        total = time.process_time()
        within, outside = _added_by_a_call()
        seconds = {stage: max(0.0, spent - self.calls[stage] * within) for stage, spent in self.seconds.items()}
        rest = total - sum(self.seconds.values()) - self.calls.total() * outside
        return seconds | {"rest": max(0.0, rest)}

    def wrap(self, place: str, stage: str, package: str) -> None:
        """Time the function at ``module:name`` or ``module:class.name``, wherever ``package`` refers to it.

        Raises:
            AttributeError: there is no such function.
        """
        module_name, _, path = place.partition(":")
        module = importlib.import_module(module_name)
        *owners, name = path.split(".")
        owner: Any = functools.reduce(getattr, owners, module)
        original = inspect.getattr_static(owner, name)
        timed = self.timed(original, stage)
        setattr(owner, name, timed)
        if isinstance(owner, ModuleType):
            for other in [loaded for key, loaded in sys.modules.items() if key.split(".")[0] == package]:
                for key in [key for key, value in vars(other).items() if value is original]:
                    setattr(other, key, timed)

    def timed(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        """Return the function with timers around it."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: Any, **kwargs: Any) -> Any:
                return await _Steps(self, stage, function(*args, **kwargs))

            return awaited

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            result = self._called(stage, function, *args, **kwargs)
            return self._each(stage, result) if inspect.isgenerator(result) else result

        return called

    def _each(self, stage: str, items: Iterator[Any]) -> Iterator[Any]:
        ended = object()
        while (item := self._called(stage, next, items, ended)) is not ended:
            yield item

    def _called(self, stage: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        thread = self._thread()
        if stage not in self.before:
            self.before[stage] = time.process_time()
        thread.enter(stage)
        try:
            return function(*args, **kwargs)
        finally:
            thread.leave()

    def _thread(self) -> _Thread:
        try:
            return self._local.thread  # type: ignore[no-any-return]  # a thread's own, of any type
        except AttributeError:
            thread = self._local.thread = _Thread()
            self._threads.append(thread)
            return thread

    def step(self, stage: str, send: Callable[[Any], Any], value: Any) -> Any:
        """Run one step of a coroutine."""
        return self._called(stage, send, value)


class _Thread:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.calls: Counter[str] = Counter()
        self._stack: list[str] = []
        self._since = 0.0

    def enter(self, stage: str) -> None:
        self._charge()
        self._stack.append(stage)
        self.calls[stage] += 1

    def leave(self) -> None:
        self._charge()
        self._stack.pop()

    def _charge(self) -> None:
        now = time.thread_time()
        if self._stack:
            stage = self._stack[-1]
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


def _added_by_a_call() -> tuple[float, float]:
    """Return the seconds that timing a call adds to its stage, and outside it."""
    timers, calls = Timers(), 20_000
    nothing = timers.timed(lambda: None, "nothing")
    began = time.thread_time()
    for _ in range(calls):
        nothing()
    spent, within = time.thread_time() - began, timers.seconds["nothing"]
    return within / calls, (spent - within) / calls


class _Steps:
    """Awaits a coroutine, each of its steps timed."""

    def __init__(self, timers: Timers, stage: str, coroutine: Any) -> None:
        self._timers = timers
        self._stage = stage
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        send, value = self._coroutine.send, None
        while True:
            try:
                waited = self._timers.step(self._stage, send, value)
            except StopIteration as ended:
                return ended.value
            try:
                send, value = self._coroutine.send, (yield waited)
            except BaseException as error:  # noqa: BLE001 - cancellation too goes to the coroutine
                send, value = self._coroutine.throw, error
