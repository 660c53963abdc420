"""Who writes the summaries, as a setting: a name, a ``module:function``, or an object that a Python program gave."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from trajcompress.processes.late_patterns import late_re

_NAME = late_re(r"[\w.-]+")
_CODE = late_re(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclass(frozen=True, slots=True)
class SummarizerChoice:
    """A summariser by ``spec``, its name or ``module:function``; ``given`` is the function or object itself.

    In another process one that can be imported is found again by its name; any other has to be pickled.
    """

    spec: str
    given: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def parse(cls, value: Any) -> SummarizerChoice:
        """Take a name, ``module:function``, a function, a class, or an object that has a method ``summarize``.

        Raises:
            ValueError: the value is none of these.
        """
        if isinstance(value, SummarizerChoice):
            return value
        if isinstance(value, str):
            if _NAME.fullmatch(value) or _CODE.fullmatch(value):
                return cls(value)
            raise ValueError("should be the name of a summariser, or module:function")
        if callable(value) or callable(getattr(value, "summarize", None)):
            return cls(_spec_of(value), value)
        raise ValueError(
            "should be the name of a summariser, module:function, a function that takes one argument, or an object "
            "with a method summarize"
        )

    @property
    def is_code(self) -> bool:
        """Whether it names code to be imported and run."""
        return ":" in self.spec

    @property
    def is_named(self) -> bool:
        """Whether another process finds the very same by its name."""
        if self.given is None:
            return True
        module_name, _, path = self.spec.partition(":")
        if module_name == "__main__" or "<" in path:
            return False
        try:
            return reduce(getattr, path.split("."), importlib.import_module(module_name)) is self.given
        except (ImportError, AttributeError):
            return False

    def __reduce__(self) -> tuple[Any, ...]:
        return (SummarizerChoice, (self.spec,) if self.is_named else (self.spec, self.given))

    def __str__(self) -> str:
        return self.spec


def _spec_of(value: Any) -> str:
    has_name = inspect.isroutine(value) or inspect.isclass(value)
    named = value if has_name else type(value)
    return f"{named.__module__}:{named.__qualname__}"
